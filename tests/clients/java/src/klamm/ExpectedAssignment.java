package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** What the Java client's own assignors answer for member ids and topics. No broker is asked. */
final class ExpectedAssignment {
    private static final Map<String, ConsumerPartitionAssignor> ASSIGNORS =
            Map.of("range", new RangeAssignor(), "roundrobin", new RoundRobinAssignor());

    static Map<String, List<List<Object>>> answer(JsonNode request) {
        List<String> topics = new ArrayList<>();
        request.get("topics").fieldNames().forEachRemaining(topics::add);
        var subscriptions = new HashMap<String, Subscription>();
        request.get("members").forEach(member -> subscriptions.put(member.asText(), new Subscription(topics)));
        var assignments = ASSIGNORS.get(request.get("assignor").asText())
                .assign(cluster(request.get("topics")), new GroupSubscription(subscriptions)).groupAssignment();
        var expected = new TreeMap<String, List<List<Object>>>();
        assignments.forEach((member, assignment) -> expected.put(member,
                assignment.partitions().stream().map(ExpectedAssignment::pair).toList()));
        return expected;
    }

    private static List<Object> pair(TopicPartition at) {
        return List.of(at.topic(), at.partition());
    }

    private static Cluster cluster(JsonNode partitionsOfTopics) {
        Node[] nodes = {new Node(1, "127.0.0.1", 1)};
        var partitions = new ArrayList<PartitionInfo>();
        partitionsOfTopics.fields().forEachRemaining(topic -> {
            for (int index = 0; index < topic.getValue().asInt(); index++) {
                partitions.add(new PartitionInfo(topic.getKey(), index, nodes[0], nodes, nodes));
            }
        });
        return new Cluster("any", List.of(nodes), partitions, Set.of(), Set.of());
    }
}
