import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/**
 * Writes what a coordinator would write of many groups, with the coordinator's own classes; see offsets_log.py.
 *
 * Arguments: bootstrap servers, groups, partitions of a topic, members of each group, rounds of commits, commits a
 * second (0: as fast as it goes), partitions of the log, topics, topics that each group reads, how groups and topics
 * are called, a group to keep clear of (may be empty), how many ms the commits of a round say to be older than those of
 * the next one (0: all say when they were written), the offset before that of the first round. The group group-N reads
 * topic-(N modulo topics) and those that follow, whose partitions its members share as the range assignor does; a round
 * commits every partition of every group once. A coordinator fails if others write to its log, so nothing is written
 * where the group to keep clear of has its commits.
 */
public class Fill {
    static final String LOG = "__consumer_offsets";

    final KafkaProducer producer;
    final int logPartitions;
    final int[] n;
    final String groupName;
    final String topicName;
    final int clear;
    final long apart;
    final long before;
    long sent = 0L;

    Fill(String[] args) {
        Properties props = new Properties();
        props.put("bootstrap.servers", args[0]);
        props.put("client.id", "__admin_client");
        props.put("enable.idempotence", "false");  // the coordinator writes without a producer id, but in transactions
        props.put("max.in.flight.requests.per.connection", "1");
        props.put("linger.ms", "20");
        props.put("batch.size", "262144");
        props.put("buffer.memory", "134217728");
        props.put("max.request.size", "16777216");
        this.producer = new KafkaProducer(props, new ByteArraySerializer(), new ByteArraySerializer());
        this.n = new int[9];
        for (int i = 1; i < 9; i++) {
            n[i] = Integer.parseInt(args[i]);
        }
        this.logPartitions = n[6];
        this.groupName = args[9];
        this.topicName = args[10];
        this.clear = args[11].isEmpty() ? -1 : partitionOf(args[11]);
        this.apart = Long.parseLong(args[12]);
        this.before = Long.parseLong(args[13]);
    }

    public static void main(String[] args) throws Exception {
        Fill fill = new Fill(args);
        fill.generations();
        fill.commits();
        fill.producer.close();
        System.out.println(fill.sent);
    }

    int partitionOf(String group) {
        return Utils.abs(group.hashCode()) % logPartitions;
    }

    boolean isWritten(int group) {
        return partitionOf(groupName + "-" + group) != clear;
    }

    String topic(int group, int place) {
        return topicName + "-" + (group + place) % n[7];
    }

    void generations() {
        for (int group = 0; group < n[1] && n[3] > 0; group++) {
            if (!isWritten(group)) {
                continue;
            }
            List topics = new ArrayList();
            for (int place = 0; place < n[8]; place++) {
                topics.add(topic(group, place));
            }
            generation(groupName + "-" + group, topics, n[2], n[3]);
        }
    }

    void commits() throws InterruptedException {
        long began = System.nanoTime();
        long commits = 0L;
        for (int round = 1; round <= n[4]; round++) {
            long age = (n[4] - round) * apart;
            for (int partition = 0; partition < n[2]; partition++) {
                for (int group = 0; group < n[1]; group++) {
                    for (int place = 0; place < n[8] && isWritten(group); place++) {
                        commit(groupName + "-" + group, topic(group, place), partition, before + round, age);
                        commits++;
                        if (n[5] > 0) {
                            await(began + commits * 1000000000L / n[5]);
                        }
                    }
                }
            }
        }
    }

    static void await(long instant) throws InterruptedException {
        long left = instant - System.nanoTime();
        if (left > 2000000L) {
            Thread.sleep(left / 1000000L);
        }
    }

    void commit(String group, String topic, int partition, long offset, long age) {
        OffsetCommitKey key = new OffsetCommitKey().setGroup(group).setTopic(topic).setPartition(partition);
        OffsetCommitValue value = new OffsetCommitValue()
            .setOffset(offset).setMetadata("").setCommitTimestamp(System.currentTimeMillis() - age);
        send(group, (short) 1, key, bytes((short) 3, value));
    }

    void generation(String group, List topics, int partitions, int members) {
        List shares = new ArrayList();
        int before = 0;
        for (int member = 0; member < members; member++) {
            int count = partitions / members + (member < partitions % members ? 1 : 0);
            shares.add(member(group, topics, member, before, count));
            before += count;
        }
        GroupMetadataValue value = new GroupMetadataValue()
            .setProtocolType("consumer").setGeneration(1).setProtocol("range")
            .setLeader(memberId(group, 0)).setCurrentStateTimestamp(System.currentTimeMillis()).setMembers(shares);
        send(group, (short) 2, new GroupMetadataKey().setGroup(group), bytes((short) 3, value));
    }

    /** Sorts as the number does, as the range assignor wants it. */
    static String memberId(String group, int number) {
        return group + "-member-" + String.valueOf(10000 + number).substring(1);
    }

    static GroupMetadataValue.MemberMetadata member(String group, List topics, int number, int first, int count) {
        List owned = new ArrayList();
        for (int topic = 0; topic < topics.size(); topic++) {
            for (int partition = first; partition < first + count; partition++) {
                owned.add(new TopicPartition((String) topics.get(topic), partition));
            }
        }
        ByteBuffer subscription = ConsumerProtocol.serializeSubscription(
            new ConsumerPartitionAssignor.Subscription(topics));
        ByteBuffer assignment = ConsumerProtocol.serializeAssignment(new ConsumerPartitionAssignor.Assignment(owned));
        return new GroupMetadataValue.MemberMetadata()
            .setMemberId(memberId(group, number)).setClientId("client-" + number).setClientHost("/10.0.0." + number)
            .setRebalanceTimeout(300000).setSessionTimeout(45000)
            .setSubscription(array(subscription)).setAssignment(array(assignment));
    }

    static byte[] array(ByteBuffer buffer) {
        byte[] data = new byte[buffer.remaining()];
        buffer.get(data);
        return data;
    }

    static byte[] bytes(short version, Message message) {
        return MessageUtil.toVersionPrefixedBytes(version, message);
    }

    void send(String group, short type, Message key, byte[] value) {
        ByteBuffer body = MessageUtil.toByteBufferAccessor(key, (short) 0).buffer();
        ByteBuffer whole = ByteBuffer.allocate(2 + body.remaining()).putShort(type).put(body);
        producer.send(new ProducerRecord(LOG, Integer.valueOf(partitionOf(group)), whole.array(), value));
        sent++;
    }
}
