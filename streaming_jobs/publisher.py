"""Publish: what happens at the end of every micro-batch, on the driver. It decides nothing; it carries and counts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.detection.settings import DetectionSettings
from monitor.metrics.render import render_catalog
from monitor.model import Catalog, ClusterSnapshot, FamilyBlock, SourceState
from streaming_jobs.board import Board
from streaming_jobs.buckets import Entity
from streaming_jobs.catalog import SIDE_ENTITIES, SideRows, side_rows
from streaming_jobs.evaluation import Evaluated, EvaluatedRow, GroupEvaluator, RowKind, collected
from streaming_jobs.rows import EVALUATED
from streaming_jobs.warm_up import LogPosition, WarmUp

log = logging.getLogger(__name__)


class SilentSourceError(Exception):
    """The whole backlog was passed without one record of it being read."""


@dataclass(slots=True)
class MicroBatchPublisher:
    """Judges the states of a micro-batch and puts the result on the board (a foreachBatch function).

    ``position`` gives how far the offsets log had been read after the micro-batch before (None: not known yet), so a
    cluster becomes ready one micro-batch after its backlog was read. ``problem`` says what is wrong with its
    collector, if anything is. ``clock`` gives the time in ms.
    """

    spark: SparkSession
    cluster: str
    board: Board
    warm_up: WarmUp
    resumed: bool
    position: Callable[[], LogPosition | None]
    problem: Callable[[], str | None]
    settings: DetectionSettings
    clock: Callable[[], int]
    started_ms: int
    evaluation_errors: int = 0
    _told: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, states: DataFrame, batch_id: int) -> None:
        """Judge and publish one micro-batch."""
        began_ms = self.clock()
        position = self.position()
        self._advance(position)
        states.persist()  # two actions follow; without it the stateful plan would run twice
        try:
            side = side_rows(self.cluster, states.where(F.col("entity").isin(*SIDE_ENTITIES)).collect())
            evaluated = self._evaluate(states, side)
        finally:
            states.unpersist()
        self._tell(side, evaluated)
        self.board.publish(self._snapshot(began_ms, position, side, evaluated))

    def _advance(self, position: LogPosition | None) -> None:
        if position is None:
            return
        was_done = self.warm_up.done
        self.warm_up.advance(position)
        if self.warm_up.read_nothing(self.resumed):
            raise SilentSourceError(
                f"Cluster {self.cluster}: the offsets log holds {self.warm_up.total} offsets, but Spark read none of "
                "them. Its Kafka source skips internal topics unless "
                "spark.sql.streaming.kafka.useDeprecatedOffsetFetching is true."
            )
        if self.warm_up.done and not was_done:
            log.info("Cluster %s: the backlog of %d offsets has been read", self.cluster, self.warm_up.total)

    def _evaluate(self, states: DataFrame, side: SideRows) -> Evaluated | None:
        """The verdicts of all groups; None while the backlog or the first catalog of this run is still to come."""
        catalog = side.catalog
        if not self.warm_up.done or catalog is None or catalog.pass_ms < self.started_ms:
            return None
        shared = self.spark.sparkContext.broadcast(msgspec.msgpack.encode(catalog))
        try:
            judge = GroupEvaluator(shared, self.clock(), self.settings)
            rows = states.where(F.col("entity") == Entity.GROUP.value).mapInArrow(judge, EVALUATED).collect()
        finally:
            shared.unpersist()
        return collected(EvaluatedRow(RowKind(row.row), row.name, bytes(row.payload)) for row in rows)

    def _tell(self, side: SideRows, evaluated: Evaluated | None) -> None:
        """Count failures; log each kind of unreadable record once, with its place."""
        failures = list(side.failures)
        if evaluated is not None:
            failures += [f"{row.name}: {row.payload.decode()}" for row in evaluated.failures]
        self.evaluation_errors += len(failures)
        for failure in failures:
            self._log_once("evaluation", failure, "Cluster %s: could not judge %r", self.cluster, failure)
        for source in side.sources:
            self._tell_unreadable(source)

    def _tell_unreadable(self, source: SourceState) -> None:
        for error in source.errors:
            self._log_once(
                source.source,
                error.reason,
                "Cluster %s: %s holds a record that cannot be read (%s), partition %d offset %d; counted and skipped",
                self.cluster,
                source.source,
                error.reason,
                error.log_partition,
                error.log_offset,
            )

    def _log_once(self, topic: str, reason: str, text: str, *values: object) -> None:
        if (topic, reason) not in self._told:
            self._told.add((topic, reason))
            log.warning(text, *values)

    def _snapshot(
        self, began_ms: int, position: LogPosition | None, side: SideRows, evaluated: Evaluated | None
    ) -> ClusterSnapshot:
        now_ms = self.clock()
        # What was known before stays while a restarted query reads on: stale groups are better than none.
        known = msgspec.structs.replace(
            self.board.of(self.cluster),
            batch_duration_ms=now_ms - began_ms,
            input_lag=position.behind if position and self.warm_up.done else self.warm_up.remaining,
            backlog_total=self.warm_up.total,
            evaluation_errors=self.evaluation_errors,
            decode_errors=side.sources,
            catalog_ms=side.catalog.pass_ms if side.catalog else None,
            problem=self.problem(),
        )
        if evaluated is None:
            return known
        return msgspec.structs.replace(
            known,
            ready=True,
            evaluated_ms=now_ms,
            groups=evaluated.groups,
            blocks=(*evaluated.blocks, *_catalog_blocks(side.catalog)),
        )


def _catalog_blocks(catalog: Catalog | None) -> tuple[FamilyBlock, ...]:
    return render_catalog(catalog) if catalog else ()
