"""One streaming query of a cluster: its sources, its stateful stage, and what publishes its micro-batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.kafka.carried_ends import CarriedEnds
from monitor.config import SparkSettings
from monitor.history.recorded import RecordedSettings
from monitor.model import RecordingHealth
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.readiness.cluster_readiness import ClusterReadiness
from monitor.readiness.first_pass import FirstPass
from monitor.readiness.freshness import Freshness
from monitor.readiness.next_batch import BatchSchedule
from monitor.readiness.trigger_lag import TriggerLag
from monitor.readiness.warm_up import WarmUp
from streaming_jobs.buckets.pipeline import Spread, bucket_rows
from streaming_jobs.buckets.processor import BucketProcessor
from streaming_jobs.driver.batch_gate import BatchGate
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.groups_log import GroupsLog
from streaming_jobs.driver.log_news import CarriedNews, LogNews
from streaming_jobs.driver.publisher import MicroBatchPublisher
from streaming_jobs.driver.scale_ledger import FILE, ScaleLedger
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.ingest.offset_planner import start_planned
from streaming_jobs.ingest.sources import events_log, kafka_log, ticks
from streaming_jobs.jobs.cluster_logs import ClusterLogs
from streaming_jobs.jobs.reading_problems import ReadingProblems
from streaming_jobs.jobs.source_options import QueryOptions
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.recording.recorder import RecordedLogs
from streaming_jobs.recording.rows import recorded_rows
from streaming_jobs.runtime.checkpoint import Checkpoint
from streaming_jobs.runtime.clock import monotonic_ms, now_ms

POLL_S: Final = 0.2
BEGIN_LIMIT_S: Final = 60.0
"""How long a query that starts may keep the others from starting."""


class ClusterQuery:
    """Builds one query of a cluster and starts it. ``gate`` ends it between two micro-batches.

    ``at_start`` is what its logs had when it was built.
    """

    def __init__(  # noqa: PLR0913, PLR0917 -- what a query is made of
        self,
        spark: SparkSession,
        target: WatchTarget,
        settings: SparkSettings,
        shared: SharedEvaluation,
        checkpoint: Checkpoint,
        options: QueryOptions,
        logs: ClusterLogs,
        problems: ReadingProblems,
    ) -> None:
        """Look at the logs that it is to read.

        Raises:
            CollectorError: the brokers do not say where they end.
            CheckpointError: they are not those of the checkpoint.
        """
        self._spark = spark
        self._target = target
        self._cluster = target.cluster
        self._events_topic = target.carrier.events_topic
        self._settings = settings
        self._trigger_ms = int(settings.trigger_s_for(1) * 1000)
        self._shared = shared
        self._checkpoint = checkpoint
        self._options = options
        self._logs = logs
        self._problems = problems
        self.at_start: Final = logs.begin()
        self.gate: Final = self._new_gate()

    def start(
        self,
        store: SnapshotStore,
        findings: FindingsPublisher,
        recording: Callable[[], RecordingHealth] | None,
        stopping: threading.Event,
    ) -> StreamingQuery:
        """Start it, in its turn among the clusters.

        Args:
            store: takes what the micro-batches show.
            findings: publishes them.
            recording: how the recording goes; None: nothing is recorded.
            stopping: is set when the job is to end.
        """

        def is_ending() -> bool:
            return self.gate.is_open or stopping.is_set()

        publisher = self._publisher(store, findings, recording)
        self._problems.lateness = lambda: publisher.lateness
        writer = (
            self._bucket_rows()
            .writeStream.foreachBatch(publisher)
            .option("checkpointLocation", self._checkpoint.path)
            .trigger(processingTime="0 seconds")
        )
        with self._shared.start_turn:
            query = start_planned(writer, f"groupwatch-{self._target.name}", self._logs.ends, is_ending)
            _await_begin(query, publisher.begun, is_ending)
        return query

    def _publisher(
        self, store: SnapshotStore, findings: FindingsPublisher, recording: Callable[[], RecordingHealth] | None
    ) -> MicroBatchPublisher:
        self._remember_scale()
        return MicroBatchPublisher(
            spark=self._spark,
            cluster=self._target.name,
            store=store,
            shared=self._shared,
            readiness=self._readiness(),
            logs=self._logs,
            problem=lambda: self._problems.sentence,
            clock=now_ms,
            pace=TriggerLag(self._trigger_ms),
            stall=self._problems.stall,
            findings=findings,
            gate=self.gate,
            groups_log=GroupsLog(self._logs.groups_topic, self.at_start.places),
            own_topics=self._target.own_topics | {OFFSETS_TOPIC},
            connect_topics=self.at_start.connect_topics,
            recording=recording,
        )

    def _remember_scale(self) -> None:
        """Go on with what was remembered of groups whose members are counted."""
        if self._shared.rules.scales:
            ledger = ScaleLedger(self._target.name, self._checkpoint.note(FILE), self._shared.catalogs)
            ledger.load(now_ms())
            self._shared.scale_ledgers[self._target.name] = ledger

    def _readiness(self) -> ClusterReadiness:
        backlog = self.at_start.backlog
        return ClusterReadiness(
            warm_up=WarmUp(begin=backlog.begins, target=backlog.ends, told_ms=monotonic_ms()),
            first_pass=FirstPass(
                {0: self.at_start.events_end},
                own=self._shared.shard.is_first and self._target.collects,
                by_readings=self._target.is_system,
            ),
            freshness=self._freshness(),
            resumed=self._checkpoint.resumed,
        )

    def recorded_logs(self, away: Callable[[], str | None]) -> RecordedLogs:
        """What is recorded of the same logs. ``away``: that the cluster does not answer now, as a sentence."""
        found = self.at_start
        known = RecordedSettings(self._shared.rules, found.connect_topics)
        new_ends = partial(self._logs.new_ends, found.starts)
        ids = self._checkpoint.layout.ids
        return RecordedLogs(self._recorded_rows(), known, found.partitions, new_ends, ids, away)

    def _freshness(self) -> Freshness | None:
        """A log of offsets is read as it is written; what comes by readings is as new as those are."""
        if self._target.reads_log:
            return None
        return Freshness(int(self._target.interval_s * 1000), self._target.readings)

    def _log_rows(self) -> tuple[DataFrame | None, DataFrame]:
        """The log of groups, if they come by one, and the collectors' events."""
        ends, most, configs = self._logs.ends, self._settings.max_records_per_batch, self._config_topics
        options = of_events = self._options.log.source_options(ends.answering)
        partitions = self.at_start.partitions
        if isinstance(ends, CarriedEnds):  # a source reads one cluster: configurations come beside the log then
            of_events = self._options.events.source_options(ends.carrier.answering)
            partitions, configs = {**partitions, **dict.fromkeys(configs, 1)}, frozenset()
        offsets_log = kafka_log(self._spark, partitions, options | self._isolation(), most) if partitions else None
        return offsets_log, events_log(self._spark, self._events_topic, of_events, most, configs)

    @property
    def _config_topics(self) -> frozenset[str]:
        return frozenset(self.at_start.connect_topics.values())

    def _recorded_rows(self) -> Callable[[], DataFrame]:
        spread, groups = self._spread(), self._shared.history.groups

        def rows() -> DataFrame:
            return recorded_rows(self._target.name, *self._log_rows(), spread, groups)

        return rows

    def _bucket_rows(self) -> DataFrame:
        shared = self._shared
        return bucket_rows(
            *self._log_rows(),
            ticks(self._spark, self._checkpoint.buckets),
            BucketProcessor(self._target.name, shared.catalogs.address, shared.rules, shared.series),
            self._spread(),
        )

    def _spread(self) -> Spread:
        return Spread(
            buckets=self._checkpoint.buckets,
            shard=self._shared.shard,
            text_partitions=self._target.text_partitions,
            source_id=self._logs.source_id,
            config_topics=self._config_topics,
            places=self.at_start.places,
        )

    def _new_gate(self) -> BatchGate:
        schedule = BatchSchedule(self._trigger_ms, int(self._target.interval_s * 1000))
        return BatchGate(schedule, self._news(), self._problems.stall.evaluate, self._target.unchanged)

    def _news(self) -> LogNews | CarriedNews:
        events = self._events_topic
        of_log = LogNews(
            self._spark, self._options.log.client_options() | self._isolation(), self._logs.groups_topic, events
        )
        if not self._target.reads_two:
            return of_log
        return CarriedNews(of_log, LogNews(self._spark, self._options.events.client_options(), events, events))

    def _isolation(self) -> dict[str, str]:
        return {"kafka.isolation.level": self._cluster.offsets_isolation}


def _await_begin(query: StreamingQuery, begun: threading.Event, is_ending: Callable[[], bool]) -> None:
    """Return when the query runs its first micro-batch, or has ended; or after a while, to hold up no other query."""
    deadline = time.monotonic() + BEGIN_LIMIT_S
    while not begun.wait(POLL_S) and time.monotonic() < deadline:
        if is_ending() or not query.isActive:
            return
