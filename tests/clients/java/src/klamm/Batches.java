package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.DefaultRecordBatch;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.record.SimpleRecord;
import org.apache.kafka.common.record.TimestampType;

/** Record batches from JSON, also damaged ones, and to JSON. */
final class Batches {
    /** Of a batch of magic 2: the checksum covers what follows it. */
    private static final int CRC_AT = 17;
    private static final int CRC_COVERS = 21;

    private Batches() {
    }

    static BinaryNode encode(JsonNode batches) {
        var bytes = new ByteArrayOutputStream();
        batches.forEach(batch -> bytes.writeBytes(encodeOne(batch)));
        return new BinaryNode(bytes.toByteArray());
    }

    /** `patch` is a list of position and hexadecimal bytes; the checksum is made right after it unless `keepCrc`. */
    private static byte[] encodeOne(JsonNode batch) {
        byte[] bytes = build(batch);
        for (JsonNode patch : batch.path("patch")) {
            byte[] put = HexFormat.of().parseHex(patch.get(1).asText());
            System.arraycopy(put, 0, bytes, patch.get(0).asInt(), put.length);
        }
        if (batch.has("patch") && !batch.path("keepCrc").asBoolean()) {
            var crc = new CRC32C();
            crc.update(bytes, CRC_COVERS, bytes.length - CRC_COVERS);
            ByteBuffer.wrap(bytes).putInt(CRC_AT, (int) crc.getValue());
        }
        return batch.has("cut") ? java.util.Arrays.copyOf(bytes, batch.get("cut").asInt()) : bytes;
    }

    private static byte[] build(JsonNode batch) {
        byte magic = (byte) batch.path("magic").asInt(RecordBatch.CURRENT_MAGIC_VALUE);
        var codec = Compression.of(CompressionType.forName(batch.path("codec").asText("none"))).build();
        var output = new ByteArrayOutputStream();
        try (var builder = MemoryRecords.builder(ByteBuffer.allocate(1024), magic, codec, TimestampType.CREATE_TIME,
                batch.path("baseOffset").asLong(0), RecordBatch.NO_TIMESTAMP, batch.path("producerId").asLong(-1),
                (short) batch.path("producerEpoch").asInt(-1), batch.path("baseSequence").asInt(-1),
                batch.path("transactional").asBoolean(), batch.path("leaderEpoch").asInt(-1))) {
            batch.get("records").forEach(record -> builder.append(record(record)));
            ByteBuffer built = builder.build().buffer();
            var bytes = new byte[built.remaining()];
            built.get(bytes);
            return bytes;
        }
    }

    private static SimpleRecord record(JsonNode record) {
        List<Header> headers = new ArrayList<>();
        record.path("headers").fields().forEachRemaining(
                header -> headers.add(new RecordHeader(header.getKey(), bytes(header.getValue()))));
        return new SimpleRecord(record.get("timestamp").asLong(), bytes(record.path("key")), bytes(record.path("value")),
                headers.toArray(Header[]::new));
    }

    private static byte[] bytes(JsonNode text) {
        return text.isTextual() ? text.asText().getBytes() : null;
    }

    static ArrayNode decode(Records records) {
        ArrayNode batches = Client.JSON.createArrayNode();
        if (records != null) {
            records.batches().forEach(batch -> batches.add(decodeOne(batch)));
        }
        return batches;
    }

    private static ObjectNode decodeOne(RecordBatch batch) {
        ObjectNode tree = Client.JSON.createObjectNode()
                .put("baseOffset", batch.baseOffset()).put("lastOffset", batch.lastOffset()).put("magic", batch.magic())
                .put("leaderEpoch", batch.partitionLeaderEpoch()).put("codec", batch.compressionType().name)
                .put("timestampType", batch.timestampType().name).put("maxTimestamp", batch.maxTimestamp())
                .put("producerId", batch.producerId()).put("producerEpoch", batch.producerEpoch())
                .put("baseSequence", batch.baseSequence()).put("transactional", batch.isTransactional())
                .put("control", batch.isControlBatch()).put("valid", batch.isValid());
        if (batch instanceof DefaultRecordBatch known) {
            tree.put("baseTimestamp", known.baseTimestamp());
        }
        ArrayNode records = tree.putArray("records");
        batch.forEach(record -> records.add(decodeRecord(record)));
        return tree;
    }

    private static ObjectNode decodeRecord(Record record) {
        ObjectNode tree = Client.JSON.createObjectNode().put("offset", record.offset()).put("timestamp", record.timestamp())
                .put("key", text(record.key())).put("value", text(record.value()));
        ObjectNode headers = tree.putObject("headers");
        for (Header header : record.headers()) {
            headers.put(header.key(), text(header.value() == null ? null : ByteBuffer.wrap(header.value())));
        }
        return tree;
    }

    private static String text(ByteBuffer bytes) {
        return bytes == null ? null : java.nio.charset.StandardCharsets.ISO_8859_1.decode(bytes.duplicate()).toString();
    }
}
