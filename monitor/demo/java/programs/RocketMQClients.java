import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Push consumers and a producer. Arguments: the name servers, then the address of every master that gets the topics.
 * STRATEGY is the end of a class name of the client, as in AveragelyByCircle; HOW is concurrently, orderly,
 * broadcasting, or failing COUNT: each record is sent back, at most so many times. The client's id is 127.0.0.1@NAME.
 * A topic to consume may be TOPIC=EXPRESSION of tags, or TOPIC=sql:EXPRESSION; one to send to, TOPIC=TAG.
 *
 * queues TOPIC READ WRITE PERMISSION: change what may be read and written
 * taken NAME: how many records the consumer was given
 */
public class RocketMQClients extends Orders {
    private static final String STRATEGIES = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueue";
    private static final String[] MODELS = {
        "org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel", // version 5
        "org.apache.rocketmq.common.protocol.heartbeat.MessageModel", // version 4
    };
    private static final int ATTEMPTS = 3;
    private final String nameServers;
    private final List masters = new ArrayList();
    private DefaultMQProducer producer;
    private DefaultMQAdminExt admin;

    RocketMQClients(String[] args) {
        nameServers = args[0];
        for (int i = 1; i < args.length; i++) {
            masters.add(args[i]);
        }
    }

    public static void main(String[] args) {
        new RocketMQClients(args).obey();
    }

    Consumer consumer(String name, String group, String[] topics, String strategy, String how) throws Exception {
        return new Push(name, group, topics, strategy, how);
    }

    void createTopic(String topic, int queues) throws Exception {
        changeTopic(new TopicConfig(topic, queues, queues, 6));
    }

    private synchronized void changeTopic(TopicConfig topic) throws Exception {
        if (admin == null) {
            admin = new DefaultMQAdminExt(10000L);
            admin.setNamesrvAddr(nameServers);
            admin.setInstanceName("admin-" + System.nanoTime());
            admin.start();
        }
        for (Iterator each = masters.iterator(); each.hasNext();) {
            admin.createAndUpdateTopicConfig((String) each.next(), topic);
        }
    }

    void send(String topic, int count) throws Exception {
        synchronized (this) {
            if (producer == null) {
                producer = new DefaultMQProducer("producers");
                producer.setNamesrvAddr(nameServers);
                producer.setClientIP("127.0.0.1");
                producer.setInstanceName("producer-" + System.nanoTime());
                producer.setSendMsgTimeout(10000);
                producer.start();
            }
        }
        String[] named = topic.split("=", 2);
        for (int i = 0; i < count; i++) {
            byte[] body = ("record " + i).getBytes("UTF-8");
            producer.send(named.length == 1 ? new Message(topic, body) : new Message(named[0], named[1], body));
        }
    }

    String obeyedHere(String[] words) throws Exception {
        if (words[0].equals("taken")) {
            return "\t" + ((Push) named(words[1])).taken;
        }
        if (!words[0].equals("queues")) {
            return super.obeyedHere(words);
        }
        int read = Integer.parseInt(words[2]);
        changeTopic(new TopicConfig(words[1], read, Integer.parseInt(words[3]), Integer.parseInt(words[4])));
        return "";
    }

    /** A push consumer: the client pulls, and calls the listener. */
    class Push extends Consumer implements MessageListenerConcurrently {
        private final DefaultMQPushConsumer client;
        private boolean fails;
        private int taken;

        Push(String name, String group, String[] topics, String strategy, String how) throws Exception {
            client = started(name, group, topics, strategy, how);
        }

        /** A start asks a name server once, and fails if the connection was lost while the machine stalled. */
        private DefaultMQPushConsumer started(String name, String group, String[] topics, String strategy, String how)
            throws Exception {
            for (int attempt = 1;; attempt++) {
                DefaultMQPushConsumer made = made(name, group, topics, strategy, how);
                try {
                    made.start();
                    return made;
                } catch (IllegalStateException failed) {
                    made.shutdown();
                    if (attempt == ATTEMPTS) {
                        throw failed;
                    }
                }
            }
        }

        private DefaultMQPushConsumer made(String name, String group, String[] topics, String strategy, String how)
            throws Exception {
            DefaultMQPushConsumer made = new DefaultMQPushConsumer(group);
            made.setNamesrvAddr(nameServers);
            made.setClientIP("127.0.0.1");
            made.setInstanceName(name);
            made.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            made.setConsumeThreadMin(2);
            made.setConsumeThreadMax(2);
            made.setPersistConsumerOffsetInterval(1000);
            made.setAllocateMessageQueueStrategy(
                (AllocateMessageQueueStrategy) Class.forName(STRATEGIES + strategy).newInstance());
            if (how.equals("broadcasting")) {
                broadcast(made);
            }
            if (how.startsWith("failing ")) {
                fails = true;
                made.setMaxReconsumeTimes(Integer.parseInt(how.substring("failing ".length())));
            }
            for (int i = 0; i < topics.length; i++) {
                subscribe(made, topics[i].split("=", 2));
            }
            if (how.equals("orderly")) {
                made.registerMessageListener(new Ordered(this));
            } else {
                made.registerMessageListener((MessageListenerConcurrently) this);
            }
            return made;
        }

        private void subscribe(DefaultMQPushConsumer made, String[] topic) throws Exception {
            if (topic.length > 1 && topic[1].startsWith("sql:")) {
                made.subscribe(topic[0], MessageSelector.bySql(topic[1].substring("sql:".length())));
            } else {
                made.subscribe(topic[0], topic.length > 1 ? topic[1] : "*");
            }
        }

        private void broadcast(DefaultMQPushConsumer made) throws Exception {
            Class model = null;
            for (int i = 0; i < MODELS.length && model == null; i++) {
                try {
                    model = Class.forName(MODELS[i]);
                } catch (ClassNotFoundException other) {
                    continue;
                }
            }
            Method setter = DefaultMQPushConsumer.class.getMethod("setMessageModel", new Class[] {model});
            setter.invoke(made, new Object[] {model.getField("BROADCASTING").get(null)});
        }

        public ConsumeConcurrentlyStatus consumeMessage(List messages, ConsumeConcurrentlyContext context) {
            try {
                take();
            } catch (InterruptedException ended) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            synchronized (this) {
                taken += messages.size();
            }
            return fails ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        }

        List holds() {
            List held = new ArrayList();
            Iterator queues = client.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable()
                .keySet().iterator();
            while (queues.hasNext()) {
                MessageQueue queue = (MessageQueue) queues.next();
                if (!queue.getTopic().startsWith("%RETRY%")) {
                    held.add(queue.getTopic() + " " + queue.getBrokerName() + "-" + queue.getQueueId());
                }
            }
            return held;
        }

        void close() {
            client.shutdown();
        }
    }

    /** The listener of a consumer that takes the records of a queue in order. */
    static class Ordered implements MessageListenerOrderly {
        private final Consumer consumer;

        Ordered(Consumer consumer) {
            this.consumer = consumer;
        }

        public ConsumeOrderlyStatus consumeMessage(List messages, ConsumeOrderlyContext context) {
            try {
                consumer.take();
            } catch (InterruptedException ended) {
                return ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
            }
            return ConsumeOrderlyStatus.SUCCESS;
        }
    }
}
