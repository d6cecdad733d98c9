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

import org.apache.kafka.coordinator.group.streams.assignor.AssignmentMemberSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TopologyDescriber;

/** A streams group as its coordinator sees it: members with their processes and current targets, and subtopologies. */
class StreamsGroup implements TopologyDescriber {
    private final List names = new ArrayList();
    private final Map parts = new HashMap();

    StreamsGroup(List subtopologies) {
        for (int i = 0; i < subtopologies.size(); i++) {
            Map part = (Map) subtopologies.get(i);
            names.add(part.get("id"));
            parts.put(part.get("id"), part);
        }
    }

    static Map assign(Map input, boolean inOrder) throws Oracle.ThrownByOriginal {
        Map members = inOrder ? (Map) new LinkedHashMap() : (Map) new HashMap();
        List listed = (List) input.get("members");
        for (int i = 0; i < listed.size(); i++) {
            Map member = (Map) listed.get(i);
            members.put(member.get("id"), new AssignmentMemberSpec(
                Optional.empty(), Optional.empty(), numbers((Map) member.get("active")), numbers((Map) member.get("standby")),
                Collections.EMPTY_MAP, (String) member.get("process"), Collections.EMPTY_MAP, Collections.EMPTY_MAP,
                Collections.EMPTY_MAP));
        }
        Map configs = Collections.singletonMap("num.standby.replicas", String.valueOf(input.get("standby_replicas")));
        StreamsGroup topology = new StreamsGroup((List) input.get("subtopologies"));
        try {
            return inTheClear(new StickyTaskAssignor().assign(new GroupSpecImpl(members, configs), topology).members());
        } catch (RuntimeException thrown) {
            throw new Oracle.ThrownByOriginal(thrown);
        }
    }

    private static Map numbers(Map listed) {
        Map sets = new HashMap();
        for (Iterator entries = listed.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            sets.put(entry.getKey(), new HashSet((List) entry.getValue()));
        }
        return sets;
    }

    private static Map inTheClear(Map answer) {
        Map clear = new LinkedHashMap();
        for (Iterator entries = answer.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            MemberAssignment given = (MemberAssignment) entry.getValue();
            Map sorts = new LinkedHashMap();
            sorts.put("active", sorted(given.activeTasks()));
            sorts.put("standby", sorted(given.standbyTasks()));
            sorts.put("warmup", sorted(given.warmupTasks()));
            clear.put(entry.getKey(), sorts);
        }
        return clear;
    }

    private static Map sorted(Map sets) {
        Map lists = new LinkedHashMap();
        for (Iterator entries = sets.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            lists.put(entry.getKey(), new ArrayList(new TreeSet((Set) entry.getValue())));
        }
        return lists;
    }

    public List subtopologies() {
        return names;
    }

    public int maxNumInputPartitions(String subtopology) {
        return ((Number) ((Map) parts.get(subtopology)).get("tasks")).intValue();
    }

    public boolean isStateful(String subtopology) {
        return Boolean.TRUE.equals(((Map) parts.get(subtopology)).get("stateful"));
    }
}
