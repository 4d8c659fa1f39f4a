package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** What an application does with a consumer that reads: go to another offset, and leave a partition out for a while. */
final class SeekAndPause {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration MOMENT = Duration.ofMillis(500);
    private static final Duration POLL = Duration.ofMillis(100);
    private final String bootstrap;

    SeekAndPause(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    void addTo(Map<String, Client.Verb> verbs) {
        verbs.put("seek", this::seek);
        verbs.put("pause", this::pause);
    }

    /** Reads {@code first} records of partition 0, seeks to offset {@code to}, and reads {@code count} more. */
    private Object seek(JsonNode request) throws Exception {
        var at = partition(request, 0);
        try (var reader = open(List.of(at))) {
            var found = next(reader, request.get("first").asInt(), LIMIT);
            reader.seek(at, request.get("to").asLong());
            found.addAll(next(reader, request.get("count").asInt(), LIMIT));
            Records.write(request.get("file").asText(), found);
        }
        return null;
    }

    /**
     * Reads {@code count} records of each of partitions 0 and 1, of which 1 is paused until those of 0 are there and a moment has
     * passed.
     */
    private Object pause(JsonNode request) throws Exception {
        int count = request.get("count").asInt();
        var paused = partition(request, 1);
        try (var reader = open(List.of(partition(request, 0), paused))) {
            reader.pause(List.of(paused));
            var found = next(reader, count, LIMIT);
            found.addAll(next(reader, 1, MOMENT));
            reader.resume(List.of(paused));
            found.addAll(next(reader, 2 * count - found.size(), LIMIT));
            Records.write(request.get("file").asText(), found);
        }
        return null;
    }

    private static TopicPartition partition(JsonNode request, int number) {
        return new TopicPartition(request.get("topic").asText(), number);
    }

    /** One record a poll, so that no poll brings more than is wanted. */
    private KafkaConsumer<byte[], byte[]> open(List<TopicPartition> partitions) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrap, "auto.offset.reset", "earliest", "enable.auto.commit", false, "max.poll.records", 1);
        var reader = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        reader.assign(partitions);
        return reader;
    }

    private static List<ConsumerRecord<byte[], byte[]>> next(KafkaConsumer<byte[], byte[]> reader, int count, Duration limit) {
        var found = new ArrayList<ConsumerRecord<byte[], byte[]>>();
        long deadline = System.nanoTime() + limit.toNanos();
        while (found.size() < count && System.nanoTime() < deadline) {
            reader.poll(POLL).forEach(found::add);
        }
        return found;
    }
}
