"""The recording of a fleet as a job would have written it: one small file of events a minute, states once an hour.

Rows are encoded once, as the job encodes them; of each minute, only the times and offsets in their bytes are replaced.
The states of the first ASKED groups and of their topics are folded from their events; those of the others are copies
of these with other names and offsets, for their size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from numpy.typing import NDArray

from monitor.history.recorded import (
    EVENTS_VERSION,
    RecordedEvent,
    RecordedRow,
    RecordedSettings,
    encode_events,
    encode_settings,
)
from monitor.history.replay import fold_catalog, fold_group_rows
from monitor.history.tables import DAY_MS, EVENTS, SETTINGS, STATES, Table, day_of
from monitor.model import (
    CommitPoint,
    CommitRun,
    Entity,
    GroupState,
    Member,
    MembershipStored,
    OffsetCommitted,
    PartitionObserved,
    PassCompleted,
    TopicObserved,
    TopicPartitions,
)
from monitor.tracking.cluster_fold import ClusterFold
from monitor.tracking.serialization import encode_state
from streaming_jobs.recording.arrow import arrow_schema

ASKED: Final = 4
CLUSTER: Final = "bench"
MINUTE_MS: Final = 60_000
POLLS: Final = 6
"""Of all topics a minute: by default a collector polls every ten seconds."""
MINUTES_A_STATE: Final = 60
LOG_PARTITIONS: Final = 50
RECORDS_A_CHUNK: Final = 10_000
"""What Spark gives to a decoder at once (``spark.sql.execution.arrow.maxRecordsPerBatch``)."""
ROWS_A_ROW_GROUP: Final = 100
"""Parquet's writer looks for the first time after so many rows whether a row group is full, and such rows fill it."""
BASE, TOPIC_APART, PARTITION_APART, SLOWEST, FASTEST = 1_000_000, 10_000_000, 1_000, 10, 50
"""Where topics begin, and how many records a second the partitions get."""

_ORDER: Final = ("entity", "name", "position")
"""By what the job sorts the rows of a portion."""

_OFFSET_MARK: Final = 0xA000_0000
_TIME_MARK: Final = 0x1FF_0000_0000
"""Numbers that stand for offsets and times in encoded rows, as many bytes long as these."""
_OFFSET: Final = re.compile(rb"\xce([\xa0-\xaf]...)", re.DOTALL)
_TIME: Final = re.compile(rb"\xcf\x00\x00\x01\xff(....)", re.DOTALL)

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Fleet:
    """Groups with ``partitions`` each, which they commit so often a minute; ``minutes`` of them from a midnight on."""

    begin_ms: int
    groups: int = 1_000
    topics: int = 100
    partitions: int = 100
    members: int = 10
    commits: int = 1
    minutes: int = DAY_MS // MINUTE_MS

    @property
    def chunks(self) -> int:
        """Into how many chunks the commits of a log's partition in a minute are decoded."""
        records = self.groups * self.partitions * self.commits / LOG_PARTITIONS
        return min(self.commits, -(-round(records) // RECORDS_A_CHUNK))

    @cached_property
    def group_names(self) -> list[str]:
        return [f"group-{number:04}" for number in range(self.groups)]

    @cached_property
    def topic_names(self) -> list[str]:
        return [f"topic-{number:03}" for number in range(self.topics)]

    @property
    def group_topics(self) -> Numbers:
        """The number of the topic that each group reads."""
        return np.arange(self.groups) % self.topics

    def recorded_ms(self, minute: int) -> int:
        """When the portion of a minute was recorded."""
        return self.begin_ms + (minute + 1) * MINUTE_MS

    def ends(self, topics: Numbers, after_ms: Numbers) -> Numbers:
        """The ends of all partitions of topics, so long after the beginning (one time for each partition)."""
        partitions = np.arange(self.partitions)
        rates = SLOWEST + partitions * 7 % (FASTEST - SLOWEST)
        starts = BASE + topics[:, None] * TOPIC_APART + partitions * PARTITION_APART
        ends: Numbers = starts + rates * after_ms // 1000
        return ends

    def commit_times(self, minute: int, chunk: int) -> Numbers:
        """When each group commits each partition in a chunk, in ms after the beginning: [commit, group, partition]."""
        commits = np.array_split(np.arange(self.commits), self.chunks)[chunk]
        apart_ms = MINUTE_MS // self.commits
        phases = np.random.default_rng(0).integers(0, apart_ms, (self.groups, self.members))
        phase = np.repeat(phases, self.partitions // self.members, axis=1)
        times: Numbers = minute * MINUTE_MS + commits[:, None, None] * apart_ms + phase
        return times

    def commit_offsets(self, minute: int, chunk: int, times: Numbers) -> Numbers:
        """What is committed then: ends, less what was not read yet, which never lets a commit go back."""
        lag = np.random.default_rng([minute, chunk]).integers(0, SLOWEST * 60 // self.commits, times.shape)
        return self.ends(self.group_topics, times) - lag


def write_recording(folder: Path, fleet: Fleet) -> None:
    """Write the tables of the fleet's recording into a folder."""
    events, states = _TableWriter(folder, EVENTS), _TableWriter(folder, STATES)
    settings = _TableWriter(folder, SETTINGS)
    settings.append(fleet.begin_ms, {"settings": [encode_settings(RecordedSettings())]})
    portions, folded = _Portions(fleet), _Folded(fleet)
    for minute in range(fleet.minutes):
        recorded_ms = fleet.recorded_ms(minute)
        rows = portions.rows(minute)
        events.append(recorded_ms, rows)
        folded.fold(recorded_ms, rows)
        if (minute + 1) % MINUTES_A_STATE == 0:
            states.append(recorded_ms, folded.states())
    for writer in (events, states, settings):
        writer.end()


class _TableWriter:
    """Appends files to a table of Delta Lake, each with its statistics, and ends with a checkpoint, as Spark does."""

    _CHECKPOINT_EVERY: Final = 10

    def __init__(self, folder: Path, table: Table) -> None:
        self._path = folder / table.name
        schema = arrow_schema(table.columns)
        DeltaTable.create(str(self._path), schema, partition_by=["cluster", "day"])
        self._columns = [field for field in schema if field.name not in ("cluster", "day")]
        self._version = 0

    def append(self, recorded_ms: int, rows: dict[str, Any]) -> None:
        """One file with these columns beside the place; the others are null, as in a recording of an older job."""
        count = len(next(iter(rows.values())))
        day = day_of(recorded_ms - 1)  # the portion of the last minute belongs to its day here
        columns = {"recorded_ms": np.full(count, recorded_ms), **rows}
        nulls = [None] * count
        arrays = [pa.array(columns.get(each.name, nulls), each.type) for each in self._columns]
        data = pa.table(arrays, pa.schema(self._columns))
        self._version += 1
        place = f"cluster={CLUSTER}/day={day}/part-{self._version:05}.parquet"
        file = self._path / place
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(data, file, ROWS_A_ROW_GROUP, compression="zstd", compression_level=3, use_dictionary=_TEXTS)
        self._commit(
            {
                "path": place,
                "partitionValues": {"cluster": CLUSTER, "day": day},
                "size": file.stat().st_size,
                "modificationTime": recorded_ms,
                "dataChange": True,
                "stats": json.dumps(_statistics(data)),
            }
        )

    def end(self) -> None:
        """Put the log together as far as Spark would have."""
        newest = self._version - self._version % self._CHECKPOINT_EVERY
        if newest:
            DeltaTable(str(self._path), version=newest).create_checkpoint()

    def _commit(self, add: dict[str, Any]) -> None:
        actions: list[dict[str, Any]] = [
            {"commitInfo": {"timestamp": add["modificationTime"], "operation": "STREAMING UPDATE"}},
            {"txn": {"appId": "query", "version": self._version, "lastUpdated": add["modificationTime"]}},
            {"add": add},
        ]
        text = "\n".join(map(json.dumps, actions))
        (self._path / "_delta_log" / f"{self._version:020}.json").write_text(text + "\n", encoding="utf-8")


_TEXTS: Final = ["entity", "name"]


def _statistics(data: pa.Table) -> dict[str, Any]:
    plain = [name for name in data.column_names if not pa.types.is_binary(data.schema.field(name).type)]
    bounds = {name: pa.compute.min_max(data.column(name)).as_py() for name in plain}
    return {
        "numRecords": len(data),
        "minValues": {name: found["min"] for name, found in bounds.items()},
        "maxValues": {name: found["max"] for name, found in bounds.items()},
        "nullCount": {name: data.column(name).null_count for name in data.column_names},
    }


class _Pattern:
    """An encoded row for each of many entities; the offsets and times in all of them are replaced at once."""

    def __init__(self, encoded: bytes, renamed: Iterable[tuple[tuple[str, str], ...]]) -> None:
        rows = []
        for names in renamed:
            row = encoded
            for old, new in names:
                row = row.replace(old.encode(), new.encode())
            rows.append(row)
        self._rows = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), len(encoded)).copy()
        self._offsets = self._marks(_OFFSET, encoded, _OFFSET_MARK, 4)
        self._times = self._marks(_TIME, encoded, 0, 8)

    @staticmethod
    def _marks(mark: re.Pattern[bytes], encoded: bytes, base: int, size: int) -> tuple[Numbers, Numbers]:
        """Where the bytes of the numbers are, and which number each of them is."""
        found = list(mark.finditer(encoded))
        places = np.array([match.start() + 1 for match in found])[:, None] + np.arange(size)
        return places, np.array([int.from_bytes(match[1], "big") - base for match in found])

    def filled(self, offsets: Numbers, times: Numbers) -> NDArray[np.uint8]:
        """The rows with these offsets and times: a row for each entity, a column for each mark."""
        for (places, numbers), values, kind in ((self._offsets, offsets, ">u4"), (self._times, times, ">u8")):
            ordered = np.ascontiguousarray(values[:, numbers].astype(kind))
            self._rows[:, places] = ordered.view(np.uint8).reshape(*ordered.shape, places.shape[1])
        return self._rows


@dataclass
class _Portions:
    """The rows of one minute after the other."""

    fleet: Fleet
    _patterns: dict[int, _Pattern] = field(default_factory=dict)

    def __post_init__(self) -> None:
        fleet = self.fleet
        polled = _encoded_polls(fleet)
        self._topics = _Pattern(polled, [(("topic-000", name),) for name in fleet.topic_names])

    def rows(self, minute: int) -> dict[str, Any]:
        """The columns of what is recorded of a minute."""
        parts = [self._polls(minute), self._stored(minute)]
        parts += [self._commits(minute, chunk) for chunk in range(self.fleet.chunks)]
        columns = _joined(parts)
        order = sorted(range(len(columns["name"])), key=lambda row: tuple(columns[each][row] for each in _ORDER))
        return {name: [column[row] for row in order] for name, column in columns.items()}

    def _commits(self, minute: int, chunk: int) -> _Rows:
        """The row of each group in a chunk."""
        fleet = self.fleet
        times = fleet.commit_times(minute, chunk)
        offsets = fleet.commit_offsets(minute, chunk, times)
        count = len(times)
        if count not in self._patterns:
            names = zip(fleet.group_names, (fleet.topic_names[number] for number in fleet.group_topics), strict=True)
            renamed = [(("group-0000", group), ("topic-000", topic)) for group, topic in names]
            self._patterns[count] = _Pattern(_encoded_commits(fleet, count), renamed)
        flat = [each.transpose(1, 2, 0).reshape(fleet.groups, -1) for each in (offsets, times + fleet.begin_ms)]
        filled = self._patterns[count].filled(*flat)
        position = minute * 1000 + chunk + 1
        return _Rows("group", fleet.group_names, position, flat[1].min(axis=1), flat[1].max(axis=1), filled)

    def _stored(self, minute: int) -> _Rows:
        """The generations that were stored in a minute: of each group one an hour."""
        own = [number for number in range(self.fleet.groups) if number % MINUTES_A_STATE == minute % MINUTES_A_STATE]
        at_ms = self.fleet.begin_ms + minute * MINUTE_MS
        told = [encode_events([RecordedEvent(at_ms, _generation(self.fleet, number, minute))]) for number in own]
        times = np.full(len(own), at_ms)
        return _Rows("group", [self.fleet.group_names[each] for each in own], minute * 1000, times, times, told)

    def _polls(self, minute: int) -> _Rows:
        fleet = self.fleet
        after_ms = minute * MINUTE_MS + (np.arange(POLLS) + 1) * (MINUTE_MS // POLLS) - 1
        ends = np.stack([fleet.ends(np.arange(fleet.topics), np.full(fleet.partitions, each)) for each in after_ms])
        flat = ends.transpose(1, 0, 2).reshape(fleet.topics, -1)
        times = np.broadcast_to(after_ms + fleet.begin_ms, (fleet.topics, POLLS))
        passes = [PassCompleted(CLUSTER, int(at_ms), int(at_ms), fleet.topics) for at_ms in times[0]]
        told = [
            encode_events([RecordedEvent(each.pass_ms, each) for each in passes]),
            *self._topics.filled(flat, times),
        ]
        begun, ended = (np.full(fleet.topics + 1, times[0, edge]) for edge in (0, -1))
        entities = ["pass", *["topic"] * fleet.topics]
        return _Rows(entities, ["", *fleet.topic_names], minute, begun, ended, told)


@dataclass
class _Rows:
    """The rows of some entities."""

    entity: str | list[str]
    names: list[str]
    position: int
    begun: Numbers
    ended: Numbers
    events: Iterable[Any]

    @property
    def columns(self) -> dict[str, list[Any]]:
        count = len(self.names)
        return {
            "entity": [self.entity] * count if isinstance(self.entity, str) else self.entity,
            "name": self.names,
            "position": [self.position] * count,
            "first_ms": self.begun.tolist(),
            "last_ms": self.ended.tolist(),
            "version": [EVENTS_VERSION] * count,
            "events": [bytes(each) for each in self.events],
        }


def _joined(parts: Sequence[_Rows]) -> dict[str, list[Any]]:
    columns = [part.columns for part in parts]
    return {name: [value for each in columns for value in each[name]] for name in columns[0]}


def _encoded_commits(fleet: Fleet, count: int) -> bytes:
    """The row of group-0000, which commits every partition so often."""
    events = []
    for partition in range(fleet.partitions):
        marks = range(partition * count, (partition + 1) * count)
        points = tuple(CommitPoint(_TIME_MARK + mark, _OFFSET_MARK + mark) for mark in marks)
        events.append(RecordedEvent(points[-1].committed_ms, _commit(partition, points)))
    return encode_events(events)


def _commit(partition: int, points: tuple[CommitPoint, ...]) -> OffsetCommitted | CommitRun:
    place: dict[str, Any] = {"group": "group-0000", "topic": "topic-000", "partition": partition}
    known: dict[str, Any] = {"leader_epoch": 3, "topic_key": 0x1234_5678_9ABC_DEF0}
    if len(points) == 1:
        return OffsetCommitted(**place, offset=points[0].offset, committed_ms=points[0].committed_ms, **known)
    return CommitRun(**place, first=points[0], points=points[-10:], commits=len(points), **known)


def _encoded_polls(fleet: Fleet) -> bytes:
    """The row of topic-000, polled so often."""
    events = []
    for poll in range(POLLS):
        marks = range(poll * fleet.partitions, (poll + 1) * fleet.partitions)
        seen = [PartitionObserved(n, 0, _OFFSET_MARK + mark) for n, mark in zip(range(len(marks)), marks, strict=True)]
        at_ms = _TIME_MARK + poll
        topic = TopicObserved(CLUSTER, "topic-000", at_ms, at_ms, tuple(seen), "PTOD1DvDSpK7dmf_jvCZdg")
        events.append(RecordedEvent(at_ms, topic))
    return encode_events(events)


def _generation(fleet: Fleet, group: int, minute: int) -> MembershipStored:
    """Of ``range``: each member has partitions that follow one another."""
    topic = fleet.topic_names[fleet.group_topics[group]]
    own = fleet.partitions // fleet.members
    members = [
        Member(
            member_id=f"app-{number:02}-7f3a1c{group:06}",
            topics=(topic,),
            client_id=f"app-{number:02}",
            host=f"/10.0.0.{number}",
            assigned=(TopicPartitions(topic, tuple(range(number * own, (number + 1) * own))),),
        )
        for number in range(fleet.members)
    ]
    return MembershipStored(
        group=f"group-{group:04}",
        generation=minute // MINUTES_A_STATE + 1,
        protocol_type="consumer",
        protocol="range",
        leader=members[0].member_id,
        stored_ms=fleet.begin_ms + minute * MINUTE_MS,
        members=tuple(members),
    )


@dataclass
class _Folded:
    """The states of the groups that are asked for, and of their topics, while portions are folded in."""

    fleet: Fleet
    _groups: dict[str, GroupState | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._catalog = ClusterFold(CLUSTER)

    def fold(self, recorded_ms: int, rows: dict[str, Any]) -> None:
        """Fold what was recorded at once."""
        groups, topics = self.fleet.group_names[:ASKED], self.fleet.topic_names[:ASKED]
        own: list[RecordedRow] = []
        columns = (rows[name] for name in ("entity", "name", "position", "events"))
        for entity, name, position, events in zip(*columns, strict=True):
            if entity == "pass" or name in groups or name in topics:
                own.append(RecordedRow(recorded_ms, Entity(entity), name, position, events))
        for group in groups:
            self._groups[group] = fold_group_rows(CLUSTER, group, self._groups.get(group), own, recorded_ms)
        fold_catalog(self._catalog, own, recorded_ms)

    def states(self) -> dict[str, list[Any]]:
        """The columns of all states, sorted by entity and name."""
        rows = [
            *self._group_states(),
            ("pass", "", msgspec.msgpack.encode(self._catalog.newest_pass)),
            ("passes", "", encode_state(self._catalog.pass_history)),
            *self._topic_states(),
        ]
        return {name: [row[place] for row in rows] for place, name in enumerate(("entity", "name", "state"))}

    def _group_states(self) -> Iterator[tuple[str, str, bytes]]:
        for number, name in enumerate(self.fleet.group_names):
            like = number % ASKED
            state = self._groups[self.fleet.group_names[like]]
            assert state is not None
            encoded = encode_state(state)
            if number != like:
                own, topic = (self.fleet.topic_names[each] for each in (like, self.fleet.group_topics[number]))
                encoded = _moved_histories(encoded, state, number * 997).replace(own.encode(), topic.encode())
                encoded = encoded.replace(state.group.encode(), name.encode())
            yield "group", name, encoded

    def _topic_states(self) -> Iterator[tuple[str, str, bytes]]:
        for number, name in enumerate(self.fleet.topic_names):
            like = self.fleet.topic_names[number % ASKED]
            encoded = encode_state(self._catalog.states[Entity.TOPIC, like])
            yield "topic", name, _moved_ends(encoded, number - number % ASKED).replace(like.encode(), name.encode())


def _moved_histories(encoded: bytes, state: GroupState, by: int) -> bytes:
    """The state's bytes with other offsets in its histories, each of which has times and offsets in turn."""
    moved, place = bytearray(encoded), 0
    for offset in state.offsets:
        place = encoded.index(offset.history, place)
        numbers = np.frombuffer(offset.history, "<i8").copy()
        numbers[1::2] += by
        moved[place : place + len(offset.history)] = numbers.tobytes()
    return bytes(moved)


def _moved_ends(encoded: bytes, topics: int) -> bytes:
    """The state's bytes with the ends of a topic so many later: numbers of four bytes in the range of topics."""
    data = np.frombuffer(encoded, np.uint8).copy()
    places = np.flatnonzero(data[:-4] == 0xCE)[:, None] + np.arange(1, 5)
    values = np.ascontiguousarray(data[places]).view(">u4")[:, 0]
    own = (values >= BASE) & (values < BASE + (ASKED + 1) * TOPIC_APART)
    data[places[own]] = (values[own] + topics * TOPIC_APART).astype(">u4").view(np.uint8).reshape(-1, 4)
    return data.tobytes()
