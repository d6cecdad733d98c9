"""The job's clock when the machine's is set: no leap, no way back, and in time the machine's time again."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming_jobs.runtime.clock import SteadyClock

SECOND_NS = 10**9
HOUR_S = 3600
NOON_S = 1_700_000_000


class Machine:
    """A machine's two clocks, as a test sets them; in seconds."""

    def __init__(self) -> None:
        self.wall_s = NOON_S
        self.passed_s = 50
        self.clock = SteadyClock(lambda: self.wall_s * SECOND_NS, lambda: self.passed_s * SECOND_NS)

    def run(self, seconds: int) -> None:
        self.wall_s += seconds
        self.passed_s += seconds

    def told_s(self) -> float:
        """What the clock says, in seconds since noon."""
        return self.clock() / 1000 - NOON_S


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_it_is_the_machines_time_while_nobody_sets_that(machine: Machine):
    for seconds in (0, 1, 10, 3600):
        machine.run(seconds)
    assert machine.told_s() == 3611
    assert machine.clock.behind_ms == 0


@pytest.mark.parametrize(
    ("set_by_s", "after_ten_s", "after_an_hour_s"),
    [pytest.param(HOUR_S, 15, 5400, id="forward"), pytest.param(-HOUR_S, 5, 1800, id="back")],
)
def test_a_step_of_an_hour_is_made_up_for_in_two(machine: Machine, set_by_s, after_ten_s, after_an_hour_s):
    machine.wall_s += set_by_s
    assert machine.told_s() == 0
    assert machine.clock.behind_ms == set_by_s * 1000
    machine.run(10)
    assert machine.told_s() == after_ten_s
    machine.run(HOUR_S - 10)
    assert machine.told_s() == after_an_hour_s
    machine.run(HOUR_S)
    assert machine.told_s() == machine.wall_s - NOON_S
    assert machine.clock.behind_ms == 0


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(-7200, 7200)), max_size=20))
def test_it_never_goes_back_and_never_leaps(moves):
    machine = Machine()
    before = machine.clock()
    for seconds, step in moves:
        machine.run(seconds)
        machine.wall_s += step
        now = machine.clock()
        assert seconds * 1000 / 2 - 1 <= now - before <= seconds * 1500 + 1
        before = now


def test_how_far_it_is_from_the_machines_time_is_known(machine: Machine):
    machine.wall_s += 100
    machine.run(20)
    assert machine.clock() + machine.clock.behind_ms == machine.wall_s * 1000


def test_a_step_is_told_once(machine: Machine, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    machine.wall_s -= HOUR_S
    for _ in range(3):
        machine.run(1)
        machine.clock()
    assert caplog.messages == ["The system clock moved back by about 3599 s; reported ages converge within 7199 s."]
    machine.run(3 * HOUR_S)
    machine.clock()
    machine.wall_s += 9
    machine.clock()
    assert len(caplog.messages) == 1
