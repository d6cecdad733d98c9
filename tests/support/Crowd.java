import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Pattern;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Many consumers in one process, told over standard input what to do, a JSON object a line; what happens goes to
 * standard output in the same form. It ends with its input.
 *
 * {"do": "start", "name", "topics": [...] or "pattern" (the client resolves it) or "regex" (the broker does), "props"}
 *   and perhaps "revoke_ms": so long it takes to give partitions back; "work_ms": so long, to process what a poll gave;
 *   "commits": false: it only reads; "output": a topic to which it writes a record with each commit, in a transaction
 *   of which it aborts as large a share as "aborts" says
 * {"do": "subscribe", "name", "topics"}   {"do": "close", "name"}   {"do": "quiet"}: nobody commits any more
 * {"do": "rewind", "name"}: it commits 0 for all that it owns, and reads on from there
 * {"do": "delete", "group"}: of a group without members, with its offsets
 * {"do": "sleep", "name"}: it never polls again and is never closed; only its heartbeats go on, for a while
 * {"do": "hang", "name"}: it polls, but reads and commits nothing, until {"do": "resume", "name"}
 * A record that had to wait for long until it was read and committed, and nobody had asked for that, is told:
 * {"name", "event": "stalled", "from_ms", "until_ms"}
 * {"do": "describe", "group", "partition" (of the offsets topic), "topics"}: a mark, as in the captures
 */
public class Crowd {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map CONSUMERS = new ConcurrentHashMap();
    static volatile boolean quiet = false;

    /** So long a record waits only where the broker, this process or the machine stands still. */
    static final long STALL_MS = 6000L;

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
        String bootstrap = lines.readLine();
        Properties props = new Properties();
        props.put("bootstrap.servers", bootstrap);
        Admin admin = AdminClient.create(props);
        String line;
        while ((line = lines.readLine()) != null) {
            Map asked = (Map) JSON.readValue(line, Map.class);
            String what = (String) asked.get("do");
            if (what.equals("describe")) {
                say(mark(admin, asked));
            } else if (what.equals("delete")) {
                say(deleted(admin, (String) asked.get("group")));
            } else if (what.equals("quiet")) {
                quiet = true;
                say(event("", "quiet"));
            } else if (what.equals("start")) {
                One one = new One(bootstrap, asked);
                CONSUMERS.put(asked.get("name"), one);
                new Thread(one).start();
            } else {
                One one = (One) CONSUMERS.get(asked.get("name"));
                if (one != null) {
                    one.asked.add(asked);
                }
            }
        }
    }

    static synchronized void say(Map what) throws Exception {
        System.out.println(JSON.writeValueAsString(what));
        System.out.flush();
    }

    static long milliseconds(Object asked) {
        return asked == null ? 0L : ((Number) asked).longValue();
    }

    static Map event(String name, String what) {
        Map event = new LinkedHashMap();
        event.put("name", name);
        event.put("event", what);
        return event;
    }

    /** One consumer, in its own thread. */
    static class One implements Runnable, ConsumerRebalanceListener {
        final ConcurrentLinkedQueue asked = new ConcurrentLinkedQueue();
        final Map first;
        final String name;
        final Properties props = new Properties();
        final long revokeMs;
        final long workMs;
        final boolean commits;
        final String output;
        final double aborts;
        final Random random;
        KafkaProducer producer = null;
        boolean hangs = false;
        long freeSince = System.currentTimeMillis();
        long waitingSince = Long.MAX_VALUE;
        final Map lastRead = new HashMap();
        KafkaConsumer consumer;

        One(String bootstrap, Map first) {
            this.first = first;
            this.name = (String) first.get("name");
            this.revokeMs = milliseconds(first.get("revoke_ms"));
            this.workMs = milliseconds(first.get("work_ms"));
            this.commits = first.get("commits") != Boolean.FALSE;
            this.output = (String) first.get("output");
            this.aborts = first.get("aborts") == null ? 0.0 : ((Number) first.get("aborts")).doubleValue();
            this.random = new Random(name.hashCode());
            props.put("bootstrap.servers", bootstrap);
            props.put("client.id", name);
            props.put("enable.auto.commit", "false");
            props.put("auto.offset.reset", "earliest");
            props.put("metadata.max.age.ms", "1000");
            props.put("key.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
            props.put("value.deserializer", "org.apache.kafka.common.serialization.ByteArrayDeserializer");
            props.putAll((Map) first.get("props"));
        }

        public void run() {
            try {
                consumer = new KafkaConsumer(props);
                if (output != null) {
                    producer = producer();
                }
                subscribe(first);
                long committed = System.currentTimeMillis();
                while (true) {
                    Map next = (Map) asked.poll();
                    if (next != null && next.get("do").equals("close")) {
                        break;
                    }
                    if (next != null && next.get("do").equals("sleep")) {
                        tell("asleep");
                        return;
                    }
                    if (next != null && next.get("do").equals("rewind")) {
                        rewind();
                    } else if (next != null && next.get("do").equals("hang")) {
                        consumer.pause(consumer.assignment());
                        hangs = true;
                        tell("hanging");
                    } else if (next != null && next.get("do").equals("resume")) {
                        consumer.resume(consumer.paused());
                        hangs = false;
                        startAnew();
                        tell("resumed");
                    } else if (next != null) {
                        subscribe(next);
                    }
                    ConsumerRecords records = consumer.poll(Duration.ofMillis(200L));
                    note(records);
                    if (!records.isEmpty()) {
                        Thread.sleep(workMs);
                    }
                    if (commits && !quiet && !hangs && System.currentTimeMillis() - committed > 1000L) {
                        committed = System.currentTimeMillis();
                        commit();
                    }
                }
                consumer.close();
                if (producer != null) {
                    producer.close();
                }
                CONSUMERS.remove(name, this);  // in half an hour of a churn, more than a thousand come and go
                tell("closed");
            } catch (Throwable error) {
                try {
                    Map failed = event(name, "failed");
                    failed.put("error", error.toString());
                    say(failed);
                    consumer.close();
                } catch (Throwable again) {
                    return;
                }
            }
        }

        void commit() throws Exception {
            try {
                if (producer == null) {
                    consumer.commitSync();
                } else {
                    commitInTransaction();
                }
            } catch (RuntimeException error) {
                return;  // a rebalance came between; the next one counts
            }
            long now = System.currentTimeMillis();
            if (now - waitingSince > STALL_MS) {
                Map stalled = event(name, "stalled");
                stalled.put("from_ms", Long.valueOf(waitingSince));
                stalled.put("until_ms", Long.valueOf(now));
                say(stalled);
            }
            waitingSince = Long.MAX_VALUE;
        }

        KafkaProducer producer() {
            Properties own = new Properties();
            own.put("bootstrap.servers", props.get("bootstrap.servers"));
            own.put("transactional.id", name);
            own.put("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            own.put("value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
            own.put("buffer.memory", "100000");
            KafkaProducer made = new KafkaProducer(own);
            made.initTransactions();
            return made;
        }

        /** A record, and its positions. Of one that is aborted, it reads all again. */
        void commitInTransaction() {
            Map positions = new HashMap();
            for (Iterator each = consumer.assignment().iterator(); each.hasNext();) {
                TopicPartition place = (TopicPartition) each.next();
                positions.put(place, new OffsetAndMetadata(consumer.position(place)));
            }
            if (positions.isEmpty()) {
                return;
            }
            producer.beginTransaction();
            try {
                producer.send(new ProducerRecord(output, new byte[8]));
                producer.sendOffsetsToTransaction(positions, consumer.groupMetadata());
                if (random.nextDouble() >= aborts) {
                    producer.commitTransaction();
                    return;
                }
            } catch (CommitFailedException rebalanced) {
                // others may have its partitions by now
            }
            producer.abortTransaction();
            Map committed = consumer.committed(positions.keySet());
            for (Iterator each = positions.keySet().iterator(); each.hasNext();) {
                TopicPartition place = (TopicPartition) each.next();
                OffsetAndMetadata known = (OffsetAndMetadata) committed.get(place);
                consumer.seek(place, known == null ? 0L : known.offset());
            }
        }

        /** Since when the oldest record that is not committed has waited, while nothing else of its partition came. */
        void note(ConsumerRecords records) {
            for (Iterator each = records.partitions().iterator(); each.hasNext();) {
                TopicPartition partition = (TopicPartition) each.next();
                long written = ((ConsumerRecord) records.records(partition).get(0)).timestamp();
                Long before = (Long) lastRead.put(partition, Long.valueOf(System.currentTimeMillis()));
                long since = Math.max(freeSince, before == null ? 0L : before.longValue());
                waitingSince = Math.min(waitingSince, Math.max(written, since));
            }
        }

        /** Whatever waited until now did so because it was asked for. */
        void startAnew() {
            freeSince = System.currentTimeMillis();
            waitingSince = waitingSince == Long.MAX_VALUE ? waitingSince : freeSince;
        }

        void rewind() throws Exception {
            for (Iterator each = consumer.assignment().iterator(); each.hasNext();) {
                consumer.seek((TopicPartition) each.next(), 0L);
            }
            commit();
            tell("rewound");
        }

        void subscribe(Map how) {
            if (how.get("topics") != null) {
                consumer.subscribe((Collection) how.get("topics"), this);
            } else if (how.get("pattern") != null) {
                consumer.subscribe(Pattern.compile((String) how.get("pattern")), this);
            } else {
                consumer.subscribe(new SubscriptionPattern((String) how.get("regex")), this);
            }
        }

        void tell(String what) throws Exception {
            say(event(name, what));
        }

        public void onPartitionsAssigned(Collection partitions) {
            freeSince = System.currentTimeMillis();
            try {
                Map assigned = event(name, "assigned");
                assigned.put("partitions", Integer.valueOf(partitions.size()));
                say(assigned);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        public void onPartitionsRevoked(Collection partitions) {
            if (revokeMs > 0L && !partitions.isEmpty()) {
                try {
                    tell("revoking");
                    Thread.sleep(revokeMs);
                    startAnew();
                    tell("revoked");
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            }
        }

        public void onPartitionsLost(Collection partitions) {
        }
    }

    static Map mark(Admin admin, Map asked) throws Exception {
        String group = (String) asked.get("group");
        TopicPartition log = new TopicPartition("__consumer_offsets", ((Integer) asked.get("partition")).intValue());
        Map mark = event("", "mark");
        mark.put("group", group);
        mark.put("partition", asked.get("partition"));
        mark.put("log_end", end(admin, log));
        try {
            mark.put("describe", described(admin, group));
            mark.put("offsets", offsets(admin, group));
        } catch (java.util.concurrent.ExecutionException error) {
            Map failed = new LinkedHashMap();
            failed.put("error", error.getCause().getClass().getSimpleName());
            failed.put("message", String.valueOf(error.getCause().getMessage()));
            mark.put("describe", failed);
            mark.put("offsets", new HashMap());
        }
        mark.put("topics", topics(admin, (Collection) asked.get("topics")));
        mark.put("log_end_after", end(admin, log));
        return mark;
    }

    static Map deleted(Admin admin, String group) throws Exception {
        Map deleted = event("", "deleted");
        deleted.put("group", group);
        try {
            admin.deleteConsumerGroups(Collections.singleton(group)).all().get();
            deleted.put("error", null);
        } catch (java.util.concurrent.ExecutionException error) {
            deleted.put("error", error.getCause().getClass().getSimpleName());
        }
        return deleted;
    }

    static Long end(Admin admin, TopicPartition log) throws Exception {
        ListOffsetsResult asked = admin.listOffsets(Collections.singletonMap(log, OffsetSpec.latest()));
        Object found = asked.partitionResult(log).get();
        return Long.valueOf(((ListOffsetsResult.ListOffsetsResultInfo) found).offset());
    }

    static Map described(Admin admin, String group) throws Exception {
        Map all = (Map) admin.describeConsumerGroups(Collections.singleton(group)).all().get();
        ConsumerGroupDescription found = (ConsumerGroupDescription) all.get(group);
        Map described = new LinkedHashMap();
        described.put("type", found.type().toString());
        described.put("state", found.groupState().toString());
        described.put("assignor", found.partitionAssignor());
        described.put("simple", Boolean.valueOf(found.isSimpleConsumerGroup()));
        described.put("group_epoch", found.groupEpoch().orElse(null));
        described.put("target_assignment_epoch", found.targetAssignmentEpoch().orElse(null));
        List members = new ArrayList();
        for (Iterator each = found.members().iterator(); each.hasNext();) {
            members.add(member((MemberDescription) each.next()));
        }
        described.put("members", members);
        return described;
    }

    static Map member(MemberDescription found) {
        Map member = new LinkedHashMap();
        member.put("member_id", found.consumerId());
        member.put("client_id", found.clientId());
        member.put("host", found.host());
        member.put("instance_id", found.groupInstanceId().orElse(null));
        member.put("rack", found.rackId().orElse(null));
        member.put("member_epoch", found.memberEpoch().orElse(null));
        member.put("upgraded", found.upgraded().orElse(null));
        member.put("assignment", names(found.assignment().topicPartitions()));
        Optional target = found.targetAssignment();
        member.put("target_assignment", target.isPresent()
            ? names(((org.apache.kafka.clients.admin.MemberAssignment) target.get()).topicPartitions()) : null);
        return member;
    }

    static List names(Collection partitions) {
        List names = new ArrayList();
        for (Iterator each = partitions.iterator(); each.hasNext();) {
            names.add(each.next().toString());
        }
        Collections.sort(names);
        return names;
    }

    static Map offsets(Admin admin, String group) throws Exception {
        Map found = (Map) admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        Map offsets = new TreeMap();
        for (Iterator each = found.entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            OffsetAndMetadata known = (OffsetAndMetadata) entry.getValue();
            Map offset = new LinkedHashMap();
            offset.put("offset", Long.valueOf(known.offset()));
            offset.put("leader_epoch", known.leaderEpoch().orElse(null));
            offsets.put(entry.getKey().toString(), offset);
        }
        return offsets;
    }

    static Map topics(Admin admin, Collection names) throws Exception {
        Map topics = new TreeMap();
        for (Iterator each = names.iterator(); each.hasNext();) {
            String name = (String) each.next();
            Map topic = new LinkedHashMap();
            try {
                Map all = (Map) admin.describeTopics(Arrays.asList(new String[] {name})).allTopicNames().get();
                TopicDescription found = (TopicDescription) all.get(name);
                topic.put("id", found.topicId().toString());
                topic.put("partitions", Integer.valueOf(found.partitions().size()));
            } catch (java.util.concurrent.ExecutionException error) {
                topic.put("error", error.getCause().getClass().getSimpleName());
            }
            topics.put(name, topic);
        }
        return topics;
    }
}
