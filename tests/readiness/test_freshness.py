"""Groups that come by readings are judged only while readings come."""

from __future__ import annotations

import pytest

from monitor.readiness.freshness import Freshness


class Readings:
    """How many there were."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, read: int) -> int:
        return self.count


@pytest.mark.parametrize(("interval_ms", "limit_ms"), [(500, 30_000), (10_000, 30_000), (20_000, 60_000)])
def test_three_missed_intervals_and_never_less_than_half_a_minute_make_it_stale(interval_ms: int, limit_ms: int):
    readings = Readings()
    fresh = Freshness(interval_ms, readings)
    assert fresh.is_fresh(0, 1_000)
    assert fresh.is_fresh(0, 1_000 + limit_ms)
    assert fresh.problem is None
    assert not fresh.is_fresh(0, 1_001 + limit_ms)
    assert fresh.problem == f"no poll of its groups has arrived for {limit_ms // 1000} s"
    readings.count += 1
    assert fresh.is_fresh(0, 2_000 + limit_ms)
    assert fresh.problem is None
    assert fresh.is_fresh(0, 2_000 + 2 * limit_ms)


def test_readings_of_another_process_are_told_by_what_the_job_reads_of_them():
    fresh = Freshness(1_000, lambda read: read)
    assert fresh.is_fresh(4, 0)
    assert fresh.is_fresh(5, 30_001)
    assert not fresh.is_fresh(5, 60_002)
