"""Days of a group, put together from rows of the tables made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import convert

from monitor.charts.values import LagChart, TimeRange
from monitor.history.recorded import NotRecordedError
from monitor.history.report.charts import past_chart
from monitor.history.report.findings import findings_then
from monitor.history.sql.days import MOST_POINTS, read_days
from monitor.history.story import missing_sentences, story_of
from monitor.history.tables import DAY_MS, FINDINGS, GROUP_MINUTES, REBALANCES, RowT, Table, TypedTable
from monitor.messages.notification import utc

START = 1_795_305_600_000
MINUTE = 60_000
CHUNK = 10 * MINUTE


class Rows:
    """Tables of one group, evaluated until an instant."""

    def __init__(self, rows: dict[Table, list[dict[str, Any]]], evaluated_ms: int = START + 7 * DAY_MS) -> None:
        self._rows = rows
        self._evaluated_ms = evaluated_ms

    def evaluated_span(self, cluster: str) -> tuple[int, int]:
        return START, self._evaluated_ms

    def group_rows(
        self, table: TypedTable[RowT], cluster: str, group: str, since_ms: int, until_ms: int
    ) -> Sequence[RowT]:
        place = {"cluster": cluster, "day": "2026-11-22", "group_name": group}
        return [convert(place | row, table.rows) for row in self._rows.get(table, [])]


def minute(number: int, lag: int | None) -> dict[str, Any]:
    known = {"group_kind": "kafka-classic", "state": "stable", "generation": 1, "members": 2, "partitions": 4}
    unknown = {"orphaned_partitions": 0, "lag_ms": None, "imbalance_ratio": None, "is_rebalancing": False}
    return {"at_ms": START + number * MINUTE, "lag": lag} | known | unknown


def finding(begin: int, end: int, event: str, **more: Any) -> dict[str, Any]:
    times = {"from_ms": START + begin * MINUTE, "until_ms": START + end * MINUTE, "since_ms": START}
    names = {"cluster": "c", "group_name": "g", "finding_id": "f", "kind": "orphaned", "reason": "grew"}
    told = {"severity": "critical", "partitions": 1, "members": 0, "cause": None, "sentence": f"From {begin}."}
    told["topics"] = "orders"
    return names | told | times | {"event": event, "is_closed": False} | more


def days(rows: Rows, until_days: int = 2) -> Any:
    found = read_days(rows, "c", "g", START, START + until_days * DAY_MS)
    assert found is not None
    return found


def test_the_highest_lag_of_each_part_stays():
    """Of two days, a part of the time has four minutes: the highest of them is told, and the last minute of all."""
    lags = [0] * (2 * 24 * 60)
    lags[100], lags[101], lags[1_000] = 70, 90, 5
    points = days(Rows({GROUP_MINUTES: [minute(number, lag) for number, lag in enumerate(lags)]})).points
    assert len(points) <= MOST_POINTS + 1
    assert [((point.at_ms - START) // MINUTE, point.lag) for point in points if point.lag] == [(101, 90), (1_000, 5)]
    assert points[-1].at_ms == START + (2 * 24 * 60 - 1) * MINUTE


def test_a_finding_goes_on_through_its_rows():
    rows = [
        finding(25, 30, "changed", sentence="Changed."),
        finding(3, 10, "opened"),
        finding(10, 20, "continues"),
        finding(20, 25, "continues"),
        finding(30, 34, "continues", is_closed=True),
        finding(40, 50, "opened"),
    ]
    found = days(Rows({GROUP_MINUTES: [minute(1, 0)], FINDINGS: rows}))
    assert [
        ((s.from_ms - START) // MINUTE, (s.until_ms - START) // MINUTE, s.told.event, s.is_closed, s.was_open)
        for s in found.findings
    ] == [(3, 25, "opened", False, False), (25, 34, "changed", True, False), (40, 50, "opened", False, False)]


def test_what_was_open_before_has_not_opened_then():
    found = days(Rows({GROUP_MINUTES: [minute(1, 0)], FINDINGS: [finding(0, 10, "continues", is_closed=True)]}))
    assert [each.about for each in story_of(found).happened] == ["closed"]


def test_what_opened_before_the_span_or_closed_after_it_is_drawn_and_not_told():
    """The first one opened in the ten minutes in which the span begins, before it; the other closed after it."""
    opened, closed = finding(-5, 3, "opened", is_closed=True), finding(1439, 1445, "opened", is_closed=True)
    found = days(Rows({GROUP_MINUTES: [minute(1, 0)], FINDINGS: [opened, closed | {"finding_id": "h"}]}), until_days=1)
    told = [((each.at_ms - START) // MINUTE, each.about) for each in story_of(found).happened]
    assert told == [(3, "closed"), (1439, "opened")]
    assert [(each.since_ms, each.until_ms) for each in findings_then(found.findings)] == [
        (START, START + 3 * MINUTE),
        (START, START + 1445 * MINUTE),
    ]


def test_a_finding_that_changed_is_one_bar_with_its_widest_sentence_and_opened_with_its_first():
    rows = [
        finding(3, 10, "opened", partitions=1),
        finding(10, 20, "changed", partitions=7, sentence="Seven."),
        finding(20, 25, "changed", partitions=2, sentence="Two.", is_closed=True),
    ]
    found = days(Rows({GROUP_MINUTES: [minute(1, 0)], FINDINGS: rows}))
    [drawn] = past_chart(LagChart(TimeRange(START, START + 2 * DAY_MS)), (), findings_then(found.findings)).spans
    assert (drawn.label, drawn.sentence) == ("Orphaned: grew", "Seven.")
    assert (drawn.from_ms, drawn.until_ms) == (START, START + 25 * MINUTE)
    times = f"it lasted 25 min, from {utc(START)} to {utc(START + 25 * MINUTE)}"
    assert drawn.times == times
    assert [each.sentence for each in story_of(found).happened] == ["From 3.", f"It is over: {times}."]


def test_rebalances_are_told_as_from_the_events():
    row = {
        "group_kind": "kafka-classic",
        "libraries": "java",
        "generation": 7,
        "started_ms": START + 1_000,
        "ended_ms": START + 4_000,
        "causes": "join,leave",
        "joined_members": 1,
        "left_members": 2,
        "moved_partitions": 3,
        "avoidable_moves": 1,
        "paused_partitions": 2,
        "pause_ms": 12_000,
        "burst_records": 70,
    }
    found = days(Rows({GROUP_MINUTES: [minute(1, 0)], REBALANCES: [row]}))
    (told,) = story_of(found).happened
    assert told.sentence == (
        "Rebalance to generation 7: 1 member joined and 2 members gone. It moved 3 partitions (1 avoidable). Commits "
        "of 2 partitions were delayed by 12 partition-seconds (estimate), and the backlog reached 70 records."
    )


def test_it_ends_where_the_tables_end():
    rows = Rows({GROUP_MINUTES: [minute(number, 1) for number in range(30)]}, START + CHUNK)
    assert days(rows).until_ms == START + CHUNK
    assert len(days(rows).points) <= 11
    with pytest.raises(
        NotRecordedError, match=r"^The tables have cluster c from .* to 2026-11-22 00:10:00 UTC so far\.$"
    ):
        read_days(rows, "c", "g", START + DAY_MS, START + 2 * DAY_MS)


def test_a_group_without_rows_was_not_known():
    assert read_days(Rows({}), "c", "g", START, START + DAY_MS) is None


def test_minutes_without_a_row_are_told_as_not_recorded():
    """Two days with rows of the first ten minutes, and from noon of the second day on. A point stands for 4 min."""
    rows = [minute(each, 0) for each in (*range(1, 11), *range(2_160, 2_880))]
    found = days(Rows({GROUP_MINUTES: rows}))
    missing = f"Nothing of the group is recorded from {utc(START + 10 * MINUTE)} to {utc(START + 2_163 * MINUTE)}."
    assert missing_sentences(story_of(found)) == [missing]
