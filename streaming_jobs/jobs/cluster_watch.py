"""One cluster: its streaming query, started, watched and restarted after a failure, and its collectors beside it.

A cluster is a Kafka cluster or another system: of that the query reads what a Kafka cluster carries (its events topic),
and no log of offsets. Of jobs that share the groups, the first shard's has the collectors
(docs/decisions/0011-shards.md); they may also run by themselves (``groupwatch collect``).
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.errors import NotYetReadable
from monitor.collectors.passes.health import PassCounter
from monitor.collectors.remote_collector import RemoteCollector
from monitor.config import SparkSettings
from monitor.model import ALL_GROUPS, Shard
from monitor.readiness.next_batch import late_after_ms
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.met_ledger import MetLedger
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.cluster_logs import ClusterLogs
from streaming_jobs.jobs.cluster_query import ClusterQuery
from streaming_jobs.jobs.collector_log import CollectorLog
from streaming_jobs.jobs.query_failures import QueryFailures
from streaming_jobs.jobs.reading_problems import ReadingProblems, cluster_sentence
from streaming_jobs.jobs.source_options import query_options
from streaming_jobs.jobs.unread_partitions import UnreadLog
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.recording.recorder import Recorder
from streaming_jobs.runtime.checkpoint import PARTITIONS_KEY, Checkpoint, CheckpointError, Layout
from streaming_jobs.runtime.clock import monotonic_ms, now_ms
from streaming_jobs.runtime.lifetime import JobFailed
from streaming_jobs.runtime.query_errors import (
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
        self._settings = settings
        self._shared = shared
        self._store = store
        self._stopping = threading.Event()
        self._query: ClusterQuery | None = None
        self._has_held_batch = False
        """Whether a micro-batch only waited for the next one when it had to end."""
        self._watching = threading.Thread(target=self._run, name=f"watch-{target.name}", daemon=True)
        self._threads = (*map(self._collecting, target.collectors), self._watching)
        self._findings = FindingsPublisher(target.carrier, shared.shard, target.name, shared.external_url)
        self._problems = ReadingProblems(target, StallWatch(int(settings.trigger_s_for(1) * 1000)))
        self._unread_log = UnreadLog(target.name)
        self._stall_warnings = RepeatedWarning()
        self._checkpoint = Checkpoint(spark, settings.checkpoint or "", target.name)
        is_here = is_local(str(spark.sparkContext.master))
        self._options = query_options(target, serves_tokens=is_here)
        self._logs = ClusterLogs(target, self._checkpoint, self._problems.stall)
        self._problems.of_brokers = self._logs.problem
        self._failures = QueryFailures(target, self._checkpoint, self._logs, self._problems, self._show_problem)
        self._met: MetLedger | None = None
        self._recorder = Recorder(spark, target.name, shared.history) if shared.history.is_on else None

    @property
    def fatal(self) -> JobFailed | CheckpointError | None:
        """Why going on makes no sense, once it does not; the job then ends."""
        return self._failures.fatal

    def claim(self, *, rebuild: bool) -> None:
        """Have the cluster's checkpoint for this job, until ``stop``; with ``rebuild``, a new one.

        Raises:
            CheckpointError: it is in use, it does not fit the settings, or it cannot be reached.
        """
        self._checkpoint.claim(layout_of(self._target, self._settings, self._shared.shard), rebuild=rebuild)
        self._go_on_counting()
        known = self._checkpoint.layout
        for collector in self._target.awaited:
            if self._target.is_carried and isinstance(collector, RemoteCollector):
                continue  # it looks at the carrier, whose events topic has an id of its own
            is_of_cluster = isinstance(collector, RemoteCollector) or not self._target.is_system
            collector.source.expected = known.cluster_id if is_of_cluster else known.source_id

    def _go_on_counting(self) -> None:
        """Show for how long expectations were met until the last run ended; the time since then is unknown."""
        expected = self._shared.expectations
        if expected is not None:
            valid_ms = late_after_ms(self._problems.stall.trigger_ms)
            met = self._met = MetLedger(self._target.name, self._checkpoint.note, valid_ms)
            met.load()
            expected.for_cluster(self._target.name, self._shared.catalogs).met = met
            self._store.process.met.watch(self._target.name, lambda: met.shown_time(now_ms()))

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
        query = self._query
        if query is not None and not query.gate.is_open:
            self._has_held_batch = query.gate.is_holding
            query.gate.open()

    def stop(self) -> None:
        """End the query after the micro-batch in progress, and the collector; then give the checkpoint back.

        What has not ended within END_LIMIT_S, as when the cluster is away, is left to the end of the process.
        """
        self.begin_stop()
        deadline = time.monotonic() + END_LIMIT_S
        if self._has_held_batch:
            self._watching.join(timeout=COMMIT_LIMIT_S)
        query = self._logs.query
        with suppress(*JVM_GONE):
            if query is not None and query.isActive:
                query.stop()
        for thread in self._threads:
            if thread.ident is not None:  # another cluster's error can end the job before this one was started
                thread.join(timeout=max(0.0, deadline - time.monotonic()))
        self._logs.ends.close()
        self._findings.close()
        if self._recorder is not None:
            self._recorder.stop(max(0.0, deadline - time.monotonic()))
        self._shared.served_before.keep(self._store.of(self._target.name))
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
                "Cluster %s: %s was missing and has been created again",
                self._target.name,
                self._target.carrier.events_topic,
            )
            self._checkpoint.keep_id("events_id", None)

    def _show_collectors(self) -> None:
        self._store.report_collectors(self._target.name, self._target.health())
        self._show_problem()

    def _show_problem(self) -> None:
        self._store.report_problem(
            self._target.name,
            self._problems.sentence,
            unread=self._logs.problem(),
            stalled=self._problems.has_stalled,
            is_away=self._target.problem is not None,
        )

    def look(self) -> str | None:
        """See whether the cluster is still evaluated, and show it if not; a sentence once there is no point in waiting.

        Called once a second by a thread of its own: whatever hangs, this does not.
        """
        self._unread_log.look(self._logs.problem(), monotonic_ms())
        hopeless = self._problems.look(monotonic_ms(), now_ms(), self._logs.query)
        self._show_problem()
        self._log_stall()
        return hopeless and cluster_sentence(self._target.name, hopeless)

    def _log_stall(self) -> None:
        """Say once that the groups are not evaluated any more, and once that they are again."""
        if not self._problems.has_stalled:
            if self._stall_warnings.end():
                log.info("Cluster %s: groups are evaluated again", self._target.name)
            return
        sentence = cluster_sentence(self._target.name, self._problems.sentence or "")
        if (line := self._stall_warnings.line(sentence, monotonic_ms(), "stalled")) is not None:
            log.warning("%s", line, extra={"cluster": self._target.name})

    def _run(self) -> None:
        self._await_first_pass()
        pause_s = FIRST_PAUSE_S
        while not self._stopping.is_set() and self.fatal is None:
            began, comes_by_itself, is_left_out = time.monotonic(), False, False
            try:
                self._problems.stall.restart(monotonic_ms())
                self._problems.is_starting = True
                query = self._logs.query = self._start_query()
                self._problems.is_starting = False
                if self._stopping.is_set():  # set while the query was starting
                    query.stop()
                self._await_end(query)
            except Exception as error:
                if not self._stopping.is_set():
                    self._failures.note(error)
                comes_by_itself = isinstance(error, NotYetReadable)
                is_left_out = is_fetch_timeout(error) and self._leaves_out_brokers()
            self._logs.query, self._problems.is_starting = None, False
            self._problems.stall.stop()
            self._close_gate()
            if comes_by_itself or time.monotonic() - began > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._stopping.wait(0.0 if is_left_out else pause_s)
            pause_s = min(max(2 * pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)

    def _start_query(self) -> StreamingQuery:
        self._forget_former_events()
        target, shared, checkpoint = self._target, self._shared, self._checkpoint
        query = self._query = ClusterQuery(
            self._spark, target, self._settings, shared, checkpoint, self._options, self._logs, self._problems
        )
        recorder = self._recorder
        health = None if recorder is None else recorder.health
        started = query.start(self._store, self._findings, health, self._stopping)
        if recorder is not None:
            recorder.record(query.recorded_logs(self._away_problem))
        return started

    def _leaves_out_brokers(self) -> bool:
        """Whether the next micro-batch leaves out brokers that do not answer. Otherwise it may take longer."""
        is_left_out = self._logs.leave_out_silent_brokers()
        if not is_left_out:
            self._options.wait_longer()
        return is_left_out

    def _close_gate(self) -> None:
        query, self._query = self._query, None
        if query is not None:
            query.gate.open()  # a query that failed may have left a micro-batch that waits
            query.gate.close()

    def _away_problem(self) -> str | None:
        """The problem that the cluster, or a broker of it, does not answer now, as a sentence. For any thread."""
        return self._target.problem or self._logs.problem()

    def _await_end(self, query: StreamingQuery) -> None:
        """Wait for the end of the query. It is ended once there is a log, or a partition of one, that it lacks."""
        while not query.awaitTermination(LOOK_FOR_LOGS_S):
            self._count_silence()
            news = self._logs.news()
            if news is not None:
                log.info("Cluster %s: %s; reading it", self._target.name, news)
                self._close_gate()
                query.stop()
                return

    def _await_first_pass(self) -> None:
        """Wait for the collectors' first passes, here or in another process: they create the events topic."""
        while not self._target.has_begun and self.fatal is None and not self._stopping.wait(POLL_S):
            self._count_silence()
            self._show_problem()

    def _count_silence(self) -> None:
        if self._met is not None:
            self._met.take_silence(now_ms())


def layout_of(target: WatchTarget, settings: SparkSettings, shard: Shard = ALL_GROUPS) -> Layout:
    """The layout that a checkpoint is to have. Its numbers count only if a deployment chose them."""
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
