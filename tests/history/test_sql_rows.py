"""A chronicle as rows of the tables for SQL, and these rows read again: their columns are written out here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from msgspec import to_builtins

from monitor.history.chronicle.values import (
    Chronicle,
    FindingSpan,
    GroupPoint,
    MembersChanged,
    MemberThen,
    PartitionPoint,
    RewindThen,
    SkipThen,
)
from monitor.history.delta_reader import DeltaReader
from monitor.history.delta_sql import DeltaSqlTables
from monitor.history.recorded import RecordingError
from monitor.history.sql.told import rows_of
from monitor.history.tables import (
    EVALUATED,
    FINDING_MEMBERS,
    FINDINGS,
    GROUP_MINUTES,
    MEMBER_CHANGES,
    PARTITION_MINUTES,
    REBALANCES,
    REWINDS,
    SKIPS,
    Table,
)
from monitor.model import (
    FindingNews,
    FindingRecord,
    GroupKind,
    Phase,
    Rebalance,
    RebalanceCause,
    RewindCause,
    TopicPartitions,
)
from monitor.model.findings import Severity
from monitor.model.jumps import SkipCause
from streaming_jobs.recording.arrow import arrow_schema

MIDNIGHT = 1_795_305_600_000
"""2026-11-22 in UTC."""

AT = MIDNIGHT + 60_000
BEFORE = MIDNIGHT - 1

MEMBER = MemberThen("m-1", instance_id="i", client_id="c", host="/h")

TOLD = FindingRecord(
    id="f",
    event=FindingNews.CHANGED,
    cluster="k",
    group="g",
    kind="drift",
    reason="stale",
    since_ms=BEFORE,
    opened_ms=BEFORE + 3,
    at_ms=AT,
    sentence="All of it.",
    partition_count=3,
    partitions=(TopicPartitions("t", (0, 1)), TopicPartitions("u", (0,))),
    member_count=1,
    members=("m-1",),
    cause="new_topic",
)

CHRONICLE = Chronicle(
    cluster="k",
    group="g",
    kind=GroupKind.SHARE,
    since_ms=BEFORE - 59_999,
    until_ms=AT + 600_000,
    points=(
        GroupPoint(AT, Phase.STABLE, 7, 2, 3, 1, 50, None, 1.5, True),
        GroupPoint(AT + 1, Phase.EMPTY, 8, 0, 3, 0, 0, 0),
    ),
    partition_points=(PartitionPoint(AT, "t", 1, 40, 90, 50, None, "m-1", None),),
    findings=(FindingSpan(TOLD, "In short.", Severity.WARNING, AT + 5, is_closed=True),),
    rebalances=(
        Rebalance(
            generation=7,
            started_ms=BEFORE - 9,
            ended_ms=BEFORE,
            causes=(RebalanceCause.JOIN, RebalanceCause.TOPICS),
            joined=1,
            left=2,
            moved=3,
            avoidable=4,
            paused_partitions=5,
            pause_ms=6,
            burst_records=8,
        ),
    ),
    changes=(MembersChanged(AT, 7, joined=(MEMBER,), left=(MemberThen("m-0"),)),),
    rewinds=(RewindThen(AT, "t", 1, before=30, after=20, cause=RewindCause.RESET),),
    members=(MEMBER,),
    skips=(
        SkipThen(AT, "t", 1, SkipCause.RETENTION, before=30, after=900, at_least=500, at_most=870, owner="m-1"),
        SkipThen(AT, "t", 2, SkipCause.NEW_PARTITION, before=0, after=900, at_least=0, at_most=900),
    ),
)

PLACE = {"cluster": "k", "day": "2026-11-22", "group_name": "g"}
FINDING = PLACE | {
    "finding_id": "f",
    "kind": "drift",
    "reason": "stale",
    "severity": "warning",
    "from_ms": AT,
    "until_ms": AT + 5,
}
NAMES = {"member_id": "m-1", "instance_id": "i", "client_id": "c", "host": "/h", "library": "unknown"}

ROWS: dict[Table, list[dict[str, Any]]] = {
    FINDINGS: [
        FINDING
        | {
            "event": "changed",
            "is_closed": True,
            "since_ms": BEFORE,
            "partitions": 3,
            "members": 1,
            "topics": "t,u",
            "cause": "new_topic",
            "sentence": "In short.",
        }
    ],
    FINDING_MEMBERS: [FINDING | NAMES],
    REBALANCES: [
        PLACE
        | {
            "day": "2026-11-21",
            "group_kind": "kafka-share",
            "generation": 7,
            "started_ms": BEFORE - 9,
            "ended_ms": BEFORE,
            "causes": "join,topics",
            "joined_members": 1,
            "left_members": 2,
            "moved_partitions": 3,
            "avoidable_moves": 4,
            "paused_partitions": 5,
            "pause_ms": 6,
            "burst_records": 8,
            "libraries": "unknown",
        }
    ],
    MEMBER_CHANGES: [
        PLACE
        | {"at_ms": AT, "change": "left", "generation": 7}
        | {"member_id": "m-0", "instance_id": None, "client_id": "", "host": "", "library": "unknown"},
        PLACE | {"at_ms": AT, "change": "joined", "generation": 7} | NAMES,
    ],
    REWINDS: [
        PLACE
        | {"topic": "t", "partition_id": "1", "at_ms": AT, "before_offset": 30, "after_offset": 20, "cause": "reset"}
    ],
    SKIPS: [
        PLACE
        | {"topic": "t", "partition_id": "1", "at_ms": AT, "cause": "retention", "before_offset": 30}
        | {"after_offset": 900, "at_least": 500, "at_most": 870, "owner": "m-1", "client_id": "c", "host": "/h"},
        PLACE
        | {"topic": "t", "partition_id": "2", "at_ms": AT, "cause": "new_partition", "before_offset": 0}
        | {"after_offset": 900, "at_least": 0, "at_most": 900, "owner": None, "client_id": None, "host": None},
    ],
    GROUP_MINUTES: [
        PLACE
        | {
            "at_ms": AT,
            "group_kind": "kafka-share",
            "state": "stable",
            "generation": 7,
            "members": 2,
            "partitions": 3,
            "orphaned_partitions": 1,
            "lag": 50,
            "lag_ms": None,
            "imbalance_ratio": 1.5,
            "is_rebalancing": True,
        }
    ],
    PARTITION_MINUTES: [
        PLACE
        | {
            "topic": "t",
            "partition_id": "1",
            "at_ms": AT,
            "committed_offset": 40,
            "end_offset": 90,
            "lag": 50,
            "lag_ms": None,
            "owner": "m-1",
            "orphan": None,
        }
    ],
}


def test_a_chronicle_becomes_these_rows():
    assert {table: list(map(to_builtins, rows)) for table, rows in rows_of(CHRONICLE)} == ROWS


def write(folder: Path, table: Table, rows: list[dict[str, Any]]) -> DeltaSqlTables:
    written = pa.Table.from_pylist(rows, arrow_schema(table.columns))
    write_deltalake(str(folder / table.name), written, partition_by=["cluster", "day"])
    return DeltaSqlTables(DeltaReader(str(folder)))


@pytest.mark.parametrize("table", ROWS, ids=lambda table: table.name)
def test_stored_rows_are_read_as_they_were(table: Table, tmp_path: Path):
    tables = write(tmp_path, table, ROWS[table])
    found = tables.group_rows(table, "k", "g", BEFORE, AT)
    assert list(map(to_builtins, found)) == ROWS[table]
    assert found == dict(rows_of(CHRONICLE))[table]


def test_a_value_of_a_later_version_is_named_by_its_table(tmp_path: Path):
    tables = write(tmp_path, GROUP_MINUTES, [ROWS[GROUP_MINUTES][0] | {"state": "dreaming"}])
    with pytest.raises(
        RecordingError,
        match=r"^The table group_minutes of the recording has a value that this groupwatch does not know\.$",
    ):
        tables.group_rows(GROUP_MINUTES, "k", "g", BEFORE, AT)


def test_the_span_that_is_evaluated_is_that_of_all_rows(tmp_path: Path):
    counts = {"cluster": "k", "day": "2026-11-22", "groups": 1, "failed_groups": 0}
    spans = [counts | {"since_ms": since_ms, "until_ms": since_ms + 5} for since_ms in (10, 5)]
    assert write(tmp_path, EVALUATED, spans).evaluated_span("k") == (5, 15)
