import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Properties;

import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/**
 * Consumers of share groups, and a producer. Argument: the address of a broker. The client id of a consumer is its name.
 * STRATEGY is empty. HOW is for how many ms a consumer holds a poison record before it releases it; it accepts all
 * others. A consumer that hangs polls no more, and has its heartbeats sent.
 *
 * answer NAME TYPE COUNT: it acknowledges with ACCEPT, RELEASE or REJECT from now on, or holds what it gets (HOLD) until
 * it is told otherwise, and releases it then. It hangs once it has acknowledged a record that was delivered COUNT times.
 * deliveries NAME: the highest delivery count that it has seen, and how many records it was given
 * poison TOPIC: send one poison record
 */
public class KafkaShareClients extends KafkaOrders {
    private static final String POISON = "poison";

    KafkaShareClients(String bootstrap) {
        super(bootstrap);
    }

    public static void main(String[] args) {
        new KafkaShareClients(args[0]).obey();
    }

    Consumer consumer(String name, String group, String[] topics, String strategy, String how) throws Exception {
        return new Member(name, group, topics, Long.parseLong(how));
    }

    String obeyedHere(String[] words) throws Exception {
        if (words[0].equals("answer")) {
            Member member = (Member) named(words[1]);
            member.until = Integer.parseInt(words[3]);
            member.answer = words[2];
        } else if (words[0].equals("deliveries")) {
            Member member = (Member) named(words[1]);
            return "\t" + member.deliveries + "\t" + member.received;
        } else if (words[0].equals("poison")) {
            sendOne(words[1], POISON);
        } else {
            return super.obeyedHere(words);
        }
        return "";
    }

    /** A consumer with a thread of its own. */
    class Member extends Consumer implements Runnable {
        volatile String answer = "ACCEPT";
        volatile int until = Integer.MAX_VALUE;
        volatile int deliveries;
        volatile int received;
        private volatile boolean leaves;
        private final KafkaShareConsumer client;
        private final long holdsMs;
        private final Thread thread;

        Member(String name, String group, String[] topics, long holdsMs) {
            Properties settings = consumerSettings(name, group);
            settings.put("share.acknowledgement.mode", "explicit");
            client = new KafkaShareConsumer(settings);
            client.subscribe(Arrays.asList(topics));
            this.holdsMs = holdsMs;
            thread = new Thread(this, name);
            thread.setDaemon(true);
            thread.start();
        }

        public void run() {
            try {
                while (!leaves) {
                    take();
                    for (Iterator records = client.poll(Duration.ofMillis(200)).iterator(); records.hasNext();) {
                        acknowledge((ConsumerRecord) records.next());
                    }
                    client.commitSync();
                }
                client.close();
            } catch (Throwable error) {
                error.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }

        private void acknowledge(ConsumerRecord record) throws InterruptedException {
            int count = ((Short) record.deliveryCount().orElse(new Short((short) 0))).intValue();
            deliveries = Math.max(deliveries, count);
            received++;
            String type = POISON.equals(record.value()) ? "RELEASE" : answer;
            if (POISON.equals(record.value())) {
                Thread.sleep(holdsMs);
            }
            while (answer.equals("HOLD")) {
                Thread.sleep(50);
                type = "RELEASE";
            }
            client.acknowledge(record, AcknowledgeType.valueOf(type));
            if (count >= until) {
                hang(true);
            }
        }

        /** A consumer of a share group is not told which partitions it may read. */
        List holds() {
            return Collections.EMPTY_LIST;
        }

        void close() throws Exception {
            leaves = true;
            thread.join();
        }
    }
}
