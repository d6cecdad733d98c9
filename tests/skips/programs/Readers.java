import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Consumers that note every offset that they read, and producers; commands and events are those of readers.py.
 *
 * Only here: {"do": "fill", "topic", "partition", "records", "few"}: so many records, of which the first "few" are in
 * batches of about ten; told as {"event": "filled", "topic", "partition"}.
 * Only here: "aborts" of a start: the consumer sends its offsets in transactions, and aborts such a share of them.
 */
public class Readers {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map READERS = new ConcurrentHashMap();

    /** Who writes records waits for the broker; no other command does. */
    static final ExecutorService FILLING = Executors.newCachedThreadPool();

    public static void main(String[] args) {
        try {
            obey();
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    static void obey() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        final String bootstrap = lines.readLine();
        String line;
        while ((line = lines.readLine()) != null) {
            final Map asked = (Map) JSON.readValue(line, Map.class);
            String what = (String) asked.get("do");
            if (what.equals("fill")) {
                FILLING.execute(new Runnable() {
                    public void run() {
                        filled(bootstrap, asked);
                    }
                });
            } else if (what.equals("start")) {
                One one = new One(bootstrap, asked);
                READERS.put(asked.get("name"), one);
                new Thread(one).start();
            } else {
                One one = (One) READERS.get(asked.get("name"));
                if (one != null) {  // else it never began, or is closed
                    one.asked.add(asked);
                }
            }
        }
    }

    static KafkaProducer producer(String bootstrap, String batch, String transactions) {
        Properties props = new Properties();
        props.put("bootstrap.servers", bootstrap);
        props.put("batch.size", batch);
        props.put("linger.ms", "5");
        props.put("max.block.ms", "240000");
        props.put("buffer.memory", transactions == null ? "4000000" : "100000");
        props.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        props.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        if (transactions != null) {
            props.put("transactional.id", transactions);
        } else {
            props.put("request.timeout.ms", "10000");
            props.put("delivery.timeout.ms", "20000");
        }
        return new KafkaProducer(props);
    }

    static void filled(String bootstrap, Map asked) {
        try {
            int records = ((Number) asked.get("records")).intValue();
            int few = Math.min(records, ((Number) asked.get("few")).intValue());
            write(bootstrap, "1000", asked, few);
            write(bootstrap, "100000", asked, records - few);
            Map filled = new LinkedHashMap();
            filled.put("event", "filled");
            filled.put("topic", asked.get("topic"));
            filled.put("partition", asked.get("partition"));
            say(filled);
        } catch (Throwable error) {
            error.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /** By a producer of its own: flush() of one that others use waits for what they send to partitions that are new. */
    static void write(String bootstrap, String batch, Map asked, int records) throws Exception {
        Integer partition = (Integer) asked.get("partition");
        for (int left = records; left > 0;) {
            KafkaProducer producer = producer(bootstrap, batch, null);
            List sent = new ArrayList();
            for (int number = 0; number < left; number++) {
                sent.add(producer.send(new ProducerRecord((String) asked.get("topic"), partition, null, new byte[80])));
            }
            producer.flush();
            producer.close();
            left = 0;
            for (Iterator each = sent.iterator(); each.hasNext();) {
                try {
                    ((Future) each.next()).get();
                } catch (ExecutionException failed) {
                    left++;  // again
                }
            }
        }
    }

    static synchronized void say(Map what) throws Exception {
        System.out.println(JSON.writeValueAsString(what));
        System.out.flush();
    }

    /** One consumer, in its own thread. */
    static class One implements Runnable, ConsumerRebalanceListener {
        final ConcurrentLinkedQueue asked = new ConcurrentLinkedQueue();
        final String bootstrap;
        final Map first;
        final String name;
        final String topic;
        final Properties props = new Properties();
        final Map from = new HashMap();
        final Map to = new HashMap();
        final boolean atEnd;
        final long commitMs;
        final double aborts;
        final Random random;
        double perS;
        KafkaConsumer consumer;
        KafkaProducer producer = null;
        final Map committed = new HashMap();

        One(String bootstrap, Map first) {
            this.bootstrap = bootstrap;
            this.first = first;
            this.name = (String) first.get("name");
            this.topic = (String) first.get("topic");
            this.perS = number("per_s", 0.0);
            this.commitMs = (long) number("commit_ms", 500.0);
            this.aborts = number("aborts", -1.0);
            this.atEnd = "end".equals(first.get("at"));
            this.random = new Random(name.hashCode());
            props.put("bootstrap.servers", bootstrap);
            props.put("client.id", name);
            props.put("group.id", first.get("group"));
            props.put("group.protocol", first.get("protocol"));
            props.put("enable.auto.commit", "false");
            props.put("auto.offset.reset", first.get("reset"));
            props.put("metadata.max.age.ms", "3000");
            props.put("max.poll.records", perS > 0.0 ? "10" : "500");
            props.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
            props.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
            if (first.get("few") == Boolean.TRUE) {
                props.put("max.partition.fetch.bytes", "1000");
                props.put("fetch.max.bytes", "1000");
            }
        }

        double number(String key, double otherwise) {
            return first.get(key) == null ? otherwise : ((Number) first.get(key)).doubleValue();
        }

        public void run() {
            try {
                consumer = new KafkaConsumer(props);
                if (aborts >= 0.0) {
                    producer = producer(bootstrap, "1000", name);
                    producer.initTransactions();
                }
                consumer.subscribe(Collections.singleton(topic), this);
                read();
                commit();
                consumer.close();
                if (producer != null) {
                    producer.close();
                }
                READERS.remove(name, this);
                tell("closed");
            } catch (Throwable error) {
                failed(error);
            }
        }

        void failed(Throwable error) {
            try {
                Map failed = event("failed");
                failed.put("error", error.toString());
                say(failed);
                consumer.close();
            } catch (Throwable again) {
                return;
            }
        }

        void read() throws Exception {
            long last = System.currentTimeMillis();
            while (true) {
                Map next = (Map) asked.poll();
                if (next != null && next.get("do").equals("close")) {
                    return;
                }
                if (next != null && next.get("do").equals("pace")) {
                    perS = ((Number) next.get("per_s")).doubleValue();
                } else if (next != null && next.get("do").equals("seek")) {
                    seek(((Number) next.get("to")).longValue());
                }
                ConsumerRecords records = consumer.poll(Duration.ofMillis(100L));
                note(records);
                if (perS > 0.0 && !records.isEmpty()) {
                    Thread.sleep((long) (1000.0 * records.count() / perS));
                }
                if (System.currentTimeMillis() - last >= commitMs) {
                    last = System.currentTimeMillis();
                    commit();
                }
            }
        }

        void seek(long to) throws Exception {
            for (Iterator each = consumer.assignment().iterator(); each.hasNext();) {
                consumer.seek((TopicPartition) each.next(), to);
            }
        }

        void note(ConsumerRecords records) throws Exception {
            for (Iterator each = records.iterator(); each.hasNext();) {
                ConsumerRecord record = (ConsumerRecord) each.next();
                Integer partition = Integer.valueOf(record.partition());
                Long end = (Long) to.get(partition);
                if (end == null || end.longValue() != record.offset()) {
                    tellRead(partition);
                    from.put(partition, Long.valueOf(record.offset()));
                }
                to.put(partition, Long.valueOf(record.offset() + 1L));
            }
        }

        void tellRead(Integer partition) throws Exception {
            if (from.get(partition) != null && !from.get(partition).equals(to.get(partition))) {
                Map read = event("read");
                read.put("partition", partition);
                read.put("from", from.get(partition));
                read.put("to", to.get(partition));
                say(read);
                from.put(partition, to.get(partition));
            }
        }

        void commit() throws Exception {
            Map wanted = new HashMap();
            Map offsets = new LinkedHashMap();
            for (Iterator each = consumer.assignment().iterator(); each.hasNext();) {
                TopicPartition place = (TopicPartition) each.next();
                try {
                    long position = consumer.position(place, Duration.ofMillis(500L));
                    wanted.put(place, new OffsetAndMetadata(position));
                    offsets.put(String.valueOf(place.partition()), Long.valueOf(position));
                } catch (RuntimeException unknown) {
                    continue;  // it has none yet
                }
            }
            for (Iterator each = new HashMap(to).keySet().iterator(); each.hasNext();) {
                tellRead((Integer) each.next());
            }
            if (wanted.isEmpty() || (producer != null && wanted.equals(committed))) {
                return;
            }
            if (producer != null) {
                inTransaction(wanted, offsets);
                return;
            }
            try {
                consumer.commitSync(wanted);
            } catch (RuntimeException error) {
                return;  // a rebalance came between; the next one counts
            }
            tellCommitted(offsets);
        }

        void inTransaction(Map wanted, Map offsets) throws Exception {
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(wanted, consumer.groupMetadata());
            if (random.nextDouble() < aborts) {
                producer.abortTransaction();
                for (Iterator each = consumer.assignment().iterator(); each.hasNext();) {
                    TopicPartition place = (TopicPartition) each.next();
                    OffsetAndMetadata known = (OffsetAndMetadata) committed.get(place);
                    consumer.seek(place, known == null ? 0L : known.offset());
                }
                tell("aborted");
            } else {
                producer.commitTransaction();
                committed.putAll(wanted);
                tellCommitted(offsets);
            }
        }

        void tellCommitted(Map offsets) throws Exception {
            Map told = event("committed");
            told.put("offsets", offsets);
            told.put("ms", Long.valueOf(System.currentTimeMillis()));
            say(told);
        }

        Map event(String what) {
            Map event = new LinkedHashMap();
            event.put("name", name);
            event.put("event", what);
            return event;
        }

        void tell(String what) throws Exception {
            say(event(what));
        }

        public void onPartitionsAssigned(Collection partitions) {
            try {
                if (atEnd) {
                    consumer.seekToEnd(partitions);
                }
                tell("assigned");
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        public void onPartitionsRevoked(Collection partitions) {
        }

        public void onPartitionsLost(Collection partitions) {
        }
    }
}
