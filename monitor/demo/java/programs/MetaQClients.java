import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;

import com.taobao.metamorphosis.Message;
import com.taobao.metamorphosis.client.MetaClientConfig;
import com.taobao.metamorphosis.client.MetaMessageSessionFactory;
import com.taobao.metamorphosis.client.consumer.ConsumerConfig;
import com.taobao.metamorphosis.client.consumer.LoadBalanceStrategy;
import com.taobao.metamorphosis.client.consumer.MessageListener;
import com.taobao.metamorphosis.client.consumer.SimpleMessageConsumer;
import com.taobao.metamorphosis.client.producer.MessageProducer;
import com.taobao.metamorphosis.client.producer.SendResult;
import com.taobao.metamorphosis.cluster.Partition;
import com.taobao.metamorphosis.utils.ZkUtils.ZKConfig;

/**
 * Consumers of MetaQ, which agree in ZooKeeper, and a producer. Arguments: ZooKeeper's hosts, the root, the session
 * limit in ms. STRATEGY is DEFAULT or CONSIST; HOW means nothing. The consumer's id is GROUP_NAME, or one that the
 * client makes if NAME begins with a dash. Topics are created by the brokers, from their configuration.
 */
public class MetaQClients extends Orders {
    private final String hosts;
    private final String root;
    private final int sessionMs;
    private MessageProducer producer;

    MetaQClients(String[] args) {
        hosts = args[0];
        root = args[1];
        sessionMs = Integer.parseInt(args[2]);
    }

    public static void main(String[] args) {
        new MetaQClients(args).obey();
    }

    private MetaMessageSessionFactory factory() throws Exception {
        MetaClientConfig config = new MetaClientConfig();
        config.setZkConfig(new ZKConfig(root, hosts, sessionMs, 10000, 5000, true));
        return new MetaMessageSessionFactory(config);
    }

    Consumer consumer(String name, String group, String[] topics, String strategy, String how) throws Exception {
        return new Agreeing(name, group, topics, strategy);
    }

    void createTopic(String topic, int partitions) {
        throw new UnsupportedOperationException("the brokers create the topics of their configuration");
    }

    synchronized void send(String topic, int count) throws Exception {
        if (producer == null) {
            producer = factory().createProducer();
        }
        producer.publish(topic);
        for (int i = 0; i < count; i++) {
            SendResult sent = producer.sendMessage(new Message(topic, ("record " + i).getBytes("UTF-8")));
            if (!sent.isSuccess()) {
                throw new IllegalStateException(sent.getErrorMessage());
            }
        }
    }

    /** A consumer with a ZooKeeper session of its own. */
    class Agreeing extends Consumer implements MessageListener {
        private final MetaMessageSessionFactory factory;
        private final SimpleMessageConsumer client;

        Agreeing(String name, String group, String[] topics, String strategy) throws Exception {
            factory = factory();
            ConsumerConfig config = new ConsumerConfig(group);
            if (!name.startsWith("-")) {
                config.setConsumerId(name);
            }
            config.setLoadBalanceStrategyType(LoadBalanceStrategy.Type.valueOf(strategy));
            config.setCommitOffsetPeriodInMills(1000L);
            config.setMaxDelayFetchTimeInMills(500L);
            config.setFetchRunnerCount(2);
            client = (SimpleMessageConsumer) factory.createConsumer(config);
            for (int i = 0; i < topics.length; i++) {
                client.subscribe(topics[i], 1024 * 1024, this);
            }
            client.completeSubscribe();
        }

        public void recieveMessages(Message message) throws InterruptedException {
            take();
        }

        public Executor getExecutor() {
            return null; // in the thread that fetches
        }

        List holds() throws Exception {
            List held = new ArrayList();
            Map owned = factory.getConsumerZooKeeper().getBrokerConnectionListener(client.getFetchManager())
                .getTopicPartitions();
            for (Iterator topics = owned.entrySet().iterator(); topics.hasNext();) {
                Map.Entry topic = (Map.Entry) topics.next();
                for (Iterator each = ((Set) topic.getValue()).iterator(); each.hasNext();) {
                    Partition partition = (Partition) each.next();
                    held.add(topic.getKey() + " " + partition.getBrokerId() + "-" + partition.getPartition());
                }
            }
            return held;
        }

        void close() throws Exception {
            client.shutdown();
            factory.shutdown();
        }
    }
}
