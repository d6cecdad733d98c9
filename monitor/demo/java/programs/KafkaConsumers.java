import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Properties;

import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Consumers of Kafka's own Java client, and a producer. Argument: the address of a broker. The client id of a consumer is
 * its name. STRATEGY is the class of an assignor of the client, without its package, or "uniform" or "range" for the
 * protocol of KIP-848. HOW is empty, or "uncommitted": it never commits. A consumer that hangs polls no more, and leaves
 * its group after max.poll.interval.ms.
 */
public class KafkaConsumers extends KafkaOrders {
    KafkaConsumers(String bootstrap) {
        super(bootstrap);
    }

    public static void main(String[] args) {
        new KafkaConsumers(args[0]).obey();
    }

    Consumer consumer(String name, String group, String[] topics, String strategy, String how) throws Exception {
        return new Member(name, group, topics, strategy, how);
    }

    /** A consumer with a thread of its own. */
    class Member extends Consumer implements Runnable {
        private volatile List holds = Collections.EMPTY_LIST;
        private volatile boolean leaves;
        private final KafkaConsumer client;
        private final Thread thread;

        Member(String name, String group, String[] topics, String strategy, String how) {
            Properties settings = consumerSettings(name, group);
            if (strategy.endsWith("Assignor")) {
                settings.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + strategy);
            } else {
                settings.put("group.protocol", "consumer");
                settings.put("group.remote.assignor", strategy);
            }
            settings.put("allow.auto.create.topics", "false");
            settings.put("enable.auto.commit", how.equals("uncommitted") ? "false" : "true");
            settings.put("auto.commit.interval.ms", "1000");
            settings.put("fetch.min.bytes", "100000"); // costs little: about one fetch a second
            settings.put("fetch.max.wait.ms", "1000");
            client = new KafkaConsumer(settings);
            client.subscribe(Arrays.asList(topics));
            thread = new Thread(this, name);
            thread.setDaemon(true);
            thread.start();
        }

        public void run() {
            try {
                while (!leaves) {
                    take();
                    client.poll(Duration.ofMillis(250));
                    holds = assigned();
                }
                client.close();
            } catch (Throwable error) {
                error.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }

        private List assigned() {
            List found = new ArrayList();
            for (Iterator partitions = client.assignment().iterator(); partitions.hasNext();) {
                TopicPartition partition = (TopicPartition) partitions.next();
                found.add(partition.topic() + " " + partition.partition());
            }
            return found;
        }

        List holds() {
            return holds;
        }

        void close() throws Exception {
            leaves = true;
            thread.join();
        }
    }
}
