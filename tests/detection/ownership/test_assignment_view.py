"""A remembered view is the one that would be made now, whatever has changed; it is made only when it must be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection.ownership import assignment_view as view
from monitor.detection.ownership.assignment_view import AssignmentViews, view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.model import (
    Catalog,
    CommittedTopic,
    GroupKind,
    IdPartitions,
    Member,
    PendingHandover,
    Phase,
    Rebalance,
    RebalanceInProgress,
    RebalanceObservation,
    Reconciliation,
    Release,
    ShareGroupState,
    SharePartition,
)
from tests.detection.test_evaluate import ranged_groups
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, range_by_hand, topic

GROUP = group(*range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 4}))
TOPICS = catalog(topic("a", 4), topic("b", 2))


def moved(state: Catalog) -> Catalog:
    """Records were written, and a pass later."""
    topics = {
        name: replace(
            each,
            pass_ms=NOW + 9,
            observed_ms=NOW + 9,
            partitions=tuple(replace(partition, end=1000, earliest=50, ends=()) for partition in each.partitions),
        )
        for name, each in state.topics.items()
    }
    return replace(state, pass_ms=state.pass_ms + 9, topics=topics)


def held_back(state: Catalog) -> Catalog:
    """Transactions are open at 40, and others that were open at 30 have ended."""
    fields = {"stable": 40, "stable_ms": NOW - 1, "released": Release(at_ms=NOW - 1, offset=30)}
    topics = {
        name: replace(each, partitions=tuple(replace(partition, **fields) for partition in each.partitions))
        for name, each in state.topics.items()
    }
    return replace(state, topics=topics)


@given(st.lists(st.tuples(ranged_groups(), st.booleans()), min_size=1, max_size=6))
def test_it_is_the_same_as_without_memory(cases):
    views = AssignmentViews()
    for (state, topics), again in cases:
        for seen in (topics, moved(topics)) if again else (topics,):
            assert views.of(state, Topics(seen)) == view_assignment(state, seen)


@pytest.mark.parametrize(
    ("state", "topics"),
    [
        pytest.param(GROUP, moved(TOPICS), id="records were written"),
        pytest.param(GROUP, held_back(TOPICS), id="a transaction is open"),
        pytest.param(replace(GROUP, offsets=(commit("a", 0),)), TOPICS, id="an offset was committed"),
        pytest.param(GROUP, catalog(topic("a", 4), topic("c", 9)), id="another topic came and went"),
        pytest.param(GROUP, replace(TOPICS, watched_ms=ASSIGNED), id="the oldest topic is gone"),
        pytest.param(replace(GROUP, sampled=RebalanceInProgress(NOW, NOW)), TOPICS, id="it was seen to rebalance"),
        pytest.param(
            replace(GROUP, committed_topics=(CommittedTopic("a", 1, 2),), taken=(PendingHandover(2, 1, 3, (0,)),)),
            TOPICS,
            id="its topic was made anew, or a partition got a new owner",
        ),
        pytest.param(
            replace(GROUP, observations=(RebalanceObservation(1, 2, 3),)), TOPICS, id="a rebalance was seen to be over"
        ),
        pytest.param(replace(GROUP, redelivered_records=9), TOPICS, id="a commit went back"),
        pytest.param(
            replace(GROUP, pause_ms=5, burst_records=1, history=(Rebalance(3, 1, 2, pause_ms=5, burst_records=1),)),
            TOPICS,
            id="a commit told how long the rebalance before it had paused",
        ),
    ],
)
def test_nothing_is_made_again_for(state, topics):
    views = AssignmentViews()
    views.of(GROUP, Topics(TOPICS))
    assert views.of(state, Topics(topics)) == view_assignment(state, topics)
    assert views.made == 1


@pytest.mark.parametrize(
    ("state", "topics"),
    [
        pytest.param(GROUP, catalog(topic("a", 5, grown=1), topic("b", 2)), id="a topic grew"),
        pytest.param(GROUP, catalog(topic("b", 2)), id="a topic is gone"),
        pytest.param(GROUP, catalog(replace(topic("a", 4), topic_id="new"), topic("b", 2)), id="a topic was made anew"),
        pytest.param(replace(GROUP, generation=GROUP.generation + 1), TOPICS, id="a generation"),
        pytest.param(replace(GROUP, members=GROUP.members[:1]), TOPICS, id="a member left"),
        pytest.param(replace(GROUP, phase=Phase.EMPTY, members=()), TOPICS, id="all left"),
        pytest.param(GROUP, replace(TOPICS, pass_ms=ASSIGNED - 1), id="the catalog is older than the generation"),
        pytest.param(GROUP, replace(TOPICS, watched_ms=ASSIGNED + 1), id="its topics were first seen after it"),
    ],
)
def test_it_is_made_again_when(state, topics):
    views = AssignmentViews()
    views.of(GROUP, Topics(TOPICS))
    assert views.of(state, Topics(topics)) == view_assignment(state, topics)
    assert views.made == 2


def test_the_names_of_topics_count_for_groups_that_know_them_by_id():
    held = Reconciliation(assigned=(IdPartitions("id-a", (0,)),), target=(IdPartitions("id-a", (0,)),))
    members = (Member(member_id="M", topics=("a",), reconciliation=held),)
    modern = replace(GROUP, kind=GroupKind.CONSUMER, members=members)
    named = replace(TOPICS, names={"id-a": "a"})
    views = AssignmentViews()
    assert not views.of(modern, Topics(TOPICS)).ownership.owners
    assert views.of(modern, Topics(named)).ownership.owners


def test_an_acknowledgment_of_a_share_group_does_not_make_it_again():
    held = Reconciliation(assigned=(IdPartitions("id-a", (0,)),))
    members = (Member(member_id="M", topics=("a",), reconciliation=held),)
    shared = replace(GROUP, kind=GroupKind.SHARE, members=members)
    topics, views = Topics(replace(TOPICS, names={"id-a": "a"})), AssignmentViews()
    for start in (1, 2):
        share = ShareGroupState(partitions=(SharePartition("id-a", 0, start, 0),))
        acknowledged = replace(shared, share=share)
        assert views.of(acknowledged, topics).named(acknowledged).share == share
    assert views.made == 1


def test_groups_that_are_gone_are_forgotten():
    views = AssignmentViews()
    for name in ("g", "h"):
        views.of(replace(GROUP, group=name), Topics(TOPICS))
    views.keep_only({"h"})
    for name in ("g", "h"):
        views.of(replace(GROUP, group=name), Topics(TOPICS))
    assert views.made == 3


def test_an_offset_is_no_part_of_it():
    """Guards the memory: what it does not look at must not be looked at."""
    with_offsets = replace(GROUP, offsets=(commit("a", 0), commit("other", 1)))
    assert view_assignment(with_offsets, TOPICS) == view_assignment(GROUP, TOPICS)
    assert view_assignment(GROUP, moved(TOPICS)) == view_assignment(GROUP, TOPICS)
    assert view.without_offsets(with_offsets) == view.without_offsets(GROUP)
