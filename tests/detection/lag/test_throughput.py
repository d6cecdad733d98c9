"""What stands beside what: commits and ends, in seconds and records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.lag.throughput import (
    burrow_window,
    catch_up_ms,
    lag_status,
    last_catch_up_ms,
    pace_of,
    paced_rows,
    progress_of,
    total_pace,
)
from monitor.detection.moment import Moment
from monitor.detection.thresholds.burrow import BurrowSettings, status_of
from monitor.model import (
    CommitPoint,
    CommittedOffset,
    EndOffsetAt,
    LagStatus,
    Pace,
    PartitionState,
    PartitionVerdict,
    TopicState,
)
from monitor.model.commit_history import extend
from tests.support.builders import catalog, group, member

MINUTE_BY_MINUTE = [(60 * minute, 1000 + 600 * minute) for minute in range(11)]
"""The end of a log to which 10 records a second are written, for ten minutes."""


def committed(*points, counts=None, number=0):
    """Commits of (second, offset); ``counts`` is the offset that the broker's answer makes count."""
    history = extend(b"", [CommitPoint(round(second * 1000), offset) for second, offset in points])
    last_s, last = points[-1]
    return CommittedOffset("t", number, last if counts is None else counts, round(last_s * 1000), -1, history)


def ending(*points, number=0, **more):
    ends = tuple(EndOffsetAt(at_ms=second * 1000, offset=offset) for second, offset in points)
    end = ends[-1].offset if ends else None
    return PartitionState(partition=number, first_seen_ms=0, earliest=0, end=end, ends=ends, **more)


def window(commit, partition, lag=1):
    return burrow_window(progress_of(commit, partition), lag)


@pytest.mark.parametrize(
    ("commits", "ends", "lags"),
    [
        pytest.param([(5, 90), (25, 95)], [(0, 100), (20, 120)], (10, 25), id="against the end before it"),
        pytest.param([(20, 90)], [(0, 100), (20, 120)], (30,), id="an end of the same moment counts"),
        pytest.param([(20, 130)], [(0, 100), (20, 120)], (0,), id="a commit beyond the end that was seen: no lag"),
        pytest.param([(1, 5), (5, 90), (25, 95)], [(3, 100), (20, 120)], (None, 10, 25), id="older than every end"),
        pytest.param([(1, 5), (2, 6)], [(3, 100)], (None, None), id="all older than every end"),
        pytest.param([(1, 5)], [], (None,), id="no end seen"),
        pytest.param([(25, 90), (5, 91), (26, 92)], [(0, 100), (20, 120)], (10, 9, 28), id="a time that goes back"),
    ],
)
def test_the_lag_at_a_commit(commits, ends, lags):
    assert window(committed(*commits), ending(*ends)).lags == lags


def test_a_window_has_the_newest_ten_of_commits_and_ends():
    """Of commits a second apart only the newest ten stay beside the last of a minute, which is second 59."""
    seen = window(
        committed(*[(second, second) for second in range(75)]), ending(*[(20 * n, n) for n in range(30)]), lag=7
    )
    assert seen.offsets == tuple(range(65, 75))
    assert seen.times_ms == tuple(range(65_000, 75_000, 1000))
    assert seen.ends == tuple(range(20, 30))  # 400 to 580 s
    assert seen.lag == 7


def test_what_the_broker_says_stands_last():
    assert window(committed((1, 5), (2, 9), counts=7), ending((3, 9))).offsets == (5, 7)


def test_without_a_history_the_commit_stands_alone():
    alone = CommittedOffset(topic="t", partition=0, offset=5, committed_ms=1000)
    assert (window(alone, ending((0, 9))).offsets, window(alone, ending((0, 9))).lags) == ((5,), (4,))


def test_commits_before_the_topic_was_created_anew_are_no_rewind():
    commits = committed((1, 5000), (2, 6000), (11, 3), (12, 4))
    assert window(commits, ending((10, 3), former_ms=5000)).offsets == (3, 4)
    anew, same = (window(commits, ending((10, 3), (12, 9), former_ms=former_ms), lag=5) for former_ms in (5000, 0))
    assert status_of(anew, 12_000, BurrowSettings()) is LagStatus.OK
    assert status_of(same, 12_000, BurrowSettings()) is LagStatus.REWIND


@pytest.mark.parametrize(
    ("commits", "ends", "pace"),
    [
        pytest.param(
            [(0, 0), (600, 12_000)], MINUTE_BY_MINUTE, Pace(20, 10), id="of the last five minutes, between two points"
        ),
        pytest.param(
            [(0, 0), (300, 9_000), (600, 12_000)], MINUTE_BY_MINUTE, Pace(10, 10), id="what came before is left out"
        ),
        pytest.param([(0, 0)], MINUTE_BY_MINUTE, Pace(0, 10), id="has stopped"),
        pytest.param(
            [(500, 0), (600, 500)], MINUTE_BY_MINUTE, Pace(5, 10), id="only since its first commit: both of 100 s"
        ),
        pytest.param([(550, 0), (600, 500)], MINUTE_BY_MINUTE, None, id="less than a minute"),
        pytest.param([(0, 0), (100, 900)], [(70, 7), (100, 10)], None, id="ends of less than a minute"),
        pytest.param([(0, 0), (100, 900)], [], None, id="no ends"),
        pytest.param(
            [(0, 0), (300, 300), (400, 400), (450, 100), (600, 550)],
            MINUTE_BY_MINUTE,
            Pace((100 + 450) / 300, 10),
            id="after a rewind it is read again",
        ),
        pytest.param(
            [(0, 0), (300, 0), (900, 6_000)], MINUTE_BY_MINUTE, Pace(10, 10), id="a commit later than the last end"
        ),
        pytest.param([(0, 0), (400, 0)], [(0, 50), (400, 50)], Pace(0, 0), id="an idle topic"),
        pytest.param([(600, 7_000)], [(0, 1_000), (600, 7_000)], None, id="one commit, just now"),
    ],
)
def test_the_pace(commits, ends, pace):
    assert pace_of(progress_of(committed(*commits), ending(*ends))) == pace


def row(lag, pace):
    return PartitionVerdict("t", 0, lag=lag, pace=pace)


ONE = Pace(1, 2)


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        pytest.param([], [], id="nothing waits"),
        pytest.param([row(5, ONE), row(9, ONE)], [0, 1], id="all are known"),
        pytest.param([row(5, None), row(90, ONE), row(5, None)], [1], id="nine tenths wait where it is"),
        pytest.param([row(5, None), row(89, ONE), row(5, None)], [], id="less do, of 99"),
        pytest.param([row(1, None), row(1, None)], [], id="none is known"),
    ],
)
def test_the_pace_of_a_group_is_that_of_nearly_all_that_waits(waiting, expected):
    assert list(paced_rows(waiting)) == [waiting[index] for index in expected]


def test_a_partition_of_which_the_pace_is_not_known_yet_hides_nothing_of_the_group():
    """460 records wait at 6 a second as below, and 40 where the first commit was made 5 s ago; or 60, which is more."""
    one, two, other = late("a", 0, 100), late("a", 1, 300), late("b", 0, 60)

    def judged(more):
        fresh = ending((0, 0), (600, 1_000))
        topics = catalog(
            TopicState(cluster="c", topic="a", pass_ms=0, partitions=(one[0], two[0])),
            TopicState(cluster="c", topic="b", pass_ms=0, partitions=(other[0],)),
            TopicState(cluster="c", topic="f", pass_ms=0, partitions=(fresh,)),
        )
        first = CommittedOffset("f", 0, 1_000 - more, 600_000)
        members = member("C0", ["a", "b", "f"], {"a": [0, 1], "b": [0], "f": [0]})
        state = group(members, offsets=[one[1], two[1], other[1], first], generation_ms=0)
        return evaluate(state, topics, 605_000, DetectionSettings())

    verdict = judged(40)
    assert (verdict.lag, verdict.paced_lag, verdict.pace, verdict.catch_up_ms) == (500, 460, Pace(36, 30), 150_000)
    verdict = judged(60)
    assert (verdict.lag, verdict.paced_lag, verdict.pace, verdict.catch_up_ms) == (520, None, None, None)


def test_a_sum_of_paces_is_known_if_each_is():
    assert total_pace([Pace(1.5, 2), Pace(3, 0.5)]) == Pace(4.5, 2.5)
    assert total_pace([Pace(1, 2), None]) is None
    assert total_pace([]) is None


@pytest.mark.parametrize(
    ("lag", "pace", "expected_ms"),
    [
        (1000, Pace(15, 10), 200_000),
        (1000, Pace(10, 10), None),
        (1000, Pace(9, 10), None),
        (1000, None, None),
        (0, None, 0),
        (None, Pace(15, 10), None),
    ],
)
def test_how_long_until_nothing_waits(lag, pace, expected_ms):
    assert catch_up_ms(lag, pace) == expected_ms


@pytest.mark.parametrize(
    ("paced", "expected_ms"),
    [
        pytest.param([row(1_000, Pace(10.1, 10))], 10_000_000, id="one"),
        pytest.param([row(1_000, Pace(10.1, 10)), row(10, Pace(120, 10))], 10_000_000, id="a fast one helps none"),
        pytest.param([row(10, Pace(120, 10)), row(5, Pace(0, 0))], None, id="one is never read"),
        pytest.param([], None, id="no pace is known"),
    ],
)
def test_a_group_catches_up_when_its_slowest_partition_does(paced, expected_ms):
    """By the sum of lags over the sum of paces it would be 9 s in the second case."""
    assert last_catch_up_ms(paced) == expected_ms


times = st.integers(-1000, 10_000)
offsets = st.integers(0, 2**40)


@given(
    st.lists(st.tuples(times, offsets), min_size=1, max_size=40),
    st.lists(st.tuples(times, offsets), max_size=8),
    st.integers(0, 10_000_000),
    st.none() | offsets,
)
def test_whatever_the_history_lags_and_paces_are_never_negative(points, ends, former_ms, counts):
    """Times and ends that go back included."""
    progress = progress_of(committed(*points, counts=counts), ending(*ends, former_ms=former_ms))
    seen = burrow_window(progress, 1)
    assert len(seen.offsets) == len(seen.times_ms) == len(seen.lags) <= 10
    assert all(lag is None or lag >= 0 for lag in seen.lags)
    pace = pace_of(progress)
    assert pace is None or min(pace.consumed_per_s, pace.produced_per_s) >= 0


def late(topic, number, lag):
    """A partition that is read at 12 records a second and written at 10, with so much left."""
    ends = [(60 * minute, 10_000 + 600 * minute) for minute in range(11)]
    at = [(60 * minute, 16_000 - lag - 720 * (10 - minute)) for minute in range(11)]
    return ending(*ends, number=number), CommittedOffset(
        topic, number, 16_000 - lag, 600_000, -1, committed(*at).history
    )


def test_the_verdict_has_the_status_the_pace_and_the_topics():
    one, two, read, other = late("a", 0, 100), late("a", 1, 300), late("a", 2, 0), late("b", 0, 60)
    topics = catalog(
        TopicState(cluster="c", topic="a", pass_ms=0, partitions=(one[0], two[0], read[0], ending((600, 0), number=3))),
        TopicState(cluster="c", topic="b", pass_ms=0, partitions=(other[0],)),
    )
    state = group(
        member("C0", ["a", "b"], {"a": [0, 1, 2, 3], "b": [0]}),
        offsets=[one[1], two[1], read[1], other[1]],
        generation_ms=0,
    )
    verdict = evaluate(state, topics, 605_000, DetectionSettings())
    assert [(line.topic, line.lag, line.partitions) for line in verdict.topics] == [("a", 400, 4), ("b", 60, 1)]
    assert [line.lag_ms for line in verdict.topics] == [30_000 + 5_000, 6_000 + 5_000]
    assert [row.status for row in verdict.partitions] == [LagStatus.OK, LagStatus.OK, LagStatus.OK, None, LagStatus.OK]
    assert [row.pace for row in verdict.partitions] == [Pace(12, 10), Pace(12, 10), None, None, Pace(12, 10)]
    assert (verdict.status, verdict.pace) == (LagStatus.OK, Pace(36, 30))
    assert verdict.catch_up_ms == 150_000  # the 300 records of one partition at 2 a second


def test_a_group_that_stopped_is_told_so_once_an_idle_topic_has_stood_long_enough():
    """It is silent for longer than its window of nine minutes; of ends that stand, only the first and last are kept."""
    growing, commit = late("a", 0, 100)
    state = group(member("C0", ["a"], {"a": [0]}), offsets=[commit], generation_ms=0)

    def status(*later_s, **settings):
        seen = ending(*[(end.at_ms // 1000, end.offset) for end in growing.ends], *[(s, 16_000) for s in later_s])
        topics = catalog(TopicState(cluster="c", topic="a", pass_ms=0, partitions=(seen,)))
        return evaluate(state, topics, 1_800_000, DetectionSettings(burrow=BurrowSettings(**settings))).status

    assert status(700) is LagStatus.OK, "at 540 s the log ended before its commit, and that is less than 200 s ago"
    assert status(800) is LagStatus.ERR
    assert status(1_800) is LagStatus.ERR
    assert status(1_800, allowed_lag=100) is LagStatus.OK


@pytest.mark.parametrize(("ended", "status"), [(10, LagStatus.STALL), (11, LagStatus.STOP)])
def test_a_log_that_lately_ended_at_the_commit_was_read(ended, status):
    """Two commits of offset 10, the newest long ago; in the first of the latest ends nothing waited, or one record."""
    progress = progress_of(committed((0, 10), (5, 10)), ending((100, ended), (110, 12)))
    assert lag_status(progress, 2, Moment(200_000), BurrowSettings()) is status


def test_where_no_lag_is_known_there_is_no_status():
    verdict = evaluate(group(member("C0", ["a"], {"a": [0]})), catalog(), 1000, DetectionSettings())
    assert (verdict.status, verdict.lost, verdict.kept_waiting, verdict.catch_up_ms) == (None,) * 4


RISES = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3)), max_size=25)


def summed(steps):
    place, points = (0, 0), []
    for step in steps:
        place = (place[0] + step[0], place[1] + step[1])
        points.append(place)
    return points


@given(
    commits=st.lists(st.tuples(st.integers(-20, 100), st.integers(-1, 3)), min_size=1, max_size=25).map(summed),
    ends=RISES.map(summed),
    lag=st.integers(0, 3),
    later_s=st.integers(0, 400),
    settings=st.builds(
        BurrowSettings, allowed_lag=st.integers(0, 2), minimum_complete=st.sampled_from([0.0, 0.5, 1.0])
    ),
)
def test_the_quick_status_is_that_of_the_window(commits, ends, lag, later_s, settings):
    progress = progress_of(committed(*commits), ending(*ends))
    now_ms = 1000 * (commits[-1][0] + later_s)
    assert lag_status(progress, lag, Moment(now_ms), settings) is status_of(
        burrow_window(progress, lag), now_ms, settings
    )
