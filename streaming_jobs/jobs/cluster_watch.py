"""One cluster: its streaming query, started, watched and restarted after a failure, and its collectors beside it.

A cluster is a Kafka cluster or another system: of that the query reads what a Kafka cluster carries (its events topic),
and no log of offsets. Of jobs that share the groups, the first shard's has the collectors
(docs/decisions/0011-shards.md); they may also run by themselves (``groupwatch collect``).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.errors import CollectorError, NotYetReadable, PermissionMissing
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import LogEnds
from monitor.collectors.kafka.preflight import (
    LogBounds,
    require_readable,
    share_state_partitions,
)
from monitor.collectors.passes.health import PassCounter
from monitor.collectors.remote_collector import RemoteCollector
from monitor.config import ConfigError, SparkSettings
from monitor.history.recorded import RecordedSettings
from monitor.model import ALL_GROUPS, LogPlaces, Shard
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.readiness.first_pass import FirstPass
from monitor.readiness.freshness import Freshness
from monitor.readiness.next_batch import BatchSchedule
from monitor.readiness.trigger_lag import TriggerLag
from monitor.readiness.warm_up import LogPosition, WarmUp, planned_end, reported_offsets
from streaming_jobs.buckets.pipeline import Spread, bucket_rows
from streaming_jobs.buckets.processor import BucketProcessor
from streaming_jobs.driver.batch_gate import BatchGate
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.log_news import LogNews
from streaming_jobs.driver.publisher import MicroBatchPublisher
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.ingest.offset_planner import start_planned
from streaming_jobs.ingest.sources import events_log, kafka_log, ticks
from streaming_jobs.jobs.collector_log import CollectorLog
from streaming_jobs.jobs.reading_problems import ReadingProblems
from streaming_jobs.jobs.source_options import SourceOptions
from streaming_jobs.jobs.unread_partitions import UnreadLog, unread_partitions, unread_problem
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.recording.recorder import RecordedLogs, Recorder
from streaming_jobs.recording.rows import recorded_rows
from streaming_jobs.runtime.checkpoint import PARTITIONS_KEY, Checkpoint, CheckpointError, Layout
from streaming_jobs.runtime.clock import monotonic_ms, now_ms
from streaming_jobs.runtime.hadoop_files import FilesError
from streaming_jobs.runtime.lifetime import JobFailed
from streaming_jobs.runtime.query_errors import (
    REBUILD,
    cause_of,
    fatal_sentence,
    is_disk_full,
    is_fetch_timeout,
)
from streaming_jobs.runtime.session import JVM_GONE
from streaming_jobs.runtime.spark_network import is_local
from streaming_jobs.runtime.stall import StallWatch

log = logging.getLogger(__name__)

POLL_S: Final = 0.2
FIRST_PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 60.0
END_LIMIT_S: Final = 15.0
COMMIT_LIMIT_S: Final = 5.0
"""How long Spark may take to note the end of a micro-batch."""
LOOK_FOR_LOGS_S: Final = 2
"""How often it is looked for the log of share state, which the brokers create with the first share group, and whether a
log has got more partitions."""
BEGIN_LIMIT_S: Final = 60.0
"""How long a query that starts may keep the others from starting."""


class ClusterWatch:
    """Watches one cluster until stopped. A failed query is started again; its groups grow stale meanwhile."""

    def __init__(
        self,
        spark: SparkSession,
        target: WatchTarget,
        settings: SparkSettings,
        shared: SharedEvaluation,
        store: SnapshotStore,
    ) -> None:
        self._spark = spark
        self._target = target
        self._cluster = target.carrier
        self._settings = settings
        self._trigger_ms = int(settings.trigger_s * 1000)
        self._judging = shared
        self._store = store
        self._stopping = threading.Event()
        self._query: StreamingQuery | None = None
        self._gate: BatchGate | None = None
        self._has_held_batch = False
        """Whether a micro-batch only waited for the next one when it was told to end."""
        self._watching = threading.Thread(target=self._run, name=f"watch-{target.name}", daemon=True)
        self._threads = (*map(self._collecting, target.collectors), self._watching)
        self._findings = FindingsPublisher(target.carrier, shared.shard, target.name)
        self._fatal: JobFailed | CheckpointError | None = None
        self._problems = ReadingProblems(target, StallWatch(self._trigger_ms))
        self._problems.of_brokers = self._unread_problem
        self._unread_log = UnreadLog(target.name)
        self._is_stall_logged = False
        self._checkpoint = Checkpoint(spark, settings.checkpoint or "", target.name)
        is_here = is_local(str(spark.sparkContext.master))
        self._options = SourceOptions(target.carrier, serves_tokens=is_here)
        self._ends = self._new_ends()
        self._partitions: dict[str, int] = {}
        """How many partitions of each log the query reads."""
        self._planned_before = -1
        """The newest micro-batch that was planned when the query started."""
        self._share_partitions = 0
        self._places = LogPlaces()
        self._has_missed_share_state = False
        self._recorder = Recorder(spark, target.name, shared.history) if shared.history.is_on else None

    @property
    def fatal(self) -> JobFailed | CheckpointError | None:
        """Why going on makes no sense, once it does not; the job then ends."""
        return self._fatal or self._replaced() or self._lost()

    def _lost(self) -> JobFailed | None:
        return self._failed(self._checkpoint.lost) if self._checkpoint.lost else None

    def _replaced(self) -> CheckpointError | None:
        """That a collector has met another system than the one that the checkpoint is of."""
        found = (each.source.replaced for each in self._target.collectors)
        sentence = next((each for each in found if each is not None), None)
        if sentence is None:
            return None
        path = self._checkpoint.path
        return CheckpointError(
            f"{sentence} The checkpoint {path} belongs to the previous one: go back to that, or {REBUILD}."
        )

    def _failed(self, sentence: str) -> JobFailed:
        return JobFailed(f"Cluster {self._target.name}: {sentence}")

    def claim(self, *, rebuild: bool) -> None:
        """Have the cluster's checkpoint for this job, until ``stop``; with ``rebuild``, a new one.

        Raises:
            CheckpointError: it is in use, it does not fit the settings, or it cannot be reached.
        """
        self._checkpoint.claim(layout_of(self._target, self._settings, self._judging.shard), rebuild=rebuild)
        known = self._checkpoint.layout
        for collector in self._target.awaited:
            is_of_carrier = isinstance(collector, RemoteCollector) or not self._target.is_system
            collector.source.expected = known.cluster_id if is_of_carrier else known.source_id

    def start(self) -> None:
        """Begin collecting and reading."""
        for thread in self._threads:
            thread.start()

    def begin_stop(self) -> None:
        """Tell the query and the collectors to end, and return at once; ``stop`` awaits it.

        A micro-batch that has done everything ends: Spark then notes it, and a restart does not repeat it.
        """
        self._stopping.set()
        if self._recorder is not None:
            self._recorder.begin_stop()
        gate = self._gate
        if gate is not None and not gate.is_open:
            self._has_held_batch = gate.is_holding
            gate.open()

    def stop(self) -> None:
        """End the query after the micro-batch in progress, and the collector; then give the checkpoint back.

        What has not ended within END_LIMIT_S, as when the cluster is away, is left to the end of the process.
        """
        self.begin_stop()
        deadline = time.monotonic() + END_LIMIT_S
        if self._has_held_batch:
            self._watching.join(timeout=COMMIT_LIMIT_S)
        query = self._query
        with suppress(*JVM_GONE):
            if query is not None and query.isActive:
                query.stop()
        for thread in self._threads:
            if thread.ident is not None:  # another cluster's error can end the job before this one was started
                thread.join(timeout=max(0.0, deadline - time.monotonic()))
        self._ends.close()
        self._findings.close()
        if self._recorder is not None:
            self._recorder.stop(max(0.0, deadline - time.monotonic()))
        self._judging.served_before.keep(self._store.of(self._target.name))
        self._checkpoint.release()

    def _collecting(self, collector: PassCounter | RemoteCollector) -> threading.Thread:
        """The thread of a collector; what is known of its passes is shown after each, whatever the query does."""
        if isinstance(collector, PassCounter):
            tell = CollectorLog(collector)

            def after_pass() -> None:
                tell()
                self._store.process.observe_pass(collector.health())
                self._forget_former_events()
                self._show_collectors()

            collector.after_pass = after_pass
        name = f"collector-{self._target.name}"
        return threading.Thread(target=collector.run, args=(self._stopping,), name=name, daemon=True)

    def _forget_former_events(self) -> None:
        """Take the events topic that a collector of this job has just created for the checkpoint's.

        What it held is written again with each pass, so nothing is lost by it. One that others created is refused.
        """
        made = [each for each in self._target.collectors if isinstance(each, PassCounter) and each.has_made_topic]
        for each in made:
            each.has_made_topic = False
        if made and self._checkpoint.layout.events_id is not None:
            log.warning(
                "Cluster %s: %s was missing and has been created again", self._target.name, self._cluster.events_topic
            )
            self._checkpoint.keep_id("events_id", None)

    def _show_collectors(self) -> None:
        self._store.report_collectors(self._target.name, self._target.health())
        self._show_problem()

    def _show_problem(self) -> None:
        self._store.report_problem(
            self._target.name,
            self._problems.sentence,
            unread=self._unread_problem(),
            stalled=self._problems.has_stalled,
            is_away=self._target.problem is not None,
        )

    def look(self) -> str | None:
        """See whether the cluster is still evaluated, and show it if not; a sentence once there is no point in waiting.

        Called once a second by a thread of its own: whatever hangs, this does not.
        """
        self._unread_log.look(self._unread_problem(), monotonic_ms())
        hopeless = self._problems.look(monotonic_ms(), now_ms(), self._query)
        self._show_problem()
        self._log_stall()
        return hopeless and f"Cluster {self._target.name}: {hopeless}"

    def _log_stall(self) -> None:
        """Say once that the groups are not evaluated any more, and once that they are again."""
        if self._problems.has_stalled == self._is_stall_logged:
            return
        self._is_stall_logged = not self._is_stall_logged
        if self._is_stall_logged:
            log.warning("Cluster %s: %s", self._target.name, self._problems.sentence)
        else:
            log.info("Cluster %s: groups are evaluated again", self._target.name)

    def _run(self) -> None:
        self._await_first_pass()
        pause_s = FIRST_PAUSE_S
        while not self._stopping.is_set() and self.fatal is None:
            began, comes_by_itself, is_left_out = time.monotonic(), False, False
            try:
                self._problems.stall.restart(monotonic_ms())
                self._problems.is_starting = True
                self._query = self._started_query()
                self._problems.is_starting = False
                if self._stopping.is_set():  # told while the query was starting
                    self._query.stop()
                self._await_end(self._query)
            except Exception as error:
                self._note(error)
                comes_by_itself = isinstance(error, NotYetReadable)
                is_left_out = is_fetch_timeout(error) and self._has_left_out_brokers()
            self._query, self._problems.is_starting = None, False
            self._problems.stall.stop()
            self._close_gate()
            if comes_by_itself or time.monotonic() - began > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._stopping.wait(0.0 if is_left_out else pause_s)
            pause_s = min(max(2 * pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)

    def _has_left_out_brokers(self) -> bool:
        """Plan anew what could not be read in time; whether it was for brokers that do not answer.

        Then the next micro-batch leaves them out. Otherwise it may take longer.
        """
        with suppress(FilesError):
            self._checkpoint.forget_unread_plan(self._planned_before)
        with suppress(CollectorError, ConfigError, FilesError):
            self._ends.ask(self._positions())
        if not self._ends.silent:
            self._options.wait_longer()
        return bool(self._ends.silent)

    def _unread_problem(self) -> str | None:
        return unread_problem(self._target.name, self._read_counts, self._ends.silent)

    def _away_problem(self) -> str | None:
        """That the cluster, or a broker of it, does not answer now, as a sentence. For any thread."""
        return self._target.problem or self._unread_problem()

    @property
    def _read_counts(self) -> dict[str, int]:
        """How many partitions are read of each log, and of the collectors' events."""
        return {**self._partitions, self._cluster.events_topic: 1}

    def _positions(self) -> dict[Place, int]:
        """Up to where the logs have been read that the query reads, and that of the collectors' events."""
        counts = self._read_counts
        read = {topic: self._checkpoint.read_until(topic) for topic in counts}
        return {(topic, n): read[topic].get(n, 0) for topic, count in counts.items() for n in range(count)}

    def _await_end(self, query: StreamingQuery) -> None:
        """Wait for the end of the query. It is ended once there is a log, or a partition of one, that it lacks."""
        while not query.awaitTermination(LOOK_FOR_LOGS_S):
            news = self._grown_log() or self._new_share_log()
            if news is not None:
                log.info("Cluster %s: %s; reading it", self._target.name, news)
                self._close_gate()
                query.stop()
                return

    def _grown_log(self) -> str | None:
        """That a log has more partitions than the query reads, as the beginning of a sentence."""
        for topic, count in self._partitions.items():
            now = self._ends.partition_count(topic)
            if now > count:
                return f"{topic} has {now} partitions now instead of {count}"
        return None

    def _new_share_log(self) -> str | None:
        """That there is a log of share state that the query does not read; None as long as the brokers are away."""
        if self._share_partitions or not self._ends.partition_count(SHARE_STATE_TOPIC):
            return None
        with suppress(CollectorError):
            return "the log of share state can be read now" if self._count_share_partitions() else None
        return None

    def _count_share_partitions(self) -> int:
        """The partitions of the log of share state; 0: there is none yet, or the user may not read it: said once.

        Raises:
            CollectorError: the brokers do not say. A start without a log that was read before would read all of it anew
                later.
        """
        now = self._ends.partition_count(SHARE_STATE_TOPIC)
        if not self._target.reads_log or not now or self._share_partitions:
            return max(now, self._share_partitions) if self._target.reads_log else 0
        try:
            return share_state_partitions(self._cluster)
        except PermissionMissing as error:
            if not self._has_missed_share_state:
                log.warning("%s Until then, the lag of share groups comes from their coordinators.", error)
            self._has_missed_share_state = True
        return 0

    def _await_first_pass(self) -> None:
        """Wait for the collectors' first passes, here or in another process: they create the events topic."""
        while not self._target.has_begun and self.fatal is None and not self._stopping.wait(POLL_S):
            self._show_problem()

    def _note(self, error: Exception) -> None:
        """Say why the query ended; decide whether a restart can heal it."""
        if self._stopping.is_set():
            return
        cause = cause_of(error)
        if isinstance(error, CheckpointError):
            self._fatal = CheckpointError(f"Cluster {self._target.name}: {error}")
        elif (sentence := fatal_sentence(error, self._checkpoint.path)) is not None:
            self._fatal = self._failed(sentence)
        elif isinstance(error, NotYetReadable):
            self._wait_for(str(error))
        else:
            throttling = self._ends.throttling if is_fetch_timeout(error) else None
            problem = throttling or (f"the disk is full ({cause})" if is_disk_full(error) else cause)
            log.warning("Cluster %s: the query ended (%s); restarting it", self._target.name, problem)
            self._show_end(f"reading stopped: {problem}", is_waiting=is_disk_full(error))

    def _wait_for(self, sentence: str) -> None:
        """Say once what a query cannot start without."""
        if self._problems.of_query != sentence:
            log.warning("%s Waiting for it.", sentence)
        self._show_end(sentence, is_waiting=True)

    def _show_end(self, sentence: str, *, is_waiting: bool) -> None:
        self._problems.of_query, self._problems.is_query_waiting = sentence, is_waiting
        self._show_problem()

    @property
    def _log(self) -> str:
        """The topic that tells of the groups: the warm-up is over when it has been read."""
        return OFFSETS_TOPIC if self._target.reads_log else self._cluster.events_topic

    def _started_query(self) -> StreamingQuery:
        self._forget_former_events()
        self._planned_before = self._checkpoint.newest_plan()
        self._ends.accept_new_topics()
        are_events_new = self._checkpoint.layout.events_id is None
        passes = self._ends.bounds(self._cluster.events_topic)  # a first pass of this run is among them
        log_bounds = self._ends.bounds(self._log) if self._target.reads_log else passes
        self._checkpoint.require_logs(*{each.topic: each for each in (log_bounds, passes)}.values())
        starts = {(passes.topic, each.partition): each.begin for each in passes.partitions} if are_events_new else {}
        self._ends.restart_recreated(starts)
        self._places = self._log_places(log_bounds) if self._target.reads_log else LogPlaces()
        bounds = log_bounds if self._target.reads_log else only_first_partition(passes)
        backlog = bounds.unread(self._checkpoint.read_until(bounds.topic))
        log.info("Cluster %s: %s has a backlog of %d offsets", self._target.name, self._log, backlog.records)
        self._gate = gate = self._new_gate()
        connect_topics = self._connect_topics()
        self._share_partitions = self._count_share_partitions()
        self._partitions = self._log_partitions(log_bounds)
        publisher = MicroBatchPublisher(
            spark=self._spark,
            cluster=self._target.name,
            store=self._store,
            catalogs=self._judging.catalogs,
            warm_up=WarmUp(begin=backlog.begins, target=backlog.ends, told_ms=monotonic_ms()),
            resumed=self._checkpoint.resumed,
            position=self._position,
            forget_plan=self._checkpoint.forget_plan,
            note_ready=partial(self._judging.served_before.forget, self._target.name),
            passes=FirstPass(
                {0: passes.ends.get(0, 0)},
                own=self._judging.shard.is_first and self._target.collects,
                by_readings=self._target.is_system,
            ),
            problem=lambda: self._problems.sentence,
            stall=self._problems.stall,
            note_source=self._note_source,
            rules=self._judging.rules,
            clock=now_ms,
            pace=TriggerLag(self._trigger_ms),
            findings=self._findings,
            gate=self._gate,
            shard=self._judging.shard,
            log_topic=self._log,
            own_topics=frozenset({self._cluster.events_topic, self._cluster.findings_topic, OFFSETS_TOPIC}),
            freshness=self._freshness(),
            series=self._judging.series,
            connect_topics=connect_topics,
            places=self._places,
            note_partitions=self._note_partitions,
            recording=None if self._recorder is None else self._recorder.health,
            outages=lambda: self._ends.outages(OFFSETS_TOPIC),
            unread=lambda: unread_partitions(OFFSETS_TOPIC, self._ends.silent, self._first_evaluated_ms()),
        )
        self._problems.lateness = lambda: publisher.lateness
        writer = (
            self._bucket_rows(backlog, frozenset(connect_topics.values()))
            .writeStream.foreachBatch(publisher)
            .option("checkpointLocation", self._checkpoint.path)
            .trigger(processingTime="0 seconds")
        )
        with self._judging.start_turn:
            query = start_planned(
                writer,
                f"groupwatch-{self._target.name}",
                self._ends,
                lambda: gate.is_open or self._stopping.is_set(),
            )
            self._await_begin(query, publisher.begun)
        if self._recorder is not None:
            known = RecordedSettings(self._judging.rules, connect_topics)
            rows, new_ends = self._recorded_rows(backlog, known), partial(self._new_ends, starts)
            ids = self._checkpoint.layout.ids
            self._recorder.record(RecordedLogs(rows, known, self._partitions, new_ends, ids, self._away_problem))
        return query

    @property
    def _source_name(self) -> str:
        """Where the layout has the id of what the collectors read."""
        return "source_id" if self._target.is_system else "cluster_id"

    def _source_id(self) -> str | None:
        known: str | None = getattr(self._checkpoint.layout, self._source_name)
        return known

    def _note_source(self, source_id: str) -> None:
        """Keep the id of what the first pass was over. Passes over others are refused from the next query on."""
        if self._source_id() is None:
            self._checkpoint.keep_id(self._source_name, source_id)

    def _log_places(self, log_bounds: LogBounds) -> LogPlaces:
        """Where in the offsets topic groups are: open as long as nothing is in the partitions that it has grown by."""
        partitions, before = log_bounds.partition_count, self._checkpoint.layout.log_partitions
        return LogPlaces(partitions, before if before is not None and before < partitions else 0)

    def _note_partitions(self, partitions: int) -> None:
        """Keep by how many partitions the brokers place groups."""
        if self._checkpoint.layout.log_partitions != partitions:
            self._checkpoint.keep_log_partitions(partitions)

    def _await_begin(self, query: StreamingQuery, begun: threading.Event) -> None:
        """Return when the query runs its first micro-batch, or has ended; or after a while, to hold nobody up."""
        deadline = time.monotonic() + BEGIN_LIMIT_S
        while not begun.wait(POLL_S) and time.monotonic() < deadline:
            if self._stopping.is_set() or not query.isActive:
                return

    def _freshness(self) -> Freshness | None:
        """A log of offsets is read as it is written; what comes by readings is as new as those are."""
        if self._target.reads_log:
            return None
        return Freshness(int(self._target.interval_s * 1000), self._target.readings)

    def _connect_topics(self) -> dict[str, str]:
        """The topics of configurations of Connect that can be read, by group; of any other it is said why not."""
        found: dict[str, str] = {}
        for group, topic in self._cluster.connect_configs.items() if not self._target.is_system else ():
            try:
                require_readable(self._cluster, topic)
            except CollectorError as error:
                log.warning("The topic of configurations of the Connect cluster %r is not read. %s", group, error)
            else:
                found[group] = topic
        return found

    def _logs(self, backlog: LogBounds, config_topics: frozenset[str]) -> tuple[DataFrame | None, DataFrame]:
        """The log of groups, if they come by one, and the collectors' events."""
        options = self._options.source_options(self._ends.answering)
        most = self._settings.max_records_per_batch
        offsets_log = (
            kafka_log(self._spark, self._log_partitions(backlog), options | self._isolation(), most)
            if self._target.reads_log
            else None
        )
        return offsets_log, events_log(self._spark, self._cluster.events_topic, options, most, config_topics)

    def _recorded_rows(self, backlog: LogBounds, settings: RecordedSettings) -> Callable[[], DataFrame]:
        config_topics = frozenset(settings.connect_topics.values())
        spread, groups = self._spread(config_topics), self._judging.history.groups

        def rows() -> DataFrame:
            offsets_log, events = self._logs(backlog, config_topics)
            return recorded_rows(self._target.name, offsets_log, events, spread, groups)

        return rows

    def _bucket_rows(self, backlog: LogBounds, config_topics: frozenset[str]) -> DataFrame:
        return bucket_rows(
            *self._logs(backlog, config_topics),
            ticks(self._spark, self._checkpoint.buckets),
            BucketProcessor(
                self._target.name, self._judging.catalogs.address, self._judging.rules, self._judging.series
            ),
            self._spread(config_topics),
        )

    def _spread(self, config_topics: frozenset[str]) -> Spread:
        return Spread(
            buckets=self._checkpoint.buckets,
            shard=self._judging.shard,
            text_partitions=self._target.text_partitions,
            source_id=self._source_id(),
            config_topics=config_topics,
            places=self._places,
        )

    def _log_partitions(self, backlog: LogBounds) -> dict[str, int]:
        """The logs of groups with their numbers of partitions."""
        of_shares = {SHARE_STATE_TOPIC: self._share_partitions} if self._share_partitions else {}
        return {OFFSETS_TOPIC: backlog.partition_count, **of_shares} if self._target.reads_log else {}

    def _close_gate(self) -> None:
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.open()  # a query that failed may have left a micro-batch that waits
            gate.close()

    def _new_gate(self) -> BatchGate:
        options = self._options.client_options() | self._isolation()
        news = LogNews(self._spark, options, self._log, self._cluster.events_topic)
        schedule = BatchSchedule(self._trigger_ms, int(self._target.interval_s * 1000))
        return BatchGate(schedule, news, self._problems.stall.evaluate, self._target.unchanged)

    def _new_ends(self, starts: Mapping[Place, int] | None = None) -> LogEnds:
        """Tells where the logs end that a query reads: one for the live query, one for the recorder's.

        Args:
            starts: where logs start that were created again.
        """
        topics = {self._cluster.events_topic, *self._cluster.connect_configs.values()}
        logs = {OFFSETS_TOPIC, SHARE_STATE_TOPIC} if self._target.reads_log else set()
        ends = LogEnds(self._cluster, topics | logs, now_ms, self._read_until_ms)
        ends.restart_recreated(starts or {})
        return ends

    def _first_evaluated_ms(self) -> int | None:
        """When this process first evaluated groups; None: it has not yet."""
        first_ms = self._problems.stall.first_evaluated_ms
        return None if first_ms is None else now_ms() - (monotonic_ms() - first_ms)

    def _read_until_ms(self) -> int:
        """When the groups were last evaluated: what can be read had been read until then."""
        return now_ms() - self._problems.stall.silence_ms(monotonic_ms())

    def _isolation(self) -> dict[str, str]:
        return {"kafka.isolation.level": self._cluster.offsets_isolation}

    def _position(self, batch_id: int) -> LogPosition:
        progress = self._query.lastProgress if self._query is not None else None
        planned = self._checkpoint.planned(batch_id)
        return LogPosition(
            read=planned_end(self._log, planned),
            before=reported_offsets(self._log, progress.sources) if progress is not None else None,
            events_read=planned_end(self._cluster.events_topic, planned),
            share_read=planned_end(SHARE_STATE_TOPIC, planned) if self._share_partitions else {},
        )


def only_first_partition(bounds: LogBounds) -> LogBounds:
    """Of the events topic one partition is read, even if it has more."""
    return msgspec.structs.replace(bounds, partitions=bounds.partitions[:1])


def layout_of(target: WatchTarget, settings: SparkSettings, shard: Shard = ALL_GROUPS) -> Layout:
    """What a checkpoint is to be like. Its numbers count only if somebody chose them."""
    partitions = int(settings.conf.get(PARTITIONS_KEY, settings.shuffle_partitions))
    return Layout(
        cluster=target.name,
        buckets=settings.buckets or None,
        events_topic=target.carrier.events_topic,
        shuffle_partitions=partitions or None,
        shard=str(shard),
        groups_from=target.groups_from,
        via=None if target.carrier.name == target.name else target.carrier.name,
    )
