"""Tests wait longer on a busy machine, and not for ever."""

from __future__ import annotations

import pytest

from tests.support.job_process import MOST_CROWDED, Patience, crowding


class Clock:
    """It shows what it was set to."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def lasts_s(seconds: float, *crowded: float) -> int:
    """How many seconds a patience lasts on a machine that is as crowded in each second; then as in the last one."""
    clock, now = Clock(), iter([*crowded, *[crowded[-1]] * 10_000])
    patience = Patience(seconds, lambda: next(now), clock)
    while patience.is_left():
        clock.now_s += 1
    return round(clock.now_s)


def test_a_patience_lasts_its_seconds_where_cores_are_free():
    assert lasts_s(10, 1.0) == 10


def test_it_lasts_three_times_as_long_where_three_processes_want_each_core():
    assert lasts_s(10, 3.0) == pytest.approx(30, abs=1)


def test_of_a_machine_that_is_busy_for_a_while_it_is_as_much_longer():
    """Nine seconds of three processes a core leave seven of ten."""
    assert lasts_s(10, *[3.0] * 10, 1.0) == pytest.approx(9 + 7, abs=1)


@pytest.mark.parametrize(("load", "expected"), [(0.0, 1.0), (2.0, 1.0), (5.0, 2.5), (1_000.0, MOST_CROWDED)])
def test_a_machine_is_as_crowded_as_its_load_for_each_core(
    monkeypatch: pytest.MonkeyPatch, load: float, expected: float
):
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert crowding() == expected
