package klamm;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestHeader;

/** One request at a time over a plain socket, in kafka-clients' own encoding. */
final class Connection implements AutoCloseable {
    private static final int TIMEOUT_MS = 20_000;
    private final Socket socket;
    private RequestHeader sent;
    private int correlationId;

    Connection(String bootstrap) throws IOException {
        String[] address = bootstrap.split(":");
        socket = new Socket(address[0], Integer.parseInt(address[1]));
        socket.setSoTimeout(TIMEOUT_MS);
    }

    void send(AbstractRequest request, ApiKeys api) throws IOException {
        sent = new RequestHeader(api, request.version(), "raw", ++correlationId);
        ByteBuffer bytes = request.serializeWithHeader(sent);
        var frame = ByteBuffer.allocate(Integer.BYTES + bytes.remaining()).putInt(bytes.remaining()).put(bytes);
        socket.getOutputStream().write(frame.array());
    }

    AbstractResponse receive() throws IOException {
        var input = new DataInputStream(socket.getInputStream());
        var bytes = new byte[input.readInt()];
        input.readFully(bytes);
        return AbstractResponse.parseResponse(ByteBuffer.wrap(bytes), sent);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
