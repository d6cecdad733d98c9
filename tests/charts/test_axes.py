"""Ticks: what a person would write on an axis."""

from __future__ import annotations

import pytest

from monitor.charts.axes import number_ticks, time_ticks
from monitor.charts.values import TimeRange

AT = 1_795_313_640_000  # 2026-11-22 02:14 UTC
HOUR, DAY = 3_600_000, 86_400_000


def labels(span_ms: int) -> list[str]:
    return [f"{tick.label} {tick.date}".rstrip() for tick in time_ticks(TimeRange(AT, AT + span_ms))]


@pytest.mark.parametrize(
    ("span_ms", "expected"),
    [
        (HOUR, ["02:20 Nov 22 UTC", "02:30", "02:40", "02:50", "03:00", "03:10"]),
        (6 * HOUR, ["03:00 Nov 22 UTC", "04:00", "05:00", "06:00", "07:00", "08:00"]),
        (DAY, ["06:00 Nov 22 UTC", "12:00", "18:00", "00:00 Nov 23"]),
        (7 * DAY, ["Nov 23 2026 UTC", "Nov 25", "Nov 27", "Nov 29"]),
        (60_000, ["02:14:00 Nov 22 UTC", "02:14:30", "02:15:00"]),
    ],
    ids=["an hour", "six hours", "a day", "a week", "a minute"],
)
def test_times_are_round_and_the_day_is_named_where_it_begins(span_ms: int, expected: list[str]):
    assert labels(span_ms) == expected


@pytest.mark.parametrize("span_ms", [1, 1_000, 7 * HOUR, 40 * DAY, 5_000 * DAY, 3_000_000 * DAY])
def test_no_range_has_more_ticks_than_a_telephone_has_room_for(span_ms: int):
    assert len(labels(span_ms)) <= 6


@pytest.mark.parametrize("most", [0, 1, 3, 4, 5, 99, 100, 101, 12_345, 2**63 - 1])
def test_numbers_are_round_and_reach_the_largest(most: int):
    ticks = number_ticks(most)
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert len(ticks) <= 5
    assert {str(tick).rstrip("0") for tick in ticks[1:2]} <= {"1", "2", "5"}
