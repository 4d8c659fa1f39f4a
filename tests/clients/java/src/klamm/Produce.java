package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Producing. A producer is kept for later requests that name it, with its producer id. */
final class Produce implements Client.Verb {
    private final String bootstrap;
    private final Map<String, KafkaProducer<byte[], byte[]>> producers = new HashMap<>();

    Produce(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    @Override
    public Object answer(JsonNode request) throws Exception {
        var producer = producers.computeIfAbsent(key(request), key -> open(request));
        long pace = request.path("pace_us").asLong(0) * 1000;
        var sent = new ArrayList<Future<RecordMetadata>>();
        for (var record : Records.read(request.get("topic").asText(), request.get("file").asText())) {
            sent.add(producer.send(record));
            if (pace > 0) {
                LockSupport.parkNanos(pace);
            }
        }
        producer.flush();
        return places(sent);
    }

    private static String key(JsonNode request) {
        return String.join(" ", request.path("producer").asText(""), request.path("codec").asText("none"),
                request.path("acks").asText("-1"), request.path("idempotent").asText("false"));
    }

    private KafkaProducer<byte[], byte[]> open(JsonNode request) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrap,
                "compression.type", request.path("codec").asText("none"),
                "acks", request.path("acks").asText("-1"),
                "enable.idempotence", request.path("idempotent").asBoolean(false),
                "linger.ms", 50,
                "batch.size", 1_000_000,
                "max.request.size", 4_000_000,
                "delivery.timeout.ms", 120_000,
                "request.timeout.ms", 10_000,
                "metadata.max.age.ms", 500);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Map<String, Object> places(List<Future<RecordMetadata>> sent) throws InterruptedException {
        var acked = new ArrayList<List<Long>>();
        var errors = new ArrayList<String>();
        for (var future : sent) {
            try {
                RecordMetadata place = future.get();
                acked.add(List.of((long) place.partition(), place.offset()));
            } catch (ExecutionException error) {
                acked.add(null);
                errors.add(error.getCause().toString());
            }
        }
        return Map.of("acked", acked, "errors", errors.subList(0, Math.min(5, errors.size())));
    }
}
