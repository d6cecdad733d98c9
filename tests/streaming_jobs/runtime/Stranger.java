import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.NoOpRpcHandler;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.OneForOneBlockFetcher;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import scala.Option;
import scala.reflect.ClassTag$;

/** Speaks Spark's protocol without its secret to each of the ports; prints a line of what it was let do there. */
public class Stranger {
    static final String ENDPOINT = "LocalSchedulerBackendEndpoint";
    static final int BLOCKS = 20;

    public static void main(String[] arguments) throws Exception {
        for (int i = 1; i < arguments.length; i++) {
            int port = Integer.parseInt(arguments[i]);
            System.out.println(port + (stops(arguments[0], port) ? " stopped" : "") + " took " + taken(arguments[0], port));
        }
        System.exit(0);
    }

    /** Whether the executor of a local master took an order to end. */
    static boolean stops(String host, int port) {
        SparkConf conf = new SparkConf(false).set("spark.rpc.askTimeout", "4s").set("spark.network.timeout", "4s");
        SecurityManager nobody = new SecurityManager(conf, Option.empty(), org.apache.spark.internal.config.package$.MODULE$.AUTH_SECRET_FILE());
        RpcEnv env = RpcEnv.create("stranger", "127.0.0.1", 0, conf, nobody, true);
        try {
            RpcEndpointRef there = env.setupEndpointRef(new RpcAddress(host, port), ENDPOINT);
            Object order = Class.forName("org.apache.spark.scheduler.local.StopExecutor$").getField("MODULE$").get(null);
            return Boolean.TRUE.equals(there.askSync(order, ClassTag$.MODULE$.Any()));
        } catch (Throwable refused) {
            return false;
        } finally {
            env.shutdown();
        }
    }

    /** How many of the first broadcast blocks were handed out. */
    static int taken(String host, int port) {
        TransportConf conf = new TransportConf("shuffle", MapConfigProvider.EMPTY);
        int[] got = {0};
        TransportContext context = new TransportContext(conf, new NoOpRpcHandler());
        try {
            TransportClient client = context.createClientFactory().createClient(host, port);
            String[] names = new String[BLOCKS];
            for (int i = 0; i < BLOCKS; i++) names[i] = "broadcast_" + i + "_piece0";
            for (String name : names) fetch(client, conf, name, got);
        } catch (Exception refused) {
            return got[0];
        }
        return got[0];
    }

    static void fetch(TransportClient client, TransportConf conf, String name, final int[] got) throws Exception {
        final CountDownLatch answered = new CountDownLatch(1);
        BlockFetchingListener listener = new BlockFetchingListener() {
            public void onBlockFetchSuccess(String id, ManagedBuffer data) { got[0]++; answered.countDown(); }
            public void onBlockFetchFailure(String id, Throwable error) { answered.countDown(); }
        };
        new OneForOneBlockFetcher(client, "x", "0", new String[] {name}, listener, conf).start();
        answered.await(3, TimeUnit.SECONDS);
    }
}
