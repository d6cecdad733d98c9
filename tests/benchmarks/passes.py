"""How long it takes to judge everything once.

After the backlog, records are written into every partition again and again, so that with every new catalog the lag of
every partition of every group is another. A pass is a micro-batch with such a catalog: every group is judged, the text
of all is rendered, and the driver has it. The value is the median of them; the slowest is told beside it.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from monitor.config import Settings
from monitor.config.settings import ClusterSettings, SparkSettings
from monitor.java_runtime.jars import spark_kafka_jars
from monitor.model import ClusterSnapshot
from streaming_jobs.driver.snapshot_store import SnapshotStore, VerdictSource
from streaming_jobs.jobs.job import Job
from tests.benchmarks.measured import cpu_s, memory_mb, report
from tests.benchmarks.offsets_log import Crowd, Producing, broker_with_topics, fill
from tests.support.job_process import eventually

GOAL_S = 6.0
PASSES = 5


class Passes(SnapshotStore):
    """A board that keeps how long the micro-batches took that judged by a new catalog, in seconds."""

    def __init__(self) -> None:
        super().__init__(["bench"])
        self.seconds: list[float] = []
        self.cpu: list[float] = []
        self._catalog_ms = 0

    def publish(self, cluster: ClusterSnapshot, judge: VerdictSource | None = None) -> None:
        """Note it, too."""
        super().publish(cluster, judge)
        ends = {block.samples.crc for block in cluster.blocks if block.family == "groupwatch_partition_end_offset"}
        if judge is not None and hash(frozenset(ends)) != self._catalog_ms:
            self._catalog_ms = hash(frozenset(ends))
            self.seconds.append((cluster.batch_duration_ms or 0) / 1000)
            self.cpu.append(cpu_s(os.getpid()))


def measure(name: str, crowd: Crowd) -> None:
    """Measure and report; seconds."""
    with broker_with_topics(crowd) as kafka, tempfile.TemporaryDirectory() as folder:
        records = fill(kafka, crowd, 1)
        settings = Settings(
            clusters={
                "bench": ClusterSettings(
                    name="bench", bootstrap_servers=kafka.bootstrap_servers, collect_interval_s=5.0
                )
            },
            spark=SparkSettings(master="local[2]", checkpoint=folder, buckets=16, trigger_s=1.0),
        )
        store = Passes()
        with Job(settings, store, spark_kafka_jars(), Path(folder) / "spark.log") as job, Producing(kafka, crowd):
            eventually(lambda: job.check() or len(store.seconds) > PASSES + 2, "the passes", 900)
            memory = memory_mb(os.getpid())
        bytes_of_metrics = len(store.read().metrics_gzip)
    first, *rest = store.seconds[1:]  # the first of all starts from nothing
    cpu = [after - before for before, after in zip(store.cpu[1:], store.cpu[2:], strict=False)]
    report(
        name,
        statistics.median(rest),
        "s",
        GOAL_S,
        sum(cpu) / len(cpu),
        groups=crowd.groups,
        group_partitions=crowd.groups * crowd.partitions,
        records=records,
        first_s=store.seconds[0],
        second_s=first,
        passes_s=rest,
        slowest_s=max(rest),
        memory_mb={kind: round(size) for kind, size in memory.items()},
        metrics_gzip_mb=round(bytes_of_metrics / 1e6, 1),
    )
