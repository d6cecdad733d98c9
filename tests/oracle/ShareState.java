import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.coordinator.share.PersisterStateBatchCombiner;
import org.apache.kafka.coordinator.share.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.share.generated.CoordinatorRecordType;
import org.apache.kafka.server.share.persister.PersisterStateBatch;

/**
 * Share state, a line each: records {"k", "v"} in base64 are decoded by the broker's own classes, and batches
 * {"known", "new", "start"}, each [first, last, state, deliveries], are combined as its coordinator combines them.
 */
public class ShareState {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String line;
        while ((line = lines.readLine()) != null) {
            Map asked = (Map) JSON.readValue(line, Map.class);
            Map answer = new LinkedHashMap();
            try {
                if (asked.containsKey("new")) {
                    answer.put("batches", combine(asked));
                } else {
                    decode(asked, answer);
                }
            } catch (Throwable error) {
                answer.put("error", error.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
            System.out.flush();
        }
    }

    static List combine(Map asked) {
        long start = ((Number) asked.get("start")).longValue();
        List combined = new PersisterStateBatchCombiner(batches((List) asked.get("known")), batches((List) asked.get("new")), start)
            .combineStateBatches();
        List told = new ArrayList();
        for (int i = 0; i < combined.size(); i++) {
            PersisterStateBatch batch = (PersisterStateBatch) combined.get(i);
            told.add(Arrays.asList(new Object[] {
                Long.valueOf(batch.firstOffset()), Long.valueOf(batch.lastOffset()),
                Integer.valueOf(batch.deliveryState()), Integer.valueOf(batch.deliveryCount())}));
        }
        return told;
    }

    static List batches(List told) {
        List batches = new ArrayList();
        for (int i = 0; i < told.size(); i++) {
            List batch = (List) told.get(i);
            batches.add(new PersisterStateBatch(
                ((Number) batch.get(0)).longValue(), ((Number) batch.get(1)).longValue(),
                ((Number) batch.get(2)).byteValue(), ((Number) batch.get(3)).shortValue()));
        }
        return batches;
    }

    static void decode(Map asked, Map answer) {
        ByteBuffer key = bytes((String) asked.get("k"));
        CoordinatorRecordType type = CoordinatorRecordType.fromId(key.getShort());
        ApiMessage readKey = type.newRecordKey();
        readKey.read(new ByteBufferAccessor(key), (short) 0);
        answer.put("key", CoordinatorRecordJsonConverters.writeRecordKeyAsJson(readKey));
        answer.put("key_unread", Integer.valueOf(key.remaining()));
        if (asked.get("v") == null) {
            return;
        }
        ByteBuffer value = bytes((String) asked.get("v"));
        short version = value.getShort();
        ApiMessage readValue = type.newRecordValue();
        if (version < readValue.lowestSupportedVersion() || version > readValue.highestSupportedVersion()) {
            throw new IllegalArgumentException("version " + version);
        }
        readValue.read(new ByteBufferAccessor(value), version);
        answer.put("value", CoordinatorRecordJsonConverters.writeRecordValueAsJson(readValue, version));
        answer.put("value_unread", Integer.valueOf(value.remaining()));
    }

    static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(Base64.getDecoder().decode(text));
    }
}
