import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Pods with a consumer each, which take a while for each record; see consumers.py. The first line of the input is the
 * address of a broker, each further one an order as a JSON object. What happens is an object a line of the output.
 *
 * {"do": "start", "name", "group", "topic", "work_ms", "backoff_ms", "backoff_limit_ms", "props"}
 * {"do": "stop", "name"}: it commits what it has processed, and leaves
 * {"do": "cure", "topic"}: from now on a record "poison" is like any other
 *
 * A pod that meets the record "poison" dies: it leaves without a commit, and starts again after a pause that doubles
 * each time, as Kubernetes does (CrashLoopBackOff). Events: started, died, stopped, failed, and each second
 * {"event": "state", "groups": {GROUP: {"generation", "members"}}}, with the members that own partitions.
 */
public class Pods {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map PODS = new ConcurrentHashMap();
    static final Map GENERATIONS = new ConcurrentHashMap();
    static final Map CURED = new ConcurrentHashMap();
    static final String POISON = "poison";
    static final long COMMIT_EACH_MS = 1000L;

    public static void main(String[] args) {
        try {
            obey();
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    static void obey() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String bootstrap = lines.readLine();
        Thread reporter = new Thread(new Reporter());
        reporter.setDaemon(true);
        reporter.start();
        String line;
        while ((line = lines.readLine()) != null) {
            Map order = (Map) JSON.readValue(line, Map.class);
            String what = (String) order.get("do");
            if (what.equals("start")) {
                Pod pod = new Pod(bootstrap, order);
                PODS.put(pod.name, pod);
                new Thread(pod, pod.name).start();
            } else if (what.equals("cure")) {
                CURED.put(order.get("topic"), Boolean.TRUE);
            } else if (what.equals("stop")) {
                Pod pod = (Pod) PODS.get(order.get("name"));
                if (pod != null) {
                    pod.stop();
                }
            }
        }
    }

    static synchronized void say(Map event) throws Exception {
        System.out.println(JSON.writeValueAsString(event));
        System.out.flush();
    }

    static Map event(String what, String name, String group) {
        Map event = new LinkedHashMap();
        event.put("event", what);
        event.put("name", name);
        event.put("group", group);
        return event;
    }

    static long number(Map order, String key) {
        return ((Number) order.get(key)).longValue();
    }

    /** Tells each second how many members a group has here, and its newest generation. */
    static class Reporter implements Runnable {
        public void run() {
            try {
                while (true) {
                    Thread.sleep(1000L);
                    Map groups = new TreeMap();
                    for (Iterator each = PODS.values().iterator(); each.hasNext();) {
                        Pod pod = (Pod) each.next();
                        Map group = (Map) groups.get(pod.group);
                        if (group == null) {
                            group = new LinkedHashMap();
                            group.put("generation", GENERATIONS.get(pod.group));
                            group.put("members", Integer.valueOf(0));
                            groups.put(pod.group, group);
                        }
                        int members = ((Integer) group.get("members")).intValue();
                        group.put("members", Integer.valueOf(members + (pod.owns > 0 ? 1 : 0)));
                    }
                    Map state = new LinkedHashMap();
                    state.put("event", "state");
                    state.put("groups", groups);
                    say(state);
                }
            } catch (Exception error) {
                error.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }
    }

    static class Poisoned extends RuntimeException {
    }

    /** A pod: a consumer that is started again until the pod is stopped. */
    static class Pod implements Runnable, ConsumerRebalanceListener {
        final String name;
        final String group;
        final String topic;
        final long workMs;
        final long backoffMs;
        final long backoffLimitMs;
        final Properties props = new Properties();
        final Map processed = new HashMap();
        volatile int owns = 0;
        private volatile boolean stops = false;
        private KafkaConsumer consumer;
        private long committedMs;

        Pod(String bootstrap, Map order) {
            name = (String) order.get("name");
            group = (String) order.get("group");
            topic = (String) order.get("topic");
            workMs = number(order, "work_ms");
            backoffMs = number(order, "backoff_ms");
            backoffLimitMs = number(order, "backoff_limit_ms");
            props.put("bootstrap.servers", bootstrap);
            props.put("group.id", group);
            props.put("client.id", name);
            props.put("enable.auto.commit", "false");
            props.put("auto.offset.reset", "earliest");
            props.put("allow.auto.create.topics", "false");
            props.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            props.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
            props.putAll((Map) order.get("props"));
        }

        synchronized void stop() {
            stops = true;
            notifyAll();
        }

        public void run() {
            long pauseMs = backoffMs;
            try {
                say(event("started", name, group));
                while (!stops) {
                    try {
                        live();
                    } catch (Poisoned death) {
                        say(event("died", name, group));
                        pause(pauseMs);
                        pauseMs = Math.min(2 * pauseMs, backoffLimitMs);
                    }
                }
                PODS.remove(name, this);
                say(event("stopped", name, group));
            } catch (Throwable error) {
                error.printStackTrace();
                fail(error);
            }
        }

        private void fail(Throwable error) {
            try {
                Map failed = event("failed", name, group);
                failed.put("error", error.toString());
                say(failed);
            } catch (Exception again) {
                again.printStackTrace();
            }
        }

        synchronized void pause(long milliseconds) throws InterruptedException {
            long until = System.currentTimeMillis() + milliseconds;
            long left = milliseconds;
            while (!stops && left > 0L) {
                wait(left);
                left = until - System.currentTimeMillis();
            }
        }

        /** The life of a process: until the pod is stopped, or the process dies. */
        private void live() throws Exception {
            consumer = new KafkaConsumer(props);
            processed.clear();
            committedMs = System.currentTimeMillis();
            try {
                consumer.subscribe(Collections.singleton(topic), this);
                while (!stops) {
                    ConsumerRecords records = consumer.poll(Duration.ofMillis(200L));
                    note();
                    for (Iterator each = records.iterator(); each.hasNext() && !stops;) {
                        process((ConsumerRecord) each.next());
                        commitEachSecond();
                    }
                    commitEachSecond();
                }
                commit();
            } finally {
                owns = 0;
                consumer.close();
            }
        }

        private void note() {
            owns = consumer.assignment().size();
            Integer seen = (Integer) GENERATIONS.get(group);
            int now = consumer.groupMetadata().generationId();
            if (now >= 0 && (seen == null || seen.intValue() < now)) {
                GENERATIONS.put(group, Integer.valueOf(now));
            }
        }

        private void process(ConsumerRecord record) throws InterruptedException {
            if (POISON.equals(record.value()) && !CURED.containsKey(topic)) {
                throw new Poisoned();
            }
            Thread.sleep(workMs);
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            processed.put(partition, new OffsetAndMetadata(record.offset() + 1L));
        }

        private void commitEachSecond() {
            if (System.currentTimeMillis() - committedMs >= COMMIT_EACH_MS) {
                committedMs = System.currentTimeMillis();
                consumer.commitAsync(new HashMap(processed), null);
            }
        }

        private void commit() {
            try {
                consumer.commitSync(new HashMap(processed), Duration.ofSeconds(5L));
            } catch (RuntimeException error) {
                return; // a rebalance came between, or the broker is away: others read these records again
            }
        }

        public void onPartitionsAssigned(Collection partitions) {
        }

        public void onPartitionsRevoked(Collection partitions) {
            commit();
            processed.keySet().removeAll(partitions);
        }

        public void onPartitionsLost(Collection partitions) {
            processed.keySet().removeAll(partitions);
        }
    }
}
