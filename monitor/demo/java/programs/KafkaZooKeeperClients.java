import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import kafka.admin.AdminUtils;
import kafka.admin.RackAwareMode;
import kafka.consumer.Blacklist;
import kafka.consumer.ConsumerConfig;
import kafka.consumer.ConsumerIterator;
import kafka.consumer.ConsumerThreadId;
import kafka.consumer.KafkaStream;
import kafka.consumer.Whitelist;
import kafka.javaapi.consumer.ConsumerRebalanceListener;
import kafka.javaapi.consumer.ZookeeperConsumerConnector;
import kafka.utils.ZkUtils;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * High-level consumers of Kafka 0.8-0.10, which agree in ZooKeeper, and a producer. Arguments: ZooKeeper's hosts with
 * chroot, the broker's address, the session limit in ms. STRATEGY is range or roundrobin; HOW is the number of threads,
 * with "white" or "black" before it if the only topic is a pattern ("white 2"). The consumer's id is GROUP_NAME.
 */
public class KafkaZooKeeperClients extends Orders {
    private final String hosts;
    private final String broker;
    private final String sessionMs;
    private KafkaProducer producer;
    private long sent = 0;

    KafkaZooKeeperClients(String[] args) {
        hosts = args[0];
        broker = args[1];
        sessionMs = args[2];
    }

    public static void main(String[] args) {
        new KafkaZooKeeperClients(args).obey();
    }

    Consumer consumer(String name, String group, String[] topics, String strategy, String how) throws Exception {
        return new HighLevel(name, group, topics, strategy, how);
    }

    void createTopic(String topic, int partitions) throws Exception {
        ZkUtils zookeeper = ZkUtils.apply(hosts, 10000, 10000, false);
        try {
            RackAwareMode mode = (RackAwareMode) Class.forName("kafka.admin.RackAwareMode$Enforced$")
                .getField("MODULE$").get(null);
            AdminUtils.createTopic(zookeeper, topic, partitions, 1, new Properties(), mode);
        } finally {
            zookeeper.close();
        }
    }

    synchronized void send(String topic, int count) throws Exception {
        if (producer == null) {
            Properties props = new Properties();
            props.put("bootstrap.servers", broker);
            props.put("acks", "all");
            props.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            props.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            producer = new KafkaProducer(props);
        }
        int partitions = producer.partitionsFor(topic).size();
        for (int i = 0; i < count; i++) {
            int partition = (int) (sent++ % partitions);
            producer.send(new ProducerRecord(topic, new Integer(partition), null, ("record " + i).getBytes("UTF-8")));
        }
        producer.flush();
    }

    /** A connector with its threads, each of which reads a stream. */
    class HighLevel extends Consumer implements ConsumerRebalanceListener {
        private final ZookeeperConsumerConnector client;
        private List held = new ArrayList();

        HighLevel(String name, String group, String[] topics, String strategy, String how) throws Exception {
            Properties props = new Properties();
            props.put("zookeeper.connect", hosts);
            props.put("zookeeper.session.timeout.ms", sessionMs);
            props.put("zookeeper.sync.time.ms", "200");
            props.put("group.id", group);
            props.put("consumer.id", name);
            props.put("auto.offset.reset", "smallest");
            props.put("auto.commit.interval.ms", "1000");
            props.put("partition.assignment.strategy", strategy);
            props.put("rebalance.max.retries", "10");
            client = new ZookeeperConsumerConnector(new ConsumerConfig(props));
            client.setConsumerRebalanceListener(this);
            String[] words = how.split(" ");
            int threads = Integer.parseInt(words[words.length - 1]);
            if (words.length == 1) {
                Map counts = new HashMap();
                for (int i = 0; i < topics.length; i++) {
                    counts.put(topics[i], new Integer(threads));
                }
                for (Iterator each = client.createMessageStreams(counts).values().iterator(); each.hasNext();) {
                    read((List) each.next());
                }
            } else if (words[0].equals("white")) {
                read(client.createMessageStreamsByFilter(new Whitelist(topics[0]), threads));
            } else {
                read(client.createMessageStreamsByFilter(new Blacklist(topics[0]), threads));
            }
        }

        private void read(List streams) {
            for (Iterator each = streams.iterator(); each.hasNext();) {
                final ConsumerIterator records = ((KafkaStream) each.next()).iterator();
                Thread thread = new Thread("reader") {
                    public void run() {
                        try {
                            while (records.hasNext()) {
                                records.next();
                                take();
                            }
                        } catch (InterruptedException ended) {
                            return;
                        }
                    }
                };
                thread.setDaemon(true);
                thread.start();
            }
        }

        public synchronized void beforeReleasingPartitions(Map owned) {
            held = new ArrayList();
        }

        public synchronized void beforeStartingFetchers(String consumer, Map assigned) {
            held = new ArrayList();
            for (Iterator topics = assigned.entrySet().iterator(); topics.hasNext();) {
                Map.Entry topic = (Map.Entry) topics.next();
                Iterator partitions = ((Map) topic.getValue()).entrySet().iterator();
                while (partitions.hasNext()) {
                    Map.Entry partition = (Map.Entry) partitions.next();
                    if (((ConsumerThreadId) partition.getValue()).consumer().equals(consumer)) {
                        held.add(topic.getKey() + " " + partition.getKey());
                    }
                }
            }
        }

        synchronized List holds() {
            return held;
        }

        void close() {
            client.shutdown();
        }
    }
}
