"""Hours of what goes up and down around a threshold: a finding opens seldom, and its beginning stays where it is.

The states are those that tracking makes of what happens; every half minute a verdict is asked for.
"""

from bisect import bisect_left, bisect_right
from itertools import groupby, pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.detection import DetectionSettings, evaluate
from monitor.model import (
    CommittedOffset,
    PartitionObserved,
    Phase,
    Rebalance,
    RebalanceCause,
    TopicObserved,
)
from monitor.model.commit_history import with_commit
from monitor.tracking.rebalances.history import record_rebalance
from monitor.tracking.topic import fold_topic
from tests.support.builders import catalog, commit, group, member, range_by_hand, topic
from tests.support.examples import example_count

MINUTE, HOUR = 60_000, 3_600_000
EVERY = MINUTE // 2
WINDOW, ENOUGH = 600_000, 20


def episodes(told):
    """The runs of verdicts that have the finding, each as the list of its beginnings; ``told`` has None without it."""
    runs = []
    for before, since_ms in pairwise([None, *told]):
        if since_ms is not None and before is None:
            runs.append([])
        if since_ms is not None:
            runs[-1].append(since_ms)
    return runs


# --- too many rebalances ----------------------------------------------------------------------------------------------


def storm_at(ends, now_ms):
    """Whether the window held enough at any instant of the last ten minutes. It gets fuller only when one ends."""

    def held(instant_ms):
        return bisect_right(ends, instant_ms) - bisect_right(ends, instant_ms - WINDOW)

    lately = ends[bisect_left(ends, now_ms - WINDOW) : bisect_right(ends, now_ms)]
    return max(held(instant_ms) for instant_ms in (now_ms - WINDOW, *lately)) >= ENOUGH


@example(seed=1, mean_s=40, cooperative=False)
@example(seed=1, mean_s=30, cooperative=True)
@settings(max_examples=example_count(0.2))
@given(seed=st.integers(0, 2**32), mean_s=st.integers(20, 60), cooperative=st.booleans())
def test_a_group_that_rebalances_about_as_often_as_a_storm_has_few_storms_and_long_ones(seed, mean_s, cooperative):
    """For four hours, at random: 720 times or less, which is remembered. In a cooperative group each is a pair."""
    random, ends = Random(seed), [HOUR]
    while ends[-1] < 5 * HOUR:
        ends.append(ends[-1] + max(1_000, round(1000 * random.expovariate(1 / mean_s))))
    state = group(*range_by_hand({"C0": ["a"]}, {"a": 1}), offsets=[commit("a", 0, 100)], generation_ms=0)
    topics, told, waiting = catalog(topic("a", 1, seen_ms=0)), [], list(ends)
    for now_ms in range(HOUR, 5 * HOUR, EVERY):
        while waiting[0] <= now_ms:
            end_ms = waiting.pop(0)
            state = record_rebalance(state, Rebalance(1, end_ms, end_ms, (RebalanceCause.LEAVE,)))
            if cooperative:
                state = record_rebalance(state, Rebalance(1, end_ms, end_ms, (RebalanceCause.HANDOVER,)))
        found = evaluate(state, topics, now_ms, DetectionSettings()).findings
        told.append(next((each.since_ms for each in found if each.reason == "storm"), None))
    assert [since_ms is not None for since_ms in told] == [
        storm_at(ends, now_ms) for now_ms in range(HOUR, 5 * HOUR, EVERY)
    ]
    begun = [since_ms for since_ms, _ in groupby(told) if since_ms is not None]
    assert all(later - earlier > WINDOW for earlier, later in pairwise(begun)), "a beginning stays, for ten minutes"


# --- nearly all that a log keeps waits --------------------------------------------------------------------------------


def read_for_six_hours(seed, *, pace, share, commit_s=5):
    """Since when a group was told to be close to loss, and when the log had been cut last, every half minute.

    100 records a second are written to a log that keeps six hours and is cut every ten minutes. ``share`` of that wait
    at first, and the group reads ``pace`` times as fast as is written; both by fits and starts, a third up and down.
    """
    random, told, state, history, cuts = Random(seed), [], None, b"", [1000]
    end, earliest, read = 2_160_000.0, 1, 2_160_000 * (1 - share)
    written_swing = read_swing = 0.0
    for second in range(1, 6 * 3600):
        written_swing = 0.98 * written_swing + random.gauss(0, 0.06)
        read_swing = 0.98 * read_swing + random.gauss(0, 0.06)
        end += 100 * max(0.0, 1 + written_swing)
        read = min(end, read + 100 * pace * max(0.0, 1 + read_swing))
        if second % 600 == 0:
            earliest = max(earliest, int(end) - 2_160_000)
        if second % commit_s == 0:
            history = with_commit(history, second * 1000, int(read))
            committed = CommittedOffset("t", 0, int(read), second * 1000, -1, history)
        if second % 10 == 0:
            seen = PartitionObserved(partition=0, earliest=earliest, end=int(end))
            event = TopicObserved("c", "t", second * 1000, second * 1000, (seen,), "id")
            if state is None or state.partitions[0].earliest != earliest:
                cuts.append(second * 1000)
            state = fold_topic("c", "t", state, [event])
        if second % 30 == 0 and second > 900:
            reader = group(member("C0", ("t",), {"t": [0]}), offsets=[committed], generation_ms=0)
            found = evaluate(reader, catalog(state), second * 1000, DetectionSettings()).findings
            told.append((next((each.since_ms for each in found if each.reason == "close_to_loss"), None), cuts[-1]))
    return told


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("pace", "share", "commit_s", "most"),
    [
        pytest.param(1, 0.92, 5, 4, id="keeps up"),
        pytest.param(1, 0.9, 60, 5, id="keeps up, at the threshold"),
        pytest.param(1.05, 0.92, 5, 3, id="gains by a twentieth"),
        pytest.param(0.95, 0.88, 5, 3, id="falls behind"),
        pytest.param(0, 0.85, 5, 1, id="has stopped"),
    ],
)
def test_a_group_that_is_about_as_far_behind_as_is_dangerous_is_told_seldom(seed, pace, share, commit_s, most):
    """Where lag and pace of the moment decided, it was twenty to eighty times."""
    told = read_for_six_hours(seed, pace=pace, share=share, commit_s=commit_s)
    assert len(episodes([since_ms for since_ms, _ in told])) <= most
    assert {since_ms == cut_ms for since_ms, cut_ms in told if since_ms is not None} <= {True}, "since the last cut"


# --- nobody reads what waits ------------------------------------------------------------------------------------------


@settings(max_examples=example_count(0.2))
@given(
    seed=st.integers(0, 2**32),
    idle=st.integers(11 * MINUTE, 20 * HOUR),
    longest_s=st.sampled_from([15, 60, 300]),
)
def test_a_group_that_left_before_the_records_came_is_unattended_since_they_did(seed, idle, longest_s):
    """It left an hour after it had read all; for two hours records come, never longer than five minutes apart."""
    random = Random(seed)
    first_ms = came_ms = HOUR + idle
    gone = group(phase=Phase.EMPTY, phase_ms=HOUR, generation_ms=HOUR, offsets=[commit("t", 0, 10, HOUR // 2)])
    state, end, told = None, 10, []
    looks = (*range(0, first_ms, 5 * MINUTE), *range(first_ms, first_ms + 2 * HOUR, 10_000))
    for now_ms in looks:
        while came_ms <= now_ms:
            end, came_ms = end + 1, came_ms + round(1000 * random.uniform(1, longest_s))
        seen = TopicObserved("c", "t", now_ms, now_ms, (PartitionObserved(partition=0, end=end),), "id")
        state = fold_topic("c", "t", state, [seen])
        if now_ms % 30_000 == first_ms % 30_000:
            found = evaluate(gone, catalog(state), now_ms, DetectionSettings()).findings
            told.append(next((each.since_ms for each in found if each.reason == "no_members"), None))
    (run,) = episodes(told)
    assert set(run) == {first_ms}
    assert set(told[:-239]) == {None}
