"""What a worker makes of its bucket: the story of tests.history.test_story as rows of the tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from monitor.history.recorded import RecordedRow
from monitor.history.tables import EVALUATED, FINDING_MEMBERS, FINDINGS, GROUP_MINUTES, MEMBER_CHANGES, REBALANCES
from monitor.model import Entity
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.recording.bucket_rows import TABLE, BucketRows, Minutes
from streaming_jobs.recording.delta import HELD
from tests.history.test_story import HISTORY, START

MINUTES = Minutes("c", START, START + 240_000, recorded_ms=0, step_ms=10_000, settings=None)
DAMAGED = RecordedRow(START + 60_000, Entity.GROUP, "h", 0, b"\x91\xc1")

NAMES = ("recorded_ms", "entity", "name", "position", "events")


def rows_of(*rows: RecordedRow, groups: GroupChoice = ALL) -> list[dict[str, Any]]:
    given = [dict(zip(NAMES, (r.recorded_ms, r.entity.value, r.name, r.position, r.events), strict=True)) for r in rows]
    types = {"recorded_ms": pa.int64(), "position": pa.int64(), "events": pa.binary(), "state": pa.binary()}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in HELD])
    found: list[dict[str, Any]] = BucketRows(MINUTES, groups)(pa.Table.from_pylist(given, schema)).to_pylist()
    return found


def chosen(rows: list[dict[str, Any]], table: Any, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows if row[TABLE] == table.name]


def seconds(values: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple((v - START) / 1_000 if isinstance(v, int) and v >= START else v for v in row) for row in values]


def test_rows_have_what_the_group_did():
    rows = rows_of(*HISTORY.every_row)
    orphaned = [row for row in rows if row[TABLE] == FINDINGS.name and row["kind"] == "orphaned"]
    told = seconds(chosen(orphaned, FINDINGS, "reason", "from_ms", "until_ms", "event", "is_closed", "partitions"))
    assert told == [("grew", 70.0, 95.0, "opened", True, 1)]
    assert {row["topics"] for row in orphaned} == {"t"}
    assert seconds(chosen(rows, REBALANCES, "generation", "ended_ms", "left_members", "joined_members")) == [
        (1, 5.0, 0, 2),
        (2, 65.0, 1, 0),
        (3, 95.0, 0, 0),
        (4, 240.0, 1, 0),
    ]
    assert seconds(chosen(rows, MEMBER_CHANGES, "at_ms", "change", "member_id")) == [
        (5.0, "joined", "a"),
        (5.0, "joined", "b"),
        (65.0, "left", "b"),
        (240.0, "left", "a"),
    ]
    assert seconds(chosen(rows, GROUP_MINUTES, "at_ms", "members", "orphaned_partitions")) == [
        (60.0, 2, 0),
        (120.0, 1, 0),
        (180.0, 1, 0),
        (240.0, 0, 2),
    ]
    assert seconds(chosen(rows, EVALUATED, "since_ms", "until_ms", "groups", "failed_groups")) == [(0.0, 240.0, 1, 0)]


def test_members_of_a_finding_have_their_names():
    rows = rows_of(*HISTORY.every_row)
    members = {row[:1] for row in chosen(rows, FINDING_MEMBERS, "member_id", "client_id")}
    assert members <= {("a",), ("b",)}


def test_a_group_that_cannot_be_judged_is_counted_and_harms_no_other():
    alone, beside = rows_of(*HISTORY.every_row), rows_of(*HISTORY.every_row, DAMAGED)
    assert [row for row in beside if row[TABLE] != EVALUATED.name] == [
        row for row in alone if row[TABLE] != EVALUATED.name
    ]
    assert chosen(beside, EVALUATED, "groups", "failed_groups") == [(2, 1)]


def test_a_group_that_is_left_out_has_no_rows_and_is_not_counted():
    rows = rows_of(*HISTORY.every_row, groups=GroupChoice(allow=("other",)))
    assert {row[TABLE] for row in rows} == {EVALUATED.name}
    assert chosen(rows, EVALUATED, "groups", "failed_groups") == [(0, 0)]
