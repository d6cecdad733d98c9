"""The six loads: what they promise of pods, and when something happens."""

from __future__ import annotations

import pytest

from tests.autoscaling.loads import HOT_PARTITION, LOADS, PARTITIONS, Fault, weights
from tests.autoscaling.times import CAPACITY

PARTS = [number / 1000 for number in range(1000)]


def pods(total: float) -> float:
    return total / CAPACITY


def test_there_are_the_six_loads_of_the_issue() -> None:
    assert [*LOADS] == ["step", "sine", "hot-key", "poison", "broker-restart", "groupwatch-stopped"]


@pytest.mark.parametrize("name", LOADS)
def test_each_load_fits_into_as_many_pods_as_partitions(name: str) -> None:
    totals = [sum(LOADS[name].rates(part)) for part in PARTS]
    assert all(0.99 <= pods(total) <= PARTITIONS for total in totals)
    assert {len(LOADS[name].rates(part)) for part in PARTS} == {PARTITIONS}


def test_the_step_goes_from_two_pods_to_six_and_back() -> None:
    totals = [sum(LOADS["step"].rates(part)) for part in (0.0, 0.149, 0.15, 0.549, 0.55, 0.99)]
    assert totals == pytest.approx([300, 300, 1_100, 1_100, 300, 300])


def test_the_sine_has_two_periods() -> None:
    totals = [sum(LOADS["sine"].rates(part)) for part in (0.0, 0.25, 0.5, 0.75)]
    assert totals == pytest.approx([200, 1_200, 200, 1_200])


def test_only_the_hot_partition_is_more_than_a_pod_can_read() -> None:
    rates = LOADS["hot-key"].rates(0.3)
    assert [number for number, rate in enumerate(rates) if rate > CAPACITY] == [HOT_PARTITION]
    assert max(LOADS["hot-key"].rates(0.6)) < CAPACITY / 4


def test_a_hot_partition_can_be_read_to_its_end_by_the_end() -> None:
    """280 + 33 records a second come for 0.3 of 600 s, and 200 can be read; then 33 come."""
    left = (280 + 400 / 12 - CAPACITY) * 0.3 * 600
    assert left / (CAPACITY - 400 / 12) < 0.3 * 600


@pytest.mark.parametrize(
    ("name", "faults"),
    [("step", []), ("poison", [Fault.POISON]), ("broker-restart", [Fault.BROKER] * 2)],
)
def test_what_happens_besides_ends_within_the_run(name: str, faults: list[Fault]) -> None:
    incidents = LOADS[name].incidents
    assert [each.fault for each in incidents] == faults
    assert all(0 < each.since < each.until < 1 for each in incidents)


def test_groupwatch_is_away_while_the_step_falls() -> None:
    (incident,) = LOADS["groupwatch-stopped"].incidents
    before, after = (sum(LOADS["groupwatch-stopped"].rates(part)) for part in (incident.since, incident.until))
    assert (incident.fault, before > after) == (Fault.GROUPWATCH, True)


def test_skewed_weights_are_shares() -> None:
    assert sum(weights(12, 1.0)) == pytest.approx(1)
    assert weights(12, 1.0)[0] == pytest.approx(2 * weights(12, 1.0)[1])
