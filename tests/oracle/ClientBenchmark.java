import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.RebalanceProtocol;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.Cluster;

/** A call of the leader's assignor. */
class ClientBenchmark extends Benchmark {
    private static final int NO_GENERATION = -1;
    private static final int FIRST_GENERATION = 1;

    private final String name;
    private final Recipe recipe;
    private final Cluster cluster;
    private final Map subscriptions = new HashMap();
    private ConsumerPartitionAssignor assignor;
    private Map answer;

    ClientBenchmark(String name, Recipe recipe) {
        this.name = name;
        this.recipe = recipe;
        Map topics = new LinkedHashMap();
        for (int i = 0; i < recipe.topics; i++) {
            topics.put(recipe.topic(i), Integer.valueOf(recipe.partitions));
        }
        cluster = ClientGroup.cluster(topics, null);
        for (int i = 0; i < recipe.members; i++) {
            subscriptions.put(recipe.member(i), new Subscription(
                recipe.subscription(i), null, new ArrayList(), NO_GENERATION, Optional.empty()));
        }
    }

    /** A new assignor, as every case has one; and user data that nobody has read yet. */
    void prepare() {
        assignor = ClientGroup.assignor(name);
        for (Iterator group = subscriptions.values().iterator(); group.hasNext();) {
            ByteBuffer userData = ((Subscription) group.next()).userData();
            if (userData != null) {
                userData.rewind();
            }
        }
    }

    void assign() {
        answer = assignor.assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
    }

    Map lastAnswer() {
        Map clear = new HashMap();
        for (Iterator entries = answer.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            clear.put(entry.getKey(), ClientGroup.numbersByTopic(((Assignment) entry.getValue()).partitions()));
        }
        return clear;
    }

    void leave() {
        subscriptions.clear();
        for (int i = 0; i < recipe.members; i++) {
            if (i % 10 != 0) {
                subscriptions.put(recipe.member(i), subscriptionOfOwner(i));
            }
        }
    }

    /** As a consumer joins again: its own assignor writes the user data; who rebalances eagerly owns nothing by then. */
    private Subscription subscriptionOfOwner(int member) {
        Assignment assigned = (Assignment) answer.get(recipe.member(member));
        List topics = recipe.subscription(member);
        ConsumerPartitionAssignor own = ClientGroup.assignor(name);
        own.onAssignment(assigned,
            new ConsumerGroupMetadata("group", FIRST_GENERATION, recipe.member(member), Optional.empty()));
        boolean keeps = own.supportedProtocols().contains(RebalanceProtocol.COOPERATIVE);
        return new Subscription(topics, own.subscriptionUserData(new HashSet(topics)),
            keeps ? assigned.partitions() : new ArrayList(), FIRST_GENERATION, Optional.empty());
    }
}
