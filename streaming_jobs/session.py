"""The Spark session: what every groupwatch job needs from Spark, and nothing a deployment may want to choose."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyspark import SparkContext
from pyspark.sql import SparkSession

from monitor.embedded.java import find_java

REQUIRED: Final = {
    # Without it the Kafka source reads nothing from internal topics, and says nothing.
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true",
    # transformWithState runs on RocksDB only; the changelog makes a checkpoint of small changes cheap.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}

JVM_END_LIMIT_S: Final = 20

QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
}


def create_session(
    master: str, shuffle_partitions: int, jars: Iterable[Path], conf: Mapping[str, str], log_file: Path | None = None
) -> SparkSession:
    """Start Spark. ``conf`` (the deployment's own) wins over the quiet defaults, never over what is required.

    Args:
        master: a Spark master URL.
        shuffle_partitions: partitions of the stateful stage; fixed for the life of a checkpoint. 0: the cores of a
            local master.
        jars: the Kafka connector's jars.
        conf: further Spark properties.
        log_file: where the JVM and its Python workers write; None: to this process's standard error.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["JAVA_HOME"] = str(find_java().home)  # else PySpark takes whatever java it meets first
    builder = SparkSession.builder.appName("groupwatch").master(master)
    partitions = shuffle_partitions or local_cores(master)
    own = {
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.default.parallelism": str(partitions),
    }
    for name, value in {**QUIET, **own, **conf, **REQUIRED}.items():
        builder = builder.config(name, value)
    with _standard_error_to(log_file):
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(conf.get("spark.log.level", "ERROR"))
    return spark


def stop_session(spark: SparkSession) -> None:
    """Stop Spark and wait for the end of its JVM, which would otherwise outlive this process for a moment."""
    gateway: Any = SparkContext._gateway
    spark.stop()
    process = getattr(gateway, "proc", None)
    if process is None:  # a JVM that somebody else started, as spark-submit does
        return
    gateway.shutdown()
    process.stdin.close()  # the JVM lives as long as this pipe
    try:
        process.wait(JVM_END_LIMIT_S)
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
