"""Instants as people type them."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from monitor.history.instants import InstantError, read_instant, read_span

NOW = 1_795_320_000_000
TWO_FOURTEEN = 1_795_313_640_000


@pytest.mark.parametrize(
    ("typed", "at_ms"),
    [
        ("2026-11-22 02:14", TWO_FOURTEEN),
        ("2026-11-22T02:14Z", TWO_FOURTEEN),
        ("2026-11-22T02:14:00.000+00:00", TWO_FOURTEEN),
        ("2026-11-22 03:14+01:00", TWO_FOURTEEN),
        (" 2026-11-22 02:14 ", TWO_FOURTEEN),
        ("1795313640000", TWO_FOURTEEN),
        ("now", NOW),
        ("-90s", NOW - 90_000),
        ("-15m", NOW - 900_000),
        ("-3h", NOW - 10_800_000),
        ("-2d", NOW - 172_800_000),
        ("-999999d", 0),
        ("-1w", NOW - 604_800_000),
        ("02:14", TWO_FOURTEEN),
        ("2:14:00", TWO_FOURTEEN),
        ("today 02:14", TWO_FOURTEEN),
        ("yesterday 02:14", TWO_FOURTEEN - 86_400_000),
        ("23:14", TWO_FOURTEEN - 10_800_000),
    ],
)
def test_an_instant_is_read(typed: str, at_ms: int):
    assert read_instant(typed, NOW) == at_ms


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "soon",
        "3h",
        "-3",
        "-3y",
        "25:14",
        "2:1",
        "tomorrow 02:14",
        "yesterday",
        "2026-13-01",
        "2026-11-22 25:00",
        "-1.5h",
        "179531364",
    ],
)
def test_what_is_none_is_told_with_what_would_be_one(typed: str):
    with pytest.raises(InstantError, match=r" is no instant: give 2026-11-22 02:14 \(UTC unless"):
        read_instant(typed, NOW)


def test_the_future_is_not_known_yet():
    with pytest.raises(InstantError, match="is in the future"):
        read_instant("2026-11-22 04:14", NOW)


def test_a_time_of_day_is_that_of_the_zone():
    """NOW is 04:00 UTC on 22 November; New York is at 23:00 of the day before, and changed its clocks on the first."""
    new_york = ZoneInfo("America/New_York")
    assert read_instant("21:14", NOW, new_york) == TWO_FOURTEEN
    assert read_instant("2026-11-21 21:14", NOW, new_york) == TWO_FOURTEEN
    assert read_instant("yesterday 21:14", NOW, new_york) == TWO_FOURTEEN - 86_400_000
    assert read_instant("2026-11-22 02:14Z", NOW, new_york) == TWO_FOURTEEN
    assert read_span("21:14", "-1h", NOW, new_york) == (TWO_FOURTEEN, NOW - 3_600_000)
    with pytest.raises(InstantError, match="is in the future"):
        read_instant("today 23:30", NOW, new_york)


def test_a_span_has_a_beginning_before_its_end():
    assert read_span("-2h", "-1h", NOW) == (NOW - 7_200_000, NOW - 3_600_000)
    with pytest.raises(InstantError, match="-1h is not before -2h"):
        read_span("-1h", "-2h", NOW)
