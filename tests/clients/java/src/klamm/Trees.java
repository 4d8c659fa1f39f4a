package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Optional;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.record.Records;

/**
 * Messages as JSON trees, by the converters that Kafka generates. A tree that is to become a message may leave out what has a
 * default, and may have fields that the version lacks: one tree serves every version.
 */
final class Trees {
    private Trees() {
    }

    static ApiMessage message(ApiMessage empty, JsonNode tree, short version) throws Exception {
        JsonNode filled = filled(empty.getClass(), tree, version);
        return (ApiMessage) converter(empty.getClass()).getMethod("read", JsonNode.class, short.class).invoke(null, filled, version);
    }

    /** Errors by name, and fetched batches down to each record. */
    static JsonNode tree(ApiMessage message, short version) throws Exception {
        JsonNode tree = written(message, version);
        nameErrors(tree);
        if (message instanceof FetchResponseData fetched) {
            addRecords(tree, fetched);
        }
        return tree;
    }

    private static JsonNode written(Message message, short version) throws Exception {
        var write = converter(message.getClass()).getMethod("write", message.getClass(), short.class);
        return (JsonNode) write.invoke(null, message, version);
    }

    /** Of `FetchRequestData.FetchTopic` it is `FetchRequestDataJsonConverter.FetchTopicJsonConverter`. */
    private static Class<?> converter(Class<?> message) throws ClassNotFoundException {
        String name = message.getName().replaceFirst("\\$|$", "JsonConverter$0");
        return Class.forName(message.getEnclosingClass() == null ? name : name + "JsonConverter");
    }

    private static JsonNode filled(Class<?> type, JsonNode tree, short version) throws Exception {
        var empty = (Message) type.getConstructor().newInstance();
        var filled = (ObjectNode) written(empty, version);
        for (var entries = tree.fields(); entries.hasNext(); ) {
            var entry = entries.next();
            Field field = type.getDeclaredField(entry.getKey());
            if (filled.has(entry.getKey()) || isTagged(empty, entry.getKey())) {
                filled.set(entry.getKey(), value(field, entry.getValue(), version));
            }
        }
        return filled;
    }

    /** Tagged fields are not written while they have their default; whoever sets one says in which versions. */
    private static boolean isTagged(Message empty, String field) throws Exception {
        for (short version = empty.lowestSupportedVersion(); version <= empty.highestSupportedVersion(); version++) {
            if (hasAt(empty, version, field)) {
                return false;
            }
        }
        return true;
    }

    /** A part of a message may be of later versions only, whatever it says of itself. */
    private static boolean hasAt(Message empty, short version, String field) throws Exception {
        try {
            return written(empty, version).has(field);
        } catch (InvocationTargetException unwritable) {
            return false;
        }
    }

    private static JsonNode value(Field field, JsonNode value, short version) throws Exception {
        if (value.has("$batches")) {
            return Batches.encode(value.get("$batches"));
        }
        Optional<Class<?>> part = messageIn(field.getGenericType());
        if (part.isEmpty() || value.isNull()) {
            return value;
        }
        if (!value.isArray()) {
            return filled(part.get(), value, version);
        }
        ArrayNode array = Client.JSON.createArrayNode();
        for (JsonNode element : value) {
            array.add(filled(part.get(), element, version));
        }
        return array;
    }

    /** The message type of a field that holds one, or a list or collection of them. */
    private static Optional<Class<?>> messageIn(Type type) {
        if (type instanceof ParameterizedType generic) {
            return messageIn(generic.getActualTypeArguments()[0]);
        }
        if (!(type instanceof Class<?> known)) {
            return Optional.empty();
        }
        if (Message.class.isAssignableFrom(known)) {
            return Optional.of(known);
        }
        return known.getGenericSuperclass() instanceof ParameterizedType collection ? messageIn(collection) : Optional.empty();
    }

    private static void nameErrors(JsonNode tree) {
        if (tree instanceof ObjectNode object && object.has("errorCode")) {
            object.set("errorCode", new TextNode(Errors.forCode((short) object.get("errorCode").asInt()).name()));
        }
        tree.forEach(Trees::nameErrors);
    }

    private static void addRecords(JsonNode tree, FetchResponseData fetched) {
        for (int topic = 0; topic < fetched.responses().size(); topic++) {
            var partitions = fetched.responses().get(topic).partitions();
            for (int partition = 0; partition < partitions.size(); partition++) {
                var node = (ObjectNode) tree.get("responses").get(topic).get("partitions").get(partition);
                node.set("records", Batches.decode((Records) partitions.get(partition).records()));
            }
        }
    }
}
