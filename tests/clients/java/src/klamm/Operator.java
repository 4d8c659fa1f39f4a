package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** What an operator asks of a broker. */
final class Operator {
    private final Admin admin;

    Operator(String bootstrap) {
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "default.api.timeout.ms", 30_000));
    }

    void addTo(Map<String, Client.Verb> verbs) {
        verbs.put("create", this::create);
        verbs.put("grow", request -> admin.createPartitions(Map.of(topic(request),
                NewPartitions.increaseTo(request.get("partitions").asInt()))).all().get());
        verbs.put("delete", request -> admin.deleteTopics(List.of(topic(request))).all().get());
        verbs.put("topics", request -> admin.listTopics().names().get().stream().sorted().toList());
        verbs.put("alter", request -> alter(ConfigResource.Type.TOPIC, topic(request), request));
        verbs.put("alter_group", request -> alter(ConfigResource.Type.GROUP, request.get("group").asText(), request));
        verbs.put("describe", request -> describe(topic(request)));
        verbs.put("offsets", this::offsets);
        verbs.put("committed", this::committed);
        verbs.put("commit", this::commit);
        verbs.put("groups", request -> admin.listGroups().all().get().stream().map(GroupListing::groupId).sorted().toList());
        verbs.put("describe_group", this::describeGroup);
        verbs.put("delete_group", request -> admin.deleteConsumerGroups(List.of(request.get("group").asText())).all().get());
        verbs.put("delete_records", this::deleteRecords);
    }

    private Object create(JsonNode request) throws Exception {
        var topic = new NewTopic(topic(request), request.get("partitions").asInt(), (short) 1);
        admin.createTopics(List.of(topic.configs(texts(request.path("configs"))))).all().get();
        return null;
    }

    private Object alter(ConfigResource.Type type, String name, JsonNode request) throws Exception {
        var operations = new ArrayList<AlterConfigOp>();
        texts(request.get("configs")).forEach((key, value) ->
                operations.add(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)));
        return admin.incrementalAlterConfigs(Map.of(new ConfigResource(type, name), operations)).all().get();
    }

    private Object describe(String topic) throws Exception {
        var configs = new TreeMap<String, String>();
        var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        for (var entry : admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()) {
            configs.put(entry.name(), entry.value());
        }
        return Map.of("partitions", partitions(topic).size(), "configs", configs);
    }

    /** -2 is the earliest, -1 the latest. */
    private Object offsets(JsonNode request) throws Exception {
        long time = request.get("time").asLong();
        OffsetSpec spec = time == -2 ? OffsetSpec.earliest() : time == -1 ? OffsetSpec.latest() : OffsetSpec.forTimestamp(time);
        var asked = new HashMap<TopicPartition, OffsetSpec>();
        partitions(topic(request)).forEach(partition -> asked.put(partition, spec));
        var offsets = new TreeMap<Integer, Long>();
        admin.listOffsets(asked).all().get().forEach((at, found) -> offsets.put(at.partition(), found.offset()));
        return offsets;
    }

    private Object committed(JsonNode request) throws Exception {
        var offsets = new TreeMap<Integer, Long>();
        admin.listConsumerGroupOffsets(request.get("group").asText()).partitionsToOffsetAndMetadata().get()
                .forEach((at, found) -> {
                    if (at.topic().equals(topic(request))) {
                        offsets.put(at.partition(), found.offset());
                    }
                });
        return offsets;
    }

    /** Commits `offsets` for a group that has no members. */
    private Object commit(JsonNode request) throws Exception {
        var offsets = new HashMap<TopicPartition, OffsetAndMetadata>();
        offsetsIn(request).forEach((at, offset) -> offsets.put(at, new OffsetAndMetadata(offset)));
        return admin.alterConsumerGroupOffsets(request.get("group").asText(), offsets).all().get();
    }

    private Object deleteRecords(JsonNode request) throws Exception {
        var before = new HashMap<TopicPartition, RecordsToDelete>();
        offsetsIn(request).forEach((at, offset) -> before.put(at, RecordsToDelete.beforeOffset(offset)));
        return admin.deleteRecords(before).all().get();
    }

    private static Map<TopicPartition, Long> offsetsIn(JsonNode request) {
        var offsets = new HashMap<TopicPartition, Long>();
        request.get("offsets").fields().forEachRemaining(entry ->
                offsets.put(new TopicPartition(topic(request), Integer.parseInt(entry.getKey())), entry.getValue().asLong()));
        return offsets;
    }

    /** What the coordinator says of a group: its state, and of each client id its member id and assignment. */
    private Object describeGroup(JsonNode request) throws Exception {
        String name = request.get("group").asText();
        var group = admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        var members = new TreeMap<String, Object>();
        for (var member : group.members()) {
            var owned = member.assignment().topicPartitions().stream().map(at -> List.of(at.topic(), at.partition()));
            members.put(member.clientId(), Map.of("id", member.consumerId(), "owned", owned.toList()));
        }
        return Map.of("state", group.groupState().toString(), "members", members);
    }

    private List<TopicPartition> partitions(String topic) throws InterruptedException, ExecutionException {
        return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
                .map(info -> new TopicPartition(topic, info.partition())).toList();
    }

    private static String topic(JsonNode request) {
        return request.get("topic").asText();
    }

    private static Map<String, String> texts(JsonNode object) {
        var texts = new TreeMap<String, String>();
        object.fields().forEachRemaining(field -> texts.put(field.getKey(), field.getValue().asText()));
        return texts;
    }
}
