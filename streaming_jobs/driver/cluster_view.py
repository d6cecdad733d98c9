"""What the driver knows of a cluster: the rows of all buckets, micro-batch after micro-batch, put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import msgspec

from monitor.kinds.offset_expiry import retention_of
from monitor.kinds.short_lives import lives_by_pattern
from monitor.model import (
    Catalog,
    ConnectConfigsState,
    Deflated,
    GroupState,
    GroupSummary,
    GrownLog,
    PackedBlock,
    PassCompleted,
    PassHistory,
    ShortLife,
    ShortLives,
    SourceState,
    TopicState,
)
from monitor.model.scaling import ScaleMemory
from monitor.scaling.notes import decode_note
from monitor.tracking.log_places import grown_together
from monitor.tracking.offsets.delta import apply_delta, decode_delta
from monitor.tracking.serialization import (
    decode_connect_configs_state,
    decode_group_state,
    decode_grown_log,
    decode_pass,
    decode_pass_history,
    decode_source_state,
    decode_topic_state,
    encode_state,
)
from monitor.tracking.topic import catalog_of
from streaming_jobs.ingest.schemas import ALL_BLOCKS, BucketRow, RowKind, family_and_group

Known = TypeVar("Known")

_OF_CATALOG: Final = frozenset({RowKind.WHOLE, RowKind.TOPIC, RowKind.PASS, RowKind.CONNECT})
"""Rows that the catalog is made of."""

_SUMMARIES = msgspec.msgpack.Decoder(list[GroupSummary])
_LIVES = msgspec.msgpack.Decoder(tuple[ShortLife, ...])
_DUE = msgspec.msgpack.Decoder(int)
_DEFLATED = msgspec.msgpack.Decoder(Deflated)


class _GroupBytes(NamedTuple):
    """A state as it was received, and the later moves of its offsets, oldest first."""

    whole: bytes
    moves: tuple[bytes, ...] = ()

    def moved(self, move: bytes) -> _GroupBytes:
        """The state with one move more. Once moves are as large as the state they are put into it."""
        moves = (*self.moves, move)
        if sum(map(len, moves)) <= len(self.whole):
            return _GroupBytes(self.whole, moves)
        return _GroupBytes(encode_state(_GroupBytes(self.whole, moves).state()))

    def state(self) -> GroupState:
        """The newest state."""
        return apply_delta(decode_group_state(self.whole), (o for move in self.moves for o in decode_delta(move)))


@dataclass(slots=True)
class _BucketView:
    """What is known of one bucket; states of groups are kept as bytes, and decoded on request."""

    groups: dict[str, _GroupBytes] = field(default_factory=dict)
    topics: dict[str, TopicState] = field(default_factory=dict)
    sources: dict[str, SourceState] = field(default_factory=dict)
    configs: dict[str, ConnectConfigsState] = field(default_factory=dict)
    summaries: dict[str, GroupSummary] = field(default_factory=dict)
    blocks: dict[str, Deflated] = field(default_factory=dict)
    completed: PassCompleted | None = None
    passes: PassHistory = field(default_factory=PassHistory)
    due_ms: int | None = None
    grown: GrownLog | None = None
    scale: dict[str, bytes] = field(default_factory=dict)
    """The notes on groups whose members are counted."""
    lives: tuple[ShortLife, ...] = ()
    """Those of its groups while none of them has been evaluated."""

    def known_lives(self) -> Iterable[ShortLife]:
        """The short lives of its groups."""
        if not self.summaries:
            return self.lives
        return [each.short_life for each in self.summaries.values() if each.short_life is not None]


@dataclass(slots=True)
class ClusterView:
    """The newest of everything that the buckets have sent. For one thread, but for ``group_state``."""

    cluster: str
    failures: tuple[str, ...] = ()
    catalog_changed: bool = False
    readings: int = 0
    """How many micro-batches had something of a collector's reading of the groups."""
    unseen: int = 0
    """How many topics the pass of the newest catalog names that no bucket has seen since it began."""
    _buckets: dict[int, _BucketView] = field(default_factory=dict)

    def take(self, rows: Iterable[BucketRow]) -> None:
        """Take the rows of one micro-batch, all of them, those of one bucket in their order."""
        failures: list[str] = []
        fresh: dict[int, _BucketView] = {}
        self.catalog_changed = read = False
        for row in rows:
            if row.kind is RowKind.FAILURE:
                failures.append(f"{row.name}: {(row.payload or b'').decode()}")
            elif row.kind is RowKind.READING:
                read = True
            else:
                self.catalog_changed |= row.kind in _OF_CATALOG
                if row.kind is RowKind.WHOLE:
                    fresh[row.bucket] = _BucketView()
                else:
                    bucket = fresh.get(row.bucket) or self._buckets.setdefault(row.bucket, _BucketView())
                    _take(bucket, row)
        self._buckets.update(fresh)  # once they are complete: others read meanwhile
        self.failures = tuple(failures)
        self.readings += read

    def scale_notes(self) -> dict[str, bytes]:
        """The notes on groups whose members are counted, by their names."""
        return {name: note for bucket in list(self._buckets.values()) for name, note in list(bucket.scale.items())}

    def scale_memory(self, group: str) -> ScaleMemory | None:
        """What is remembered of such a group; None: nothing."""
        note = next((found for each in list(self._buckets.values()) if (found := each.scale.get(group))), None)
        return None if note is None else decode_note(note).memory

    def catalog(self) -> Catalog | None:
        """The topics that the newest completed pass of the collector saw; None before the first.

        Every bucket has received the pass; they can differ by one micro-batch at most, and the newest counts.
        """
        completed = self._newest_pass()
        if completed is None:
            return None
        topics = [topic for bucket in self._buckets.values() for topic in bucket.topics.values()]
        self.unseen = max((bucket.passes.lost for bucket in self._buckets.values()), default=0)
        passes = self._passes()
        retention = retention_of(completed, passes.former_retentions)
        return catalog_of(self.cluster, completed.pass_ms, topics, passes, retention)

    def _passes(self) -> PassHistory:
        """What is known of the passes: each bucket receives all of them, and the one with the newest knows most.

        When the first one ended is not known (0) where one of the buckets does not know it.
        """
        newest = max(self._buckets.values(), key=lambda bucket: bucket.completed.pass_ms if bucket.completed else -1)
        known = [bucket.passes for bucket in self._buckets.values()]
        former = max((passes.former_retentions for passes in known), key=len)
        first_ms = min(passes.first_ms for passes in known)
        return msgspec.structs.replace(newest.passes, first_ms=first_ms, former_retentions=former)

    def connect_configs(self, topics: Mapping[str, str]) -> dict[str, ConnectConfigsState]:
        """The connectors of Connect clusters, by their groups. ``topics`` are those that they are read from."""
        known = {topic: state for bucket in self._buckets.values() for topic, state in bucket.configs.items()}
        return {group: known[topic] for group, topic in topics.items() if topic in known}

    @property
    def source_id(self) -> str | None:
        """The id of what the newest completed pass was read from; None: it has none."""
        completed = self._newest_pass()
        return None if completed is None else completed.source_id

    @property
    def due_ms(self) -> int | None:
        """When a verdict may become another by time alone; None: never, while nothing changes."""
        return min([bucket.due_ms for bucket in self._buckets.values() if bucket.due_ms is not None], default=None)

    def _newest_pass(self) -> PassCompleted | None:
        passes = [bucket.completed for bucket in self._buckets.values() if bucket.completed is not None]
        return max(passes, key=lambda completed: completed.pass_ms, default=None)

    def sources(self) -> tuple[SourceState, ...]:
        """What could not be read, by source."""
        found = (source for bucket in self._buckets.values() for source in bucket.sources.values())
        return tuple(sorted(found, key=lambda source: source.source))

    def summaries(self) -> tuple[GroupSummary, ...]:
        """The groups, by name."""
        found = (summary for bucket in self._buckets.values() for summary in bucket.summaries.values())
        return tuple(sorted(found, key=lambda summary: summary.group))

    def short_lives(self) -> dict[str, ShortLives]:
        """Those of the groups, by the pattern of their names; also of those that have not been evaluated yet."""
        return lives_by_pattern(life for bucket in self._buckets.values() for life in bucket.known_lives())

    def grown_log(self) -> GrownLog | None:
        """What the newest growth of the offsets topic did to the groups; None: it has not grown."""
        return grown_together(bucket.grown for bucket in self._buckets.values() if bucket.grown is not None)

    def blocks(self) -> Iterator[PackedBlock]:
        """The samples of all groups."""
        for number, bucket in self._buckets.items():
            for name, samples in bucket.blocks.items():
                family, group = family_and_group(name)
                yield PackedBlock(family=family, samples=samples, group=group, bucket=number)

    def group_state(self, group: str) -> GroupState | None:
        """The state of a group; None if there is no such group. May be called from any thread."""
        found = (bucket.groups.get(group) for bucket in list(self._buckets.values()))
        return next((known.state() for known in found if known is not None), None)

    def summary(self, group: str) -> GroupSummary | None:
        """The group as it is listed; None if it is not. May be called from any thread."""
        found = (bucket.summaries.get(group) for bucket in list(self._buckets.values()))
        return next((known for known in found if known is not None), None)

    def stored_groups(self) -> dict[str, bytes]:
        """Each group's state as it was last sent whole: offsets may have moved since. May be called from any thread."""
        buckets = list(self._buckets.values())
        return {name: known.whole for bucket in buckets for name, known in list(bucket.groups.items())}


def _take(bucket: _BucketView, row: BucketRow) -> None:
    match row.kind:
        case RowKind.GROUP:
            _put(bucket.groups, row.name, _GroupBytes(row.payload) if row.payload else None)
            if row.payload is None:
                bucket.summaries.pop(row.name, None)
                bucket.scale.pop(row.name, None)
        case RowKind.OFFSETS:
            bucket.groups[row.name] = bucket.groups[row.name].moved(row.payload or b"")
        case RowKind.PLACES:
            bucket.grown = decode_grown_log(row.payload) if row.payload else None
        case RowKind.TOPIC | RowKind.SOURCE | RowKind.CONNECT | RowKind.PASS | RowKind.PASSES:
            _take_state(bucket, row)
        case RowKind.BLOCK if row.name == ALL_BLOCKS:
            bucket.blocks.clear()
            bucket.summaries.clear()  # those of groups that exist follow
            bucket.scale.clear()
        case RowKind.BLOCK:
            _put(bucket.blocks, row.name, _DEFLATED.decode(row.payload) if row.payload else None)
        case _:
            _take_judged(bucket, row)


def _take_judged(bucket: _BucketView, row: BucketRow) -> None:
    match row.kind:
        case RowKind.SCALE:
            _put(bucket.scale, row.name, row.payload)
        case RowKind.LIVES:
            bucket.lives = _LIVES.decode(row.payload) if row.payload else ()
        case RowKind.DUE:
            bucket.due_ms = _DUE.decode(row.payload) if row.payload else None
        case _:
            _take_summaries(bucket, row)


def _take_state(bucket: _BucketView, row: BucketRow) -> None:
    match row.kind:
        case RowKind.TOPIC:
            _put(bucket.topics, row.name, decode_topic_state(row.payload) if row.payload else None)
        case RowKind.SOURCE:
            _put(bucket.sources, row.name, decode_source_state(row.payload) if row.payload else None)
        case RowKind.PASS:
            bucket.completed = decode_pass(row.payload) if row.payload else None
        case RowKind.PASSES:
            bucket.passes = decode_pass_history(row.payload) if row.payload else PassHistory()
        case _:
            _put(bucket.configs, row.name, decode_connect_configs_state(row.payload) if row.payload else None)


def _put(known: dict[str, Known], name: str, value: Known | None) -> None:
    if value is None:
        known.pop(name, None)
    else:
        known[name] = value


def _take_summaries(bucket: _BucketView, row: BucketRow) -> None:
    if row.payload is None:
        bucket.summaries.pop(row.name, None)
        bucket.scale.pop(row.name, None)
        return
    for summary in _SUMMARIES.decode(row.payload):
        bucket.summaries[summary.group] = summary
