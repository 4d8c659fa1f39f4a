package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FindCoordinatorRequest;
import org.apache.kafka.common.requests.HeartbeatRequest;
import org.apache.kafka.common.requests.HeartbeatResponse;
import org.apache.kafka.common.requests.JoinGroupRequest;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.SyncGroupRequest;
import org.apache.kafka.common.requests.SyncGroupResponse;

/**
 * A group of two members of any protocol type, spoken without a consumer, as Kafka Connect and Kafka Streams do. The
 * leader assigns a text of its own to each member; the answer tells what reached them.
 */
final class RawGroup implements Client.Verb {
    /** The last version in which a member joins without being given its id first. */
    private static final short JOIN_VERSION = 3;
    private static final short SYNC_VERSION = 5;
    private final String bootstrap;

    RawGroup(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    @Override
    public Object answer(JsonNode request) throws Exception {
        try (var first = new Connection(bootstrap); var second = new Connection(bootstrap)) {
            var connections = List.of(first, second);
            awaitCoordinator(first, request.get("group").asText());
            var joined = join(connections, request);
            return sync(connections, joined, request);
        }
    }

    /** The first question may find the offsets topic still being made; a coordinator that has loaded knows no member of ours. */
    private static void awaitCoordinator(Connection connection, String group) throws Exception {
        var find = new FindCoordinatorRequest.Builder(new FindCoordinatorRequestData().setKey(group));
        var heartbeat = new HeartbeatRequest.Builder(new HeartbeatRequestData().setGroupId(group).setMemberId("nobody"));
        for (int attempt = 0; attempt < 100; attempt++) {
            connection.send(find.build((short) 3), ApiKeys.FIND_COORDINATOR);
            connection.receive();
            connection.send(heartbeat.build(), ApiKeys.HEARTBEAT);
            if (((HeartbeatResponse) connection.receive()).error() == Errors.UNKNOWN_MEMBER_ID) {
                return;
            }
            Thread.sleep(100);
        }
        throw new IllegalStateException("no coordinator of " + group);
    }

    private static List<JoinGroupResponseData> join(List<Connection> connections, JsonNode request) throws Exception {
        for (var connection : connections) {
            connection.send(new JoinGroupRequest.Builder(joinData(request)).build(JOIN_VERSION), ApiKeys.JOIN_GROUP);
        }
        var joined = new ArrayList<JoinGroupResponseData>();
        for (var connection : connections) {
            joined.add(((JoinGroupResponse) connection.receive()).data());
            requireNoError("JoinGroup", joined.get(joined.size() - 1).errorCode());
        }
        return joined;
    }

    private static JoinGroupRequestData joinData(JsonNode request) {
        var protocols = new JoinGroupRequestData.JoinGroupRequestProtocolCollection();
        protocols.add(new JoinGroupRequestData.JoinGroupRequestProtocol()
                .setName(request.get("protocol").asText()).setMetadata(metadata(request)));
        return new JoinGroupRequestData()
                .setGroupId(request.get("group").asText()).setProtocolType(request.get("type").asText())
                .setMemberId("").setSessionTimeoutMs(10_000).setRebalanceTimeoutMs(10_000).setProtocols(protocols);
    }

    /** A consumer's subscription to `topic`, or without one bytes that are none. */
    private static byte[] metadata(JsonNode request) {
        if (!request.has("topic")) {
            return new byte[] {0x7f, 0x01, 0x02};
        }
        ByteBuffer encoded = ConsumerProtocol.serializeSubscription(new Subscription(List.of(request.get("topic").asText())));
        var bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }

    private static Map<String, Object> sync(List<Connection> connections, List<JoinGroupResponseData> joined, JsonNode request)
            throws Exception {
        for (int index = 0; index < connections.size(); index++) {
            var data = syncData(joined.get(index), request);
            connections.get(index).send(new SyncGroupRequest.Builder(data).build(SYNC_VERSION), ApiKeys.SYNC_GROUP);
        }
        var wanted = new TreeMap<String, String>();
        var delivered = new TreeMap<String, String>();
        for (int index = 0; index < connections.size(); index++) {
            SyncGroupResponseData data = ((SyncGroupResponse) connections.get(index).receive()).data();
            requireNoError("SyncGroup", data.errorCode());
            String member = joined.get(index).memberId();
            wanted.put(member, choice(member));
            delivered.put(member, new String(data.assignment()));
        }
        return Map.of("wanted", wanted, "delivered", delivered);
    }

    private static SyncGroupRequestData syncData(JoinGroupResponseData joined, JsonNode request) {
        var assignments = joined.members().stream().map(member -> new SyncGroupRequestData.SyncGroupRequestAssignment()
                .setMemberId(member.memberId()).setAssignment(choice(member.memberId()).getBytes())).toList();
        return new SyncGroupRequestData().setGroupId(request.get("group").asText()).setMemberId(joined.memberId())
                .setGenerationId(joined.generationId()).setProtocolType(request.get("type").asText())
                .setProtocolName(joined.protocolName()).setAssignments(assignments);
    }

    private static String choice(String member) {
        return "the leader's own choice for " + member;
    }

    private static void requireNoError(String request, short code) {
        if (code != 0) {
            throw new IllegalStateException(request + ": error " + code);
        }
    }
}
