package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Members of groups in this process, by name. */
final class Members {
    private final String bootstrap;
    private final Map<String, Member> members = new HashMap<>();

    Members(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    void addTo(Map<String, Client.Verb> verbs) {
        verbs.put("join", this::join);
        verbs.put("assignment", request -> members.get(request.get("member").asText()).state());
        verbs.put("leave", request -> members.remove(request.get("member").asText()).leave());
    }

    private Object join(JsonNode request) {
        String name = request.get("member").asText();
        List<String> topics = new ArrayList<>();
        request.get("topics").forEach(topic -> topics.add(topic.asText()));
        var member = new Member(bootstrap, name, request.get("group").asText(), request.get("assignor").asText());
        member.start(topics);
        members.put(name, member);
        return null;
    }
}
