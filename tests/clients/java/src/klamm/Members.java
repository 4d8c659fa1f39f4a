package klamm;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
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
        var member = new Member(bootstrap, request);
        member.start(request);
        members.put(request.get("member").asText(), member);
        return null;
    }
}
