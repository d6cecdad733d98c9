"""Publish: what happens at the end of every micro-batch, on the driver. It decides nothing; it carries and counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

import msgspec
from pyspark.sql import DataFrame, SparkSession

from monitor.detection.cluster_findings import AbsentGroups, cluster_findings
from monitor.detection.ownership.catalog_view import Topics
from monitor.metrics.cluster_samples import render_cluster
from monitor.metrics.render import packed, render_catalog
from monitor.model import Catalog, ClusterSnapshot, GroupSummary, Outage, PackedBlock, RecordingHealth
from monitor.model.snapshots import AgeLimits
from monitor.readiness.cluster_readiness import ClusterReadiness
from monitor.readiness.next_batch import LONGEST_QUIET_MS, EvaluationData, late_after_ms
from monitor.readiness.trigger_lag import TriggerLag
from monitor.readiness.warm_up import LogPosition, ReportedOffsets
from streaming_jobs.buckets.batch_context import BatchContext, Unread, set_batch_context
from streaming_jobs.driver.batch_gate import BatchGate
from streaming_jobs.driver.batch_log import BatchLog
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.group_uses import GroupUseCache
from streaming_jobs.driver.groups_log import GroupsLog
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore, VerdictSource
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.driver.watched_expectations import ClusterExpectations
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from streaming_jobs.runtime.clock import SteadyClock, monotonic_ms
from streaming_jobs.runtime.stall import StallWatch

log = logging.getLogger(__name__)


class SilentSourceError(Exception):
    """The whole backlog was passed without one record of it being read."""


class QueryEndingError(Exception):
    """No further micro-batch is to begin: the query is to end."""


@dataclass(frozen=True, slots=True)
class _ServedCatalog:
    """A catalog that executors can fetch, with what every micro-batch needs of it until there is a newer one."""

    key: str
    topics: Topics
    ends: tuple[PackedBlock, ...]

    @property
    def pass_ms(self) -> int:
        return self.topics.catalog.pass_ms


class QueryLogs(Protocol):
    """The logs that a query reads, and the place where it notes what it learns of them."""

    def position(self, batch_id: int) -> LogPosition:
        """How far the logs are read by a micro-batch: the one that reads the end of the backlog evaluates."""

    def forget_plan(self, batch_id: int) -> None:
        """Take back the plan of a micro-batch that does not begin."""

    def note_partitions(self, partitions: int) -> None:
        """Keep by how many partitions of the offsets topic the brokers place groups."""

    def note_source(self, source_id: str) -> None:
        """Keep the id of what the newest pass was over."""

    def unread(self) -> dict[int, Unread]:
        """The partitions of the offsets topic that cannot be read now, each with a sentence."""

    def outages(self) -> dict[int, Outage]:
        """When partitions of it could not be read."""


@dataclass(slots=True)
class MicroBatchPublisher:
    """Has the groups evaluated in micro-batches, and stores the results (a foreachBatch function of one query's run).

    Groups are evaluated by the catalog of the micro-batch before: it has to be known when the micro-batch starts.

    Attributes:
        shared: by what groups are evaluated, and where catalogs are put.
        readiness: whether groups may be evaluated.
        logs: what the query reads.
        problem: why the cluster cannot be read, as a sentence; None: it can.
        pace: whether micro-batches keep up with the trigger.
        stall: takes when micro-batches begin, end and evaluate.
        findings: are published once the store has them.
        gate: holds the end of a micro-batch until there is a reason for the next one.
        groups_log: the topic with the records of the groups, and how far it is read.
        own_topics: topics that grow by what groupwatch does.
        connect_topics: the topics of configurations of Connect clusters, by group.
        recording: how the recording goes; None: nothing is recorded.
        begun: is set once the query runs.
    """

    spark: SparkSession
    cluster: str
    store: SnapshotStore
    shared: SharedEvaluation
    readiness: ClusterReadiness
    logs: QueryLogs
    problem: Callable[[], str | None]
    clock: SteadyClock
    pace: TriggerLag
    stall: StallWatch
    findings: FindingsPublisher
    gate: BatchGate
    groups_log: GroupsLog
    own_topics: frozenset[str] = frozenset()
    connect_topics: Mapping[str, str] = field(default_factory=dict)
    recording: Callable[[], RecordingHealth] | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    _run: str = field(default_factory=lambda: uuid4().hex)
    _view: ClusterView = field(init=False)
    _log: BatchLog = field(init=False)
    _views: AssignmentViewCache = field(default_factory=AssignmentViewCache)
    _uses: GroupUseCache = field(default_factory=GroupUseCache)
    _catalog: _ServedCatalog | None = None
    _known: int = -1
    _has_evaluated: bool = False

    def __post_init__(self) -> None:
        self._view = ClusterView(self.cluster)
        self._log = BatchLog(self.cluster)

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Judge and publish one micro-batch."""
        if self.gate.is_open:
            if self.begun.is_set():  # else another run planned it, and may have stored state for it (decision 0036)
                self.logs.forget_plan(batch_id)
            raise QueryEndingError
        self.begun.set()
        began_ms = monotonic_ms()
        self.stall.begin(began_ms)
        self._log_trigger_lag(began_ms)
        self.gate.begin(began_ms)
        position = self.logs.position(batch_id)
        self._advance(position)
        batch = self._batch_context(batch_id, position)
        set_batch_context(self.spark.sparkContext, batch)
        self._view.take(_collect_rows(rows))
        judged_by = self._catalog if batch.catalog is not None else None
        if self._view.catalog_changed:
            if self._view.source_id is not None:
                self.logs.note_source(self._view.source_id)
            self._serve_catalog(batch_id)
        catalog = self._catalog.topics.catalog if self._catalog else None
        self.readiness.first_pass.advance(position.events_read, catalog, self._view.readings)
        # A bucket that sent all of itself has left out its groups if nothing was judged: it has to send them again.
        self._known = batch_id if judged_by is not None else -1
        self._log.note(self._view)
        self._log_warm_up()
        self.stall.end(monotonic_ms())
        if judged_by is not None:
            self.stall.evaluate(began_ms - position.late_ms)
        shown, judge = self._snapshot(began_ms, position, batch, judged_by)
        self.store.publish(shown, judge)
        if self._expectations is not None:
            self._expectations.count(shown.groups if judge is not None else None, batch, self.shared.shard)
        if judge is not None:
            self._note_first_evaluation()
            self.shared.keep_scale_notes(self.cluster, self._view, batch.now_ms)
            self.findings.publish(shown.groups, batch.now_ms, shown.findings)
        data = self._evaluation_data(judged_by)
        self.gate.hold(position, self._due_ms(data), is_urgent=not shown.ready, polls_may_wait=data.polls_may_wait)

    def _note_first_evaluation(self) -> None:
        if not self._has_evaluated:
            self._has_evaluated = True
            self.shared.served_before.forget(self.cluster)

    def _evaluation_data(self, judged_by: _ServedCatalog | None) -> EvaluationData:
        return EvaluationData(
            newest=None if self._catalog is None else self._catalog.topics,
            judged_by=None if judged_by is None else judged_by.topics,
            changed_ms=self.groups_log.changed_ms,
            is_polled=self.readiness.is_polled,
            own_topics=self.own_topics,
        )

    def _due_ms(self, data: EvaluationData) -> int | None:
        """When the next micro-batch is due without a record, by the clock that only goes forward; None: never."""
        due_ms = self._view.due_ms
        steady_ms = None if due_ms is None else monotonic_ms() + due_ms - self.clock()
        return data.due_ms(steady_ms, may_evaluate=self._may_evaluate())

    def _may_evaluate(self) -> bool:
        return self.readiness.missing(self._view.readings, monotonic_ms()) is None

    @property
    def _expectations(self) -> ClusterExpectations | None:
        watched = self.shared.expectations
        return None if watched is None else watched.for_cluster(self.cluster, self.shared.catalogs)

    def _batch_context(self, batch_id: int, position: LogPosition) -> BatchContext:
        """Nothing is judged while the backlog or the first catalog of this run is still to come."""
        newest, may_evaluate, expected = self._catalog, self._may_evaluate(), self._expectations
        return BatchContext(
            run=self._run,
            batch=batch_id,
            now_ms=self.clock() - (position.late_ms if self._known >= 0 else 0),
            known=self._known,
            catalog=newest.key if newest is not None and may_evaluate else None,
            log_partitions=self.groups_log.partitions,
            unread=self.logs.unread(),
            expectations=None if expected is None else expected.serve(),
            scale=self.shared.scale_key(self.cluster),
        )

    @property
    def lateness(self) -> str | None:
        """The problem that there was no poll of the groups for long, as a sentence."""
        late = self.readiness.lateness
        return late and f"Cluster {self.cluster}: {late}; they are not evaluated until then."

    def _serve_catalog(self, batch_id: int) -> None:
        catalog = self._view.catalog()
        if catalog is None:
            self._catalog = None
            return
        catalog = msgspec.structs.replace(
            catalog,
            connect_configs=self._view.connect_configs(self.connect_topics),
            outages=self.logs.outages(),
            log_partitions=self.groups_log.partitions,
            short_lives=self._view.short_lives(),
        )
        self._catalog = _ServedCatalog(f"{self._run}-{batch_id}", Topics(catalog), _packed_ends(catalog, self.shared))
        self.shared.catalogs.put(self.cluster, self._catalog.key, msgspec.msgpack.encode(catalog))

    def _advance(self, position: LogPosition) -> None:
        if position.before is not None:
            self._count(position.before)
        self.readiness.warm_up.advance(position.read)
        if self.groups_log.partitions:  # of the micro-batch before, which has ended
            self.logs.note_partitions(self.groups_log.partitions)
        self.groups_log.take(position.read, self.clock)

    def _count(self, before: ReportedOffsets) -> None:
        self.readiness.warm_up.records += before.records
        if self.readiness.has_read_nothing():
            total = self.readiness.warm_up.total
            raise SilentSourceError(
                f"Cluster {self.cluster}: {self.groups_log.topic} holds {total} offsets, but Spark read none of "
                "them. Its Kafka source skips internal topics unless "
                "spark.sql.streaming.kafka.useDeprecatedOffsetFetching is true."
            )

    def _log_trigger_lag(self, began_ms: int) -> None:
        """A backlog is read in micro-batches as long as they like."""
        news = self.pace.begin(began_ms, self.gate.held_ms) if self.readiness.warm_up.done else None
        if news is not None:
            log.log(logging.WARNING if self.pace.slow else logging.INFO, "Cluster %s: %s", self.cluster, news)

    def _log_warm_up(self) -> None:
        news = self.readiness.warm_up.end_batch(monotonic_ms())
        if news is not None:
            log.info("Cluster %s: %s", self.cluster, news)

    def _snapshot(
        self, began_ms: int, position: LogPosition, batch: BatchContext, judged_by: _ServedCatalog | None
    ) -> tuple[ClusterSnapshot, VerdictSource | None]:
        # What was known before stays while a restarted query reads on: stale groups are better than none.
        before, warm_up = self.store.of(self.cluster), self.readiness.warm_up
        duration_ms = monotonic_ms() - began_ms
        self.store.process.observe_micro_batch(self.cluster, duration_ms)
        late_ms = late_after_ms(self.stall.trigger_ms)
        known = msgspec.structs.replace(
            before,
            batch_duration_ms=duration_ms,
            input_lag=position.behind if warm_up.done else warm_up.remaining,
            warm_up=None if before.ready else warm_up.progress,
            evaluation_errors=self._log.evaluation_errors,
            decode_errors=self._view.sources(),
            catalog_ms=self._catalog.pass_ms if self._catalog else None,
            clock_behind_ms=self.clock.behind_ms,
            problem=self.problem(),
            stalled=before.stalled if judged_by is None else self.stall.has_stalled(monotonic_ms()),
            age_limits=AgeLimits(late_ms, max(late_ms, self.stall.limit_ms + LONGEST_QUIET_MS)),
            tells_findings=self.findings.is_on,
            findings_problem=self.findings.problem,
            recording=None if self.recording is None else self.recording(),
            expectations=None if self._expectations is None else self._expectations.known.health,
        )
        groups = self._view.summaries()
        if judged_by is None or not self.readiness.is_believable(len(groups)):
            return known, None
        findings = cluster_findings(
            judged_by.topics.catalog,
            groups,
            self._view.grown_log(),
            batch.now_ms,
            self._absent_groups(groups, batch),
        )
        self._log.note_findings(findings)
        own = render_cluster(self.cluster, groups, findings, batch.now_ms, self.shared.series.cluster_label)
        shown = msgspec.structs.replace(
            known,
            ready=True,
            is_missing=False,
            warm_up=None,
            evaluated_ms=batch.now_ms,
            groups=groups,
            findings=findings,
            blocks=(*self._view.blocks(), *packed(own), *judged_by.ends),
        )
        return shown, VerdictsOnDemand(
            self._view,
            self._views,
            judged_by.topics,
            batch.now_ms,
            self.shared.rules,
            self._uses,
            batch,
            None if self._expectations is None else self._expectations.known.expectations,
        )

    def _absent_groups(self, groups: Sequence[GroupSummary], batch: BatchContext) -> AbsentGroups | None:
        """The groups that should exist and do not; a shard does not know all, and nor does who cannot read all."""
        if self._expectations is None:
            return None
        listed = groups if self.shared.shard.is_all and not batch.unread else None
        return self._expectations.absent(listed, batch.now_ms)


def _packed_ends(catalog: Catalog, shared: SharedEvaluation) -> tuple[PackedBlock, ...]:
    """The ends of all partitions. They belong to no shard: every shard would expose the same series."""
    return packed(render_catalog(catalog, shared.series)) if shared.shard.is_first else ()


def _collect_rows(rows: DataFrame) -> Iterator[BucketRow]:
    table = rows.toArrow()
    columns = (table.column(name).to_pylist() for name in BucketRow._fields)
    for bucket, kind, name, payload in zip(*columns, strict=True):
        yield BucketRow(bucket, RowKind(kind), name, payload)
