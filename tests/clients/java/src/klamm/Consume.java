package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Consuming: all of a topic up to its ends now, or the next records of a group, which are then committed. */
final class Consume implements Client.Verb {
    private static final long NANOS = Duration.ofSeconds(30).toNanos();
    private static final Duration POLL = Duration.ofMillis(200);
    private final String bootstrap;

    Consume(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    @Override
    public Object answer(JsonNode request) throws Exception {
        try (var reader = open(request)) {
            var found = request.has("group") ? nextOfGroup(reader, request) : toTheEnd(reader, request);
            Records.write(request.get("file").asText(), found);
            return Map.of("count", found.size());
        }
    }

    private KafkaConsumer<byte[], byte[]> open(JsonNode request) {
        var settings = new HashMap<String, Object>(Map.of(
                "bootstrap.servers", bootstrap, "auto.offset.reset", "earliest", "enable.auto.commit", false,
                "max.partition.fetch.bytes", 4_000_000, "allow.auto.create.topics", false));
        if (request.has("group")) {
            settings.put("group.id", request.get("group").asText());
            settings.put("max.poll.records", request.get("count").asInt());
            settings.put("group.protocol", request.path("protocol").asText("classic"));
        }
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private static List<ConsumerRecord<byte[], byte[]>> nextOfGroup(
            KafkaConsumer<byte[], byte[]> reader, JsonNode request) {
        reader.subscribe(List.of(request.get("topic").asText()));
        int count = request.get("count").asInt();
        var found = new ArrayList<ConsumerRecord<byte[], byte[]>>();
        var next = new HashMap<TopicPartition, OffsetAndMetadata>();
        long deadline = System.nanoTime() + NANOS;
        while (found.size() < count && System.nanoTime() < deadline) {
            for (var record : reader.poll(POLL)) {
                if (found.size() < count) {
                    found.add(record);
                    next.put(partition(record), new OffsetAndMetadata(record.offset() + 1));
                }
            }
        }
        reader.commitSync(next);
        return found;
    }

    private static TopicPartition partition(ConsumerRecord<byte[], byte[]> record) {
        return new TopicPartition(record.topic(), record.partition());
    }

    private static List<ConsumerRecord<byte[], byte[]>> toTheEnd(
            KafkaConsumer<byte[], byte[]> reader, JsonNode request) throws TimeoutException {
        Collection<TopicPartition> partitions = partitions(reader, request);
        reader.assign(partitions);
        var ends = reader.endOffsets(partitions);
        seek(reader, partitions, request, ends);
        var found = new ArrayList<ConsumerRecord<byte[], byte[]>>();
        long deadline = System.nanoTime() + NANOS;
        while (partitions.stream().anyMatch(partition -> reader.position(partition) < ends.get(partition))) {
            if (System.nanoTime() > deadline) {
                throw new TimeoutException("positions stay before " + ends);
            }
            reader.poll(POLL).forEach(found::add);
        }
        return found;
    }

    private static Collection<TopicPartition> partitions(KafkaConsumer<byte[], byte[]> reader, JsonNode request) {
        String topic = request.get("topic").asText();
        return reader.partitionsFor(topic).stream()
                .filter(info -> !request.has("offsets") || request.get("offsets").has("" + info.partition()))
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
    }

    private static void seek(KafkaConsumer<byte[], byte[]> reader, Collection<TopicPartition> partitions,
            JsonNode request, Map<TopicPartition, Long> ends) {
        if (request.has("offsets")) {
            partitions.forEach(at -> reader.seek(at, request.get("offsets").get("" + at.partition()).asLong()));
        } else if (request.has("time")) {
            var times = new HashMap<TopicPartition, Long>();
            partitions.forEach(partition -> times.put(partition, request.get("time").asLong()));
            reader.offsetsForTimes(times)
                    .forEach((at, found) -> reader.seek(at, found == null ? ends.get(at) : found.offset()));
        } else {
            reader.seekToBeginning(partitions);
        }
    }
}
