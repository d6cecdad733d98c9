import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/**
 * Consumers of share groups, which acknowledge each record as they were told last. They end with their input.
 *
 * The first line of input is the broker's address; every other one is a command, a JSON object.
 * {"do": "start", "group", "topic", "name": optional}   {"do": "close", "name"}
 * {"do": "answer", "with": "ACCEPT" | "RELEASE" | "REJECT" | "NOTHING"}
 * With NOTHING they poll no more. Events go to standard output: "answers" once one does as told last, each
 * acknowledgment, with the delivery count, and "closed".
 */
public class ShareMember {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Set LEAVING = Collections.synchronizedSet(new HashSet());
    static volatile String with = "ACCEPT";

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        final String bootstrap = lines.readLine();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final Map asked = (Map) JSON.readValue(line, Map.class);
            if ("start".equals(asked.get("do"))) {
                Thread thread = new Thread() {
                    public void run() {
                        consume(bootstrap, asked);
                    }
                };
                thread.setDaemon(true);
                thread.start();
            } else if ("close".equals(asked.get("do"))) {
                LEAVING.add(asked.get("name"));
            } else {
                with = (String) asked.get("with");
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static void consume(String bootstrap, Map asked) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("group.id", asked.get("group"));
        properties.put("share.acknowledgement.mode", "explicit");
        properties.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        properties.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        try {
            KafkaShareConsumer consumer = new KafkaShareConsumer(properties);
            consumer.subscribe(Collections.singletonList(asked.get("topic")));
            String before = "";
            while (!LEAVING.contains(asked.get("name"))) {
                String now = with;
                if (!now.equals(before)) {
                    tell("answers", Collections.singletonMap("with", now));
                    before = now;
                }
                if ("NOTHING".equals(now)) {
                    Thread.sleep(100);
                    continue;
                }
                Iterator records = consumer.poll(Duration.ofMillis(200)).iterator();
                while (records.hasNext()) {
                    ConsumerRecord record = (ConsumerRecord) records.next();
                    consumer.acknowledge(record, AcknowledgeType.valueOf(now));
                    tell(now, describe(record));
                }
                consumer.commitSync();
            }
            consumer.close();
            tell("closed", Collections.singletonMap("name", asked.get("name")));
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    static Map describe(ConsumerRecord record) {
        Map fields = new LinkedHashMap();
        fields.put("partition", Integer.valueOf(record.partition()));
        fields.put("offset", Long.valueOf(record.offset()));
        fields.put("count", record.deliveryCount().orElse(Short.valueOf((short) 0)));
        return fields;
    }

    static synchronized void tell(String event, Map fields) throws Exception {
        Map told = new LinkedHashMap(fields);
        told.put("event", event);
        System.out.println(JSON.writeValueAsString(told));
    }
}
