import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Answers cases by the original assignors: a case in JSON on each line of the input, its answer on a line of the output.
 *
 * A case is one of tests/fixtures/vectors without its answer. With "in_order": true the assignor gets its members in a map
 * that iterates in the order of the case, and not in a HashMap filled in that order. A line with "benchmark" is measured.
 * What an assignor throws is an answer; a case that cannot be put together ends the process.
 */
public class Oracle {
    public static void main(String[] args) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream answers = System.out;
        ObjectMapper json = new ObjectMapper();
        json.getFactory().enable(JsonGenerator.Feature.ESCAPE_NON_ASCII);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Map request = (Map) json.readValue(line, Map.class);
            answers.println(json.writeValueAsString(answer(request)));
            answers.flush();
        }
    }

    private static Map answer(Map request) throws Exception {
        if (request.containsKey("benchmark")) {
            return Benchmark.run((Map) request.get("benchmark"));
        }
        Map answer = new LinkedHashMap();
        answer.put("id", request.get("id"));
        try {
            answer.put("expected", Collections.singletonMap("assignment", assign(request)));
        } catch (ThrownByOriginal thrown) {
            String message = thrown.getCause().getMessage();
            String name = thrown.getCause().getClass().getSimpleName();
            answer.put("error", message == null ? name : name + ": " + message);
        }
        return answer;
    }

    private static Map assign(Map request) throws ThrownByOriginal {
        String assignor = (String) request.get("assignor");
        Map input = (Map) request.get("input");
        boolean inOrder = Boolean.TRUE.equals(request.get("in_order"));
        if (assignor.equals("kafka.streams.sticky")) {
            return StreamsGroup.assign(input, inOrder);
        }
        if (assignor.startsWith("kafka.server.")) {
            return BrokerGroup.assign(assignor, input, inOrder);
        }
        return ClientGroup.assign(assignor, input, inOrder);
    }

    /** Wraps what an assignor threw. */
    static class ThrownByOriginal extends Exception {
        ThrownByOriginal(RuntimeException cause) {
            super(cause);
        }
    }
}
