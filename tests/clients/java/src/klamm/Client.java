package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.TreeMap;

/** The Java client under test: one JSON request a line on standard input, one JSON answer a line on standard output. */
public final class Client {
    static final ObjectMapper JSON = new ObjectMapper();

    /** Does one thing; what it returns is the answer. */
    interface Verb {
        Object answer(JsonNode request) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Verb> verbs = verbs(arguments[0]);
        var requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = requests.readLine()) != null; ) {
            System.out.println(JSON.writeValueAsString(answer(verbs, JSON.readTree(line))));
        }
        System.exit(0);
    }

    private static Map<String, Verb> verbs(String bootstrap) {
        var verbs = new TreeMap<String, Verb>();
        verbs.put("produce", new Produce(bootstrap));
        verbs.put("consume", new Consume(bootstrap));
        new SeekAndPause(bootstrap).addTo(verbs);
        new Members(bootstrap).addTo(verbs);
        new Operator(bootstrap).addTo(verbs);
        verbs.put("expected_partitions", ExpectedPartitions::answer);
        verbs.put("expected_assignment", ExpectedAssignment::answer);
        verbs.put("raw_group", new RawGroup(bootstrap));
        return verbs;
    }

    private static Map<String, Object> answer(Map<String, Verb> verbs, JsonNode request) {
        var answer = new TreeMap<String, Object>();
        try {
            answer.put("ok", verbs.get(request.get("do").asText()).answer(request));
        } catch (Exception error) {
            error.printStackTrace();
            answer.put("error", error.toString());
        }
        return answer;
    }
}
