"""What comes into a partition and a topic."""

import pytest

from monitor.detection.lag.inflow import Inflow, partition_inflow, topic_inflow
from monitor.model import EndOffsetAt, PartitionState

MINUTE_MS = 60_000


def partition(*ends: tuple[int, int], number: int = 0) -> PartitionState:
    """Ends as (minutes, offset)."""
    points = tuple(EndOffsetAt(at_ms=minute * MINUTE_MS, offset=offset) for minute, offset in ends)
    return PartitionState(partition=number, first_seen_ms=0, end=ends[-1][1] if ends else None, ends=points)


@pytest.mark.parametrize(
    ("ends", "per_second"),
    [
        pytest.param([(0, 0), (1, 600)], 10.0, id="600 records in a minute"),
        pytest.param([(0, 0), (5, 3_000), (6, 6_000), (10, 6_000)], 10.0, id="the last five minutes count"),
        pytest.param([(0, 7), (5, 7)], 0.0, id="an idle partition"),
        pytest.param([(0, 7), (8, 7), (10, 1_207)], 4.0, id="nothing came until two minutes ago: 1,200 in five"),
        pytest.param([(0, 7), (1, 7), (2, 607)], 5.0, id="less than five minutes are known"),
        pytest.param([(0, 900), (5, 100)], 0.0, id="an end that went back"),
        pytest.param([(0, 5)], None, id="one observation"),
        pytest.param([], None, id="never observed"),
    ],
)
def test_the_rate_of_a_partition(ends, per_second):
    assert partition_inflow(partition(*ends)) == per_second


def test_less_than_a_minute_shows_no_rate():
    points = (EndOffsetAt(at_ms=0, offset=0), EndOffsetAt(at_ms=59_999, offset=600))
    assert partition_inflow(PartitionState(partition=0, first_seen_ms=0, end=600, ends=points)) is None


def test_the_skew_is_the_largest_rate_over_the_mean():
    """30, 10, 10 and 10 records a second: the mean is 15, and 30 / 15 is 2."""
    rates = [partition((0, 0), (1, 60 * rate)) for rate in (30, 10, 10, 10)]
    assert topic_inflow(rates) == Inflow(per_second=60.0, skew=2.0)


@pytest.mark.parametrize(
    ("partitions", "inflow"),
    [
        pytest.param(
            [partition((0, 0), (1, 60)), partition((0, 0))],
            Inflow(None, None, 60_000, 0, 1),
            id="a part of a sum is no sum",
        ),
        pytest.param(
            [partition((60, 0), (90, 60)), partition((0, 0)), partition((89, 0))],
            Inflow(None, None, 90 * MINUTE_MS, 0, 1),
            id="one that is not polled, and a new one, beside one that is polled",
        ),
        pytest.param([partition((0, 5), (1, 5))], Inflow(per_second=0.0), id="nothing comes in"),
        pytest.param([], Inflow(), id="no partitions"),
        pytest.param([partition((0, 0), (1, 60))], Inflow(per_second=1.0, skew=1.0), id="one partition is even"),
    ],
)
def test_what_is_not_known_has_no_number(partitions, inflow):
    assert topic_inflow(partitions) == inflow
