"""Publish: what happens at the end of every micro-batch, on the driver. It decides nothing; it carries and counts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final
from uuid import uuid4

import msgspec
from pyspark.sql import DataFrame, SparkSession

from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.messages.log_growth import growth_sentence
from monitor.messages.unknown_versions import cluster_sentence
from monitor.metrics.cluster_samples import render_cluster
from monitor.metrics.render import packed, render_catalog
from monitor.metrics.series_filter import ALL_SERIES, SeriesRules
from monitor.model import (
    ALL_GROUPS,
    Catalog,
    ClusterSnapshot,
    GroupSummary,
    LogPlaces,
    Outage,
    PackedBlock,
    RecordingHealth,
    Shard,
    SourceState,
)
from monitor.readiness.first_pass import FirstPass
from monitor.readiness.freshness import Freshness
from monitor.readiness.next_batch import AT_ONCE_MS, GROUPS_QUIET_MS
from monitor.readiness.trigger_lag import TriggerLag
from monitor.readiness.warm_up import LogPosition, ReportedOffsets, WarmUp
from streaming_jobs.buckets.batch_context import BatchContext, Unread, set_batch_context
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.batch_gate import BatchGate
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.driver.group_uses import GroupUseCache
from streaming_jobs.driver.snapshot_store import SnapshotStore, VerdictSource
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from streaming_jobs.runtime.clock import SteadyClock, monotonic_ms
from streaming_jobs.runtime.stall import StallWatch

log = logging.getLogger(__name__)


_EVENTS: Final = "groupwatch.events"

REASON_TEXTS: Final = MappingProxyType(
    {
        (_EVENTS, "from_the_future"): (
            ". Its timestamp is more than five minutes later than its write time: the clock of a collector is wrong, or"
            " that of the brokers or of this machine, or another program writes to the topic."
        ),
        (_EVENTS, "other_source"): (
            ". It ends a poll of another cluster or system than that of the checkpoint: a collector reads another, or"
            " another program writes to the topic. If the system was replaced, start once with --rebuild."
        ),
    }
)
"""What is known of the cause, by source and reason."""

MAX_LOGGED_WARNINGS: Final = 10_000
"""How many warnings are remembered as told; after so many they may be told again."""


class SilentSourceError(Exception):
    """The whole backlog was passed without one record of it being read."""


class QueryEndingError(Exception):
    """No further micro-batch is to begin: the query has been told to end."""


@dataclass(frozen=True, slots=True)
class _ServedCatalog:
    """A catalog that executors can fetch, with what every micro-batch needs of it until there is a newer one."""

    key: str
    topics: Topics
    ends: tuple[PackedBlock, ...]

    @property
    def pass_ms(self) -> int:
        return self.topics.catalog.pass_ms


@dataclass(slots=True)
class MicroBatchPublisher:
    """Has micro-batches judged, their results stored (a foreachBatch function). One for each run of a query.

    ``position`` gives how far the logs are read by a micro-batch, so a cluster is judged by the one that reads the end
    of its backlog; ``forget_plan`` takes back the plan of one that does not begin. ``note_ready`` hears of the first
    evaluation of this run. ``passes`` tells whether its topics are known by a pass of this run. ``problem`` says what
    is wrong with reading it, if anything is; ``stall`` takes when micro-batches begin, end and evaluate;
    ``note_source`` is told the id of what the newest pass was over; ``pace`` judges whether micro-batches keep up with
    the trigger; ``findings`` are published once the store has them. ``log_topic`` is
    what tells of the groups, ``own_topics`` grow by what groupwatch does, ``freshness`` whether groups are known well
    enough to be judged (None: always). ``connect_topics`` are the topics of configurations of Connect clusters, by
    group. ``places`` says where in the offsets topic groups are, ``note_partitions`` is told by how many partitions the
    brokers place them once a micro-batch has ended with that. ``unread`` are those that cannot be read, each with a
    sentence. ``recording`` tells how the recording goes (None: nothing is to be recorded). ``begun`` is set once
    the query runs. Groups are judged by the catalog of the micro-batch before: it has to be known when the micro-batch
    starts.
    """

    spark: SparkSession
    cluster: str
    store: SnapshotStore
    catalogs: CatalogServer
    warm_up: WarmUp
    resumed: bool
    position: Callable[[int], LogPosition]
    forget_plan: Callable[[int], None]
    note_ready: Callable[[], None]
    passes: FirstPass
    problem: Callable[[], str | None]
    rules: DetectionRules
    clock: SteadyClock
    pace: TriggerLag
    stall: StallWatch
    note_source: Callable[[str], None]
    findings: FindingsPublisher
    gate: BatchGate
    shard: Shard = ALL_GROUPS
    log_topic: str = "the offsets log"
    own_topics: frozenset[str] = frozenset()
    freshness: Freshness | None = None
    begun: threading.Event = field(default_factory=threading.Event)
    evaluation_errors: int = 0
    series: SeriesRules = ALL_SERIES
    connect_topics: Mapping[str, str] = field(default_factory=dict)
    recording: Callable[[], RecordingHealth] | None = None
    places: LogPlaces = field(default_factory=LogPlaces)
    note_partitions: Callable[[int], None] = lambda _: None
    unread: Callable[[], dict[int, Unread]] = dict
    outages: Callable[[], dict[int, Outage]] = dict
    _run: str = field(default_factory=lambda: uuid4().hex)
    _view: ClusterView = field(init=False)
    _views: AssignmentViewCache = field(default_factory=AssignmentViewCache)
    _uses: GroupUseCache = field(default_factory=GroupUseCache)
    _catalog: _ServedCatalog | None = None
    _known: int = -1
    _read: dict[int, int] = field(default_factory=dict)
    _read_ms: int = 0
    """When a micro-batch last had records of the log that tells of the groups."""
    _told: set[tuple[str, str]] = field(default_factory=set)
    _has_evaluated: bool = False
    _log_partitions: int = 0

    def __post_init__(self) -> None:
        self._view = ClusterView(self.cluster)

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Judge and publish one micro-batch."""
        if self.gate.is_open:
            if self.begun.is_set():  # else another run planned it, and may have stored state for it (decision 0036)
                self.forget_plan(batch_id)
            raise QueryEndingError
        self.begun.set()
        began_ms = monotonic_ms()
        self.stall.begin(began_ms)
        self._log_trigger_lag(began_ms)
        self.gate.begin(began_ms)
        position = self.position(batch_id)
        self._advance(position)
        self._place_groups(position)
        batch = self._batch_context(batch_id)
        set_batch_context(self.spark.sparkContext, batch)
        self._view.take(_collect_rows(rows))
        judged_by = self._catalog if batch.catalog is not None else None
        if self._view.catalog_changed:
            if self._view.source_id is not None:
                self.note_source(self._view.source_id)
            self._serve_catalog(batch_id)
        catalog = self._catalog.topics.catalog if self._catalog else None
        self.passes.advance(position.events_read, catalog, self._view.readings)
        # A bucket that told all of itself has left out its groups if nothing was judged: it has to tell them again.
        self._known = batch_id if judged_by is not None else -1
        self._log_news()
        self._log_warm_up()
        self.stall.end(monotonic_ms())
        if judged_by is not None:
            self.stall.evaluate(monotonic_ms())
        shown, judge = self._snapshot(began_ms, position, batch, judged_by)
        self.store.publish(shown, judge)
        if judge is not None:
            self._note_first_evaluation()
            self.findings.publish(shown.groups, batch.now_ms)
        self.gate.hold(
            position, self._due_ms(judged_by), is_urgent=not shown.ready, polls_may_wait=self._polls_may_wait()
        )

    def _place_groups(self, position: LogPosition) -> None:
        """See by how many partitions of the offsets topic groups are placed in this micro-batch."""
        if self._log_partitions:  # of the micro-batch before, which has ended
            self.note_partitions(self._log_partitions)
        self._log_partitions = self.places.in_force(position.read)

    def _note_first_evaluation(self) -> None:
        if not self._has_evaluated:
            self._has_evaluated = True
            self.note_ready()

    def _due_ms(self, judged_by: _ServedCatalog | None) -> int | None:
        """When a verdict may become another without a record, by the clock that only goes forward: by time, or at once.

        Groups are judged by the catalog of the micro-batch before, so one that brings news is judged by in the next.
        """
        newest = self._catalog
        if newest is not None and self._is_ripe() and self._has_news(newest, judged_by):
            return AT_ONCE_MS
        # Where nothing was judged, what the buckets named before is no reason.
        due_ms = self._view.due_ms if judged_by is not None else None
        return None if due_ms is None else monotonic_ms() + due_ms - self.clock()

    def _has_news(self, newest: _ServedCatalog, judged_by: _ServedCatalog | None) -> bool:
        """Whether a verdict by this catalog may differ from one by the other, ages apart.

        The verdict on a group that collectors read is as of their newest pass. On one that has changed since the pass
        before began, the newest is the first that may know what its generation lacks.
        """
        if judged_by is None:
            return True
        if newest is judged_by:
            return False
        if self.freshness is not None or self._read_ms >= judged_by.pass_ms:
            return True
        return not newest.topics.has_only_new_dates(judged_by.topics, self.own_topics)

    def _polls_may_wait(self) -> bool:
        """Whether a poll that finds what the newest did cannot change a verdict: no group has changed lately."""
        newest = self._catalog
        return newest is not None and self.freshness is None and self._read_ms < newest.pass_ms - GROUPS_QUIET_MS

    def _is_ripe(self) -> bool:
        return self.warm_up.done and self.passes.seen and self._is_fresh()

    def _batch_context(self, batch_id: int) -> BatchContext:
        """Nothing is judged while the backlog or the first catalog of this run is still to come."""
        newest, ripe = self._catalog, self._is_ripe()
        return BatchContext(
            run=self._run,
            batch=batch_id,
            now_ms=self.clock(),
            known=self._known,
            catalog=newest.key if newest is not None and ripe else None,
            log_partitions=self._log_partitions,
            unread=self.unread(),
        )

    def _is_fresh(self) -> bool:
        return self.freshness is None or self.freshness.is_fresh(self._view.readings, monotonic_ms())

    @property
    def lateness(self) -> str | None:
        """That no reading of the groups has come for long, as a sentence."""
        late = self.freshness.problem if self.freshness is not None else None
        return late and f"Cluster {self.cluster}: {late}; they are not evaluated until then."

    def _serve_catalog(self, batch_id: int) -> None:
        catalog = self._view.catalog()
        if catalog is None:
            self._catalog = None
            return
        catalog = msgspec.structs.replace(
            catalog,
            connect_configs=self._view.connect_configs(self.connect_topics),
            outages=self.outages(),
            log_partitions=self._log_partitions,
        )
        self._catalog = _ServedCatalog(f"{self._run}-{batch_id}", Topics(catalog), self._ends(catalog))
        self.catalogs.put(self.cluster, self._catalog.key, msgspec.msgpack.encode(catalog))

    def _advance(self, position: LogPosition) -> None:
        if position.before is not None:
            self._count(position.before)
        self.warm_up.advance(position.read)
        if position.read != self._read:
            self._read, self._read_ms = position.read, self.clock()

    def _count(self, before: ReportedOffsets) -> None:
        self.warm_up.records += before.records
        if self.warm_up.read_nothing(self.resumed):
            raise SilentSourceError(
                f"Cluster {self.cluster}: {self.log_topic} holds {self.warm_up.total} offsets, but Spark read none of "
                "them. Its Kafka source skips internal topics unless "
                "spark.sql.streaming.kafka.useDeprecatedOffsetFetching is true."
            )

    def _log_trigger_lag(self, began_ms: int) -> None:
        """A backlog is read in micro-batches as long as they like."""
        news = self.pace.begin(began_ms, self.gate.held_ms) if self.warm_up.done else None
        if news is not None:
            log.log(logging.WARNING if self.pace.slow else logging.INFO, "Cluster %s: %s", self.cluster, news)

    def _log_warm_up(self) -> None:
        news = self.warm_up.end_batch(monotonic_ms())
        if news is not None:
            log.info("Cluster %s: %s", self.cluster, news)

    def _log_news(self) -> None:
        """Count failures; log each kind of unreadable record once, with its place."""
        self.evaluation_errors += len(self._view.failures)
        for failure in self._view.failures:
            self._log_once("evaluation", failure, "Cluster %s: evaluation of %r failed", self.cluster, failure)
        self._log_unseen()
        for source in self._view.sources():
            self._log_unreadable(source)

    def _log_unseen(self) -> None:
        if self._view.unseen:
            self._log_once(
                "topics",
                "unseen",
                "Cluster %s: a poll counts %d topics more than it has events; no topic is treated as deleted.",
                self.cluster,
                self._view.unseen,
            )

    def _log_unreadable(self, source: SourceState) -> None:
        for error in source.errors:
            self._log_once(
                source.source,
                error.reason,
                "Cluster %s: %s has an undecodable record (%s), partition %d offset %d; counted and skipped%s",
                self.cluster,
                source.source,
                error.reason,
                error.log_partition,
                error.log_offset,
                REASON_TEXTS.get((source.source, error.reason), ""),
            )

    def _log_once(self, topic: str, reason: str, text: str, *values: object) -> None:
        if (topic, reason) not in self._told:
            if len(self._told) >= MAX_LOGGED_WARNINGS:
                self._told.clear()
            self._told.add((topic, reason))
            log.warning(text, *values)

    def _snapshot(
        self, began_ms: int, position: LogPosition, batch: BatchContext, judged_by: _ServedCatalog | None
    ) -> tuple[ClusterSnapshot, VerdictSource | None]:
        # What was known before stays while a restarted query reads on: stale groups are better than none.
        before = self.store.of(self.cluster)
        duration_ms = monotonic_ms() - began_ms
        self.store.process.observe_micro_batch(self.cluster, duration_ms)
        known = msgspec.structs.replace(
            before,
            batch_duration_ms=duration_ms,
            input_lag=position.behind if self.warm_up.done else self.warm_up.remaining,
            warm_up=None if before.ready else self.warm_up.progress,
            evaluation_errors=self.evaluation_errors,
            decode_errors=self._view.sources(),
            catalog_ms=self._catalog.pass_ms if self._catalog else None,
            clock_behind_ms=self.clock.behind_ms,
            problem=self.problem(),
            stalled=before.stalled and judged_by is None,
            tells_findings=self.findings.is_on,
            findings_problem=self.findings.problem,
            recording=None if self.recording is None else self.recording(),
        )
        groups = self._view.summaries()
        notices = self._notices(groups, batch.now_ms)
        if judged_by is None or not self.warm_up.is_believable(len(groups), self.resumed):
            return known, None
        shown = msgspec.structs.replace(
            known,
            ready=True,
            is_missing=False,
            warm_up=None,
            evaluated_ms=batch.now_ms,
            groups=groups,
            notices=notices,
            blocks=(*self._view.blocks(), *packed(render_cluster(self.cluster, groups)), *judged_by.ends),
        )
        return shown, VerdictsOnDemand(
            self._view, self._views, judged_by.topics, batch.now_ms, self.rules, self._uses, batch
        )

    def _notices(self, groups: tuple[GroupSummary, ...], now_ms: int) -> tuple[str, ...]:
        """What concerns many groups at once, in sentences; each is logged once, whatever the number of groups."""
        versions = sorted({(each.record, each.version) for group in groups for each in group.unknown_versions})
        grown = self._view.grown_log()
        found = (
            ("versions", str(versions), cluster_sentence(groups) if versions else None),
            ("growth", str(grown and grown.partitions), growth_sentence(grown, now_ms) if grown is not None else None),
        )
        for topic, reason, sentence in found:
            if sentence is not None:
                self._log_once(topic, reason, "Cluster %s: %s", self.cluster, sentence)
        return tuple([sentence for _, _, sentence in found if sentence is not None])

    def _ends(self, catalog: Catalog) -> tuple[PackedBlock, ...]:
        """The ends of all partitions. They are nobody's share: every shard would expose the same series."""
        return packed(render_catalog(catalog, self.series)) if self.shard.is_first else ()


def _collect_rows(rows: DataFrame) -> Iterator[BucketRow]:
    table = rows.toArrow()
    columns = (table.column(name).to_pylist() for name in BucketRow._fields)
    for bucket, kind, name, payload in zip(*columns, strict=True):
        yield BucketRow(bucket, RowKind(kind), name, payload)
