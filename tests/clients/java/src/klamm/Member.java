package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A member of a group that polls in a thread, the history of what it owned, and the places of what it has read. */
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
    private final List<List<Object>> read = new ArrayList<>();
    private volatile boolean leaving;
    private volatile RuntimeException failure;
    private Thread thread;

    Member(String bootstrap, JsonNode request) {
        var settings = new HashMap<String, Object>(Map.of(
                "bootstrap.servers", bootstrap, "group.id", request.get("group").asText(), "client.id",
                request.get("member").asText(), "metadata.max.age.ms", 1000, "auto.offset.reset", "earliest"));
        settings.putAll(request.path("protocol").asText().equals("consumer") ? nextGeneration(request) : classic(request));
        reader = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static Map<String, Object> classic(JsonNode request) {
        return Map.of("partition.assignment.strategy", ASSIGNORS.get(request.get("assignor").asText()).getName(),
                "session.timeout.ms", 10_000, "heartbeat.interval.ms", 300, "enable.auto.commit", false);
    }

    /** Members of the consumer protocol commit what they have read when they give it up. */
    private static Map<String, Object> nextGeneration(JsonNode request) {
        var settings = new HashMap<String, Object>(Map.of("group.protocol", "consumer", "enable.auto.commit", true));
        if (request.has("assignor")) {
            settings.put("group.remote.assignor", request.get("assignor").asText());
        }
        if (request.has("instance")) {
            settings.put("group.instance.id", request.get("instance").asText());
        }
        return settings;
    }

    /** Subscribes to topics, or to those whose names match. */
    void start(JsonNode request) {
        if (request.has("regex")) {
            reader.subscribe(new SubscriptionPattern(request.get("regex").asText()), this);
        } else {
            var topics = new ArrayList<String>();
            request.get("topics").forEach(topic -> topics.add(topic.asText()));
            reader.subscribe(topics, this);
        }
        thread = new Thread(this::run);
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            while (!leaving) {
                reader.poll(Duration.ofMillis(100)).forEach(this::note);
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
                "history", List.copyOf(history), "read", List.copyOf(read));
    }

    Object leave() throws InterruptedException {
        leaving = true;
        thread.join(30_000);
        onPartitionsRevoked(List.copyOf(owned));
        return Map.of("history", history, "read", List.copyOf(read));
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

    private synchronized void note(ConsumerRecord<byte[], byte[]> record) {
        read.add(List.of(record.topic(), record.partition(), record.offset()));
    }

    private void note(String sign, Collection<TopicPartition> partitions) {
        long now = System.currentTimeMillis();
        partitions.forEach(at -> history.add(List.of(now, sign, at.topic(), at.partition())));
    }
}
