"""The queries of docs/history.md: DuckDB and Spark give the same answers, which are worked out by hand here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from monitor.history.tables import (
    DAY_MS,
    FINDING_MEMBERS,
    FINDINGS,
    GROUP_MINUTES,
    PARTITION_MINUTES,
    REBALANCES,
    REWINDS,
    Table,
    day_of,
)
from streaming_jobs.recording.arrow import arrow_schema
from tests.support.delta_spark import DeltaSpark

PAGE = Path(__file__).parents[2] / "docs" / "history.md"
MINUTE = 60_000
TODAY: Final = time.time_ns() // 1_000_000 // DAY_MS * DAY_MS
"""The beginning of this day: the queries ask for the last seven."""

QUESTION: Final = re.compile(r"### ([^\n]+\?)\n.*?```sql\n(.*?)```", re.DOTALL)
QUERIES: Final[dict[str, str]] = dict(QUESTION.findall(PAGE.read_text(encoding="utf-8")))

Row = dict[str, Any]


def finding(group: str, reason: str, minutes: tuple[float, float], kind: str = "orphaned", **more: Any) -> Row:
    begins, ends = (TODAY + int(minute * MINUTE) for minute in minutes)
    return {
        "group_name": group,
        "day": day_of(begins),
        "finding_id": f"{group}/{kind}/{reason}",
        "kind": kind,
        "reason": reason,
        "severity": "critical",
        "from_ms": begins,
        "until_ms": ends,
        "event": "opened",
        "since_ms": begins,
        "partitions": 1,
        **more,
    }


def rebalance(group: str, minute: float, library: str, cause: str, **more: Any) -> Row:
    ended_ms = TODAY + int(minute * MINUTE)
    known = {"group_name": group, "day": day_of(ended_ms), "ended_ms": ended_ms, "started_ms": ended_ms - 3_000}
    costs = dict.fromkeys(("moved_partitions", "avoidable_moves", "pause_ms", "burst_records"), 0)
    return known | {"libraries": library, "causes": cause} | costs | more


def minute_of(group: str, minute: int, lag: int | None, lag_ms: int | None) -> Row:
    at_ms = TODAY + minute * MINUTE
    return {"group_name": group, "day": day_of(at_ms), "at_ms": at_ms, "lag": lag, "lag_ms": lag_ms}


def partition(number: int, minute: int, end: int) -> Row:
    place = {"group_name": "g", "topic": "orders", "partition_id": str(number), "end_offset": end}
    return place | {"day": day_of(TODAY), "at_ms": TODAY + minute * MINUTE}


LONG_AGO = -10 * 24 * 60.0

ROWS: dict[Table, list[Row]] = {
    FINDINGS: [
        finding("a", "grew", (1, 10), partitions=2),
        finding("a", "grew", (10, 11.5), partitions=4, event="changed", since_ms=TODAY + MINUTE),
        finding("b", "grew", (5, 30)),
        finding("b", "grew", (LONG_AGO, LONG_AGO + 60), partitions=99),
        finding("c", "silent", (1, 2), "dead_member"),
        finding("c", "silent", (20, 22), "dead_member"),
        finding("c", "silent", (22, 24), "dead_member", event="continues", since_ms=TODAY + 20 * MINUTE),
        finding("d", "silent", (1, 9), "dead_member"),
    ],
    FINDING_MEMBERS: [
        finding("c", "silent", (1, 2), "dead_member", client_id="c", host="/h", library="sarama", member_id="c-1"),
        finding("c", "silent", (20, 22), "dead_member", client_id="c", host="/h", library="sarama", member_id="c-2"),
        finding("c", "silent", (22, 24), "dead_member", client_id="c", host="/h", library="sarama", member_id="c-2"),
        finding("d", "silent", (1, 9), "dead_member", client_id="d", host="/h", library="sarama", member_id="d-1"),
    ],
    REBALANCES: [
        rebalance("a", 61, "sarama", "join", moved_partitions=3, avoidable_moves=1, pause_ms=4_500, burst_records=70),
        rebalance("a", 62, "sarama", "leave", pause_ms=500),
        rebalance("b", 61, "java", "join"),
        rebalance("c", 300, "java", "join"),
        rebalance("b", LONG_AGO, "java", "leave", pause_ms=10**9),
    ],
    REWINDS: [
        {
            "group_name": group,
            "topic": topic,
            "day": day_of(TODAY),
            "before_offset": 10,
            "after_offset": to,
        }
        for group, topic, to in (("a", "orders", 7), ("b", "orders", 9), ("a", "refunds", 0))
    ],
    GROUP_MINUTES: [
        minute_of("a", 1, 5, 61_000),
        minute_of("a", 2, 9, 120_000),
        minute_of("a", 3, 0, 0),
        minute_of("b", 1, 10**6, 60_000),
        minute_of("c", 1, None, None),
        minute_of("c", 2, 7, 90_000),
    ],
    PARTITION_MINUTES: [
        *(partition(number, minute, end) for number in range(4) for minute, end in ((1, 100), (2, 200))),
        *(partition(4, minute, end) for minute, end in ((1, 0), (2, 1_100))),
    ],
}
"""What is not named is null; the cluster is "k"."""

DAY = day_of(TODAY)
ANSWERS: dict[str, list[tuple[object, ...]]] = {
    "Which groups had partitions without an owner for the longest time?": [("k", "b", 25.0), ("k", "a", 24.0)],
    "What did rebalances cost each group, day by day?": [
        (DAY, "k", "a", 2, 6.0, 5.0, 3, 1, 70),
        (DAY, "k", "b", 1, 3.0, 0.0, 0, 0, 0),
        (DAY, "k", "c", 1, 3.0, 0.0, 0, 0, 0),
    ],
    "The groups of which client library rebalance most?": [("sarama", 1, 2, 2.0), ("java", 2, 2, 1.0)],
    "Why do groups rebalance?": [("join", 3, 1, 4.5), ("leave", 1, 0, 0.5)],
    "At which hours of the day (UTC) do groups rebalance?": [(1, 3, 2), (5, 1, 1)],
    "Which members hang again and again?": [("k", "c", "c", "/h", "sarama", 2, 5.0)],
    "Which groups were behind, for how long, and how far?": [("k", "a", 2, 9, 2.0), ("k", "c", 1, 7, 1.5)],
    "Which topics were delivered twice, and how much of them?": [("k", "refunds", 1, 10, 1), ("k", "orders", 2, 4, 2)],
    "Which findings come most often, and how long do they last?": [
        ("dead_member", "silent", "critical", 3, 2, 13.0),
        ("orphaned", "grew", "critical", 2, 2, 35.5),
    ],
    "Which partitions get far more records than others of their topic?": [("k", "orders", "4", 1_100, 3.7)],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording with these rows, in the columns and types that a job writes."""
    folder = tmp_path_factory.mktemp("history")
    for table, rows in ROWS.items():
        schema = arrow_schema(table.columns)
        found = [{name: value for name, value in row.items() if name in schema.names} for row in rows]
        written = pa.Table.from_pylist([{"cluster": "k"} | row for row in found], schema)
        write_deltalake(str(folder / table.name), written, partition_by=["cluster", "day"])
    return folder


def plain(rows: Any) -> list[tuple[object, ...]]:
    """Numbers as they compare: engines differ in the types of theirs."""
    return [tuple(float(each) if isinstance(each, Decimal) else each for each in row) for row in rows]


def asked_of_duckdb(folder: Path) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    connection = duckdb.connect()
    for table in ROWS:
        connection.register(table.name, DeltaTable(str(folder / table.name)).to_pyarrow_dataset())
    for question, query in QUERIES.items():
        yield question, plain(connection.sql(query).fetchall())


def asked_of_spark(delta_spark: DeltaSpark, folder: Path) -> Mapping[str, list[tuple[object, ...]]]:
    tables = [table.name for table in ROWS]
    answers = delta_spark.run("tests.history.ask_spark", str(folder), tables, QUERIES).value
    return {question: plain(map(tuple, rows)) for question, rows in answers.items()}


def test_the_page_has_ten_questions():
    assert list(QUERIES) == list(ANSWERS)


def test_duckdb_answers_as_worked_out_by_hand(folder: Path):
    assert dict(asked_of_duckdb(folder)) == ANSWERS


@pytest.mark.spark
@pytest.mark.long  # a Spark with Delta Lake; the queries are the same
def test_spark_answers_the_same(delta_spark: DeltaSpark, folder: Path):
    assert asked_of_spark(delta_spark, folder) == ANSWERS
