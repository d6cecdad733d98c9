"""Decoded events on their way to the recording: one row for each entity and chunk, each event with its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from monitor.history.recorded import EVENTS_VERSION, RecordedEntity, RecordedEvent, encode_events
from monitor.model import AnyEvent, CommitRun, OffsetCommitted
from streaming_jobs.ingest.bucket_of import Entity
from streaming_jobs.ingest.decoding import EventChunk, Record

RECORDED_EVENTS: Final = (
    "entity STRING, name STRING, position LONG, first_ms LONG, last_ms LONG, version INT, events BINARY"
)
"""What a chunk gives: the columns of monitor.history.tables.EVENTS that its records tell."""

_SCHEMA: Final = pa.schema(
    [
        ("entity", pa.string()),
        ("name", pa.string()),
        ("position", pa.int64()),
        ("first_ms", pa.int64()),
        ("last_ms", pa.int64()),
        ("version", pa.int32()),
        ("events", pa.binary()),
    ]
)

_ENTITIES: Final = {
    Entity.GROUP: RecordedEntity.GROUP,
    Entity.TOPIC: RecordedEntity.TOPIC,
    Entity.PASS: RecordedEntity.PASS,
    Entity.LISTING: RecordedEntity.LISTING,
    Entity.CONNECT: RecordedEntity.CONNECT,
}
"""What is recorded. What could not be read is not."""

_UNNAMED: Final = frozenset({RecordedEntity.PASS, RecordedEntity.LISTING})


@dataclass(slots=True)
class _Row:
    """The events of one entity, and where in its log the first of them stood."""

    position: int
    events: list[RecordedEvent] = field(default_factory=list)


@dataclass(slots=True)
class RecordingChunk(EventChunk):
    """The events of some records, with the times of these."""

    _recorded: dict[tuple[RecordedEntity, str], _Row] = field(default_factory=dict)
    _at_ms: int = 0

    def begin_record(self, record: Record) -> None:
        """What follows was told when this record was written."""
        self._at_ms = record.timestamp_ms

    def add(self, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row."""
        recorded = _ENTITIES.get(entity)
        if recorded is None:
            return
        key = recorded, "" if recorded in _UNNAMED else name
        row = self._recorded.get(key)
        if row is None:
            row = self._recorded[key] = _Row(position)
        row.events.append(RecordedEvent(_time_of(event, self._at_ms), event))

    def add_to(self, bucket: int, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row: a recording has one bucket."""
        self.add(entity, name, position, event)

    def to_arrow(self) -> pa.RecordBatch:
        """The rows in the schema RECORDED_EVENTS, sorted: who reads one entity then reads a small part of a file."""
        columns: list[list[object]] = [[] for _ in _SCHEMA]
        for (entity, name), row in sorted(self._recorded.items()):
            times = [event.at_ms for event in row.events]
            text = name.encode("utf-8", "replace").decode("utf-8")
            first = min(_first_ms(event) for event in row.events)
            values = (entity.value, text, row.position, first, max(times), EVENTS_VERSION, encode_events(row.events))
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        arrays = [pa.array(column, type=kind.type) for column, kind in zip(columns, _SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _time_of(event: AnyEvent, at_ms: int) -> int:
    """When it happened: commits name their time, which is that of their records."""
    if isinstance(event, CommitRun):
        return event.points[-1].committed_ms
    return event.committed_ms if isinstance(event, OffsetCommitted) else at_ms


def _first_ms(recorded: RecordedEvent) -> int:
    event = recorded.event
    return event.first.committed_ms if isinstance(event, CommitRun) else recorded.at_ms
