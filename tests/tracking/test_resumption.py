"""What commits around a rebalance tell of its pause and of the burst after it; the numbers are worked out by hand."""

import pytest

from monitor.model import OffsetCommitted
from tests.tracking.test_moves import chosen, fold, generation, joins, member, owns

STEADY = [(5_000 * n, 10 * n) for n in range(1, 5)]
"""Ten records every five seconds, until 20 s."""


def commits(points, partition=0):
    return [
        OffsetCommitted(group="g", topic="t", partition=partition, offset=offset, committed_ms=at_ms)
        for at_ms, offset in points
    ]


def begun(*points):
    return fold(generation(1, member("a", 0, 1), at=0), generation(2, member("a", 0, 1), at=1), *commits(points))


def cost(state):
    newest = state.history[-1]
    return newest.paused_partitions, newest.pause_ms, newest.burst_records


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(STEADY, [(33_000, 75)], (1, 8_000, 35), id="8 s longer than the usual 5 s"),
        pytest.param(STEADY, [(25_000, 50)], (0, 0, 0), id="as long as usual"),
        pytest.param(STEADY, [(33_000, 40)], (0, 0, 0), id="nothing was waiting: the same offset again"),
        pytest.param(STEADY, [(33_000, 20)], (1, 8_000, 0), id="read again from an earlier offset"),
        pytest.param(STEADY, [(33_000, 75), (60_000, 90)], (1, 8_000, 35), id="the second commit is no resumption"),
        pytest.param(
            [(0, 1), (9_000, 2), (12_000, 3), (20_000, 4)],
            [(30_500, 5)],
            (1, 2_500, 1),
            id="longer than 8 s",
        ),
        pytest.param([(14_000, 1), (17_000, 2), (20_000, 3)], [(60_000, 9)], (0, 0, 0), id="what is usual is unknown"),
        pytest.param(STEADY, [(322_001, 99)], (0, 0, 0), id="it was idle for long after the rebalance"),
        pytest.param([], [(33_000, 75)], (0, 0, 0), id="never committed before"),
    ],
)
def test_the_pause_of_a_partition(before, after, expected):
    """The rebalance ends at 22 s."""
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=begun(*before))
    assert cost(fold(*commits(after), state=state)) == expected


def test_pauses_of_partitions_are_summed_and_of_rebalances_too():
    state = fold(*commits(STEADY, 1), state=begun(*STEADY))
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=state)
    state = fold(*commits([(33_000, 75)]), *commits([(30_000, 70)], 1), state=state)
    assert cost(state) == (2, 8_000 + 5_000, 35 + 30)
    state = fold(generation(4, member("a", 0, 1), at=36_000), *commits([(43_000, 80)]), state=state)
    assert cost(state) == (1, 5_000, 5), "usual are 5 s: one of the gaps before was the other pause"
    assert (state.pause_ms, state.burst_records) == (18_000, 70)


def test_a_commit_before_the_next_rebalance_belongs_to_the_one_before():
    state = fold(generation(3, member("a", 0), member("b", 1), at=22_000), state=begun(*STEADY))
    state = fold(*commits([(33_000, 75)]), generation(4, member("a", 0, 1), at=34_000), state=state)
    assert [rebalance.pause_ms for rebalance in state.history[-2:]] == [8_000, 0]


def test_a_group_that_had_no_members_was_not_paused_by_a_rebalance():
    state = fold(generation(3, at=22_000), generation(4, member("b", 0, 1), at=900_000), state=begun(*STEADY))
    assert fold(*commits([(901_000, 99)]), state=state).pause_ms == 0


def test_partitions_that_were_idle_long_before_a_rebalance_were_not_paused_by_it():
    state = fold(generation(3, member("a", 0), member("b", 1), at=9_000_000), state=begun(*STEADY))
    assert fold(*commits([(9_001_000, 75)]), state=state).pause_ms == 0


def test_offsets_that_are_reset_while_nobody_is_there_are_no_pause():
    state = fold(generation(3, at=22_000), state=begun(*STEADY))
    assert fold(*commits([(40_000, 999_999)]), state=state).pause_ms == 0


def test_a_kip_848_group_pauses_only_where_something_moves():
    state = fold(*joins("a", 1), chosen(1), owns("a", 1, 0, 1), *commits(STEADY), *commits(STEADY, 1))
    state = fold(*joins("b", 22_000), chosen(22_000), owns("a", 22_000, 0), owns("b", 22_000, 1), state=state)
    state = fold(*commits([(25_000, 50)]), *commits([(31_000, 60)], 1), state=state)
    assert cost(state) == (1, 6_000, 20)
