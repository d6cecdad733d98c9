"""What partitions bring: rates and records by hand."""

import pytest

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import CommittedOffset, EndOffsetAt, PartitionState, PartitionVerdict, TopicPartition, TopicState
from monitor.scaling.loads import Load, partition_loads, sum_loads
from tests.support.builders import CREATED, catalog

START = 1_000_000
PLACE = TopicPartition("t", 0)


def partition(*points: tuple[int, int]) -> PartitionState:
    """Ends by seconds since the start."""
    ends = tuple([EndOffsetAt(START + 1000 * at_s, offset) for at_s, offset in points])
    return PartitionState(0, CREATED, earliest=0, end=ends[-1].offset if ends else None, ends=ends)


def load_of(state: PartitionState, lag: int = 0, long_ms: int = 600_000) -> Load | None:
    """Of a partition that was polled just now; None: it is not known."""
    now_ms = state.ends[-1].at_ms if state.ends else START
    topics = Topics(catalog(TopicState(cluster="c", topic="t", pass_ms=now_ms, partitions=(state,))))
    found = partition_loads([PartitionVerdict("t", 0, lag=lag)], topics, {}, now_ms, long_ms)
    return None if found is None else found[PLACE]


@pytest.mark.parametrize(
    ("points", "per_s"),
    [
        ((), None),
        (((0, 0), (40, 4_000)), None),  # less than a minute is known
        (((0, 0), (60, 6_000)), 100.0),
        (((0, 0), (60, 600), (80, 800), (100, 1_000)), 10.0),
        (((0, 0), (60, 600), (80, 2_600), (100, 4_600)), 100.0),  # twice 20 s with 100 a second
        (((0, 0), (60, 600), (80, 2_600), (100, 2_800)), 28.0),  # a burst: 2,800 in 100 s
        (((0, 0), (60, 600), (80, 800), (100, 2_800)), 28.0),  # or the beginning of more
        (((0, 0), (98, 980), (99, 2_000), (100, 3_000)), 30.0),  # polls a second apart show no rate
        (((0, 0), (60, 600), (80, 500), (100, 400)), 4.0),  # an end that goes back
        (((0, 0), (80, 8_000), (120, 8_000), (200, 8_000)), 0.0),  # two minutes count
    ],
)
def test_what_comes_in(points, per_s):
    found = load_of(partition(*points))
    assert (None if found is None else found.incoming_per_s) == per_s


def test_more_that_comes_in_counts_at_once_where_it_waits():
    """100 a second in the last 20 s, of which 500 wait, the records of 5 s; before, 10 a second."""
    state = partition((0, 0), (60, 600), (80, 800), (100, 2_800))
    found = [load_of(state, lag) for lag in (499, 500)]
    assert [each.incoming_per_s for each in found if each] == [28.0, 100.0]


OUTAGE = ((0, 0), (20, 200), (40, 400), (60, 600), (140, 700))
"""10 a second; for 80 s the brokers are away, and producers write then what they kept."""


@pytest.mark.parametrize(
    ("later", "per_s"),
    [
        (((150, 1_500),), 10.0),  # 800 in 10 s, of which 10 a second came in
        (((170, 1_700),), 10.0),
        (((150, 1_500), (175, 4_000)), 100.0),  # it has gone on for longer
    ],
)
def test_what_producers_kept_while_brokers_were_away_is_no_higher_load(later, per_s):
    found = load_of(partition(*OUTAGE, *later), lag=900)
    assert found is not None
    assert found.incoming_per_s == per_s


@pytest.mark.parametrize(
    "points",
    [
        ((0, 500), (60, 500), (140, 600), (150, 1_400)),  # nothing came before
        ((0, 0), (40, 400), (80, 800), (120, 1_200), (210, 1_210), (220, 2_100)),  # polls 40 s apart
    ],
)
def test_a_gap_is_one_beside_the_usual_distance_of_polls(points):
    found = load_of(partition(*points), lag=900)
    assert found is not None
    assert found.incoming_per_s == pytest.approx(10.0, rel=0.15)


def test_regular_polls_leave_no_gap():
    """They are 40 s apart, and 100 a second have come since the newest but one."""
    found = load_of(partition((0, 0), (40, 400), (80, 800), (120, 1_200), (135, 2_700)), lag=900)
    assert found is not None
    assert found.incoming_per_s == 100.0


def loads(lag: int | None, commit_s: int = 100, now_ms: int = START + 100_000, **row):
    state = partition((0, 0), (60, 600), (80, 800), (100, 1_000))
    topics = Topics(catalog(TopicState(cluster="c", topic="t", pass_ms=START + 100_000, partitions=(state,))))
    commit = CommittedOffset("t", 0, 900, START + 1000 * commit_s)
    return partition_loads([PartitionVerdict("t", 0, lag=lag, **row)], topics, {PLACE: commit}, now_ms)


def test_what_came_after_the_newest_poll_waits_too():
    """The commit is 15 s newer than the end: 10 a second came since."""
    assert loads(100, commit_s=115) == {PLACE: Load(250.0, 10.0, 10.0, 10.0)}
    assert loads(100, commit_s=90) == {PLACE: Load(100.0, 10.0, 10.0, 10.0)}
    assert loads(0, commit_s=115) == {PLACE: Load(0.0, 10.0, 10.0, 10.0)}


@pytest.mark.parametrize(
    ("points", "per_s"),
    [
        (((0, 0), (480, 4_800), (600, 16_800)), 28.0),  # 100 a second for two minutes, 10 before
        (((0, 0), (480, 48_000), (600, 49_200)), 10.0),  # what was before is over
        (((0, 0), (100, 1_000)), 10.0),  # all that is known
    ],
)
def test_what_is_lasting_has_come_in_for_long_and_still_does(points, per_s):
    found = load_of(partition(*points))
    assert found is not None
    assert found.lasting_per_s == per_s


def test_a_load_that_moves_from_one_partition_to_another_is_lasting():
    """Each has 100 a second for a part of the time, and a member with both has 100 all the time."""
    first, then = Load(0.0, 100.0, 100.0, 20.0), Load(0.0, 0.0, 0.0, 80.0)
    assert (first.lasting_per_s, then.lasting_per_s) == (20.0, 0.0)
    assert sum_loads([first, then]).lasting_per_s == 100.0


def test_a_load_that_is_not_known_is_none():
    assert loads(None, committed=900) is None
    assert loads(None) == {PLACE: Load(0.0, 10.0, 10.0, 10.0)}, "no commit, and no records to read"
    assert partition_loads([PartitionVerdict("gone", 0, lag=1)], Topics(catalog()), {}, START) is None


def test_where_polls_have_stopped_the_load_is_unknown():
    """They were 20 s apart: a minute without one is late."""
    assert loads(100, now_ms=START + 160_000) is not None
    assert loads(100, now_ms=START + 160_001) is None
