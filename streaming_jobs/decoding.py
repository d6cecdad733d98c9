"""Decode: raw Kafka records to rows of events, chunk by chunk. Which bytes mean what is decided in monitor.protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec
import pyarrow as pa

from monitor.model import AnyEvent, DecodeFailed, PassCompleted, TopicObserved
from monitor.protocol.errors import DecodeError
from monitor.protocol.events_topic import decode_event
from monitor.protocol.offsets_topic import Foreign, decode_record
from streaming_jobs.buckets import Entity, bucket_of

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
class _Collected:
    """The events of one entity within one chunk, and where in the log the first of them stood."""

    position: int
    events: list[AnyEvent] = field(default_factory=list)


@dataclass(slots=True)
class ChunkOfEvents:
    """Events of one chunk of records, put together by entity so that a busy group costs one row, not thousands."""

    buckets: int
    _rows: dict[tuple[int, Entity, str], _Collected] = field(default_factory=dict)

    def add(self, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row."""
        self.add_to(bucket_of(entity, name, self.buckets), entity, name, position, event)

    def add_to_all(self, entity: Entity, position: int, event: AnyEvent) -> None:
        """Append the event to every bucket: it concerns all that lives there."""
        for bucket in range(self.buckets):
            self.add_to(bucket, entity, "", position, event)

    def add_to(self, bucket: int, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to the entity's row in this bucket."""
        row = self._rows.get((bucket, entity, name))
        if row is None:
            row = self._rows[bucket, entity, name] = _Collected(position)
        row.events.append(event)

    def to_arrow(self) -> pa.RecordBatch:
        """The rows in the schema ENTITY_EVENTS."""
        encode = msgspec.msgpack.Encoder().encode
        columns: list[list[object]] = [[], [], [], [], []]
        for (bucket, entity, name), row in self._rows.items():
            values = (bucket, entity.value, _spark_text(name), row.position, encode(row.events))
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        return pa.RecordBatch.from_arrays(
            [pa.array(column, type=kind.type) for column, kind in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
        )


@dataclass(frozen=True, slots=True)
class OffsetsLogDecoder:
    """Decodes chunks of ``__consumer_offsets`` (columns partition, offset, timestamp, key, value)."""

    cluster: str
    buckets: int
    source: str = "__consumer_offsets"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of ENTITY_EVENTS for each batch of records; what cannot be read becomes a counted event."""
        for batch in batches:
            chunk = ChunkOfEvents(self.buckets)
            for partition, offset, timestamp_ms, key, value in _records(batch):
                try:
                    event = decode_record(key, value, timestamp_ms)
                except DecodeError as error:
                    chunk.add(Entity.SOURCE, self.source, offset, failed(self.source, error, partition, offset))
                    continue
                if not isinstance(event, Foreign):
                    chunk.add(Entity.GROUP, event.group, offset, event)
            yield chunk.to_arrow()


@dataclass(frozen=True, slots=True)
class EventsDecoder:
    """Decodes chunks of the collectors' events topic; events of other clusters on the same topic are left out."""

    cluster: str
    buckets: int
    source: str = "groupwatch.events"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One batch of ENTITY_EVENTS for each batch of records."""
        for batch in batches:
            chunk = ChunkOfEvents(self.buckets)
            for partition, offset, _, _, value in _records(batch):
                try:
                    event = decode_event(value)
                except DecodeError as error:
                    chunk.add(Entity.SOURCE, self.source, offset, failed(self.source, error, partition, offset))
                    continue
                self._place(chunk, offset, event)
            yield chunk.to_arrow()

    def _place(self, chunk: ChunkOfEvents, offset: int, event: TopicObserved | PassCompleted) -> None:
        if event.cluster != self.cluster:
            return
        if isinstance(event, PassCompleted):
            chunk.add_to_all(Entity.PASS, offset, event)
        else:
            chunk.add(Entity.TOPIC, event.topic, offset, event)


def failed(source: str, error: DecodeError, partition: int, offset: int) -> DecodeFailed:
    """The event that counts a record which could not be read, with its place in the log."""
    return DecodeFailed(
        source=source, reason=error.reason, log_partition=partition, log_offset=offset, position=error.position
    )


def _records(batch: pa.RecordBatch) -> Iterator[tuple[int, int, int, bytes | None, bytes | None]]:
    columns = (batch.column(name) for name in ("partition", "offset", "timestamp_ms", "key", "value"))
    return zip(*(column.to_pylist() for column in columns), strict=True)


def _spark_text(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")
