"""Where a commit and an end do not fit together: what is known of the lag then, second by second."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import LagStatus, ListedOffset, OffsetCommitted, OffsetsListed, PartitionObserved, TopicObserved
from monitor.tracking.group import fold_group
from monitor.tracking.topic import fold_topic
from tests.support.builders import catalog

S = 1_000


def poll(at_s, end, topic_id="T"):
    return TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=at_s * S,
        observed_ms=at_s * S,
        partitions=(PartitionObserved(partition=0, earliest=0, end=end),),
        topic_id=topic_id,
    )


def committed(at_s, offset):
    return OffsetCommitted(
        group="g", topic="t", partition=0, offset=offset, committed_ms=int(at_s * S), leader_epoch=-1
    )


def verdict_at(now_s, polls, commits, **settings):
    """By what had been polled and committed until that second."""
    topic = fold_topic("c", "t", None, [each for each in polls if each.observed_ms <= now_s * S])
    events = [each for each in commits if getattr(each, "committed_ms", 0) <= now_s * S]
    group = fold_group("c", "g", None, events)
    return evaluate(group, catalog(topic), now_s * S, DetectionSettings(**settings))


def lag_at(now_s, polls, commits):
    return verdict_at(now_s, polls, commits).lag


def findings_at(now_s, polls, commits, **settings):
    found = verdict_at(now_s, polls, commits, **settings).findings
    return [(each.kind.value, each.reason, each.since_ms // S) for each in found]


POLLS = [poll(0, 15_900), poll(10, 15_980), poll(20, 16_056), poll(30, 3_480), poll(40, 3_590), poll(50, 3_700)]
"""Polled every 10 s. At 22 s the log is truncated to 3,406."""

RESET = [committed(9, 15_972), committed(15, 16_010), committed(21, 16_056), committed(24, 3_406), committed(25, 3_430)]
RESET += [committed(29, 3_475), committed(39, 3_580), committed(49, 3_690)]
"""Of a consumer that has read everything, and is reset to the new end within two seconds."""


def end_at(now_s, polls, commits):
    (row,) = verdict_at(now_s, polls, commits).partitions
    return row.committed, row.end, row.lag


def test_an_end_is_at_least_the_commit_that_is_newer_than_its_poll():
    """A consumer at work commits between two polls. Only a commit that does not fit to the log stays beyond the end."""
    steady = [poll(0, 100), poll(10, 679), poll(20, 700)]
    assert end_at(11, steady, [committed(9, 670), committed(11, 681)]) == (681, 681, 0)
    assert end_at(20, steady, [committed(9, 670), committed(11, 681)]) == (681, 700, 19)
    assert end_at(40, POLLS, [committed(5, 15_900), committed(18, 16_032)]) == (16_032, 3_590, None)


def test_a_truncation_gives_a_consumer_that_was_reset_no_false_lag():
    """Until the next poll the old end would give 12,650; then the lower end has to be confirmed by one more."""
    lags = {second: lag_at(second, POLLS, RESET) for second in range(20, 60)}
    assert {second for second, lag in lags.items() if lag is None} == set(range(24, 40))
    assert {second: lag for second, lag in lags.items() if lag} == dict.fromkeys(range(40, 49), 10) | dict.fromkeys(
        range(50, 60), 10
    ) | {20: 46}
    assert [findings_at(second, POLLS, RESET) for second in range(20, 60)] == [[]] * 40


def test_commits_that_stay_beyond_the_end_of_a_truncated_log_are_a_finding_once_that_is_confirmed():
    static = [committed(5, 15_900), committed(18, 16_032)]
    assert [lag_at(second, POLLS, static) for second in (20, 29, 30, 39)] == [24, 24, None, None]
    assert [findings_at(second, POLLS, static) for second in (29, 30, 39)] == [[], [], []]
    verdict = verdict_at(40, POLLS, static)
    assert (verdict.lag, verdict.lag_ms, verdict.status, verdict.partitions[0].status) == (None, None, None, None)
    assert findings_at(40, POLLS, static) == [("lag", "beyond_end", 30)]
    assert findings_at(55, POLLS, static) == [("lag", "beyond_end", 30)]


def test_a_commit_from_shortly_before_the_truncation_has_no_lag_of_0_until_it_is_certainly_beyond_the_end():
    """The poll at 40 confirms the truncation. That at 50 is 29 s younger than the commit, that at 60 39 s."""
    polls, late = [*POLLS, poll(60, 3_800)], [committed(21, 16_032)]
    assert [lag_at(second, polls, late) for second in (29, 30, 40, 50, 59, 60)] == [24, None, None, None, None, None]
    assert [findings_at(second, polls, late) for second in (40, 59, 60)] == [[], [], [("lag", "beyond_end", 30)]]


def test_the_finding_about_a_commit_beyond_the_end_closes_when_the_log_has_grown_past_it():
    polls = [*POLLS, poll(60, 16_031), poll(70, 16_040)]
    assert findings_at(60, polls, [committed(18, 16_032)]) == [("lag", "beyond_end", 30)]
    assert lag_at(70, polls, [committed(18, 16_032)]) == 8


def growing(*at_s):
    return [poll(second, 300 + second) for second in at_s]


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        pytest.param([committed(5, 5_000)], {34: [], 40: [5]}, id="once, by hand"),
        pytest.param([committed(at_s, 5_000) for at_s in range(5, 90, 5)], {34: [], 40: [5], 89: [5]}, id="every 5 s"),
        pytest.param([committed(at_s, 5_000) for at_s in range(5, 99)], {34: [], 40: [5], 98: [5]}, id="every second"),
        pytest.param([committed(at_s, 5_000 + at_s) for at_s in range(5, 99)], {89: [], 90: [59]}, id="and moving"),
        pytest.param([committed(5, 250), committed(32, 5_000)], {59: [], 69: [], 70: [32]}, id="after a right one"),
        pytest.param(
            [committed(at_s, 301 + at_s) for at_s in range(89)], {at: [] for at in range(1, 90)}, id="one ahead"
        ),
    ],
)
def test_a_commit_beyond_the_end_is_one_by_a_poll_that_is_later_than_the_clocks_may_differ(commits, expected):
    """30 s and later. Of commits that follow one another beyond the end, the first that is remembered counts."""
    polls = growing(*range(0, 100, 10))
    told = {
        at_s: [since for _, reason, since in findings_at(at_s, polls, commits) if reason == "beyond_end"]
        for at_s in expected
    }
    assert told == expected


def beyond(polls, *commits, now_s=100):
    (found,) = [each for each in verdict_at(now_s, polls, commits).findings if each.reason == "beyond_end"]
    return found


def test_a_commit_beyond_the_end_has_begun_when_it_was_made_however_often_it_is_repeated():
    """For twenty minutes every 5 s: the first commit left the history of commits long ago."""
    polls, commits = growing(*range(0, 1_200, 10)), [committed(at_s, 5_000) for at_s in range(7, 1_200, 5)]
    since = {beyond(polls, *commits, now_s=now_s).since_ms for now_s in range(40, 1_200, 5)}
    assert since == {7 * S}


def test_the_lag_of_a_topic_and_of_its_group_is_unknown_while_a_commit_is_beyond_the_end():
    """10 records wait in partition 1 of the topic, and 20 in another topic, whose own lag is known."""
    both = [
        TopicObserved("c", "t", at_s * S, at_s * S, tuple(PartitionObserved(number, 0, 300) for number in (0, 1)), "T")
        for at_s in range(0, 60, 10)
    ]
    other = [replace(poll(at_s, 300), topic="u") for at_s in range(0, 60, 10)]
    offsets = {("t", 0): 5_000, ("t", 1): 290, ("u", 0): 280}
    commits = [OffsetCommitted("g", topic, number, offset, 5 * S) for (topic, number), offset in offsets.items()]
    topics = catalog(fold_topic("c", "t", None, both), fold_topic("c", "u", None, other))
    verdict = evaluate(fold_group("c", "g", None, commits), topics, 55 * S, DetectionSettings())
    assert [(row.topic, row.partition, row.lag) for row in verdict.partitions] == [
        ("t", 0, None),
        ("t", 1, 10),
        ("u", 0, 20),
    ]
    assert [(topic.topic, topic.lag, topic.lag_ms) for topic in verdict.topics] == [("t", None, None), ("u", 20, None)]
    assert (verdict.lag, verdict.lag_ms, verdict.stable_lag, verdict.lost) == (None, None, None, None)
    known = evaluate(fold_group("c", "g", None, commits[1:]), topics, 55 * S, DetectionSettings())
    assert (known.lag, [topic.lag for topic in known.topics]) == (30, [10, 20])


@pytest.mark.parametrize(
    ("polls", "commits", "words"),
    [
        pytest.param(growing(*range(0, 100, 10)), [committed(5, 5_000)], "No poll has found an end that far", id="not"),
        pytest.param(POLLS, [committed(5, 15_900)], "truncated: before, it ended at 16,056", id="truncated"),
        pytest.param(
            [*POLLS, poll(60, 3_800)],
            [committed(5, 20_000)],
            "No poll has found an end that far",
            id="truncated, and never so far",
        ),
        pytest.param(
            [poll(1, 20_000), *(poll(at_s, 170 + at_s, topic_id="U") for at_s in range(10, 100, 10))],
            [committed(5, 19_000), committed(15, 20_000)],
            "The topic was recreated, and the offset may be that of the old one",
            id="recreated, and the old position was committed again",
        ),
    ],
)
def test_the_finding_tells_what_the_polls_show_of_how_an_offset_came_beyond_the_end(polls, commits, words):
    assert words in beyond(polls, *commits).sentence


def test_a_lag_is_unknown_from_a_step_back_until_the_next_poll():
    polls, commits = growing(0, 10, 20), [committed(5, 300), committed(12, 310), committed(14, 20), committed(16, 40)]
    assert [lag_at(second, polls, commits) for second in (13, 14, 16, 19, 20)] == [0, None, None, None, 320 - 40]


def test_the_status_of_a_partition_that_went_back_is_told_before_its_lag_is_known():
    polls, commits = growing(0, 10, 20), [committed(5, 300), committed(12, 310), committed(14, 20)]
    verdict = verdict_at(15, polls, commits)
    assert (verdict.partitions[0].status, verdict.status) == (LagStatus.REWIND, LagStatus.ERR)


def test_who_goes_back_again_and_again_has_a_lag_all_the_same():
    """Two consumers commit by turns. From the third step back on, they say nothing about the log."""
    polls = growing(0, 10, 20, 30)
    commits = [committed(at_s, 300 if at_s % 2 else 100) for at_s in range(1, 40)]
    assert [lag_at(second, polls, commits) for second in (2, 5, 6, 10, 11, 38)] == [None, None, 200, 210, 10, 230]


def test_a_limit_that_was_exceeded_stays_so_while_the_lag_is_unknown_and_no_new_one_is():
    polls = growing(0, 10, 20)
    behind = [committed(5, 100), committed(14, 20)]
    assert [findings_at(at_s, polls, behind, lag_records=150) for at_s in (13, 14, 20)] == [[("lag", "behind", 0)]] * 3
    ahead = [committed(5, 300), committed(14, 20)]
    assert findings_at(14, polls, ahead, lag_records=150) == []
    assert findings_at(20, polls, ahead, lag_records=150) == [("lag", "behind", 0)]


def test_an_offset_that_the_broker_gave_instead_of_the_log_is_as_old_as_its_response():
    listed = OffsetsListed(cluster="c", group="g", asked_ms=60 * S, offsets=(ListedOffset("t", 0, 5_000),))
    polls = growing(*range(0, 100, 10))
    commits = [committed(5, 300), listed]
    assert [[reason for _, reason, _ in findings_at(at_s, polls, commits)] for at_s in (80, 90)] == [[], ["beyond_end"]]


@given(
    rises=st.lists(st.integers(0, 30), min_size=120, max_size=120),
    begins=st.lists(st.integers(0, 119), min_size=1, max_size=12, unique=True),
    commits=st.lists(st.tuples(st.integers(0, 119), st.integers(0, 60)), min_size=1, max_size=20),
    ahead_s=st.integers(-30, 30),
)
def test_no_commit_of_a_log_that_only_grows_is_beyond_its_end(rises, begins, commits, ahead_s):
    """Whatever is committed up to the end, polled and seen when, with clocks that differ by up to 30 s."""
    ends = [sum(rises[: second + 1]) for second in range(120)]
    polls = [poll(second, ends[second]) for second in sorted(begins)]
    made = [committed(second + ahead_s, max(0, ends[second] - back)) for second, back in sorted(commits)]
    topic, group = fold_topic("c", "t", None, polls), fold_group("c", "g", None, made)
    verdict = evaluate(group, catalog(topic), 200 * S, DetectionSettings())
    assert [each for each in verdict.findings if each.reason == "beyond_end"] == []
    assert topic.partitions[0].truncation is None
