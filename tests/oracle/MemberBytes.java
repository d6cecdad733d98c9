import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.connect.runtime.distributed.ConnectProtocol;
import org.apache.kafka.connect.runtime.distributed.ExtendedAssignment;
import org.apache.kafka.connect.runtime.distributed.ExtendedWorkerState;
import org.apache.kafka.connect.runtime.distributed.IncrementalCooperativeConnectProtocol;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;

/** What Kafka Streams and Connect read in the bytes of their groups' members: {"format", "bytes"} in base64, a line each. */
public class MemberBytes {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String line;
        while ((line = lines.readLine()) != null) {
            Map asked = (Map) JSON.readValue(line, Map.class);
            Map answer = new LinkedHashMap();
            try {
                ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode((String) asked.get("bytes")));
                read((String) asked.get("format"), bytes, answer);
            } catch (Throwable error) {
                answer.clear();
                answer.put("thrown", error.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
            System.out.flush();
        }
    }

    static void read(String format, ByteBuffer bytes, Map answer) {
        if (format.equals("streams subscription")) {
            subscription(SubscriptionInfo.decode(bytes), answer);
        } else if (format.equals("streams assignment")) {
            assignment(AssignmentInfo.decode(bytes), answer);
        } else if (format.equals("connect metadata, eager")) {
            ConnectProtocol.WorkerState state = ConnectProtocol.deserializeMetadata(bytes);
            answer.put("url", state.url());
            answer.put("config_offset", Long.valueOf(state.offset()));
        } else if (format.equals("connect metadata")) {
            ExtendedWorkerState state = IncrementalCooperativeConnectProtocol.deserializeMetadata(bytes);
            answer.put("url", state.url());
            answer.put("config_offset", Long.valueOf(state.offset()));
            Map allocation = new LinkedHashMap();
            extended(state.assignment(), allocation);
            answer.put("allocation", allocation);
        } else if (format.equals("connect assignment, eager")) {
            eager(ConnectProtocol.deserializeAssignment(bytes), answer);
        } else {
            extended(IncrementalCooperativeConnectProtocol.deserializeAssignment(bytes), answer);
        }
    }

    static void subscription(SubscriptionInfo info, Map answer) {
        answer.put("version", Integer.valueOf(info.version()));
        answer.put("latest_version", Integer.valueOf(info.latestSupportedVersion()));
        answer.put("process_id", info.processId().toString());
        answer.put("user_endpoint", info.userEndPoint());
        Map sums = new TreeMap();
        for (Iterator entries = info.taskOffsetSums().entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            sums.put(entry.getKey().toString(), entry.getValue());
        }
        answer.put("task_offset_sums", sums);
        answer.put("error", Integer.valueOf(info.errorCode()));
        answer.put("client_tags", info.clientTags());
    }

    static void assignment(AssignmentInfo info, Map answer) {
        answer.put("version", Integer.valueOf(info.version()));
        answer.put("common_version", Integer.valueOf(info.commonlySupportedVersion()));
        answer.put("active_tasks", texts(info.activeTasks()));
        Map standby = new TreeMap();
        for (Iterator entries = info.standbyTasks().entrySet().iterator(); entries.hasNext();) {
            Map.Entry entry = (Map.Entry) entries.next();
            standby.put(entry.getKey().toString(), new TreeSet(texts((Collection) entry.getValue())));
        }
        answer.put("standby_tasks", standby);
        answer.put("error", Integer.valueOf(info.errCode()));
        answer.put("next_rebalance_ms", Long.valueOf(info.nextRebalanceMs()));
    }

    static void eager(ConnectProtocol.Assignment told, Map answer) {
        answer.put("error", Integer.valueOf(told.error()));
        answer.put("leader", told.leader());
        answer.put("leader_url", told.leaderUrl());
        answer.put("config_offset", Long.valueOf(told.offset()));
        answer.put("connectors", texts(told.connectors()));
        answer.put("tasks", texts(told.tasks()));
    }

    static void extended(ExtendedAssignment told, Map answer) {
        answer.put("version", Integer.valueOf(told.version()));
        eager(told, answer);
        answer.put("revoked_connectors", texts(told.revokedConnectors()));
        answer.put("revoked_tasks", texts(told.revokedTasks()));
        answer.put("delay", Integer.valueOf(told.delay()));
    }

    static List texts(Collection told) {
        List texts = new ArrayList();
        for (Iterator each = told.iterator(); each.hasNext();) {
            texts.add(each.next().toString());
        }
        return texts;
    }
}
