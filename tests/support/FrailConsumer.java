import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Properties;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/**
 * A consumer that dies at one record, with BOOTSTRAP GROUP CLIENT PROTOCOL [INSTANCE]; see frail_consumer.py.
 *
 * It is gone without leaving its group. SIGTERM ends it as a deployment does: it commits, and leaves.
 */
public class FrailConsumer {
    static final String POISON = "poison";
    static volatile boolean ended = false;

    public static void main(String[] words) throws Exception {
        Properties props = new Properties();
        props.put("bootstrap.servers", words[0]);
        props.put("group.id", words[1]);
        props.put("client.id", words[2]);
        props.put("group.protocol", words[3]);
        if (words.length > 4) {
            props.put("group.instance.id", words[4]);
        }
        if (words[3].equals("classic")) {
            props.put("session.timeout.ms", words.length > 4 ? "30000" : "10000");
            props.put("heartbeat.interval.ms", "500");
        }
        props.put("auto.offset.reset", "earliest");
        props.put("auto.commit.interval.ms", "500");
        props.put("max.poll.records", "20");
        props.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        props.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        final Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread() {
            public void run() {
                ended = true;
                try {
                    main.join();
                } catch (InterruptedException error) {
                    return;
                }
            }
        });
        KafkaConsumer consumer = new KafkaConsumer(props);
        consumer.subscribe(Collections.singleton(words[1]));
        while (!ended) {
            ConsumerRecords records = consumer.poll(Duration.ofMillis(200L));
            for (Iterator each = records.iterator(); each.hasNext();) {
                if (POISON.equals(((ConsumerRecord) each.next()).value())) {
                    Runtime.getRuntime().halt(1);
                }
            }
        }
        consumer.close();
    }
}
