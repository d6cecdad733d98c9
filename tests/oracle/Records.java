import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordType;

/** Decodes records of the offsets topic with the broker's own classes: {"k", "v"} in base64, a line each. */
public class Records {
    static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String line;
        while ((line = lines.readLine()) != null) {
            Map asked = (Map) JSON.readValue(line, Map.class);
            Map answer = new LinkedHashMap();
            try {
                decode(asked, answer);
            } catch (Throwable error) {
                answer.put("error", error.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
            System.out.flush();
        }
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
