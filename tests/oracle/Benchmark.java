import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32;

/**
 * Measures one call of an original assignor on a group made by the recipe of tests/benchmarks/recipe.py.
 *
 * Warmed up for 3 s or 40 calls; a call of over 8 s is measured once, and not again.
 */
abstract class Benchmark {
    private static final double WARM_UP_MS = 3000;
    private static final int WARM_UP_CALLS = 40;
    private static final double LONG_MS = 8000;
    private static final double NS_PER_MS = 1e6;

    /** The group as the assignor gets it; called before every measured call. */
    abstract void prepare();

    /** The measured call. */
    abstract void assign();

    /** What the last call gave: a map from member to a map from topic to the numbers of partitions. */
    abstract Map lastAnswer();

    /** Puts the members into the state after the last answer, and takes every tenth one away. */
    abstract void leave();

    static Map run(Map request) {
        String assignor = (String) request.get("assignor");
        Benchmark group = assignor.startsWith("kafka.server.")
            ? (Benchmark) new BrokerBenchmark(assignor, new Recipe(request))
            : (Benchmark) new ClientBenchmark(assignor, new Recipe(request));
        if (request.get("start").equals("leave")) {
            group.prepare();
            group.assign();
            group.leave();
        }
        int runs = ((Number) request.get("runs")).intValue();
        List cpu = new ArrayList();
        List wall = new ArrayList();
        group.measure(runs, cpu, wall);
        Map result = new LinkedHashMap();
        result.put("cpu_ms", cpu);
        result.put("wall_ms", wall);
        result.put("crc32", crc32(group.lastAnswer()));
        return result;
    }

    private void measure(int runs, List cpu, List wall) {
        double spent = 0;
        for (int calls = 0; calls < WARM_UP_CALLS && spent < WARM_UP_MS && runs > 1; calls++) {
            spent += call(cpu, wall);
        }
        if (calledLong(wall)) {
            return;
        }
        cpu.clear();
        wall.clear();
        do {
            call(cpu, wall);
        } while (wall.size() < runs && !calledLong(wall));
    }

    private double call(List cpu, List wall) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        prepare();
        long cpuBefore = threads.getCurrentThreadCpuTime();
        long wallBefore = System.nanoTime();
        assign();
        double wallMs = (System.nanoTime() - wallBefore) / NS_PER_MS;
        cpu.add(Double.valueOf((threads.getCurrentThreadCpuTime() - cpuBefore) / NS_PER_MS));
        wall.add(Double.valueOf(wallMs));
        return wallMs;
    }

    private static boolean calledLong(List wall) {
        return wall.size() > 0 && ((Double) wall.get(wall.size() - 1)).doubleValue() > LONG_MS;
    }

    /** Of the lines "member topic p,p,p", sorted by member, topic and number; who has nothing has no line. */
    private static String crc32(Map answer) {
        CRC32 sum = new CRC32();
        for (Iterator members = new TreeMap(answer).entrySet().iterator(); members.hasNext();) {
            Map.Entry member = (Map.Entry) members.next();
            for (Iterator topics = new TreeMap((Map) member.getValue()).entrySet().iterator(); topics.hasNext();) {
                Map.Entry topic = (Map.Entry) topics.next();
                StringBuilder numbers = new StringBuilder();
                for (Iterator sorted = new TreeSet((List) topic.getValue()).iterator(); sorted.hasNext();) {
                    numbers.append(numbers.length() == 0 ? "" : ",").append(sorted.next());
                }
                if (numbers.length() > 0) {
                    String line = member.getKey() + " " + topic.getKey() + " " + numbers + "\n";
                    sum.update(line.getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        String digits = Long.toHexString(sum.getValue());
        return "00000000".substring(digits.length()) + digits;
    }

    /** Names and subscriptions of a group, all numbered from 0. */
    static class Recipe {
        final int topics;
        final int partitions;
        final int members;
        final boolean half;

        Recipe(Map request) {
            topics = ((Number) request.get("topics")).intValue();
            partitions = ((Number) request.get("partitions")).intValue();
            members = ((Number) request.get("members")).intValue();
            half = ((Boolean) request.get("half")).booleanValue();
        }

        String topic(int number) {
            return "topic-" + padded(number, "0000");
        }

        String member(int number) {
            return "consumer-" + padded(number, "00000");
        }

        /** Half the topics from the member's own number on, in a ring; or all. */
        List subscription(int member) {
            List names = new ArrayList();
            for (int i = 0; i < (half ? topics / 2 : topics); i++) {
                names.add(topic(half ? (member + i) % topics : i));
            }
            return names;
        }

        private static String padded(int number, String zeros) {
            String digits = Integer.toString(number);
            return digits.length() >= zeros.length() ? digits : zeros.substring(digits.length()) + digits;
        }
    }
}
