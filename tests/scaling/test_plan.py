"""Whether a number of members is enough, by hand: a target of 60 s, a headroom of 0.8, and 200 records a second."""

from __future__ import annotations

import pytest

from monitor.model import TopicPartition
from monitor.model.scaling import ScaleTarget
from monitor.scaling.capacity import Capacity
from monitor.scaling.loads import Load
from monitor.scaling.plan import PlanRow, Situation, plan_row
from monitor.scaling.shares import Share, Shares


def row(*loads: Load, target: ScaleTarget | None = None) -> PlanRow:
    """One member with all partitions."""
    places = [TopicPartition("t", number) for number in range(len(loads))]
    situation = Situation(target or ScaleTarget(), dict(zip(places, loads, strict=True)), Capacity(200.0, 10))
    return plan_row(1, Shares((Share("h", tuple(places)),)), situation)


@pytest.mark.parametrize(
    ("waiting", "incoming", "is_in_time"),
    [
        pytest.param(12_000, 0, True, id="60 s of work wait"),
        pytest.param(12_001, 0, False, id="more"),
        pytest.param(12_000, 200, True, id="as much comes in as it reads"),
        pytest.param(0, 219, True, id="less than a tenth more, for ten minutes, is 57 s of work"),
        pytest.param(0, 221, False, id="more than a tenth"),
        pytest.param(6_000, 209, True, id="30 s of work, and 27 s in ten minutes"),
        pytest.param(6_100, 210, False, id="more than that together"),
    ],
)
def test_records_that_wait_and_those_that_come_in_count_together(waiting: int, incoming: int, is_in_time: bool):
    assert row(Load(waiting, incoming, 0.0, 0.0)).is_in_time is is_in_time


def test_partitions_of_a_member_are_read_in_turn():
    """4,000 of 6,000 wait in one: in turn 40 s, and no longer, as the other is at its end after 20 s."""
    assert row(Load(4_000), Load(2_000)).wait_ms == 30_000
    assert row(Load(4_000), Load(4_000)).wait_ms == 40_000
    assert row(Load(6_000), Load(0.0, 100.0)).wait_ms == 60_000
    assert row(Load(6_000), Load(0.0, 50.0)).wait_ms == 40_000
    assert row(Load(6_000)).wait_ms == 30_000


@pytest.mark.parametrize(
    ("loads", "has_headroom"),
    [
        pytest.param([(80.0, 80.0), (80.0, 80.0)], True, id="160 of 200"),
        pytest.param([(81.0, 81.0), (80.0, 80.0)], False, id="more"),
        pytest.param([(190.0, 10.0), (0.0, 10.0)], True, id="a short peak"),
        pytest.param([(10.0, 190.0), (0.0, 10.0)], True, id="that is over"),
        pytest.param([(190.0, 10.0), (0.0, 180.0)], False, id="from one partition to the other"),
        pytest.param([(199.0, 199.0)], True, id="one partition cannot be shared"),
    ],
)
def test_the_headroom_is_for_what_lasts(loads: list[tuple[float, float]], has_headroom: bool):
    found = row(*[Load(1.0, recent, recent, long) for recent, long in loads])
    assert (found.has_headroom, found.is_enough) == (has_headroom, has_headroom)


def test_a_member_that_never_catches_up_has_no_drain_time():
    assert row(Load(100.0, 200.0)).drain_ms is None
    assert row(Load(0.0, 201.0)).drain_ms is None
    assert row(Load(0.0, 200.0)).drain_ms == 0
    assert row(Load(1_000.0, 100.0)).drain_ms == 10_000
