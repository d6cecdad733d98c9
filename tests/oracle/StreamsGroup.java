import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
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

/**
 * A streams group as its coordinator sees it: members with their processes and current targets, and subtopologies.
 *
 * Kafka 4.4 has moved what its assignor is given into an API with other names, so all of it is called by name.
 */
class StreamsGroup implements InvocationHandler {
    private static final String OWN = "org.apache.kafka.coordinator.group.streams.assignor.";
    private static final String API = "org.apache.kafka.coordinator.group.api.streams.assignor.";

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
        try {
            return answer(input, inOrder);
        } catch (InvocationTargetException thrown) {
            throw new Oracle.ThrownByOriginal((RuntimeException) thrown.getCause());
        } catch (Exception wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static Map answer(Map input, boolean inOrder) throws Exception {
        boolean isApi = exists(API + "TaskAssignor");
        Map members = inOrder ? (Map) new LinkedHashMap() : (Map) new HashMap();
        List listed = (List) input.get("members");
        for (int i = 0; i < listed.size(); i++) {
            Map member = (Map) listed.get(i);
            members.put(member.get("id"), member(member, isApi));
        }
        Object standbys = input.get("standby_replicas");
        Object configs = isApi
            ? made("AssignmentConfigsImpl", new Object[] {Integer.valueOf(((Number) standbys).intValue()), Collections.EMPTY_LIST})
            : Collections.singletonMap("num.standby.replicas", String.valueOf(standbys));
        Class describer = Class.forName((isApi ? API : OWN) + "TopologyDescriber");
        Object topology = Proxy.newProxyInstance(
            StreamsGroup.class.getClassLoader(), new Class[] {describer}, new StreamsGroup((List) input.get("subtopologies")));
        Object assignor = made("StickyTaskAssignor", new Object[0]);
        Object group = made("GroupSpecImpl", new Object[] {members, configs});
        Object answer = method(assignor, "assign").invoke(assignor, new Object[] {group, topology});
        return inTheClear((Map) got(answer, "members"));
    }

    private static Object member(Map member, boolean isApi) throws Exception {
        Object none = Optional.empty();
        Map no = Collections.EMPTY_MAP;
        Map active = numbers((Map) member.get("active"));
        Map standby = numbers((Map) member.get("standby"));
        Object process = member.get("process");
        return isApi
            ? made("MemberMetadataAndStateImpl", new Object[] {none, none, process, no, active, standby, no, no, no})
            : made("AssignmentMemberSpec", new Object[] {none, none, active, standby, no, process, no, no, no});
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException absent) {
            return false;
        }
    }

    private static Object made(String name, Object[] arguments) throws Exception {
        return Class.forName(OWN + name).getConstructors()[0].newInstance(arguments);
    }

    private static Object got(Object from, String name) throws Exception {
        return method(from, name).invoke(from, new Object[0]);
    }

    /** Each has one of that name in the versions that are asked; bridges of generics aside. */
    private static Method method(Object of, String name) throws NoSuchMethodException {
        Method[] all = of.getClass().getMethods();
        for (int i = 0; i < all.length; i++) {
            if (all[i].getName().equals(name) && !all[i].isBridge()) {
                return all[i];
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static Map numbers(Map listed) {
        Map sets = new HashMap();
        for (Iterator entries = listed.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            sets.put(entry.getKey(), new HashSet((List) entry.getValue()));
        }
        return sets;
    }

    /** The assignors have no warm-up tasks; that of Kafka 4.4 could not even name them. */
    private static Map inTheClear(Map answer) throws Exception {
        Map clear = new LinkedHashMap();
        for (Iterator entries = answer.entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            Object given = entry.getValue();
            Map sorts = new LinkedHashMap();
            sorts.put("active", sorted((Map) got(given, "activeTasks")));
            sorts.put("standby", sorted((Map) got(given, "standbyTasks")));
            sorts.put("warmup", exists(API + "TaskAssignor") ? new HashMap() : sorted((Map) got(given, "warmupTasks")));
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

    /** A question of the assignor about the topology. */
    public Object invoke(Object proxy, Method question, Object[] arguments) {
        if (question.getName().equals("subtopologies")) {
            return names;
        }
        Map part = (Map) parts.get(arguments[0]);
        return question.getName().equals("isStateful")
            ? (Object) Boolean.valueOf(Boolean.TRUE.equals(part.get("stateful")))
            : (Object) Integer.valueOf(((Number) part.get("tasks")).intValue());
    }
}
