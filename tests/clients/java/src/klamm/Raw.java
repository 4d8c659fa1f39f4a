package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;

/**
 * Requests from JSON trees as bytes, and answers as trees, over plain sockets that have names. Nothing is made up, put right or
 * tried again; what a client would do of its own accord is not done here.
 */
final class Raw {
    private static final int TIMEOUT_MS = 10_000;
    private static final String CLIENT_ID = "differential";
    private final String bootstrap;
    private final Map<String, Wire> wires = new HashMap<>();

    /** A socket, and what was asked over it and is not answered yet. */
    private record Wire(Socket socket, ArrayDeque<Asked> asked) {
    }

    private record Asked(ApiMessageType api, short version) {
    }

    Raw(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    void addTo(Map<String, Client.Verb> verbs) {
        verbs.put("raw_send", this::send);
        verbs.put("raw_receive", this::receive);
        verbs.put("raw_apis", Raw::apis);
        verbs.put("raw_close", this::close);
    }

    /** A request that is `silent` has no answer. `frame` as hexadecimal goes as it is; else `body`, filled up with the defaults of `version`. The answer is the frame. */
    private Object send(JsonNode request) throws Exception {
        ApiMessageType api = api(request.get("api").asText());
        short version = (short) request.get("version").asInt();
        byte[] frame = request.has("frame") ? HexFormat.of().parseHex(request.get("frame").asText())
                : encode(api, version, request.get("body"));
        Wire wire = wire(request);
        if (!request.path("silent").asBoolean()) {
            wire.asked.add(new Asked(api, version));
        }
        wire.socket.getOutputStream().write(
                ByteBuffer.allocate(Integer.BYTES + frame.length).putInt(frame.length).put(frame).array());
        return HexFormat.of().formatHex(frame);
    }

    private static byte[] encode(ApiMessageType api, short version, JsonNode body) throws Exception {
        var header = new RequestHeaderData().setRequestApiKey(api.apiKey()).setRequestApiVersion(version)
                .setCorrelationId(1).setClientId(CLIENT_ID);
        ByteBuffer head = MessageUtil.toByteBufferAccessor(header, api.requestHeaderVersion(version)).buffer();
        ByteBuffer rest = MessageUtil.toByteBufferAccessor(Trees.message(api.newRequest(), body, version), version).buffer();
        return ByteBuffer.allocate(head.remaining() + rest.remaining()).put(head).put(rest).array();
    }

    /** The answer to the oldest request, or `closed` when the broker closed the connection instead. */
    private Object receive(JsonNode request) throws Exception {
        Wire wire = wire(request);
        Asked asked = wire.asked.remove();
        try {
            var input = new DataInputStream(wire.socket.getInputStream());
            var bytes = new byte[input.readInt()];
            input.readFully(bytes);
            return Map.of("answer", decode(asked, ByteBuffer.wrap(bytes)));
        } catch (EOFException | SocketException gone) {
            close(request);
            return Map.of("closed", true);
        } catch (Exception unusable) {
            // What comes next over it could be the answer to this one.
            close(request);
            throw unusable;
        }
    }

    private static JsonNode decode(Asked asked, ByteBuffer bytes) throws Exception {
        var readable = new ByteBufferAccessor(bytes);
        new ResponseHeaderData(readable, asked.api.responseHeaderVersion(asked.version));
        var answer = asked.api.newResponse();
        answer.read(readable, asked.version);
        if (bytes.hasRemaining()) {
            throw new IOException(bytes.remaining() + " bytes behind the answer to " + asked);
        }
        return Trees.tree(answer, asked.version);
    }

    private Object close(JsonNode request) throws IOException {
        Wire wire = wires.remove(request.get("connection").asText());
        if (wire != null) {
            wire.socket.close();
        }
        return null;
    }

    private Wire wire(JsonNode request) throws IOException {
        String name = request.get("connection").asText();
        if (!wires.containsKey(name)) {
            String[] address = bootstrap.split(":");
            var socket = new Socket(address[0], Integer.parseInt(address[1]));
            socket.setSoTimeout(TIMEOUT_MS);
            wires.put(name, new Wire(socket, new ArrayDeque<>()));
        }
        return wires.get(name);
    }

    /** By its name in the protocol guide, such as `CreateTopics`. */
    private static ApiMessageType api(String name) {
        return Arrays.stream(ApiMessageType.values()).filter(api -> api.name.equals(name)).findFirst().orElseThrow();
    }

    /** Of each API its key and the lowest version that is more than a name: Produce announces three that are refused. */
    private static Object apis(JsonNode request) {
        return Arrays.stream(ApiMessageType.values()).collect(
                Collectors.toMap(api -> api.name, api -> List.of(api.apiKey(), api.lowestSupportedVersion())));
    }
}
