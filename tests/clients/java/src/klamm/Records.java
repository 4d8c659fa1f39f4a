package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Files of records: one JSON object a line, bytes in base64. {@code ../suite/records.py} tells the fields. */
final class Records {
    static List<ProducerRecord<byte[], byte[]>> read(String topic, String file) throws IOException {
        var records = new ArrayList<ProducerRecord<byte[], byte[]>>();
        for (String line : Files.readAllLines(Path.of(file))) {
            records.add(record(topic, Client.JSON.readTree(line)));
        }
        return records;
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, JsonNode line) {
        Integer partition = line.has("p") ? line.get("p").asInt() : null;
        Long timestamp = line.has("t") ? line.get("t").asLong() : null;
        var record = new ProducerRecord<>(topic, partition, timestamp, decode(line.get("k")), decode(line.get("v")));
        for (JsonNode header : line.path("h")) {
            record.headers().add(header.get(0).asText(), decode(header.get(1)));
        }
        return record;
    }

    static void write(String file, List<ConsumerRecord<byte[], byte[]>> found) throws IOException {
        try (var out = Files.newBufferedWriter(Path.of(file))) {
            for (var record : found) {
                out.write(Client.JSON.writeValueAsString(line(record)) + "\n");
            }
        }
    }

    private static ObjectNode line(ConsumerRecord<byte[], byte[]> record) {
        var line = Client.JSON.createObjectNode().put("k", encode(record.key())).put("v", encode(record.value()));
        var headers = line.putArray("h");
        record.headers().forEach(header -> headers.addArray().add(header.key()).add(encode(header.value())));
        return line.put("t", record.timestamp()).put("p", record.partition()).put("o", record.offset());
    }

    static byte[] decode(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    static String encode(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }
}
