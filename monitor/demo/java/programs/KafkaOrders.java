import java.util.Collections;
import java.util.Properties;

import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** What programs with Kafka's own clients have in common: topics, a producer, and the settings of any consumer. */
abstract class KafkaOrders extends Orders {
    static final String DESERIALIZER = "org.apache.kafka.common.serialization.StringDeserializer";
    private static final String SERIALIZER = "org.apache.kafka.common.serialization.StringSerializer";
    private final String bootstrap;
    private KafkaProducer producer;
    private long sent;

    KafkaOrders(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    void createTopic(String topic, int partitions) throws Exception {
        AdminClient admin = AdminClient.create(settings());
        try {
            admin.createTopics(Collections.singleton(new NewTopic(topic, partitions, (short) 1))).all().get();
        } finally {
            admin.close();
        }
    }

    synchronized void send(String topic, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            write(topic, "record " + sent);
        }
        producer.flush();
    }

    synchronized void sendOne(String topic, String value) {
        write(topic, value);
        producer.flush();
    }

    /** The client id of a consumer is its name. */
    Properties consumerSettings(String name, String group) {
        Properties settings = settings();
        settings.put("group.id", group);
        settings.put("client.id", name);
        settings.put("key.deserializer", DESERIALIZER);
        settings.put("value.deserializer", DESERIALIZER);
        return settings;
    }

    private void write(String topic, String value) {
        if (producer == null) {
            Properties settings = settings();
            settings.put("key.serializer", SERIALIZER);
            settings.put("value.serializer", SERIALIZER);
            producer = new KafkaProducer(settings);
        }
        int partition = (int) (sent++ % producer.partitionsFor(topic).size());
        producer.send(new ProducerRecord(topic, Integer.valueOf(partition), null, value));
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        return settings;
    }
}
