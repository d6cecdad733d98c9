"""The Spark session: what every groupwatch job needs from Spark, and nothing a deployment may want to choose."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from monitor.embedded.java import find_java
from streaming_jobs.class_archive import WRITE, with_archive
from streaming_jobs.class_path import CLASS_PATH, driver_class_path, spark_has_defaults

REQUIRED: Final = {
    # Without it the Kafka source reads nothing from internal topics, and says nothing.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    # transformWithState runs on RocksDB only; the changelog makes a checkpoint of small changes cheap.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "streaming_jobs.worker_daemon",
}

JVM_END_LIMIT_S: Final = 20
ARCHIVING_LIMIT_S: Final = 300

JVM_GONE: Final = (Py4JError, OSError)
"""What calls into the JVM raise once that has died. One that was under way raises a plain Py4JError, which names the
call and not the network."""

SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""The variable by which spark-submit tells the program that it starts where its JVM is."""

SUBMITS_DEFAULT_MASTER: Final = "local[*]"

SELDOM_OPTIMISED: Final = (
    "-XX:Tier4InvocationThreshold=200000 -XX:Tier4MinInvocationThreshold=100000 "
    "-XX:Tier4CompileThreshold=400000 -XX:Tier4BackEdgeThreshold=2000000"
)
"""Java's second compiler waits longer than it does by default (5,000 calls, 40,000 rounds of a loop).

A job's first minutes ran much of Spark a little and few methods millions of times; compiling the former well cost more
than all the work that was done. What is really hot is still compiled so, a moment later."""

SELDOM_SPACIOUS: Final = "-XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30"
"""How much of the heap may stay free after a collection, in percent (by default 40 to 70): memory is given back sooner.
With 100,000 group-partitions a driver's JVM had 1.06 GB on average instead of 1.30, for 2 % more CPU."""

ARENAS: Final = "MALLOC_ARENA_MAX"
FEW_ARENAS: Final = "2"
"""How many pools glibc's malloc may have. By default eight for each core, each of which keeps what its threads have
freed: with them the JVM took 0.6 GB more, for the same CPU."""

IN_ONE_GO: Final = "-XX:+UseSerialGC"
"""Java's plainest garbage collector: it needs no memory and no threads of its own, and gives back all that it need not
keep. Its pauses grow with the heap, so it is for Spark's default of 1 GB; a driver with more has Java's own choice."""

DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
DRIVER_MEMORY: Final = "spark.driver.memory"
MEMORY_VARIABLE: Final = "SPARK_DRIVER_MEMORY"
JVM_VARIABLES: Final = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "SPARK_SUBMIT_OPTS")
"""Where else options of a JVM may come from."""

QUIET: Final = {
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
    "spark.executor.extraJavaOptions": SELDOM_OPTIMISED,
    f"spark.executorEnv.{ARENAS}": FEW_ARENAS,
    # All metrics of a large cluster cross to the driver in one micro-batch, compressed.
    "spark.driver.maxResultSize": "4g",
}


def create_session(
    master: str, shuffle_partitions: int, jars: Sequence[Path], conf: Mapping[str, str], log_file: Path | None = None
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
    """
    # Executors start this very Python unless told another one; without it, the first python3 of their PATH.
    os.environ.setdefault("PYSPARK_PYTHON", conf.get("spark.pyspark.python", sys.executable))
    java = find_java()
    os.environ.setdefault(ARENAS, FEW_ARENAS)
    os.environ["JAVA_HOME"] = str(java.home)  # else PySpark takes whatever java it meets first
    submitted = submitted_properties()
    if submitted:
        _show_to_driver(jars)
    master = master_of(master, submitted)
    partitions = partitions_of(shuffle_partitions or local_cores(master))
    chosen = {**QUIET, DRIVER_OPTIONS: drivers_jvm(conf), **partitions, **conf, **submitted}
    own = {"spark.master": master, "spark.jars": all_jars(jars, chosen)}
    if not submitted and not spark_has_defaults():  # under spark-submit the JVM runs already
        own[CLASS_PATH] = driver_class_path(jars, chosen)
        own[DRIVER_OPTIONS] = with_archive(chosen[DRIVER_OPTIONS], java.home, own[CLASS_PATH])
    with _standard_error_to(log_file):
        spark = SparkSession.builder.config(map={**chosen, **own, **REQUIRED}).getOrCreate()
    spark.sparkContext.setLogLevel(chosen.get("spark.log.level", "ERROR"))
    return spark


def drivers_jvm(conf: Mapping[str, str]) -> str:
    """The options of the driver's JVM, where a deployment with these Spark properties chooses none."""
    if DRIVER_OPTIONS in conf:
        return conf[DRIVER_OPTIONS]
    is_larger = DRIVER_MEMORY in conf or MEMORY_VARIABLE in os.environ or spark_has_defaults()
    is_chosen = any("GC" in os.environ.get(name, "") for name in JVM_VARIABLES)  # Java refuses to start with two
    return f"{SELDOM_OPTIMISED} {SELDOM_SPACIOUS}{'' if is_larger or is_chosen else f' {IN_ONE_GO}'}"


def partitions_of(partitions: int) -> dict[str, str]:
    """The properties that say into how many partitions the stateful stage and the ticks are divided."""
    return {"spark.sql.shuffle.partitions": str(partitions), "spark.default.parallelism": str(partitions)}


def submitted_properties() -> dict[str, str]:
    """What spark-submit was told, and what it says of itself; empty if this process was not started by it."""
    if SUBMITTED not in os.environ:
        return {}
    SparkContext._ensure_initialized()  # its JVM holds the properties
    known = dict(SparkConf().getAll())
    return {name: value for name, value in known.items() if name != "spark.app.name"}  # the script's own, by default


def master_of(configured: str, submitted: Mapping[str, str]) -> str:
    """The master to use: spark-submit's, unless it is the one that spark-submit takes when it is told none.

    >>> master_of("local[2]", {"spark.master": "spark://host:7077"})
    'spark://host:7077'
    >>> master_of("spark://host:7077", {"spark.master": "local[*]"}), master_of("local[2]", {})
    ('spark://host:7077', 'local[2]')
    """
    submitted_master = submitted.get("spark.master", SUBMITS_DEFAULT_MASTER)
    return configured if submitted_master == SUBMITS_DEFAULT_MASTER else submitted_master


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


def has_ended(spark: SparkSession) -> bool:
    """Whether Spark has stopped itself, or its JVM has died: nothing in this process can start it again."""
    try:
        return bool(spark.sparkContext._jsc.sc().isStopped())
    except JVM_GONE:
        return True


def jvm_end_limit_s(conf: Mapping[str, str]) -> float:
    """How long a JVM with these Spark properties may take to end: writing an archive takes it half a minute."""
    return ARCHIVING_LIMIT_S if WRITE in conf.get(DRIVER_OPTIONS, "") else JVM_END_LIMIT_S


def stop_session(spark: SparkSession, limit_s: float = JVM_END_LIMIT_S) -> None:
    """Stop Spark and wait for the end of its JVM, which would otherwise outlive this process for a moment.

    Args:
        spark: the session.
        limit_s: after so many seconds the JVM is killed.
    """
    gateway: Any = SparkContext._gateway
    with suppress(*JVM_GONE):
        spark.stop()
    process = getattr(gateway, "proc", None)
    if process is None:  # a JVM that somebody else started, as spark-submit does
        return
    with suppress(*JVM_GONE):
        gateway.shutdown()
    process.stdin.close()  # the JVM lives as long as this pipe
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None


@contextmanager
def _standard_error_to(log_file: Path | None) -> Iterator[None]:
    """Let a process that is started inside the block inherit a file as its standard error.

    PySpark offers no way to say where the JVM it starts shall write.
    """
    if log_file is None:
        yield
        return
    sys.stderr.flush()
    own = os.dup(2)
    with log_file.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def local_cores(master: str) -> int:
    """How many cores a local master uses; 8 for a cluster's master, whose cores are not known here.

    >>> local_cores("local[3]"), local_cores("spark://host:7077")
    (3, 8)
    """
    if not master.startswith("local"):
        return 8
    inside = master.removeprefix("local").strip("[]").split(",")[0]
    if inside == "*":
        return os.cpu_count() or 1
    return int(inside) if inside else 1
