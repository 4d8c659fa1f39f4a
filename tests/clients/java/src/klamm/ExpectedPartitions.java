package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Which partition the Java client's own default partitioner names for each key. No broker is asked. */
final class ExpectedPartitions {
    static List<Integer> answer(JsonNode request) {
        int partitions = request.get("partitions").asInt();
        var expected = new ArrayList<Integer>();
        for (JsonNode key : request.get("keys")) {
            expected.add(BuiltInPartitioner.partitionForKey(Records.decode(key), partitions));
        }
        return expected;
    }
}
