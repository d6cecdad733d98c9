import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;

/** A call of the group coordinator's assignor. */
class BrokerBenchmark extends Benchmark {
    private static final long LEAST_BITS_STEP = 0x9E3779B97F4A7C15L;

    private final String name;
    private final Recipe recipe;
    private final SubscriptionType type;
    private BrokerGroup group;
    private Map answer;

    BrokerBenchmark(String name, Recipe recipe) {
        this.name = name;
        this.recipe = recipe;
        type = recipe.half ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        group = newGroup();
        for (int i = 0; i < recipe.members; i++) {
            group.addMember(recipe.member(i), null, recipe.subscription(i), Collections.emptyMap());
        }
    }

    private BrokerGroup newGroup() {
        BrokerGroup made = new BrokerGroup(false);
        for (int i = 0; i < recipe.topics; i++) {
            made.addTopic(recipe.topic(i), new Uuid(i + 1L, (i + 1L) * LEAST_BITS_STEP), recipe.partitions);
        }
        return made;
    }

    void prepare() {
        // the coordinator's assignors keep nothing
    }

    void assign() {
        answer = group.askFor(name, type, null);
    }

    Map lastAnswer() {
        Map clear = new HashMap();
        for (Iterator entries = answer.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            clear.put(entry.getKey(), group.numbersByName(((MemberAssignment) entry.getValue()).partitions()));
        }
        return clear;
    }

    void leave() {
        group = newGroup();
        for (int i = 0; i < recipe.members; i++) {
            if (i % 10 != 0) {
                MemberAssignment assigned = (MemberAssignment) answer.get(recipe.member(i));
                group.addMember(recipe.member(i), null, recipe.subscription(i), assigned.partitions());
            }
        }
    }
}
