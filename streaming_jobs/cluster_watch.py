"""One cluster: its streaming query, started, watched and restarted after a failure, and its collector beside it."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.client_properties import spark_options
from monitor.collectors.kafka_catalog import KafkaCatalogCollector
from monitor.collectors.preflight import LogBounds, end_offsets
from monitor.config import ClusterSettings, SparkSettings
from monitor.detection.settings import DetectionSettings
from streaming_jobs.board import Board
from streaming_jobs.checkpoint import Checkpoint, Layout
from streaming_jobs.pipeline import entity_states
from streaming_jobs.publisher import MicroBatchPublisher
from streaming_jobs.sources import kafka_log, ticks
from streaming_jobs.warm_up import LogPosition, WarmUp, position_of

log = logging.getLogger(__name__)

OFFSETS_TOPIC: Final = "__consumer_offsets"
LOOK_S: Final = 0.2
FIRST_PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 60.0
FATAL: Final = ("StateVersionError", "SilentSourceError")
"""Errors that a restart cannot heal, by name: they cross from the executors as text."""


def now_ms() -> int:
    """The wall clock in milliseconds; the only clock that verdicts are given."""
    return time.time_ns() // 1_000_000


class ClusterWatch:
    """Watches one cluster until stopped. A failed query is started again; its groups grow stale meanwhile.

    ``fatal`` is set to a sentence when going on makes no sense; the job then ends.
    """

    def __init__(
        self,
        spark: SparkSession,
        cluster: ClusterSettings,
        settings: SparkSettings,
        rules: DetectionSettings,
        board: Board,
    ) -> None:
        self._spark = spark
        self._cluster = cluster
        self._settings = settings
        self._rules = rules
        self._board = board
        self._stopping = threading.Event()
        self._query: StreamingQuery | None = None
        self._collector = KafkaCatalogCollector(cluster)
        self._threads = (
            threading.Thread(target=self._collect, name=f"collector-{cluster.name}", daemon=True),
            threading.Thread(target=self._run, name=f"watch-{cluster.name}", daemon=True),
        )
        self.fatal: str | None = None
        checkpoint = Checkpoint(spark, settings.checkpoint or "", cluster.name)
        checkpoint.claim(Layout(cluster=cluster.name, buckets=settings.buckets, events_topic=cluster.events_topic))
        self._checkpoint = checkpoint

    def start(self) -> None:
        """Begin collecting and reading."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the query after the micro-batch in progress, and the collector. Waits for both."""
        self._stopping.set()
        query = self._query
        if query is not None and query.isActive:
            query.stop()
        for thread in self._threads:
            if thread.ident is not None:  # another cluster's error can end the job before this one was started
                thread.join(timeout=30)

    def _collect(self) -> None:
        self._collector.run(self._stopping)

    def _run(self) -> None:
        self._await_first_pass()
        pause_s = FIRST_PAUSE_S
        while not self._stopping.is_set() and self.fatal is None:
            began = time.monotonic()
            try:
                self._query = self._started_query()
                if self._stopping.is_set():  # told while the query was starting
                    self._query.stop()
                self._query.awaitTermination()
            except Exception as error:
                self._note(error)
            if time.monotonic() - began > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._stopping.wait(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _await_first_pass(self) -> None:
        """Wait for the collector's first pass: it creates the events topic, which the query reads."""
        while self._collector.last_success_ms is None and not self._stopping.wait(LOOK_S):
            self._board.report_problem(self._cluster.name, self._collector.problem)

    def _note(self, error: Exception) -> None:
        """Say why the query ended; decide whether a restart can heal it."""
        if self._stopping.is_set():
            return
        sentence = cause_of(error)
        if any(name in sentence for name in FATAL):
            self.fatal = f"Cluster {self._cluster.name}: {sentence}"
            return
        log.warning("Cluster %s: the query ended (%s); it is started again", self._cluster.name, sentence)
        self._board.report_problem(self._cluster.name, f"reading stopped: {sentence}")

    def _started_query(self) -> StreamingQuery:
        backlog = end_offsets(self._cluster, OFFSETS_TOPIC)
        log.info("Cluster %s: the offsets log has %d offsets to read", self._cluster.name, backlog.records)
        publisher = MicroBatchPublisher(
            spark=self._spark,
            cluster=self._cluster.name,
            board=self._board,
            warm_up=WarmUp(begin=backlog.begins, target=backlog.ends),
            resumed=self._checkpoint.resumed,
            position=self._position,
            problem=lambda: self._collector.problem,
            settings=self._rules,
            clock=now_ms,
            started_ms=now_ms(),
        )
        return (
            self._states(backlog)
            .writeStream.queryName(f"groupwatch-{self._cluster.name}")
            .foreachBatch(publisher)
            .option("checkpointLocation", self._checkpoint.path)
            .trigger(processingTime=f"{int(self._settings.trigger_s * 1000)} milliseconds")
            .start()
        )

    def _states(self, backlog: LogBounds) -> DataFrame:
        options = spark_options(self._cluster)
        most = self._settings.max_records_per_batch
        return entity_states(
            kafka_log(self._spark, OFFSETS_TOPIC, len(backlog.ends), options | self._isolation(), most),
            kafka_log(self._spark, self._cluster.events_topic, 1, options, most),
            ticks(self._spark, self._settings.buckets),
            self._cluster.name,
            self._settings.buckets,
        )

    def _isolation(self) -> dict[str, str]:
        return {"kafka.isolation.level": self._cluster.offsets_isolation}

    def _position(self) -> LogPosition | None:
        progress = self._query.lastProgress if self._query is not None else None
        return position_of(OFFSETS_TOPIC, progress.sources) if progress is not None else None


def cause_of(error: BaseException) -> str:
    """The innermost cause of a failure in one line: Spark wraps it many times over, with stack traces between."""
    text = str(error.desc if isinstance(error, StreamingQueryException) and hasattr(error, "desc") else error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")] or [
        line for line in lines if "Error" in line or "Exception" in line
    ]
    return (causes[-1] if causes else lines[0] if lines else type(error).__name__)[:500]
