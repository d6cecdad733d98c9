import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** A group as its leader sees it: the cluster's topics, and what each member has subscribed to. */
class ClientGroup {
    private static final int NO_GENERATION = -1;
    private static final Node NO_LEADER = null; // assignors look at the replicas only

    static Map assign(String name, Map input, boolean inOrder) throws Oracle.ThrownByOriginal {
        ConsumerPartitionAssignor assignor = assignor(name);
        Number seen = (Number) input.get("instance_max_generation");
        if (seen != null) {
            showGeneration(assignor, seen.intValue());
        }
        Cluster cluster = cluster((Map) input.get("topics"), (Map) input.get("racks"));
        Map subscriptions = subscriptions((List) input.get("members"), inOrder);
        try {
            return inTheClear(assignor.assign(cluster, new GroupSubscription(subscriptions)).groupAssignment());
        } catch (RuntimeException thrown) {
            throw new Oracle.ThrownByOriginal(thrown);
        }
    }

    static ConsumerPartitionAssignor assignor(String name) {
        if (name.equals("kafka.range")) {
            return new RangeAssignor();
        } else if (name.equals("kafka.roundrobin")) {
            return new RoundRobinAssignor();
        } else if (name.equals("kafka.sticky")) {
            return new StickyAssignor();
        } else if (name.equals("kafka.cooperative-sticky")) {
            return new CooperativeStickyAssignor();
        }
        throw new IllegalArgumentException("no such assignor here: " + name);
    }

    /** The sticky kinds remember the highest generation they have met, in user data or in the subscription's own field. */
    private static void showGeneration(ConsumerPartitionAssignor assignor, int generation) {
        ByteBuffer ownsNothing = ByteBuffer.allocate(8);
        ownsNothing.putInt(0).putInt(generation).flip();
        Subscription subscription = new Subscription(
            new ArrayList(), ownsNothing, new ArrayList(), generation, Optional.empty());
        Map group = Collections.singletonMap("somebody", subscription);
        assignor.assign(cluster(new HashMap(), null), new GroupSubscription(group));
    }

    /** Topics by their numbers of partitions; racks may be null: then no broker has one. */
    static Cluster cluster(Map topics, Map racks) {
        List partitions = new ArrayList();
        for (Iterator entries = topics.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            String topic = (String) entry.getKey();
            List racksOfTopic = racks == null ? null : (List) racks.get(topic);
            int count = ((Number) entry.getValue()).intValue();
            for (int partition = 0; partition < count; partition++) {
                Node[] replicas = replicas(racksOfTopic == null ? null : (List) racksOfTopic.get(partition));
                partitions.add(new PartitionInfo(topic, partition, NO_LEADER, replicas, replicas));
            }
        }
        return new Cluster("oracle", new ArrayList(), partitions, Collections.emptySet(), Collections.emptySet());
    }

    private static Node[] replicas(List racks) {
        if (racks == null) {
            return new Node[] {new Node(0, "broker", 9092)};
        }
        Node[] replicas = new Node[racks.size()];
        for (int i = 0; i < replicas.length; i++) {
            replicas[i] = new Node(i, "broker", 9092, (String) racks.get(i));
        }
        return replicas;
    }

    private static Map subscriptions(List members, boolean inOrder) {
        Map subscriptions = inOrder ? new LinkedHashMap() : new HashMap();
        for (int i = 0; i < members.size(); i++) {
            Map member = (Map) members.get(i);
            Number generation = (Number) member.get("generation");
            Subscription subscription = new Subscription(
                (List) member.get("topics"),
                bytes((String) member.get("user_data")),
                partitions((Map) member.get("owned")),
                generation == null ? NO_GENERATION : generation.intValue(),
                Optional.ofNullable(member.get("rack")));
            subscription.setGroupInstanceId(Optional.ofNullable(member.get("instance")));
            subscriptions.put(member.get("id"), subscription);
        }
        return subscriptions;
    }

    private static ByteBuffer bytes(String base64) {
        return base64 == null ? null : ByteBuffer.wrap(Base64.getDecoder().decode(base64));
    }

    private static List partitions(Map numbersByTopic) {
        List partitions = new ArrayList();
        if (numbersByTopic != null) {
            for (Iterator entries = numbersByTopic.entrySet().iterator(); entries.hasNext();) {
                Map.Entry entry = (Map.Entry) entries.next();
                List numbers = (List) entry.getValue();
                for (int i = 0; i < numbers.size(); i++) {
                    partitions.add(new TopicPartition((String) entry.getKey(), ((Number) numbers.get(i)).intValue()));
                }
            }
        }
        return partitions;
    }

    private static Map inTheClear(Map assignments) {
        Map clear = new LinkedHashMap();
        for (Iterator entries = assignments.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            clear.put(entry.getKey(), numbersByTopic(((Assignment) entry.getValue()).partitions()));
        }
        return clear;
    }

    static Map numbersByTopic(List partitions) {
        Map numbers = new LinkedHashMap();
        for (int i = 0; i < partitions.size(); i++) {
            TopicPartition partition = (TopicPartition) partitions.get(i);
            List ofTopic = (List) numbers.get(partition.topic());
            if (ofTopic == null) {
                ofTopic = new ArrayList();
                numbers.put(partition.topic(), ofTopic);
            }
            ofTopic.add(Integer.valueOf(partition.partition()));
        }
        return numbers;
    }
}
