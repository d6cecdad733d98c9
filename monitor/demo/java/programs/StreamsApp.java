import java.util.Properties;

import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;

/**
 * An instance of a Kafka Streams application that counts the records of a topic by key, with a state. It says "running"
 * once it has its tasks, and closes on SIGTERM. Arguments: the broker, the application's id, the topic, the folder of
 * its state, and settings KEY=VALUE.
 */
public class StreamsApp {
    public static void main(String[] args) throws Exception {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, args[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, args[1]);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, args[3]);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class.getName());
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class.getName());
        for (int i = 4; i < args.length; i++) {
            String[] setting = args[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(args[2]).groupByKey().count();
        final KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        streams.setStateListener(new KafkaStreams.StateListener() {
            public void onChange(KafkaStreams.State now, KafkaStreams.State before) {
                if (now == KafkaStreams.State.RUNNING) {
                    System.out.println("running");
                }
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread() {
            public void run() {
                streams.close();
            }
        });
        streams.start();
    }
}
