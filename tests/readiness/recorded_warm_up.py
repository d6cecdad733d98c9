"""A job until its cluster is ready or waits in vain, and all that it published.

A process of its own: PySpark leaves sockets behind in the one that starts Spark.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from uuid import uuid4

import msgspec

from monitor.config import Settings
from monitor.config.settings import ClusterSettings, SparkSettings
from monitor.java_runtime.jars import spark_kafka_jars
from monitor.model import ClusterSnapshot, GroupVerdict, Value
from streaming_jobs.driver.snapshot_store import SnapshotStore, VerdictSource
from streaming_jobs.jobs.job import Job
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, eventually

CLUSTER = "test"
WAITED = 3


class Published(Value):
    """What a micro-batch put on the board, and up to where it and the one before read the log by Spark's own files.

    ``verdicts`` are those that the page would show.
    """

    cluster: ClusterSnapshot
    verdicts: tuple[GroupVerdict | None, ...]
    read: dict[int, int]
    read_before: dict[int, int]


class RecordingBoard(SnapshotStore):
    """A board that keeps all that was put on it. It is written to from within the micro-batch."""

    def __init__(self, checkpoint: Path) -> None:
        super().__init__([CLUSTER])
        self.published: list[Published] = []
        self._offsets = checkpoint / CLUSTER / "offsets"

    def publish(self, cluster: ClusterSnapshot, judge: VerdictSource | None = None) -> None:
        """Keep it, too."""
        super().publish(cluster, judge)
        batch = max(int(file.name) for file in self._offsets.iterdir() if file.name.isdigit())
        recorded = Published(
            cluster=cluster,
            verdicts=tuple(self.verdict(CLUSTER, each.group) for each in cluster.groups),
            read=self._read(batch),
            read_before=self._read(batch - 1),
        )
        self.published.append(recorded)

    def _read(self, batch: int) -> dict[int, int]:
        file = self._offsets / str(batch)
        found = [json.loads(line) for line in file.read_text().splitlines()[2:]] if file.exists() else []
        read = next((line["__consumer_offsets"] for line in found if "__consumer_offsets" in line), {})
        return {int(partition): offset for partition, offset in read.items()}


def record(bootstrap: str, folder: Path, max_records_per_batch: int, collect_interval_s: float) -> list[Published]:
    """All that was published up to the first micro-batch that is ready, or the WAITED-th that read nothing more."""
    checkpoint = folder / "checkpoint"
    settings = Settings(
        clusters={
            CLUSTER: ClusterSettings(
                name=CLUSTER,
                bootstrap_servers=bootstrap,
                collect_interval_s=collect_interval_s,
                events_topic=f"events-{uuid4().hex[:8]}",  # not one with the passes of other jobs
            )
        },
        spark=SparkSettings(
            master="local[2]",
            checkpoint=str(checkpoint),
            buckets=4,
            max_records_per_batch=max_records_per_batch,
            conf={DRIVER_JVM: BRIEF_JVM},
        ),
    )
    store = RecordingBoard(checkpoint)
    with Job(settings, store, spark_kafka_jars(), folder / "spark.log") as job:
        eventually(lambda: job.check() or _end(store.published), "the end of the warm-up")
    return store.published[: _end(store.published)]


def _end(published: list[Published]) -> int | None:
    """How many to record; None: not all of them are there yet."""
    waited = 0
    for count, each in enumerate(published, 1):
        waited += each.cluster.warm_up is not None and each.cluster.warm_up.remaining == 0
        if each.cluster.ready or waited == WAITED:
            return count
    return None


if __name__ == "__main__":
    found = record(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    Path(sys.argv[2], "published.json").write_bytes(msgspec.json.encode(found))
