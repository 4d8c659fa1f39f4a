package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command-line tools by the name of their class, one after another in this process: what one prints, and the status with
 * which it would have ended. Starting a process for each takes longer than what they do.
 */
final class Tool implements Client.Verb {
    private static final int TIMEOUT_MS = 60_000;
    private static final int NOT_ENDED = -1;
    private final Printed out = new Printed();
    private final Printed err = new Printed();
    private final List<Runnable> hooks = new ArrayList<>();

    /** Takes the place of the process's end; no tool catches errors of this kind. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1;
    }

    /** One stream for the whole life of the process, since some classes keep the first that they see. */
    private static final class Printed extends OutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int value) {
            bytes.write(value);
        }

        synchronized String take() {
            String text = bytes.toString();
            bytes.reset();
            return text;
        }
    }

    @Override
    public Object answer(JsonNode request) throws Exception {
        var status = new AtomicInteger(NOT_ENDED);
        Exit.setExitProcedure((code, message) -> end(status, code));
        Exit.setHaltProcedure((code, message) -> end(status, code));
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        System.setOut(new PrintStream(out, true));
        System.setErr(new PrintStream(err, true));
        System.setIn(new ByteArrayInputStream(request.path("input").asText("").getBytes()));
        var main = Class.forName(request.get("class").asText()).getMethod("main", String[].class);
        String[] arguments = Client.JSON.convertValue(request.get("arguments"), String[].class);
        var tool = new Thread(() -> run(status, () -> main.invoke(null, (Object) arguments)), "tool");
        tool.setDaemon(true);
        tool.start();
        tool.join(TIMEOUT_MS);
        return Map.of("status", status.get(), "out", out.take(), "err", err.take());
    }

    private interface Main {
        void call() throws ReflectiveOperationException;
    }

    /** The shutdown hooks run as they would at the end of the process: a producer of the console flushes there. */
    private void run(AtomicInteger status, Main main) {
        try {
            main.call();
            status.compareAndSet(NOT_ENDED, 0);
        } catch (ReflectiveOperationException failed) {
            if (!(failed.getCause() instanceof Ended)) {
                failed.getCause().printStackTrace();
                status.compareAndSet(NOT_ENDED, 1);
            }
        }
        hooks.forEach(Runnable::run);
        hooks.clear();
    }

    private static void end(AtomicInteger status, int code) {
        status.compareAndSet(NOT_ENDED, code);
        throw new Ended();
    }
}
