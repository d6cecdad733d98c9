"""The Spark session: what every groupwatch job needs from Spark, and nothing a deployment may want to choose."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from monitor.config.client import SECRET_KEY
from monitor.config.cores import local_cores
from monitor.java_runtime.find_java import find_java
from streaming_jobs.runtime.class_archive import WRITE, with_archive
from streaming_jobs.runtime.class_path import CLASS_PATH, driver_class_path, spark_has_defaults
from streaming_jobs.runtime.driver_jvm import (
    DRIVER_OPTIONS,
    LOG4J,
    LOG4J_FILE,
    OPTIONS_FILE,
    DriverJvm,
    JvmNotStarted,
    JvmOutput,
    argument_file_text,
    hide_secrets_in_errors,
    reason_in,
)
from streaming_jobs.runtime.query_errors import cause_of
from streaming_jobs.runtime.run_folder import RunFolder, remove_abandoned
from streaming_jobs.runtime.spark_network import (
    SOCKET_FOLDER,
    default_properties,
    is_local,
    require_authentication,
    required_properties,
)

log = logging.getLogger(__name__)

REQUIRED: Final = {
    # Without it the Kafka source reads nothing from internal topics, and says nothing.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    # transformWithState runs on RocksDB only; the changelog makes a checkpoint of small changes cheap.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # A first start may end after the state is described, and before its first offsets are written. Each later start
    # would be refused (STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY). Lock and layout show whether a folder is another's.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "streaming_jobs.runtime.worker_daemon",
}

JVM_END_LIMIT_S: Final = 20
TASK_TRIES: Final = 1
"""How often a local master tries a task: one that timed out on a broker would wait again, for twice as long."""
ARCHIVING_LIMIT_S: Final = 300

JVM_GONE: Final = (Py4JError, OSError)
"""What calls into the JVM raise once that has died. One that was under way raises a plain Py4JError, which names the
call and not the network."""

SUBMITTED_VARIABLE: Final = "PYSPARK_GATEWAY_PORT"
"""The variable by which spark-submit gives the program the port of its JVM."""

SUBMIT_DEFAULT_MASTER: Final = "local[*]"

LATE_C2_FLAGS: Final = (
    "-XX:Tier4InvocationThreshold=200000 -XX:Tier4MinInvocationThreshold=100000 "
    "-XX:Tier4CompileThreshold=400000 -XX:Tier4BackEdgeThreshold=2000000"
)
"""Java's second compiler waits longer than it does by default (5,000 calls, 40,000 rounds of a loop).

A job's first minutes ran much of Spark a little and few methods millions of times; compiling the former well cost more
than all the work that was done. What is really hot is still compiled so, a moment later."""

HEAP_SHRINK_FLAGS: Final = "-XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30"
"""How much of the heap may stay free after a collection, in percent (by default 40 to 70): memory is given back sooner.
With 100,000 group-partitions a driver's JVM had 1.06 GB on average instead of 1.30, for 2 % more CPU."""

ARENAS_VARIABLE: Final = "MALLOC_ARENA_MAX"
MAX_ARENAS: Final = "2"
"""How many pools glibc's malloc may have. By default eight for each core, each of which keeps what its threads have
freed: with them the JVM took 0.6 GB more, for the same CPU."""

SERIAL_GC_FLAG: Final = "-XX:+UseSerialGC"
"""Java's plainest garbage collector: it needs no memory and no threads of its own, and gives back all that it need not
keep. Its pauses grow with the heap, so it is for Spark's default of 1 GB; a driver with more has Java's own choice."""

ALLOWED_URLS: Final = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""Java's property with the URLs from which a Kafka client may fetch tokens. Kafka 3.9 allows all without it."""

KERBEROS_FILE: Final = "java.security.krb5.conf"
"""Java's property with the path of krb5.conf: Java does not know the variable ``KRB5_CONFIG``."""

EXECUTOR_OPTIONS: Final = "spark.executor.extraJavaOptions"

DRIVER_MEMORY: Final = "spark.driver.memory"
MEMORY_VARIABLE: Final = "SPARK_DRIVER_MEMORY"
JVM_VARIABLES: Final = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")
"""Where else options of a JVM may come from."""

DEFAULTS: Final = {
    "spark.app.name": "groupwatch",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    # The more commits of a partition a chunk holds, the fewer events leave it: a backlog costs half as with 50,000.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "400000",
    # Records of large groups are megabytes each: a chunk of them must not be gigabytes.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(128 * 2**20),
    # Workers are kept by their environment, in which this is a variable for some stages and not for others: with it,
    # decoding and judging would each have a daemon and workers of their own, of which the one half waits.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    # A source waits for a cluster that is away without end, and nothing interrupts it: its thread ends with the JVM.
    "spark.sql.streaming.stopTimeout": "10000",
    EXECUTOR_OPTIONS: LATE_C2_FLAGS,
    f"spark.executorEnv.{ARENAS_VARIABLE}": MAX_ARENAS,
    # A damaged snapshot is refused and named, as every other damaged file is. Spark's repair replays changes onto
    # nothing, and ends with a NullPointerException in place of the cause.
    "spark.sql.streaming.stateStore.autoSnapshotRepair.enabled": "false",
    # What Spark shows of its properties on its page and in its event log: of these not the values.
    "spark.redaction.regex": f"(?i){SECRET_KEY.pattern}",
    # All metrics of a large cluster cross to the driver in one micro-batch, compressed.
    "spark.driver.maxResultSize": "4g",
}


DELTA: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # By default a commit reads the table's log in 50 tasks: 3.7 s and 6.7 s of CPU a write, instead of 1.0 and 1.8.
    "spark.databricks.delta.snapshotPartitions": "1",
    # A reader then takes a small part of a file for one group.
    "spark.hadoop.parquet.block.size": str(2**20),
    "spark.sql.parquet.compression.codec": "zstd",
    # By default a writer sorts by cluster and day once more, which mixes what was sorted wherever it spills.
    "spark.sql.maxConcurrentOutputFileWriters": "4",
    # Names of clusters stand in statements, and may have what Spark would replace.
    "spark.sql.variable.substitute": "false",
}
"""What Spark needs to write tables of Delta Lake, and to do it cheaply."""


_driver_jvm: DriverJvm | None = None
"""The JVM that this process has started for its session."""


def create_session(  # noqa: PLR0913 -- two of them have a default
    master: str,
    shuffle_partitions: int,
    jars: Sequence[Path],
    conf: Mapping[str, str],
    log_file: Path | None = None,
    *,
    queries: int = 1,
    is_ending: Callable[[], bool] = bool,
) -> SparkSession:
    """Start Spark. ``conf`` (the deployment's own) wins over the quiet defaults, never over what is required.

    Under spark-submit its options go before ``master`` and ``conf``: the command line is nearer than a file.

    Args:
        master: a Spark master URL.
        shuffle_partitions: partitions of the stateful stage; fixed for the life of a checkpoint. 0: the cores of a
            local master.
        jars: the Kafka connector's jars.
        conf: further Spark properties.
        log_file: where the JVM and its Python workers write; None: to this process's standard error.
        queries: how many queries it will run. With a local master each has as many task slots as there are cores.
        is_ending: whether this process has to end; what the JVM writes then is no news.

    Raises:
        ConfigError: a cluster's master needs a secret.
        JvmNotStarted: the JVM ended at once.
    """
    # Executors start this very Python unless another one is set; without it, the first python3 of their PATH.
    os.environ.setdefault("PYSPARK_PYTHON", conf.get("spark.pyspark.python", sys.executable))
    java = find_java()
    os.environ.setdefault(ARENAS_VARIABLE, MAX_ARENAS)
    os.environ["JAVA_HOME"] = str(java.home)  # else PySpark takes whatever java it meets first
    submitted = submitted_properties()
    if submitted:
        _show_to_driver(jars)
    master = master_of(master, submitted)
    partitions = partitions_of(shuffle_partitions or local_cores(master))
    of_cluster = default_properties(master, {**conf, **submitted})
    chosen = {**DEFAULTS, DRIVER_OPTIONS: drivers_jvm(conf), **partitions, **of_cluster, **conf, **submitted}
    slots = with_task_slots(master, queries)
    own = {"spark.master": slots, "spark.jars": all_jars(jars, chosen), **REQUIRED, **required_properties(master)}
    require_authentication({**chosen, **own})
    with hide_secrets_in_errors(conf):
        if not submitted:  # under spark-submit the JVM runs already
            if not spark_has_defaults():
                own[CLASS_PATH] = driver_class_path(jars, chosen)
                chosen[DRIVER_OPTIONS] = with_archive(chosen[DRIVER_OPTIONS], java.home, own[CLASS_PATH])
            own |= _start_jvm({**chosen, **own}, JvmOutput(log_file, is_ending))
        try:
            spark = SparkSession.builder.config(map={**chosen, **own}).getOrCreate()
        except Exception as error:
            given_up = _driver_jvm.output.given_up() if _driver_jvm is not None else None
            reason = given_up or reason_in(cause_of(error))  # asks the JVM, if the error came from there
            kill_jvm()
            raise JvmNotStarted(f"Spark did not start: {reason}") from None
    if _driver_jvm is not None:
        _driver_jvm.output.release()
    spark.sparkContext.setLogLevel(chosen.get("spark.log.level", "ERROR"))
    # It prints a stack trace when the JVM dies, which other code reports in a sentence. groupwatch has no accumulators.
    accumulators: Any = spark.sparkContext._accumulatorServer
    accumulators.handle_error = _ignore_jvm_end
    return spark


def _ignore_jvm_end(_request: object, _client_address: object) -> None:
    log.debug("the server of accumulators lost the JVM", exc_info=True)


def _start_jvm(properties: Mapping[str, str], output: JvmOutput) -> dict[str, str]:
    """Start the driver's JVM, with what it writes for a while in a folder of its own; the properties that say so."""
    global _driver_jvm  # noqa: PLW0603 -- PySpark has one JVM for a process
    remove_abandoned()
    folder = RunFolder()
    options = with_private_files(properties[DRIVER_OPTIONS], folder)
    own = {DRIVER_OPTIONS: f"@{folder.write(OPTIONS_FILE, argument_file_text(options))}"}
    if "spark.local.dir" not in properties:
        own["spark.local.dir"] = str(folder.path)
    if is_local(properties["spark.master"]):
        own[SOCKET_FOLDER] = str(folder.sockets)
    try:
        _driver_jvm = DriverJvm({**properties, **own}, folder, output)
    except BaseException:
        folder.close()
        raise
    return own


def with_private_files(options: str, folder: RunFolder) -> str:
    """Options of the driver's JVM, with its temporary folder and its logging unless the configuration has them."""
    everywhere = " ".join([options, *(os.environ.get(name, "") for name in JVM_VARIABLES)])
    if "log4j" not in everywhere:
        options = f"-Dlog4j2.configurationFile={folder.write(LOG4J_FILE, LOG4J)} {options}"
    return options if "java.io.tmpdir" in everywhere else f"-Djava.io.tmpdir={folder.path} {options}"


def drivers_jvm(conf: Mapping[str, str]) -> str:
    """The options of the driver's JVM, where a deployment with these Spark properties chooses none."""
    if DRIVER_OPTIONS in conf:
        return conf[DRIVER_OPTIONS]
    is_larger = DRIVER_MEMORY in conf or MEMORY_VARIABLE in os.environ or spark_has_defaults()
    is_chosen = any("GC" in os.environ.get(name, "") for name in JVM_VARIABLES)  # Java refuses to start with two
    return f"{LATE_C2_FLAGS} {HEAP_SHRINK_FLAGS}{'' if is_larger or is_chosen else f' {SERIAL_GC_FLAG}'}"


def with_token_endpoints(conf: Mapping[str, str], urls: Sequence[str]) -> dict[str, str]:
    """Spark's properties with these URLs allowed to the Kafka clients of driver and executors, as Kafka 4.0 requires.

    >>> conf = {"spark.executor.extraJavaOptions": "-Da=b"}
    >>> with_token_endpoints(conf, ["https://h/t"])["spark.executor.extraJavaOptions"]
    '-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://h/t -Da=b'
    >>> with_token_endpoints(conf, []) == conf
    True
    """
    return with_java_property(conf, ALLOWED_URLS, ",".join(urls)) if urls else dict(conf)


def with_java_property(conf: Mapping[str, str], name: str, value: str) -> dict[str, str]:
    """Spark's properties with this property of Java in driver and executors, unless the deployment sets it there.

    >>> conf = {"spark.executor.extraJavaOptions": "-Da=b"}
    >>> with_java_property(conf, "java.security.krb5.conf", "/k")["spark.executor.extraJavaOptions"]
    '-Djava.security.krb5.conf=/k -Da=b'
    """
    chosen = {DRIVER_OPTIONS: drivers_jvm(conf), EXECUTOR_OPTIONS: conf.get(EXECUTOR_OPTIONS, LATE_C2_FLAGS)}
    option = shlex.quote(f"-D{name}={value}")
    return {**conf, **{key: options if name in options else f"{option} {options}" for key, options in chosen.items()}}


def partitions_of(partitions: int) -> dict[str, str]:
    """The properties that say into how many partitions the stateful stage and the ticks are divided."""
    return {"spark.sql.shuffle.partitions": str(partitions), "spark.default.parallelism": str(partitions)}


def submitted_properties() -> dict[str, str]:
    """The options of spark-submit, and its own properties; empty if this process was not started by it."""
    if SUBMITTED_VARIABLE not in os.environ:
        return {}
    SparkContext._ensure_initialized()  # its JVM holds the properties
    known = dict(SparkConf().getAll())
    return {name: value for name, value in known.items() if name != "spark.app.name"}  # the script's own, by default


def master_of(configured: str, submitted: Mapping[str, str]) -> str:
    """The master to use: spark-submit's, unless it is the default of spark-submit.

    >>> master_of("local[2]", {"spark.master": "spark://host:7077"})
    'spark://host:7077'
    >>> master_of("spark://host:7077", {"spark.master": "local[*]"}), master_of("local[2]", {})
    ('spark://host:7077', 'local[2]')
    """
    submitted_master = submitted.get("spark.master", SUBMIT_DEFAULT_MASTER)
    return configured if submitted_master == SUBMIT_DEFAULT_MASTER else submitted_master


def all_jars(jars: Iterable[Path], properties: Mapping[str, str]) -> str:
    """The value of ``spark.jars`` with these jars beside those that are already named there.

    >>> all_jars([Path("/c/kafka.jar")], {"spark.jars": "/own.jar"}), all_jars([Path("/c/kafka.jar")], {})
    ('/own.jar,/c/kafka.jar', '/c/kafka.jar')
    """
    named = properties.get("spark.jars")
    return ",".join([*([named] if named else []), *map(str, jars)])


def _show_to_driver(jars: Iterable[Path]) -> None:
    """Let a JVM that runs already load from these jars: there ``spark.jars`` reaches the executors only.

    ADD JAR would not do: it serves the thread that says it, and queries are started in others.
    """
    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()  # spark-submit's, which can be added to
    for jar in jars:
        loader.addURL(jvm.java.net.URL(jar.as_uri()))


def jvm_pid(spark: SparkSession) -> int:
    """The process of the driver's JVM, on this machine, whatever program has started it."""
    jvm: Any = spark._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


def has_ended(spark: SparkSession) -> bool:
    """Whether Spark has stopped itself, or its JVM has died: nothing in this process can start it again."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except JVM_GONE:
        return True


def forget_files_to_delete(spark: SparkSession) -> None:
    """Have the JVM of a local master forget which files it is to delete at its end.

    Spark notes the socket of every task there (``File.deleteOnExit``) and never takes it out: 65 MB a day. They are
    deleted already, and what else is noted lies in the run folder, which is removed as a whole.
    """
    if _driver_jvm is None or SOCKET_FOLDER not in dict(spark.sparkContext.getConf().getAll()):
        return
    jvm: Any = spark._jvm
    with suppress(*JVM_GONE):
        noted = jvm.java.lang.Class.forName("java.io.DeleteOnExitHook").getDeclaredField("files")
        noted.setAccessible(True)
        noted.set(None, jvm.java.util.LinkedHashSet())


def jvm_end_limit_s(conf: Mapping[str, str]) -> float:
    """How long a JVM with these Spark properties may take to end: writing an archive takes it half a minute."""
    return ARCHIVING_LIMIT_S if WRITE in conf.get(DRIVER_OPTIONS, "") else JVM_END_LIMIT_S


def stop_session(spark: SparkSession, limit_s: float = JVM_END_LIMIT_S) -> None:
    """Stop Spark and wait for the end of its JVM, which would otherwise outlive this process for a moment.

    Args:
        spark: the session.
        limit_s: after so many seconds the JVM is killed.
    """
    global _driver_jvm  # noqa: PLW0603 -- PySpark has one JVM for a process
    gateway: Any = SparkContext._gateway
    if _driver_jvm is not None:
        _driver_jvm.output.silence()
    with suppress(*JVM_GONE):
        spark.stop()
    if _driver_jvm is None:  # a JVM that another process started, as spark-submit does
        return
    with suppress(*JVM_GONE):
        gateway.shutdown()
    _driver_jvm.end(limit_s)
    _driver_jvm = SparkContext._gateway = SparkContext._jvm = None


def kill_jvm() -> None:
    """End the JVM that this process has started, if there is one, without a word to it: it may not listen any more."""
    global _driver_jvm  # noqa: PLW0603 -- PySpark has one JVM for a process
    if _driver_jvm is not None:
        _driver_jvm.kill()
        _driver_jvm.folder.close()
        _driver_jvm = SparkContext._gateway = SparkContext._jvm = None


def with_task_slots(master: str, queries: int) -> str:
    """A local master with as many task slots for each query as it has cores; another master as it is.

    A task that waits for a broker takes a slot and no core. With slots of its own, the query of a cluster that hangs or
    is throttled takes none from those of the others. A task that fails is not tried again, unless the master says so:
    its query starts again within seconds, and leaves out a broker that does not answer.

    >>> with_task_slots("local[2]", 3), with_task_slots("local[2,4]", 3), with_task_slots("spark://host:7077", 3)
    ('local[6,1]', 'local[6,4]', 'spark://host:7077')
    """
    if not is_local(master):
        return master
    tries = master.partition(",")[2].rstrip("]") or str(TASK_TRIES)
    return f"local[{local_cores(master) * max(1, queries)},{tries}]"
