"""Why a group rebalanced, case by case: what the records before it said."""

import pytest

from monitor.model import (
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    IdPartitions,
    Member,
    MemberRemoved,
    MembershipStored,
    MemberState,
    MemberStored,
    Phase,
    RebalanceCause,
    Reconciliation,
    RegexResolved,
    SubscribedTopic,
    SubscribedTopicsStored,
    TargetEpochStored,
    TopicPartitions,
)
from monitor.tracking.group import fold_group
from monitor.tracking.kip848.records import MAX_PENDING
from monitor.tracking.rebalances.history import MAX_REBALANCES

CONSUMER = GroupKind.CONSUMER
Cause = RebalanceCause


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


# --- KIP-848 ----------------------------------------------------------------------------------------------------------


def stored(member_id, *, topics=("t",), instance=None, at=1, **more):
    member = Member(member_id=member_id, topics=topics, instance_id=instance, rebalance_timeout_ms=100, **more)
    return MemberStored(group="g", kind=CONSUMER, member=member, stored_ms=at)


def removed(member_id, at=1):
    return MemberRemoved(group="g", kind=CONSUMER, member_id=member_id, removed_ms=at)


def current(member_id, epoch, *, state=MemberState.STABLE, at=1):
    standing = Reconciliation(epoch=epoch, state=state, assigned=(IdPartitions("p", (0,)),), since_ms=at)
    return CurrentStored(group="g", kind=CONSUMER, member_id=member_id, current=standing)


def epoch(number, *, at=1, metadata_hash=5):
    return EpochStored(group="g", kind=CONSUMER, epoch=number, stored_ms=at, metadata_hash=metadata_hash)


def targets(number, at=1):
    return TargetEpochStored(group="g", kind=CONSUMER, epoch=number, stored_ms=at)


def settled(number, *member_ids, at=1):
    return [epoch(number, at=at), targets(number, at), *(current(member_id, number, at=at) for member_id in member_ids)]


BEGUN = fold(stored("a"), stored("b"), *settled(2, "a", "b"))


def last(*events, state=BEGUN):
    return fold(*events, state=state).history[-1]


def test_two_members_join():
    (only,) = BEGUN.history
    assert (only.generation, only.causes, only.joined, only.left) == (2, (Cause.JOIN,), 2, 0)
    assert (BEGUN.phase, BEGUN.rebalances, BEGUN.pending, BEGUN.under_way) == (Phase.STABLE, 1, (), None)


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        pytest.param([removed("b"), *settled(3, "a")], Cause.LEAVE, id="a member is gone"),
        pytest.param([stored("b", topics=("u",)), *settled(3, "a", "b")], Cause.SUBSCRIPTION, id="other topics"),
        pytest.param([stored("b", regex="x.*"), *settled(3, "a", "b")], Cause.SUBSCRIPTION, id="an expression"),
        pytest.param([stored("b", client_id="z"), *settled(3, "a", "b")], Cause.UNKNOWN, id="a new client id is none"),
        pytest.param([epoch(3, metadata_hash=6), *settled(3, "a", "b")[1:]], Cause.TOPICS, id="another hash"),
        pytest.param(
            [current("b", -2), removed("b", at=50), *settled(3, "a")],
            Cause.TIMEOUT,
            id="a static member never came back",
        ),
        pytest.param(
            [current("b", 2, state=MemberState.UNREVOKED_PARTITIONS, at=1), removed("b", at=101), *settled(3, "a")],
            Cause.TIMEOUT,
            id="it did not give back in its rebalance timeout",
        ),
        pytest.param(
            [current("b", 2, state=MemberState.UNREVOKED_PARTITIONS, at=1), removed("b", at=100), *settled(3, "a")],
            Cause.LEAVE,
            id="it had not given back, and left before its rebalance timeout",
        ),
        pytest.param(
            [current("b", 2, state=MemberState.UNRELEASED_PARTITIONS, at=1), removed("b", at=900), *settled(3, "a")],
            Cause.LEAVE,
            id="who waits for others cannot be late",
        ),
    ],
)
def test_one_cause(events, cause):
    assert last(*events).causes == (cause,)


def resolved(*topics, at=1):
    return RegexResolved(group="g", regex="t.*", topics=topics, stored_ms=at)


def test_an_expression_that_matches_more_topics_than_before():
    state = fold(resolved("t1"), *settled(3, "a", "b"), state=BEGUN)
    assert state.history[-1].causes == (Cause.SUBSCRIPTION,)
    assert last(resolved("t1", "t2"), *settled(4, "a", "b"), state=state).causes == (Cause.TOPICS,)
    assert fold(resolved("t1", at=99), state=state).pending == (), "written again every ten seconds"


def topics(partitions, *more):
    some = (SubscribedTopic(topic_id="p", topic="t", partitions=partitions), *more)
    return SubscribedTopicsStored(group="g", stored_ms=1, topics=some)


def test_the_topics_that_a_3_9_broker_writes():
    """The list is written anew when members want other topics too: then that is the cause."""
    state = fold(topics(3), *settled(3, "a", "b"), state=BEGUN)
    assert last(topics(4), *settled(4, "a", "b"), state=state).causes == (Cause.TOPICS,)
    another = SubscribedTopic(topic_id="q", topic="u", partitions=1)
    joined = last(stored("z", topics=("u",)), topics(3, another), *settled(4, "a", "b", "z"), state=state)
    assert joined.causes == (Cause.JOIN,)


def test_a_static_member_comes_back_under_a_new_id():
    state = fold(stored("s", instance="i"), *settled(3, "a", "b", "s"), state=BEGUN)
    back = fold(current("s", -2), removed("s", at=9), stored("s2", instance="i", at=9), current("s2", 3), state=state)
    assert (back.history[-1].causes, back.rebalances, back.pending) == ((Cause.STATIC_RESTART,), state.rebalances, ())


def test_a_rebalance_that_is_overtaken_goes_on():
    """It began with the first epoch and has both causes; two members left, one joined."""
    state = fold(removed("b"), epoch(3, at=10), stored("z"), removed("a"), epoch(4, at=20), state=BEGUN)
    going_on = state.under_way
    assert (going_on.generation, going_on.started_ms, going_on.ended_ms) == (4, 10, None)
    assert (going_on.causes, going_on.joined, going_on.left) == ((Cause.JOIN, Cause.LEAVE), 1, 2)
    done = fold(targets(4, at=30), current("z", 4, at=40), state=state)
    assert (done.under_way, done.history[-1].ended_ms) == (None, 40)


def test_histories_are_bounded():
    state = BEGUN
    for number in range(3, 60):
        state = fold(*settled(number, "a", "b"), state=state)
    assert [rebalance.generation for rebalance in state.history] == list(range(60 - MAX_REBALANCES, 60))
    flood = [stored("b", topics=(str(n),)) for n in range(MAX_PENDING + 5)]
    assert len(fold(*flood, state=BEGUN).pending) == MAX_PENDING


# --- conversions ------------------------------------------------------------------------------------------------------


def generation(number, *members, protocol="range", at=1):
    return MembershipStored(
        group="g",
        generation=number,
        protocol_type="consumer",
        protocol=protocol if members else None,
        leader=None,
        stored_ms=at,
        members=members,
        state_ms=at - 1,
    )


def classic(member_id, *, topics=("t",), instance=None, assigned=(), owned=()):
    return Member(
        member_id=member_id,
        topics=topics,
        instance_id=instance,
        assigned=(TopicPartitions("t", assigned),),
        owned=(TopicPartitions("t", owned),),
    )


CLASSIC = fold(generation(1, classic("a", assigned=(0,)), classic("b", assigned=(1,))))
UPGRADED = fold(GroupDeleted(group="g", deleted_ms=2), stored("a"), stored("b"), *settled(1, "a", "b"), state=CLASSIC)


def test_an_upgrade_is_nobodys_joining():
    rebalance = UPGRADED.history[-1]
    assert (rebalance.causes, rebalance.joined, rebalance.left) == ((Cause.UPGRADE,), 0, 0)
    assert (UPGRADED.kind, UPGRADED.rebalances) == (CONSUMER, CLASSIC.rebalances + 1)


def test_a_downgrade_is_nobodys_leaving():
    gone = [removed("a"), removed("b"), GroupDeleted(group="g", deleted_ms=3, kind=CONSUMER)]
    state = fold(*gone, generation(1, classic("a")), state=UPGRADED)
    assert (state.history[-1].causes, state.kind, state.pending) == ((Cause.DOWNGRADE,), GroupKind.CLASSIC, ())
    assert fold(generation(2, classic("a"), classic("z")), state=state).history[-1].causes == (Cause.JOIN,)


def test_a_tombstone_of_the_kind_that_it_was_says_nothing_new():
    assert fold(GroupDeleted(group="g", deleted_ms=9), state=UPGRADED) is UPGRADED
    assert fold(removed("a"), GroupDeleted(group="g", deleted_ms=9, kind=GroupKind.SHARE), state=CLASSIC) is CLASSIC


# --- the classic protocol ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        pytest.param(generation(2, classic("a"), classic("b"), classic("z")), Cause.JOIN, id="join"),
        pytest.param(generation(2, classic("a")), Cause.LEAVE, id="leave"),
        pytest.param(generation(2), Cause.LEAVE, id="the last ones leave"),
        pytest.param(generation(2, classic("a", topics=("u",)), classic("b")), Cause.SUBSCRIPTION, id="other topics"),
        pytest.param(
            generation(2, classic("a", assigned=(0, 2)), classic("b", assigned=(1,))), Cause.TOPICS, id="a topic grew"
        ),
        pytest.param(generation(2, classic("a", assigned=(0,)), classic("b")), Cause.TOPICS, id="a topic is gone"),
        pytest.param(
            generation(2, classic("a", assigned=(0,)), classic("b", assigned=(1,)), protocol="sticky"),
            Cause.ASSIGNOR,
            id="another assignor",
        ),
        pytest.param(
            generation(2, classic("a", assigned=(1,)), classic("b", assigned=(0,))), Cause.UNKNOWN, id="only swapped"
        ),
    ],
)
def test_one_cause_of_a_classic_rebalance(event, cause):
    rebalance = fold(event, state=CLASSIC).history[-1]
    assert rebalance.causes == (cause,)
    assert (rebalance.started_ms, rebalance.ended_ms) == (0, 1)


def test_a_log_that_begins_in_the_middle_does_not_know_why():
    assert fold(generation(7, classic("a"))).history[-1].causes == (Cause.UNKNOWN,)
    assert fold(generation(1, classic("a"))).history[-1].causes == (Cause.JOIN,)


def test_what_was_given_back_is_handed_over():
    holding_back = generation(2, classic("a", assigned=(0,), owned=(0, 1)), classic("z", assigned=()))
    state = fold(holding_back, state=fold(generation(1, classic("a", assigned=(0, 1)))))
    handed = fold(generation(3, classic("a", assigned=(0,)), classic("z", assigned=(1,))), state=state)
    assert handed.history[-1].causes == (Cause.HANDOVER,)
    grown = fold(generation(3, classic("a", assigned=(0,)), classic("z", assigned=(1, 2))), state=state)
    assert grown.history[-1].causes == (Cause.TOPICS,)


def test_a_static_member_restarts_and_another_is_gone_for_good():
    before = fold(generation(1, classic("a", instance="i"), classic("b", instance="j")))
    restarted = fold(generation(1, classic("a2", instance="i"), classic("b", instance="j"), at=9), state=before)
    assert (restarted.history[-1].causes, restarted.rebalances) == ((Cause.STATIC_RESTART,), 1)
    gone = fold(generation(2, classic("a2", instance="i")), state=restarted)
    assert (gone.history[-1].causes, gone.history[-1].left) == ((Cause.TIMEOUT,), 1)
    both = fold(generation(2, classic("a3", instance="i"), classic("z")), state=restarted).history[-1]
    assert both.causes == (Cause.JOIN, Cause.TIMEOUT, Cause.STATIC_RESTART)
    assert (both.joined, both.left) == (1, 1)
