import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/**
 * One consumer of a share group, which acknowledges each record as it was told last. It ends with its input.
 *
 * The first line of input is the broker's address; every other one is a command, a JSON object.
 * {"do": "start", "group", "topic"}   {"do": "answer", "with": "ACCEPT" | "RELEASE" | "REJECT" | "HOLD" | "NOTHING",
 * "until"}
 * With HOLD it keeps what it gets next until it is told otherwise; with NOTHING it polls no more, and also once it has
 * acknowledged a record that was delivered "until" times. Events go to standard output: "answers" once it does as told
 * last, and each acknowledgment (or record held), with the delivery count.
 */
public class ShareMember {
    static final ObjectMapper JSON = new ObjectMapper();
    static volatile String with = "ACCEPT";
    static volatile int until = Integer.MAX_VALUE;

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        final String bootstrap = lines.readLine();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            final Map asked = (Map) JSON.readValue(line, Map.class);
            if ("start".equals(asked.get("do"))) {
                Thread thread = new Thread() {
                    public void run() {
                        consume(bootstrap, (String) asked.get("group"), (String) asked.get("topic"));
                    }
                };
                thread.setDaemon(true);
                thread.start();
            } else {
                Object most = asked.get("until");
                until = most == null ? Integer.MAX_VALUE : ((Integer) most).intValue();
                with = (String) asked.get("with");
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static void consume(String bootstrap, String group, String topic) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("group.id", group);
        properties.put("share.acknowledgement.mode", "explicit");
        properties.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        properties.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
        try {
            KafkaShareConsumer consumer = new KafkaShareConsumer(properties);
            consumer.subscribe(Collections.singletonList(topic));
            String before = "";
            while (true) {
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
                    if ("HOLD".equals(now)) {
                        tell(now, describe(record));
                        while ("HOLD".equals(with)) {
                            Thread.sleep(50);
                        }
                        now = "RELEASE";
                    }
                    consumer.acknowledge(record, AcknowledgeType.valueOf(now));
                    tell(now, describe(record));
                    if (((Short) record.deliveryCount().orElse(Short.valueOf((short) 0))).intValue() >= until) {
                        with = "NOTHING";
                    }
                }
                consumer.commitSync();
            }
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
