"""Decode: raw Kafka records to rows of events, chunk by chunk. Which bytes mean what is decided in monitor.protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import ClassVar, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monitor.model import (
    ALL_GROUPS,
    AnyEvent,
    DecodeFailed,
    Entity,
    GroupObserved,
    GroupPlaced,
    GroupsListed,
    LogPlaces,
    OffsetsListed,
    PassCompleted,
    PassTopicsCounted,
    PieceBegun,
    RebalanceSampled,
    Shard,
    ShareGroupRead,
    TopicObserved,
)
from monitor.protocol.events_topic import (
    decode_event,
    event_cluster,
    require_partitions,
    require_past,
    require_source,
)
from monitor.protocol.kafka.connect_configs import decode_connect_config
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC, decode_share_state
from monitor.protocol.offsets_topic import Foreign, decode_record, unread_event
from monitor.protocol.wire.errors import DecodeError
from streaming_jobs.ingest.bucket_of import bucket_of
from streaming_jobs.ingest.commit_rows import CommitRows
from streaming_jobs.ingest.log_places import parts_by_partition, placed_groups, select_placed_records
from streaming_jobs.ingest.sharding import select_own_records, watches

_SCHEMA = pa.schema(
    [
        ("bucket", pa.int32()),
        ("entity", pa.string()),
        ("name", pa.string()),
        ("position", pa.int64()),
        ("payload", pa.binary()),
    ]
)


@dataclass(slots=True)
class _EventColumns:
    """The events of one entity within one chunk, and where in the log the first of them stood.

    ``piece`` is the piece of the chunk that the newest of them is of (EventChunk.end_piece).
    """

    position: int
    piece: int
    events: list[AnyEvent] = field(default_factory=list)


@dataclass(slots=True)
class EventChunk:
    """Events of one chunk of records, put together by entity so that a busy group costs one row, not thousands."""

    LONGEST_RUN_MS: ClassVar[int | None] = None
    """How long the commits of a partition may go on that become one event; None: as long as they do."""

    buckets: int
    _rows: list[tuple[int, Entity, str, _EventColumns]] = field(default_factory=list)
    _own: dict[tuple[Entity, str], _EventColumns] = field(default_factory=dict)
    """The row of each entity that lives in one bucket."""
    _of_all: dict[tuple[int, Entity, str], _EventColumns] = field(default_factory=dict)
    """The rows, since the last end of a piece, of what concerns all of a bucket."""
    _piece: int = 0
    _counts: dict[int, int] = field(default_factory=dict)
    """Topics per pass that no PassTopicsCounted has yet."""
    _whole: set[int] = field(default_factory=set)
    """The passes of which the records have all topics, and the end."""

    def begin_record(self, record: Record) -> None:
        """What follows is in this record. This is not called for commits, which come by column."""

    def note_growth(self, places: LogPlaces) -> None:
        """This record shows that the brokers place groups by more partitions. A bucket learns it from its driver."""

    def add(self, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row."""
        row = self._own.get((entity, name))
        if row is None:
            row = self._own[entity, name] = self._new_row(bucket_of(entity, name, self.buckets), entity, name, position)
        elif row.piece != self._piece:
            row.events.append(PieceBegun(position))
            row.piece = self._piece
        row.events.append(event)

    def add_to_all(self, entity: Entity, position: int, event: AnyEvent) -> None:
        """Append the event to every bucket: it concerns all that lives there."""
        for bucket in range(self.buckets):
            self.add_to(bucket, entity, "", position, event)

    def add_to(self, bucket: int, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to the entity's row in this bucket."""
        row = self._of_all.get((bucket, entity, name))
        if row is None:
            row = self._of_all[bucket, entity, name] = self._new_row(bucket, entity, name, position)
        row.events.append(event)

    def _new_row(self, bucket: int, entity: Entity, name: str, position: int) -> _EventColumns:
        row = _EventColumns(position, self._piece)
        self._rows.append((bucket, entity, name, row))
        return row

    def add_topic(self, position: int, event: TopicObserved) -> None:
        """Append the event to its topic's row, and count it for its pass."""
        self.add(Entity.TOPIC, event.topic, position, event)
        self._counts[event.pass_ms] = self._counts.get(event.pass_ms, 0) + 1

    def end_pass(self, position: int, event: PassCompleted) -> None:
        """Append the end of a pass to every bucket; behind the number of its topics, where these are not all here."""
        counted = self._counts.get(event.pass_ms, 0)
        if counted < event.topics:
            self._counts.pop(event.pass_ms, None)
            self.add_to_all(Entity.PASS, position, PassTopicsCounted(event.pass_ms, counted))
        else:
            self._whole.add(event.pass_ms)
        self.add_to_all(Entity.PASS, position, event)
        self.end_piece()

    def flush_counts(self, position: int) -> None:
        """Append to every bucket how many topics the records have of passes that go on behind them.

        ``position`` is that of the last record.
        """
        for pass_ms, topics in self._counts.items():
            if pass_ms not in self._whole:
                self.add_to_all(Entity.PASS, position, PassTopicsCounted(pass_ms, topics))
        self._counts.clear()

    def end_piece(self) -> None:
        """Let what follows be known for later than the end of a pass, or the listing, that was added last."""
        self._of_all.clear()
        self._piece += 1

    def to_arrow(self) -> pa.RecordBatch:
        """The rows in the schema ENTITY_EVENTS."""
        encode = msgspec.msgpack.Encoder().encode
        rows = (
            (bucket, entity.value, _spark_text(name), row.position, encode(row.events))
            for bucket, entity, name, row in self._rows
        )
        return arrow_rows(rows, _SCHEMA)


def arrow_rows(rows: Iterable[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as a batch of Arrow; each has a value for each column of the schema."""
    columns: list[list[object]] = [[] for _ in schema]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class Record(NamedTuple):
    """One Kafka record, in the columns of streaming_jobs.ingest.sources.RECORD_COLUMNS."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class LogDecoder(ABC):
    """Decodes chunks of a log: one batch of ENTITY_EVENTS for each batch of records.

    A record that cannot be read becomes an event that counts it; the rest continues. Of several jobs that share the
    groups (``shard``), one counts it.
    """

    cluster: str
    buckets: int
    source: str
    shard: Shard = ALL_GROUPS
    chunks: Callable[[int], EventChunk] = EventChunk
    """Makes the chunk that the events of some records are put into, for so many buckets."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Decode, as Spark's mapInArrow calls it."""
        for batch in batches:
            chunk = self.chunks(self.buckets)
            self.fill(chunk, batch)
            yield chunk.to_arrow()

    def fill(self, chunk: EventChunk, batch: pa.RecordBatch) -> None:
        """Put what the records say into the chunk, one after the other."""
        for record in _records(batch):
            self.place_or_count(chunk, record)

    def place_or_count(self, chunk: EventChunk, record: Record) -> None:
        """Put what the record says into the chunk, or that it cannot be read."""
        chunk.begin_record(record)
        try:
            self.place(chunk, record)
        except DecodeError as error:
            self.count(chunk, record, error)

    def count(self, chunk: EventChunk, record: Record, error: DecodeError) -> None:
        """Put into the chunk that the record cannot be read."""
        chunk.add(Entity.SOURCE, self.source, record.offset, decode_failure(self.source, error, record))

    @abstractmethod
    def place(self, chunk: EventChunk, record: Record) -> None:
        """Put what the record says into the chunk; raises DecodeError if it cannot be read."""


@dataclass(frozen=True, slots=True)
class OffsetsLogDecoder(LogDecoder):
    """Decodes ``__consumer_offsets``: events of groups. Records that tell nothing of them are passed over.

    Records of ``__share_group_state`` may be among them (by the column "topic"): what share groups have done with the
    records that they read. The two logs have no common order.

    Commits are nearly all of the log: they are read by column, each distinct key once, and commits of one partition
    that follow one another become one event. Any other record is read by itself, and ends the runs before it, so that
    the events of a group come in the order of the log.

    A record of a group counts only in the partition of the group (``places``).

    So may records of ``config_topics``: topics of configurations of Connect clusters, whose events another cluster has.
    """

    source: str = OFFSETS_TOPIC
    places: LogPlaces = field(default_factory=LogPlaces)
    config_topics: frozenset[str] = frozenset()

    def fill(self, chunk: EventChunk, batch: pa.RecordBatch) -> None:
        """Put what the records say into the chunk, runs of commits between the other records."""
        if "topic" in batch.schema.names:
            batch = self._fill_from_others(chunk, batch)
        batch = select_placed_records(select_own_records(batch, self.shard), self.places)
        for part in parts_by_partition(batch) if self.places.before else (batch,):
            self._fill_with(chunk, part)

    def _fill_from_others(self, chunk: EventChunk, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Put what the records of the other topics say into the chunk, and give those of the offsets topic."""
        is_of_offsets = pc.equal(batch.column("topic"), OFFSETS_TOPIC)
        if pc.all(is_of_offsets).as_py():
            return batch
        others = batch.filter(pc.invert(is_of_offsets))
        for topic, record in zip(others.column("topic").to_pylist(), _records(others), strict=True):
            if topic in self.config_topics:
                place_config(chunk, topic, record, self.shard)
            else:
                self._place_share_state(chunk, record)
        return batch.filter(is_of_offsets)

    def _fill_with(self, chunk: EventChunk, batch: pa.RecordBatch) -> None:
        if batch.num_rows and 0 < self.places.before <= batch.column("partition")[0].as_py():
            chunk.begin_record(_record(batch, 0))
            chunk.note_growth(self.places)
        for placed in placed_groups(batch, self.places):
            record = _record(batch, placed.row)
            chunk.begin_record(record)
            event = GroupPlaced(group=placed.group, partitions=placed.partitions, before=placed.before)
            chunk.add(Entity.GROUP, placed.group, record.offset, event)
        commits = CommitRows.of(batch)
        begin = 0
        for row in np.flatnonzero(~commits.regular).tolist():
            self._place_commits(chunk, commits, begin, row)
            self.place_or_count(chunk, _record(batch, row))
            begin = row + 1
        self._place_commits(chunk, commits, begin, len(commits.regular))

    def place(self, chunk: EventChunk, record: Record) -> None:
        """A commit, a generation, or a deletion, to its group."""
        event = decode_record(record.key, record.value, record.timestamp_ms)
        if not isinstance(event, Foreign):
            chunk.add(Entity.GROUP, event.group, record.offset, event)

    def count(self, chunk: EventChunk, record: Record, error: DecodeError) -> None:
        """Put into the chunk that the record cannot be read; of a version that is not known, also to its group."""
        LogDecoder.count(self, chunk, record, error)  # super() does not know classes with slots
        event = unread_event(record.key, record.value, record.timestamp_ms)
        if event is not None:
            chunk.add(Entity.GROUP, event.group, record.offset, event)

    def _place_share_state(self, chunk: EventChunk, record: Record) -> None:
        chunk.begin_record(record)
        try:
            event = decode_share_state(record.key, record.value, record.timestamp_ms)
        except DecodeError as error:
            if self.shard.is_first:
                failure = decode_failure(SHARE_STATE_TOPIC, error, record)
                chunk.add(Entity.SOURCE, SHARE_STATE_TOPIC, record.offset, failure)
            return
        if watches(self.shard, event.group):
            chunk.add(Entity.GROUP, event.group, record.offset, event)

    @staticmethod
    def _place_commits(chunk: EventChunk, commits: CommitRows, begin: int, end: int) -> None:
        for first, last in commits.spans(begin, end, chunk.LONGEST_RUN_MS):
            for event in commits.events(first, last):
                chunk.add(Entity.GROUP, event.event.group, event.position, event.event)


@dataclass(frozen=True, slots=True)
class EventsDecoder(LogDecoder):
    """Decodes the collectors' topic; events of other clusters on the same topic are passed over.

    Every shard reads of topics and passes. Events of a group are passed over unless it is the shard's own; what
    cannot be read is counted by the first shard. ``text_partitions``: the cluster's partitions are texts, not numbers;
    an event with others is not read, as they would have no order among the cluster's own. Nor is one that is dated
    ahead of its record, whose time is that of streaming_jobs.ingest.sources.events_log, nor the end of a pass over
    another source than ``source_id``, if that is known.

    ``config_topics`` are read by the same source: topics of configurations of Connect clusters.
    """

    source: str = "groupwatch.events"
    text_partitions: bool = False
    source_id: str | None = None
    config_topics: frozenset[str] = frozenset()

    def fill(self, chunk: EventChunk, batch: pa.RecordBatch) -> None:
        """Put what the records say into the chunk, those of configurations of Connect apart from the rest."""
        topics = batch.column("topic").to_pylist() if self.config_topics else repeat(None)
        newest: Record | None = None
        for topic, record in zip(topics, _records(batch), strict=False):
            if topic in self.config_topics:
                place_config(chunk, topic, record, self.shard)
            else:
                self.place_or_count(chunk, record)
                newest = record
        if newest is not None:
            chunk.begin_record(newest)  # the counts have its time, and not that of another log
            chunk.flush_counts(newest.offset)

    def count(self, chunk: EventChunk, record: Record, error: DecodeError) -> None:
        """Put into the chunk that the record cannot be read, in the first shard, unless it names another cluster."""
        if self.shard.is_first and event_cluster(record.value) in (None, self.cluster):
            LogDecoder.count(self, chunk, record, error)  # super() does not know classes with slots

    def place(self, chunk: EventChunk, record: Record) -> None:
        """A topic and what concerns a group to their buckets, the end of a pass to all buckets."""
        event = decode_event(record.value)
        if event.cluster != self.cluster:
            return
        require_partitions(event, text=self.text_partitions)
        require_past(event, record.timestamp_ms)
        if isinstance(event, PassCompleted):
            require_source(event, self.source_id)
            chunk.end_pass(record.offset, event)
        elif isinstance(event, GroupsListed):
            self._place_listing(chunk, record, event)
        elif isinstance(event, OffsetsListed | RebalanceSampled | GroupObserved | ShareGroupRead):
            self._place_group_event(chunk, record, event)
        else:
            chunk.add_topic(record.offset, event)

    def _place_group_event(
        self,
        chunk: EventChunk,
        record: Record,
        event: OffsetsListed | RebalanceSampled | GroupObserved | ShareGroupRead,
    ) -> None:
        if watches(self.shard, event.group):
            chunk.add(Entity.GROUP, event.group, record.offset, event)

    def _place_listing(self, chunk: EventChunk, record: Record, event: GroupsListed) -> None:
        """To every bucket, each with the names of its own groups: those that it does not find there are gone."""
        own: dict[int, list[str]] = {bucket: [] for bucket in range(chunk.buckets)}
        for group in event.groups:
            own[bucket_of(Entity.GROUP, group, chunk.buckets)].append(group)
        for bucket, groups in own.items():
            listing = msgspec.structs.replace(event, groups=tuple(groups))
            chunk.add_to(bucket, Entity.LISTING, event.source, record.offset, listing)
        chunk.end_piece()


def place_config(chunk: EventChunk, topic: str, record: Record, shard: Shard) -> None:
    """Put into the chunk what a record of configurations of Connect says; that it cannot be read, in the first shard.

    These hold secrets: what monitor.protocol.kafka.connect_configs does not decode goes no further than this.
    """
    chunk.begin_record(record)
    try:
        event = decode_connect_config(record.key, record.value, record.timestamp_ms)
    except DecodeError as error:
        if shard.is_first:
            chunk.add(Entity.SOURCE, topic, record.offset, decode_failure(topic, error, record))
        return
    if event is not None:
        chunk.add(Entity.CONNECT, topic, record.offset, event)


def _record(batch: pa.RecordBatch, row: int) -> Record:
    return Record._make(batch.column(name)[row].as_py() for name in Record._fields)


def decode_failure(source: str, error: DecodeError, record: Record) -> DecodeFailed:
    """The event that counts a record which could not be read, with its place in the log."""
    return DecodeFailed(
        source=source,
        reason=error.reason,
        log_partition=record.partition,
        log_offset=record.offset,
        position=error.position,
    )


def _records(batch: pa.RecordBatch) -> Iterator[Record]:
    columns = (batch.column(name).to_pylist() for name in Record._fields)
    return map(Record._make, zip(*columns, strict=True))


def _spark_text(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")
