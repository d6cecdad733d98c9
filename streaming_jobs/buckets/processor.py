"""Track and judge: the stateful stage. It carries rows between Spark, the bucket's state, and what decides.

No rule lives here: events are folded by monitor.tracking, groups judged by monitor.detection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import msgspec
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.expectations.expectation import Expectations
from monitor.kinds.short_lives import short_life
from monitor.metrics.series_filter import ALL_SERIES, SeriesRules
from monitor.model import Catalog, Entity
from streaming_jobs.buckets.batch_context import BatchContext, current_batch_context
from streaming_jobs.buckets.bucket import Entry, EventRow
from streaming_jobs.buckets.catalog_server import CatalogAddress
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.buckets.store import BucketStore, CachedBucket
from streaming_jobs.ingest.schemas import BucketRow, RowKind

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues


Content = TypeVar("Content")


@dataclass(slots=True)
class _Newest(Generic[Content]):
    """What the driver offered last of one kind, decoded once; ``build`` makes it from the bytes."""

    build: Callable[[bytes], Content]
    _known: tuple[str, Content] | None = None

    def fetch(self, shelf: CatalogAddress, key: str) -> Content:
        """What has this key."""
        if self._known is None or self._known[0] != key:
            self._known = key, self.build(shelf.fetch(key))
        return self._known[1]


def _topics(data: bytes) -> Topics:
    return Topics(msgspec.msgpack.decode(data, type=Catalog))


@dataclass(slots=True)
class _WorkerCache:
    """What this Python worker remembers of one run of one cluster's query. It may be lost at any time."""

    run: str
    buckets: dict[int, CachedBucket] = field(default_factory=dict)
    judges: dict[int, BucketEvaluator] = field(default_factory=dict)
    topics: _Newest[Topics] = field(default_factory=lambda: _Newest(_topics))
    expectations: _Newest[Expectations] = field(
        default_factory=lambda: _Newest(msgspec.msgpack.Decoder(Expectations).decode)
    )
    scale: _Newest[dict[str, bytes]] = field(
        default_factory=lambda: _Newest(msgspec.msgpack.Decoder(dict[str, bytes]).decode)
    )


GROUP_ENTITIES: Final = frozenset({Entity.GROUP, Entity.OFFSETS})

_WORKER_CACHES: Final[dict[str, _WorkerCache]] = {}
"""By cluster. A worker serves the micro-batches of one run after the other."""


class BucketProcessor(StatefulProcessor):
    """Spark's side of a bucket: rows in, state read and written, rows out."""

    def __init__(
        self, cluster: str, catalogs: CatalogAddress, rules: DetectionRules, series: SeriesRules = ALL_SERIES
    ) -> None:
        self.cluster = cluster
        self._shelf = catalogs
        self._rules = rules
        self._series = series
        self._store: BucketStore

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the bucket's state."""
        self._store = BucketStore(handle)

    def handleInputRows(  # type: ignore[override] # noqa: N802 -- Spark's name; in pandas mode it gives frames, not rows
        self,
        key: tuple[int],
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Fold the micro-batch's events into the bucket, and judge its groups; give what the driver does not know."""
        # Not at the top: a query starts only after a Python that runs ``init`` alone, most of it spent on imports.
        import pandas as pd  # noqa: PLC0415

        number, context = int(key[0]), current_batch_context()
        memory = _worker_cache(self.cluster, context.run)
        # Taken out while it is changed: if this attempt fails half-way, nothing of it is remembered.
        kept = self._store.load_newest(memory.buckets.pop(number, None), self.cluster, context.batch)
        judge = memory.judges.setdefault(number, BucketEvaluator(number, self._rules, self._series))
        kept.bucket.fold_all(_event_rows(rows), context.batch)
        kept.bucket.place_groups(context.log_partitions, context.batch, context.now_ms)
        kept.bucket.forget_deleted(context.batch, context.now_ms)
        self._store.save(kept, context.batch)
        memory.buckets[number] = kept
        told = [*changed_rows(number, kept, judge, context), *self._verdicts(memory, kept, judge, context)]
        yield pd.DataFrame(told, columns=list(BucketRow._fields))

    def _verdicts(
        self, memory: _WorkerCache, kept: CachedBucket, judge: BucketEvaluator, context: BatchContext
    ) -> Iterator[BucketRow]:
        """Fails if the catalog cannot be fetched: groups that were not judged must not look as if they were."""
        if context.catalog is not None:
            if context.expectations is not None or judge.expectations is not None:
                key = context.expectations
                judge.expect(None if key is None else memory.expectations.fetch(self._shelf, key))
            if context.scale is not None and not judge.follows(context):
                judge.scaler.begin_again(memory.scale.fetch(self._shelf, context.scale))
            topics = memory.topics.fetch(self._shelf, context.catalog)
            yield from judge.rows(kept.bucket.groups(context.now_ms), topics, context)

    def close(self) -> None:
        """Nothing is held open between micro-batches."""


def _worker_cache(cluster: str, run: str) -> _WorkerCache:
    known = _WORKER_CACHES.get(cluster)
    if known is None or known.run != run:
        known = _WORKER_CACHES[cluster] = _WorkerCache(run)
    return known


def changed_rows(number: int, kept: CachedBucket, judge: BucketEvaluator, context: BatchContext) -> Iterator[BucketRow]:
    """The entities that have changed since the micro-batch that the driver knows; groups only once they are judged."""
    bucket = kept.bucket
    entries: list[Entry]
    if context.known < kept.loaded or context.known < 0:
        yield BucketRow(number, RowKind.WHOLE, "", b"")
        judge.reset()
        if context.catalog is None:  # the driver compares the lives of groups before the first one is judged
            lives = [life for each in bucket.groups(context.now_ms).values() if (life := short_life(each)) is not None]
            yield BucketRow(number, RowKind.LIVES, "", msgspec.msgpack.encode(lives))
        entries = bucket.entries(
            key for key in bucket.states if key[0] not in GROUP_ENTITIES or context.catalog is not None
        )
    else:
        entries = bucket.changes_since(context.known)
        bucket.forget_changes_until(context.known)
    for entity, name, state in map(msgspec.structs.astuple, entries):
        if entity not in GROUP_ENTITIES or context.catalog is not None:
            yield BucketRow(number, RowKind(entity), name, state)
    if bucket.had_reading:
        yield BucketRow(number, RowKind.READING, "", b"")
    for name, text in bucket.failures.items():
        yield BucketRow(number, RowKind.FAILURE, name, text.encode("utf-8", "replace"))


def _event_rows(frames: Iterator[pd.DataFrame]) -> Iterator[EventRow]:
    """The rows of events, in any order: a shuffle keeps none."""
    for frame in frames:
        for entity, name, position, payload in zip(
            frame["entity"], frame["name"], frame["position"], frame["payload"], strict=True
        ):
            if entity != Entity.TICK:
                yield EventRow(int(position), Entity(entity), name, payload)
