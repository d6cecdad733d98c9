"""While nothing happens to a group, its findings open once and keep their beginning.

In virtual time: a job starts, its collector polls a log at random intervals, and nobody reads for a group any more. The
group is judged every second, with the polls that have arrived by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.detection import DetectionSettings, evaluate
from monitor.model import GroupState, PartitionObserved, Phase, TopicObserved, TopicState
from monitor.tracking.topic import fold_topic
from tests.detection.test_steadiness import episodes
from tests.support.builders import catalog, commit, group, member, topic
from tests.support.examples import example_count, is_nightly

SECOND, MINUTE = 1_000, 60_000
START = 1_000 * MINUTE
"""When the first poll may begin."""

COMMITTED = 100
SPACING = 20 * SECOND
"""How exactly is known when the records came: docs/scenarios.md."""


@dataclass(frozen=True)
class Story:
    """When things happen, in ms after START. ``delays`` are from a poll to its arrival."""

    left: int
    came: tuple[int, ...]
    polls: tuple[int, ...]
    delays: tuple[int, ...]

    def end_at(self, at_ms: int) -> int:
        """Where the log ends."""
        return COMMITTED + sum(each <= at_ms for each in self.came)

    @property
    def longest_ms(self) -> int:
        """The longest time between two polls."""
        return max(later - earlier for earlier, later in pairwise(self.polls))


LOST = {
    "no_members": lambda at_ms: group(
        phase=Phase.EMPTY, phase_ms=at_ms, generation_ms=at_ms, offsets=[commit("t", 0, COMMITTED, at_ms)]
    ),
    "not_committing": lambda at_ms: group(
        member("C0", ["t"], {"t": [0]}), generation_ms=0, offsets=[commit("t", 0, COMMITTED, at_ms)]
    ),
    "unsubscribed": lambda at_ms: group(
        member("C0", ["u"], {"u": [0]}), generation_ms=0, offsets=[commit("t", 0, COMMITTED, at_ms)]
    ),
}
"""Groups that have read all by then, and nothing since."""


def random_story(seed: int, interval_s: int, *, minutes: int = 5) -> Story:
    """Records come in a burst or go on, before or after the first poll; now and then a poll takes long."""
    random = Random(seed)
    left = random.randrange(-30 * SECOND, 30 * SECOND)
    first = left + random.randrange(1, 60 * SECOND)
    gap = random.choice([0, SECOND, 7 * SECOND, 30 * SECOND])
    came = [first] * random.choice([1, 20])
    while gap and came[-1] < minutes * MINUTE:
        came.append(came[-1] + round(random.uniform(0.5, 1.5) * gap))
    polls = [random.randrange(10 * SECOND)]
    while polls[-1] < minutes * MINUTE:
        is_slow = random.random() < (0.5 if len(polls) < 5 else 0.1)  # as at a job's start
        slow = random.choice([2, 4, 12]) if is_slow else 1
        polls.append(polls[-1] + round(slow * random.uniform(0.8, 1.2) * interval_s * SECOND))
    delays = [random.randrange(3 * SECOND) for _ in polls]
    return Story(left, tuple(came), tuple(polls), tuple(delays))


def logs_of(story: Story, minutes: int) -> Iterator[tuple[int, TopicState | None]]:
    """What is known of the topic each second, in ms after START."""
    state, polls = None, list(zip(story.polls, story.delays, strict=True))
    for now_ms in range(0, minutes * MINUTE, SECOND):
        while polls and polls[0][0] + polls[0][1] <= now_ms:
            at_ms, _ = polls.pop(0)
            seen = PartitionObserved(partition=0, earliest=0, end=story.end_at(at_ms))
            state = fold_topic("c", "t", state, [TopicObserved("c", "t", START + at_ms, START + at_ms, (seen,), "id")])
        yield now_ms, state


def told_each_second(
    story: Story, state: GroupState, reason: str, patience_s: int, *, minutes: int = 5
) -> list[int | None]:
    """Since when the finding is told to be, in ms after START; None where it is not told."""
    thresholds = DetectionSettings(commit_silence_ms=patience_s * SECOND)
    told: list[int | None] = []
    for now_ms, log in logs_of(story, minutes):
        topics = catalog(*([log] if log else []), topic("u", 1), pass_ms=START)
        found = evaluate(state, topics, START + now_ms, thresholds).findings
        told.append(next((each.since_ms - START for each in found if each.reason == reason), None))
    return told


@example(seed=0, interval_s=10, patience_s=5, reason="no_members")
@example(seed=5610375, interval_s=30, patience_s=5, reason="no_members")  # no poll for six minutes
@example(seed=0, interval_s=1, patience_s=10, reason="unsubscribed")
@example(seed=1, interval_s=15, patience_s=15, reason="not_committing")
@settings(max_examples=example_count(0.4), derandomize=not is_nightly())
@given(
    seed=st.integers(0, 2**32),
    interval_s=st.sampled_from([1, 2, 5, 10, 15, 30]),
    patience_s=st.sampled_from([5, 10, 15, 20, 60]),
    reason=st.sampled_from(sorted(LOST)),
)
def test_a_group_that_leaves_its_records_is_told_once_and_since_the_same_instant(
    seed: int, interval_s: int, patience_s: int, reason: str
) -> None:
    story = random_story(seed, interval_s)
    truth = max(story.left, story.came[0])
    inexact = SPACING + story.longest_ms
    latest = truth + inexact + patience_s * SECOND + 4 * SECOND
    minutes = max(5, latest // MINUTE + 2)
    told = told_each_second(story, LOST[reason](START + story.left), reason, patience_s, minutes=minutes)
    (run,) = episodes(told)
    assert len(set(run)) == 1, "since the same instant"
    assert story.left <= run[0] <= truth + inexact, "not before the last sign of life"
    assert told.index(run[0]) * SECOND <= latest


def test_a_record_that_came_just_after_the_first_poll_is_told_once_although_the_collector_fails_then() -> None:
    """Polls at 0, 5 and 125 s: the second has seen the record, and is not replaced by the third."""
    story = Story(left=-MINUTE, came=(3 * SECOND,), polls=(0, 5_000, 125_000, 135_000, 145_000), delays=(0,) * 5)
    told = told_each_second(story, LOST["no_members"](START - MINUTE), "no_members", 60)
    assert told == [None] * 65 + [5 * SECOND] * 235


@pytest.mark.parametrize("reason", sorted(LOST))
def test_where_the_log_stood_still_before_a_record_came_it_is_known_to_a_poll(reason: str) -> None:
    """It is polled each second, and the group left as the job started. A second record follows at once."""
    polls = tuple(range(0, 300 * SECOND, SECOND))
    story = Story(left=0, came=(60_500, 61_500), polls=polls, delays=(0,) * len(polls))
    told = told_each_second(story, LOST[reason](START), reason, 5)
    assert told == [None] * 66 + [61 * SECOND] * 234


@pytest.mark.parametrize("reason", sorted(LOST))
def test_in_a_busy_log_it_began_with_the_last_sign_and_stays_so_when_the_ends_are_forgotten(reason: str) -> None:
    """A record comes each second; after ten minutes no end is known any more that the group had committed."""
    came, polls = tuple(range(10_500, 900_000, SECOND)), tuple(range(0, 900_000, 10 * SECOND))
    story = Story(left=10_200, came=came, polls=polls, delays=(0,) * len(polls))
    told = told_each_second(story, LOST[reason](START + story.left), reason, 5, minutes=15)
    assert told == [None] * 25 + [10_200] * 875, "the polls at 0 s and at 20 s are kept"


def test_a_log_that_could_not_be_read_for_a_while_changes_no_beginning() -> None:
    """As above; from 200 s to 300 s its topic is not to be seen, and its history is lost."""
    came, polls = tuple(range(10_500, 600_000, SECOND)), tuple(range(0, 600_000, 10 * SECOND))
    seen = tuple(at_ms for at_ms in polls if at_ms >= 300_000)
    state = LOST["no_members"](START + 10_200)
    before = told_each_second(Story(10_200, came, polls, (0,) * len(polls)), state, "no_members", 5)
    after = told_each_second(Story(10_200, came, seen, (0,) * len(seen)), state, "no_members", 5, minutes=10)
    assert set(before) == set(after) == {None, 10_200}
