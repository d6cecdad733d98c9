"""docs/history.md has every column of every table; ``python -m tests.history.test_tables`` writes them there.

A column that means the same in several tables has its row once, and its name in each of them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from monitor.history.tables import TABLES, Table, day_of

PAGE = Path(__file__).parents[2] / "docs" / "history.md"


STORED: Final = {
    "events": (
        "cluster STRING, day STRING, recorded_ms LONG, clock_ms LONG, entity STRING, name STRING, position "
        "LONG, first_ms LONG, last_ms LONG, version INT, events BINARY"
    ),
    "states": (
        "cluster STRING, day STRING, recorded_ms LONG, entity STRING, name STRING, state BINARY, unread_rows INT"
    ),
    "settings": "cluster STRING, day STRING, recorded_ms LONG, settings BINARY, ids STRING",
    "reach": "cluster STRING, day STRING, recorded_ms LONG, until_ms LONG",
    "findings": (
        "cluster STRING, day STRING, group_name STRING, finding_id STRING, kind STRING, reason STRING, "
        "severity STRING, from_ms LONG, until_ms LONG, event STRING, is_closed BOOLEAN, since_ms LONG, "
        "partitions INT, members INT, topics STRING, cause STRING, sentence STRING"
    ),
    "finding_members": (
        "cluster STRING, day STRING, group_name STRING, finding_id STRING, kind STRING, reason STRING, "
        "severity STRING, from_ms LONG, until_ms LONG, member_id STRING, instance_id STRING, client_id "
        "STRING, host STRING, library STRING"
    ),
    "rebalances": (
        "cluster STRING, day STRING, group_name STRING, group_kind STRING, generation LONG, started_ms LONG, "
        "ended_ms LONG, causes STRING, joined_members INT, left_members INT, moved_partitions INT, "
        "avoidable_moves INT, paused_partitions INT, pause_ms LONG, burst_records LONG, libraries STRING"
    ),
    "member_changes": (
        "cluster STRING, day STRING, group_name STRING, at_ms LONG, change STRING, generation LONG, member_id "
        "STRING, instance_id STRING, client_id STRING, host STRING, library STRING"
    ),
    "rewinds": (
        "cluster STRING, day STRING, group_name STRING, topic STRING, partition_id STRING, at_ms LONG, "
        "before_offset LONG, after_offset LONG, cause STRING"
    ),
    "skips": (
        "cluster STRING, day STRING, group_name STRING, topic STRING, partition_id STRING, at_ms LONG, cause STRING, "
        "before_offset LONG, after_offset LONG, at_least LONG, at_most LONG, owner STRING, client_id STRING, "
        "host STRING"
    ),
    "group_minutes": (
        "cluster STRING, day STRING, group_name STRING, at_ms LONG, group_kind STRING, state STRING, "
        "generation LONG, members INT, partitions INT, orphaned_partitions INT, lag LONG, lag_ms LONG, "
        "imbalance_ratio DOUBLE, is_rebalancing BOOLEAN"
    ),
    "partition_minutes": (
        "cluster STRING, day STRING, group_name STRING, topic STRING, partition_id STRING, at_ms LONG, "
        "committed_offset LONG, end_offset LONG, lag LONG, lag_ms LONG, owner STRING, orphan STRING"
    ),
    "evaluated": "cluster STRING, day STRING, since_ms LONG, until_ms LONG, groups INT, failed_groups INT",
}
"""What recordings have on disks: a table may get another column at its end, and no other change."""


SEVERAL: Final = "### Columns of several tables\n\n"
HEAD: Final = "| column | type | meaning |\n|---|---|---|\n"
ROWS: Final = Counter((each.name, each.type, each.meaning) for table in TABLES for each in table.columns)
"""How many tables have a column of this name, type and meaning."""


def row(name: str, kind: str, meaning: str) -> str:
    return f"| `{name}` | {kind} | {meaning} |\n"


def columns_text(table: Table) -> str:
    """The names of the columns that other tables have as well, and a row for each of the others."""
    columns = [(each.name, each.type, each.meaning) for each in table.columns]
    shared = ", ".join(f"`{name}`" for name, kind, meaning in columns if ROWS[name, kind, meaning] > 1)
    own = "".join(row(*each) for each in columns if ROWS[each] == 1)
    return f"Has {shared}" + (f", and:\n\n{HEAD}{own}" if own else ".\n")


def written_page(page: str) -> str:
    """The page with the columns of now: those of several tables, and those of each."""
    before, _, rest = page.partition(SEVERAL)
    parts = f"\n{rest}".split("\n### ")
    written = [HEAD + "".join(row(*each) for each, count in ROWS.items() if count > 1)]
    for table, part in zip(TABLES, parts[1:], strict=True):
        text, _, _ = part.partition("\nHas `")
        written.append(f"{text}\n{columns_text(table)}")
    return before + SEVERAL + "\n### ".join(written)


def shown_columns(text: str) -> dict[str, tuple[str, str]]:
    """The type and meaning of each column that has a row."""
    return {
        name: (kind, meaning) for name, kind, meaning in re.findall(r"^\| `(\w+)` \| (\w+) \| (.*) \|$", text, re.M)
    }


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_page_has_its_columns_in_their_order(table: Table):
    page = PAGE.read_text(encoding="utf-8")
    several = shown_columns(page.partition(SEVERAL)[2].partition("\n### ")[0])
    part = page.partition(f"### `{table.name}`\n")[2].partition("\n### ")[0]
    assert table.row in part.replace("\n", " ")
    (listed,) = re.findall(r"^Has (`.*)$", part, re.MULTILINE)
    shared, own = re.findall(r"`(\w+)`", listed), shown_columns(part)
    names = [each.name for each in table.columns]
    assert shared == [name for name in names if name in shared]
    assert list(own) == [name for name in names if name not in shared]
    found = {name: own.get(name) or several[name] for name in names}
    assert found == {each.name: (each.type, each.meaning) for each in table.columns}


def test_the_stored_columns_stay_as_they_are():
    assert {table.name: table.schema for table in TABLES} == STORED


def test_a_day_ends_at_midnight_in_utc():
    assert (day_of(1_795_305_599_999), day_of(1_795_305_600_000)) == ("2026-11-21", "2026-11-22")


if __name__ == "__main__":
    PAGE.write_text(written_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
