"""The lag of groups with partitions that they never committed. Times are in seconds."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.model import LagStatus, Phase, Sharing, Source, TopicLag, TopicState, UnreadCommit
from monitor.model.kinds import GroupKind
from tests.detection.lag.test_lag import partition
from tests.support.builders import catalog, commit, group, member

NOW_S = 1_000


def topic_of(name, *partitions):
    numbered = [replace(each, partition=number) for number, each in enumerate(partitions)]
    return TopicState(cluster="c", topic=name, pass_ms=0, partitions=tuple(numbered))


def judged(state, *topics, now_s=NOW_S, watched_s=0):
    return evaluate(state, catalog(*topics, watched_ms=watched_s * 1000), now_s * 1000, DetectionSettings())


def owner(offsets, count, **more):
    own = member("C0", ["t"], {"t": range(count)})
    return group(own, offsets=offsets, **({"generation_ms": 900_000} | more))


def counts(verdict):
    return verdict.lag, verdict.lag_at_least, verdict.uncommitted_partitions, verdict.uncommitted_records


KEPT = partition((0, 1000), (990, 1000), earliest=400)
"""A thousand records, of which retention has left six hundred."""


def test_one_committed_partition_of_ten_is_no_lag_of_the_group():
    """Nine partitions without a commit have 600 records each: the lag is 0 at least, and 5,400 at most."""
    verdict = judged(owner([commit("t", 0, 1000, 950_000)], 10), topic_of("t", *[KEPT] * 10))
    assert counts(verdict) == (None, 0, 9, 5_400)
    assert verdict.topics == (TopicLag("t", None, None, 10, 0, 9, 5_400),)
    assert (verdict.lag_ms, verdict.lag_since_ms, verdict.status, verdict.catch_up_ms) == (None,) * 4
    assert [row.lag for row in verdict.partitions] == [0] + [None] * 9


def test_what_is_known_is_the_lower_bound_by_topic_and_group():
    state = group(
        member("C0", ["t", "u"], {"t": [0, 1], "u": [0]}),
        offsets=[commit("t", 0, 930, 985_000), commit("u", 0, 995, 985_000)],
        generation_ms=900_000,
    )
    lately = partition((0, 400), (980, 920), (990, 1000), earliest=400)
    verdict = judged(state, topic_of("t", lately, KEPT), topic_of("u", lately))
    assert counts(verdict) == (None, 75, 1, 600)
    assert [(line.topic, line.lag, line.lag_at_least) for line in verdict.topics] == [("t", None, 70), ("u", 5, None)]
    assert (verdict.lost, verdict.stable_lag, verdict.pace, verdict.status) == (0, None, None, None)
    assert [row.status for row in verdict.partitions] == [LagStatus.OK, None, LagStatus.OK]


def test_a_topic_with_a_commit_beyond_its_end_has_no_bound_and_still_its_uncommitted_partitions():
    """The end of t-0 was seen 40 s after the commit of 5,000. Nothing is known of the sum then."""
    state = group(
        member("C0", ["t", "u"], {"t": [0, 1], "u": [0, 1]}),
        offsets=[commit("t", 0, 5_000, 950_000), commit("u", 0, 990, 950_000)],
        generation_ms=900_000,
    )
    verdict = judged(state, topic_of("t", KEPT, KEPT), topic_of("u", KEPT, KEPT))
    assert counts(verdict) == (None, None, 2, 1_200)
    assert verdict.topics == (TopicLag("t", None, None, 2, None, 1, 600), TopicLag("u", None, None, 2, 10, 1, 600))


def test_a_group_that_commits_nothing_has_an_unknown_lag_of_at_least_nothing():
    assert counts(judged(owner([], 2), topic_of("t", KEPT, KEPT))) == (None, 0, 2, 1_200)


def test_a_known_lag_has_no_lower_bound_beside_it():
    verdict = judged(owner([commit("t", 0, 1000, 950_000)], 1), topic_of("t", KEPT))
    assert counts(verdict) == (0, None, 0, 0)
    assert verdict.status is LagStatus.OK


@pytest.mark.parametrize(
    "known",
    [
        pytest.param(partition((0, 0), (990, 0)), id="nobody has written there"),
        pytest.param(partition((0, 1000), (990, 1000), earliest=1000), id="retention has removed all"),
        pytest.param(partition(), id="the end is not known"),
    ],
)
def test_a_partition_without_records_hides_no_lag(known):
    verdict = judged(owner([commit("t", 0, 990, 950_000)], 2), topic_of("t", KEPT, known))
    assert counts(verdict) == (10, None, 0, 0)


@pytest.mark.parametrize(
    ("known", "hides_from_s"),
    [
        pytest.param(partition((0, 0), (970, 0), (980, 5), (990, 9)), 990, id="without records until 970"),
        pytest.param(
            partition((0, 500), (970, 500), (980, 505), earliest=500), 990, id="emptied by retention, and written again"
        ),
        pytest.param(replace(partition((975, 7), (990, 9)), first_seen_ms=975_000), 995, id="new at 975"),
    ],
)
def test_the_first_commit_of_a_new_partition_is_awaited_for_twenty_seconds(known, hides_from_s):
    state = owner([commit("t", 0, 990, 950_000)], 2)
    topics = topic_of("t", KEPT, known)
    assert counts(judged(state, topics, now_s=hides_from_s - 1))[:2] == (10, None)
    assert counts(judged(state, topics, now_s=hides_from_s))[:2] == (None, 10)


def test_a_partition_that_was_there_at_the_first_poll_is_not_new():
    known = replace(partition((975, 7), (990, 9)), first_seen_ms=975_000)
    assert counts(judged(owner([], 1), topic_of("t", known), now_s=980, watched_s=976)) == (None, 0, 1, 9)


def test_a_topic_that_the_application_restores_its_state_from_is_never_committed():
    own = member("C0", ["t", "g-table-changelog"], {"t": [0], "g-table-changelog": [0]})
    state = group(own, offsets=[commit("t", 0, 990, 950_000)], generation_ms=900_000)
    assert counts(judged(state, topic_of("t", KEPT), topic_of("g-table-changelog", KEPT))) == (10, None, 0, 0)
    other = replace(state, group="h")
    assert counts(judged(other, topic_of("t", KEPT), topic_of("g-table-changelog", KEPT))) == (None, 10, 1, 600)


def test_partitions_that_a_simple_consumer_does_not_commit_are_not_its_own():
    state = group(phase=Phase.OFFSETS_ONLY, protocol_type="", generation=0, offsets=[commit("t", 0, 990, 950_000)])
    assert counts(judged(state, topic_of("t", KEPT, KEPT))) == (10, None, 0, 0)


def test_members_that_keep_their_offsets_for_themselves_have_no_committed_ones():
    state = owner([], 1, kind=GroupKind.ROCKETMQ, source=Source.SYSTEM, sharing=Sharing.BROADCAST)
    assert counts(judged(state, topic_of("t", KEPT))) == (None, None, 0, 0)


def test_a_commit_in_an_unknown_version_is_one_all_the_same():
    state = owner([commit("t", 0, 990, 950_000)], 2, unread_commits=(UnreadCommit("t", 1, 9, 4, 0),))
    assert counts(judged(state, topic_of("t", KEPT, KEPT))) == (None, None, 0, 0)


def test_a_group_without_members_may_be_at_any_offset_where_it_never_committed():
    """Its topic has another partition, and who consumed that last is not known any more."""
    offsets = [commit("t", 0, 990, 850_000)]
    state = group(phase=Phase.EMPTY, phase_ms=900_000, generation_ms=900_000, offsets=offsets)
    assert counts(judged(state, topic_of("t", KEPT, KEPT, partition((0, 0))))) == (None, 10, 1, 600)
