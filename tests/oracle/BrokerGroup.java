import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.TopicIds;

/** A group as the coordinator of a broker sees it: topics with ids, members, and the current target assignment. */
class BrokerGroup implements TopicIds.TopicResolver, SubscribedTopicDescriber {
    private final Map ids = new HashMap();
    private final Map names = new HashMap();
    private final Map counts = new HashMap();
    private final Map owners = new HashMap();
    private final Map members;

    BrokerGroup(boolean inOrder) {
        members = inOrder ? new LinkedHashMap() : new HashMap();
    }

    static Map assign(String name, Map input, boolean inOrder) throws Oracle.ThrownByOriginal {
        BrokerGroup group = new BrokerGroup(inOrder);
        Map topics = (Map) input.get("topics");
        for (Iterator entries = topics.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            Map topic = (Map) entry.getValue();
            group.addTopic((String) entry.getKey(), Uuid.fromString((String) topic.get("id")),
                ((Number) topic.get("partitions")).intValue());
        }
        List listed = (List) input.get("members");
        for (int i = 0; i < listed.size(); i++) {
            Map member = (Map) listed.get(i);
            group.addMember((String) member.get("id"), (String) member.get("instance"), (List) member.get("topics"),
                group.partitions((Map) member.get("assigned")));
        }
        SubscriptionType type = SubscriptionType.valueOf((String) input.get("subscription_type"));
        Map assignable = (Map) input.get("assignable");
        try {
            return group.inTheClear(group.askFor(name, type, assignable));
        } catch (RuntimeException thrown) {
            throw new Oracle.ThrownByOriginal(thrown);
        }
    }

    void addTopic(String name, Uuid id, int partitions) {
        ids.put(name, id);
        names.put(id, name);
        counts.put(id, Integer.valueOf(partitions));
    }

    /** Assigned: numbers (a set) by topic id. */
    void addMember(String id, String instance, List topics, Map assigned) {
        members.put(id, new MemberSubscriptionAndAssignmentImpl(
            Optional.empty(), Optional.ofNullable(instance), new TopicIds(new HashSet(topics), this),
            new Assignment(assigned)));
        for (Iterator entries = assigned.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            Map ownersOfTopic = (Map) owners.get(entry.getKey());
            if (ownersOfTopic == null) {
                ownersOfTopic = new HashMap();
                owners.put(entry.getKey(), ownersOfTopic);
            }
            for (Iterator numbers = ((Set) entry.getValue()).iterator(); numbers.hasNext();) {
                ownersOfTopic.put(numbers.next(), id);
            }
        }
    }

    /** The answer, MemberAssignment by member id. Assignable may be null: everything is. */
    Map askFor(String assignor, SubscriptionType type, Map assignable) {
        Optional allowed = assignable == null ? Optional.empty() : Optional.of(partitions(assignable));
        return assignor(assignor).assign(new GroupSpecImpl(members, type, owners, allowed), this).members();
    }

    private static PartitionAssignor assignor(String name) {
        if (name.equals("kafka.server.range")) {
            return new RangeAssignor();
        } else if (name.equals("kafka.server.uniform")) {
            return new UniformAssignor();
        } else if (name.equals("kafka.server.share-simple")) {
            return new SimpleAssignor();
        }
        throw new IllegalArgumentException("no such assignor here: " + name);
    }

    private Map partitions(Map numbersByName) {
        Map partitions = new HashMap();
        for (Iterator entries = numbersByName.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            partitions.put(ids.get(entry.getKey()), new HashSet((List) entry.getValue()));
        }
        return partitions;
    }

    private Map inTheClear(Map answer) {
        Map clear = new LinkedHashMap();
        for (Iterator entries = answer.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            clear.put(entry.getKey(), numbersByName(((MemberAssignment) entry.getValue()).partitions()));
        }
        return clear;
    }

    Map numbersByName(Map numbersById) {
        Map numbers = new LinkedHashMap();
        for (Iterator entries = numbersById.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            numbers.put(names.get(entry.getKey()), new ArrayList(new TreeSet((Set) entry.getValue())));
        }
        return numbers;
    }

    public int numPartitions(Uuid topic) {
        Integer count = (Integer) counts.get(topic);
        return count == null ? -1 : count.intValue();
    }

    public Set racksForPartition(Uuid topic, int partition) {
        return Collections.emptySet();
    }

    public CoordinatorMetadataImage image() {
        return CoordinatorMetadataImage.EMPTY;
    }

    public String name(Uuid id) {
        return (String) names.get(id);
    }

    public Uuid id(String name) {
        return (Uuid) ids.get(name);
    }

    public void clear() {
        // nothing here is a cache
    }
}
