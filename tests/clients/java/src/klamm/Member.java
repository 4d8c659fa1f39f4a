package klamm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group that polls in a thread, and the history of what it owned. */
final class Member implements ConsumerRebalanceListener {
    private static final Map<String, Class<?>> ASSIGNORS = Map.of(
            "range", RangeAssignor.class,
            "roundrobin", RoundRobinAssignor.class,
            "sticky", StickyAssignor.class,
            "cooperative-sticky", CooperativeStickyAssignor.class);
    private static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition);

    private final KafkaConsumer<byte[], byte[]> reader;
    private final TreeSet<TopicPartition> owned = new TreeSet<>(ORDER);
    private final List<List<Object>> history = new ArrayList<>();
    private volatile boolean leaving;
    private volatile RuntimeException failure;
    private Thread thread;

    Member(String bootstrap, String name, String group, String assignor) {
        reader = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap, "group.id", group, "client.id", name,
                        "partition.assignment.strategy", ASSIGNORS.get(assignor).getName(), "session.timeout.ms", 10_000,
                        "heartbeat.interval.ms", 300, "enable.auto.commit", false, "metadata.max.age.ms", 1000,
                        "auto.offset.reset", "earliest"),
                new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    void start(List<String> topics) {
        reader.subscribe(topics, this);
        thread = new Thread(this::run);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!leaving) {
                reader.poll(Duration.ofMillis(100));
            }
            reader.close();
        } catch (RuntimeException error) {
            failure = error;
        }
    }

    synchronized Object state() {
        if (failure != null) {
            throw failure;
        }
        return Map.of("owned", owned.stream().map(at -> List.of(at.topic(), at.partition())).toList(),
                "history", List.copyOf(history));
    }

    Object leave() throws InterruptedException {
        leaving = true;
        thread.join(30_000);
        onPartitionsRevoked(List.copyOf(owned));
        return Map.of("history", history);
    }

    @Override
    public synchronized void onPartitionsAssigned(Collection<TopicPartition> given) {
        note("+", given);
        owned.addAll(given);
    }

    @Override
    public synchronized void onPartitionsRevoked(Collection<TopicPartition> taken) {
        note("-", taken);
        taken.forEach(owned::remove);
    }

    private void note(String sign, Collection<TopicPartition> partitions) {
        long now = System.currentTimeMillis();
        partitions.forEach(at -> history.add(List.of(now, sign, at.topic(), at.partition())));
    }
}
