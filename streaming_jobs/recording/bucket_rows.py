"""What a bucket of groups did in some minutes, as rows of the tables for questions in SQL. Spark's workers run it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from msgspec.structs import astuple

from monitor.history.chronicle.grid import Steps
from monitor.history.chronicle.writer import COSTS_KNOWN_MS, write_chronicle
from monitor.history.held import HeldRecording, StateRow
from monitor.history.recorded import RecordedRow, recorded_name
from monitor.history.sql.told import MINUTE_MS, rows_of
from monitor.history.tables import EVALUATED, TOLD, Column, EvaluatedRow, Table
from monitor.history.walk import GroupWalk
from monitor.model import Entity, Value
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.recording.arrow import TYPES, arrow_schema
from streaming_jobs.recording.delta import HELD

TABLE: Final = "written_to"
"""The column that names the table of a row."""

_COLUMNS: Final = {column.name: column for table in (*TOLD, EVALUATED) for column in table.columns}
"""The columns of all tables: one frame has the rows of all, each with its own columns."""

ROWS: Final = ", ".join([f"{TABLE} STRING", *[f"{each.name} {each.type}" for each in _COLUMNS.values()]])
"""The schema of that frame."""

_SCHEMA: Final = arrow_schema(_COLUMNS.values()).insert(0, pa.field(TABLE, pa.string()))

_MOST: Final = {"LONG": 2**63 - 1, "INT": 2**31 - 1}


@dataclass(frozen=True, slots=True)
class Minutes:
    """The minutes to evaluate: what happened after ``since_ms``, until ``until_ms``.

    ``recorded_ms`` is the portion after which the states are. ``step_ms`` is how far apart groups are judged.
    """

    cluster: str
    since_ms: int
    until_ms: int
    recorded_ms: int
    step_ms: int
    settings: bytes | None

    @property
    def reach_ms(self) -> int:
        """Until when events are read: what a rebalance cost is known a while after it."""
        return self.until_ms + COSTS_KNOWN_MS


@dataclass(frozen=True, slots=True)
class BucketRows:
    """Gives what the groups of one bucket did. Its rows are the states and events of these, and of all topics.

    Of groups that are not ``chosen`` nothing is recorded anymore: what is known of them is of before.
    """

    minutes: Minutes
    chosen: GroupChoice = ALL

    @property
    def tell_rows(self) -> Callable[[pa.Table], pa.Table]:
        """The same as a function: Spark counts the parameters of what it is given, also ``self``."""
        return lambda rows: self(rows)  # noqa: PLW0108 -- see above

    def __call__(self, rows: pa.Table) -> pa.Table:
        """The rows of all tables, in the schema ROWS. A group that cannot be judged has none, and is counted."""
        held = self._hold(rows)
        told: dict[Table, list[Value]] = defaultdict(list)
        failed = 0
        groups = list(filter(self.chosen.has, held.groups))
        for group in groups:
            try:
                for table, own in self._group_rows(held, group):
                    told[table] += own
            except Exception:  # as in a bucket of the job: one group's failure is its own
                failed += 1
        told[EVALUATED].append(self._count_row(len(groups), failed))
        return pa.Table.from_batches([_batch(table, own) for table, own in told.items() if own], _SCHEMA)

    def _hold(self, rows: pa.Table) -> HeldRecording:
        found = [rows.column(name).to_pylist() for name in HELD]
        states: list[StateRow] = []
        events: list[RecordedRow] = []
        for recorded_ms, entity, name, position, told, state in zip(*found, strict=True):
            if state is not None:
                states.append(StateRow(entity, name, state))
            else:
                events.append(RecordedRow(recorded_ms, Entity(entity), name, position, told))
        minutes = self.minutes
        return HeldRecording(minutes.recorded_ms, states, events, minutes.reach_ms, minutes.settings)

    def _group_rows(self, held: HeldRecording, group: str) -> Iterator[tuple[Table, list[Value]]]:
        minutes = self.minutes
        walk = GroupWalk(held, minutes.cluster, group, minutes.since_ms, minutes.reach_ms)
        steps = Steps(minutes.step_ms, partitions_every_ms=MINUTE_MS)
        chronicle = write_chronicle(walk, minutes.since_ms, minutes.until_ms, steps=steps)
        return iter(()) if chronicle is None else rows_of(chronicle)

    def _count_row(self, groups: int, failed: int) -> EvaluatedRow:
        return EvaluatedRow(self.minutes.cluster, "", self.minutes.since_ms, self.minutes.until_ms, groups, failed)


def _batch(table: Table, rows: list[Value]) -> pa.RecordBatch:
    by_column = zip(table.columns, zip(*map(astuple, rows), strict=True), strict=True)
    own = {column.name: _array(column, values) for column, values in by_column}
    own[TABLE] = pa.array([table.name] * len(rows), pa.string())
    arrays = [own[field.name] if field.name in own else pa.nulls(len(rows), field.type) for field in _SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _array(column: Column, values: Sequence[Any]) -> pa.Array:
    """The values of a column: what it cannot hold becomes the nearest that it can."""
    if column.type == "STRING":
        values = [None if value is None else recorded_name(str(value)) for value in values]
    elif column.type in _MOST:
        most = _MOST[column.type]
        values = [None if value is None else max(-most, min(most, value)) for value in values]
    return pa.array(values, TYPES[column.type])
