"""Decoded events on their way to the recording: one row for each entity and chunk, each event with its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import pyarrow as pa
from msgspec.structs import replace

from monitor.history.recorded import EVENTS_VERSION, RecordedEvent, encode_events, recorded_name
from monitor.history.tables import CLOCK, EVENTS
from monitor.model import RECORDED, AnyEvent, CommitRun, Entity, GroupsListed, LogGrown, LogPlaces, OffsetCommitted
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.ingest.decoding import EventChunk, Record, arrow_rows
from streaming_jobs.recording.arrow import arrow_schema

_COLUMNS: Final = EVENTS.columns[EVENTS.columns.index(CLOCK) + 1 :]

RECORDED_EVENTS: Final = ", ".join([f"{column.name} {column.type}" for column in _COLUMNS])
"""What a chunk gives: the columns of monitor.history.tables.EVENTS that its records tell."""

_SCHEMA: Final = arrow_schema(_COLUMNS)

_UNNAMED: Final = frozenset({Entity.PASS, Entity.LISTING})


@dataclass(slots=True)
class _Row:
    """The events of one entity, and where in its log the first of them stood."""

    position: int
    events: list[RecordedEvent] = field(default_factory=list)


@dataclass(slots=True)
class RecordingChunk(EventChunk):
    """The events of some records, with the times of these."""

    LONGEST_RUN_MS: ClassVar[int | None] = 75_000
    """Only the first commit of a run and the newest ones are named: in a backlog, hours would lie between these. The
    commits of a minute are one run, also if the minute is a little late."""

    groups: GroupChoice = ALL
    """The groups whose events are recorded."""
    _recorded: dict[tuple[Entity, str], _Row] = field(default_factory=dict)
    _at_ms: int = 0

    def begin_record(self, record: Record) -> None:
        """What follows was reported when this record was written."""
        self._at_ms = record.timestamp_ms

    def note_growth(self, places: LogPlaces) -> None:
        """Append it to the listings: it concerns each group, as these do."""
        self.add(Entity.LISTING, "", 0, LogGrown(partitions=places.partitions, before=places.before))

    def add(self, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row."""
        if entity not in RECORDED or (entity is Entity.GROUP and not self.groups.has(name)):
            return
        if isinstance(event, GroupsListed) and not self.groups.is_all:
            event = replace(event, groups=tuple(filter(self.groups.has, event.groups)))
        key = entity, "" if entity in _UNNAMED else name
        row = self._recorded.get(key)
        if row is None:
            row = self._recorded[key] = _Row(position)
        row.events.append(RecordedEvent(_time_of(event, self._at_ms), event))

    def add_to(self, bucket: int, entity: Entity, name: str, position: int, event: AnyEvent) -> None:
        """Append the event to its entity's row: a recording has one bucket."""
        self.add(entity, name, position, event)

    def end_piece(self) -> None:
        """Nothing: each event has its time, which gives its place."""

    def to_arrow(self) -> pa.RecordBatch:
        """The rows in the schema RECORDED_EVENTS; streaming_jobs.recording.rows puts those of all chunks in order."""
        return arrow_rows(map(_as_row, self._recorded.items()), _SCHEMA)


def _as_row(recorded: tuple[tuple[Entity, str], _Row]) -> tuple[object, ...]:
    (entity, name), row = recorded
    first_ms = min(event.begun_ms for event in row.events)
    last_ms = max(event.at_ms for event in row.events)
    told = encode_events(row.events)
    return entity.value, recorded_name(name), row.position, first_ms, last_ms, EVENTS_VERSION, told


def _time_of(event: AnyEvent, at_ms: int) -> int:
    """When it happened: commits name their time, which is that of their records."""
    if isinstance(event, CommitRun):
        return event.points[-1].committed_ms
    return event.committed_ms if isinstance(event, OffsetCommitted) else at_ms
