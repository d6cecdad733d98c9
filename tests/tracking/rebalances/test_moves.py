"""What rebalances moved, case by case; the numbers are counted by hand from who owns what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import (
    CurrentRemoved,
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
    OffsetCommitted,
    Phase,
    Reconciliation,
    ReleasedPartitions,
    TargetEpochStored,
    TopicPartitions,
)
from monitor.tracking.group import fold_group
from monitor.tracking.rebalances.moves import fewest_moves, moves_between
from tests.support.captures import BROKERS
from tests.tracking.test_group_captures import states_at_marks


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


def member(member_id, *partitions, topics=("t",), instance=None, unreadable=None):
    assigned = (TopicPartitions("t", partitions),) if partitions else ()
    return Member(member_id=member_id, topics=topics, assigned=assigned, instance_id=instance, unreadable=unreadable)


def generation(number, *members, at=None, joined=None):
    return MembershipStored(
        group="g",
        generation=number,
        protocol_type="consumer",
        protocol="x" if members else None,
        leader=None,
        stored_ms=number * 1000 if at is None else at,
        members=members,
        state_ms=joined,
    )


def moved(state):
    """Of the newest rebalance, and in all."""
    newest = state.history[-1]
    return (newest.moved, newest.avoidable), (state.moved_partitions, state.avoidable_moves)


@pytest.mark.parametrize(
    ("before", "after", "cost"),
    [
        pytest.param([member("a", 0, 1)], [member("a", 0, 1)], (0, 0), id="the same again"),
        pytest.param([member("a", 0, 1, 2, 3)], [member("a", 0, 1), member("b", 2, 3)], (2, 0), id="one joins"),
        pytest.param(
            [member("a", 0, 1), member("b", 2, 3)],
            [member("a", 0), member("b", 1), member("c", 2, 3)],
            (3, 2),  # b's 2 and 3 and a's 1; one of each, or two of one, would have been enough: 4 over 3 is 2, 1, 1
            id="one joins, and range deals anew",
        ),
        pytest.param(
            [member("a", 0, 1), member("b", 2, 3), member("c", 4, 5)],
            [member("a", 0, 1, 4), member("b", 2, 3, 5)],
            (2, 0),
            id="one leaves",
        ),
        pytest.param(
            [member("a", 0, 1), member("b", 2, 3), member("c", 4, 5)],
            [member("b", 0, 1, 2), member("c", 3, 4, 5)],
            (3, 1),  # a's two had to go; b's 3 need not have
            id="one leaves, and range deals anew",
        ),
        pytest.param([member("a", 0)], [member("a", 0), member("b", 1)], (0, 0), id="a new partition has not moved"),
        pytest.param([member("a", 0, 1)], [member("a", 0)], (0, 0), id="a partition that is gone has not moved"),
        pytest.param(
            [member("a1", 0, instance="i"), member("b", 1)],
            [member("a2", 0, instance="i"), member("b", 1)],
            (0, 0),
            id="a static member under a new id",
        ),
        pytest.param(
            [member("a", 0, 1, 2, 3)],
            [member("b", 0, 1, 2, 3)],
            (4, 0),
            id="all others",
        ),
        pytest.param(
            [member("a", 0, 1, 2), member("b", 3)],
            [member("a", 0, 1), member("b", 2, 3)],
            (1, 0),
            id="what makes it even has to move",
        ),
        pytest.param(
            [member("a", 0, 1, topics=("t", "u")), member("b", 2, 3)],
            [member("a", 2, 3, topics=("t", "u")), member("b", 0, 1)],
            (4, 4),
            id="with other subscriptions: each could have kept as many as it has",
        ),
        pytest.param([member("a", 0)], [member("b", 0, unreadable="?")], (0, 0), id="who has what is not known"),
        pytest.param(
            [member("a", 0)], [replace(member("b", 0, unreadable="?"), assignment_read=True)], (1, 0), id="it is known"
        ),
    ],
)
def test_moves_of_a_classic_group(before, after, cost):
    state = fold(generation(1, *before), generation(2, *after))
    assert moved(state) == (cost, cost)


def test_a_cooperative_handover_moves_in_its_second_half():
    given_back = fold(generation(1, member("a", 0, 1)), generation(2, member("a", 0), member("b")))
    assert moved(given_back) == ((0, 0), (0, 0))
    assert given_back.released == (ReleasedPartitions("member a", (TopicPartitions("t", (1,)),)),)
    handed_over = fold(generation(3, member("a", 0), member("b", 1)), state=given_back)
    assert moved(handed_over) == ((1, 0), (1, 0))
    assert handed_over.released == ()


def test_who_takes_back_what_it_gave_has_moved_nothing():
    state = fold(
        generation(1, member("a", 0, 1)), generation(2, member("a", 0), member("b")), generation(3, member("a", 0, 1))
    )
    assert moved(state) == ((0, 0), (0, 0))


def test_a_group_that_was_empty_begins_anew():
    state = fold(generation(1, member("a", 0)), generation(2), generation(3, member("b", 0)))
    assert moved(state) == ((0, 0), (0, 0))


def test_what_nobody_subscribes_any_more_is_not_remembered():
    state = fold(generation(1, member("a", 0)), generation(2, member("a", topics=("u",))))
    assert state.released == ()


def test_the_time_of_rebalances_is_summed():
    """As far as the log has it: from when all had joined."""
    state = fold(
        generation(1, member("a", 0), at=1_000, joined=900), generation(2, member("a", 0), at=9_000, joined=8_500)
    )
    assert state.rebalance_ms == 100 + 500


def test_all_that_was_counted_outlives_a_conversion():
    classic = fold(generation(1, member("a", 0), joined=400), generation(2, member("b", 0)))
    state = fold(GroupDeleted(group="g", deleted_ms=9), *joins("b", 1), state=classic)
    assert state.kind is GroupKind.CONSUMER
    assert (state.moved_partitions, state.rebalance_ms) == (1, 600)


# --- KIP-848 ----------------------------------------------------------------------------------------------------------

CONSUMER = GroupKind.CONSUMER


def joins(member_id, epoch, *, instance=None):
    of_it = Member(member_id=member_id, topics=("t",), instance_id=instance)
    return [MemberStored(group="g", kind=CONSUMER, member=of_it, stored_ms=epoch), raised(epoch)]


def raised(epoch):
    return EpochStored(group="g", kind=CONSUMER, epoch=epoch, stored_ms=epoch)


def chosen(epoch):
    return TargetEpochStored(group="g", kind=CONSUMER, epoch=epoch, stored_ms=epoch)


def owns(member_id, epoch, *partitions, gives_back=(), waits=False):
    standing = Reconciliation(
        epoch=epoch,
        state=MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE,
        assigned=(IdPartitions("id", partitions),) if partitions else (),
        revoking=(IdPartitions("id", gives_back),) if gives_back else (),
        since_ms=epoch,
    )
    return CurrentStored(group="g", kind=CONSUMER, member_id=member_id, current=standing)


def goes(member_id):
    return MemberRemoved(group="g", kind=CONSUMER, member_id=member_id, removed_ms=1)


ALONE = [*joins("a", 1), chosen(1), owns("a", 1, 0, 1, 2, 3)]


@pytest.mark.parametrize(
    ("events", "cost"),
    [
        pytest.param([], (0, 0), id="the first member"),
        pytest.param(
            [
                *joins("b", 2),
                chosen(2),
                owns("b", 2, waits=True),
                owns("a", 1, 0, 1, gives_back=(2, 3)),
                owns("a", 2, 0, 1),
                owns("b", 2, 2, 3),
            ],
            (2, 0),
            id="one joins",
        ),
        pytest.param(
            [*joins("b", 2), goes("a"), raised(3), chosen(3), owns("b", 3, 0, 1, 2, 3)], (4, 0), id="all others"
        ),
        pytest.param(
            [
                *joins("b", 2),
                chosen(2),
                owns("b", 2, waits=True),
                owns("a", 2, 0),
                owns("b", 2, 1, 2, 3),
            ],
            (3, 1),  # two would have been enough
            id="more than was needed",
        ),
        pytest.param(
            [raised(2), chosen(2), owns("a", 2, 0), owns("a", 2, 0, 1, 2, 3)], (0, 0), id="given back and taken again"
        ),
        pytest.param([raised(2), chosen(2), owns("a", 2, 0, 1, 2, 3, 4)], (0, 0), id="a new partition"),
    ],
)
def test_moves_of_a_kip_848_group(events, cost):
    state = fold(*ALONE, *events)
    assert state.under_way is None
    assert moved(state) == (cost, cost)
    assert state.released == ()


PAIR = [*ALONE, *joins("b", 2), chosen(2), owns("b", 2, waits=True), owns("a", 2, 0, 1), owns("b", 2, 2, 3)]


def gone(member_id, epoch):
    """What a broker writes when a member leaves or its session ends: its tombstones, then the group's epoch."""
    removed = CurrentRemoved(group="g", kind=CONSUMER, member_id=member_id)
    return [removed, goes(member_id), raised(epoch)]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_a_kip_848_member_leaves_behind_has_moved_once_others_have_it(at_once):
    events = [*PAIR, *gone("b", 3), chosen(3), owns("a", 3, 0, 1, 2, 3)]
    if at_once:
        state = fold(*events)
    else:
        state = None
        for event in events:
            state = fold(event, state=state)
    assert moved(state) == ((2, 0), (4, 0))
    assert state.released == ()


def test_what_the_last_kip_848_member_leaves_behind_moves_to_nobody():
    state = fold(*ALONE, *gone("a", 2))
    assert state.phase is Phase.EMPTY
    assert state.released == ()
    assert not state.history[-1].is_first
    state = fold(*joins("b", 3), chosen(3), owns("b", 3, 0, 1, 2, 3), state=state)
    assert moved(state) == ((0, 0), (0, 0))
    assert state.history[-1].is_first


def test_a_static_member_that_comes_back_takes_nothing_from_anybody():
    state = fold(*joins("s", 1, instance="i"), chosen(1), owns("s", 1, 0, 1))
    state = fold(owns("s", -2), goes("s"), *joins("s2", 1, instance="i"), owns("s2", 1, 0, 1), state=state)
    assert state.moved_partitions == 0


def test_what_has_moved_so_far_is_told_while_a_rebalance_is_under_way():
    events = [*joins("b", 2), chosen(2), owns("b", 1), owns("a", 2, 0, 1), owns("b", 1, 2)]
    state = fold(*ALONE)
    for event in events:
        state = fold(event, state=state)
    assert (state.under_way.moved, state.moved_partitions) == (1, 0)
    assert state.released == (ReleasedPartitions("member a", (TopicPartitions("id", (3,)),), stopped_ms=2),)
    done = fold(owns("b", 2, 2, 3), state=state)
    assert moved(done) == ((2, 0), (2, 0))


# --- redelivery -------------------------------------------------------------------------------------------------------


def commit(offset, partition=0):
    return OffsetCommitted(group="g", topic="t", partition=partition, offset=offset, committed_ms=1)


def test_the_records_by_which_commits_went_back_are_counted():
    state = fold(commit(50), commit(20), commit(30), commit(7, 1), commit(25))
    assert state.redelivered_records == 30 + 5
    assert fold(commit(5, 1), state=state).redelivered_records == 37


# --- rules that hold for all ------------------------------------------------------------------------------------------

OWNED = st.dictionaries(st.integers(0, 11), st.sampled_from("abcd"), max_size=12)


def members(owners):
    return [member(name, *sorted(p for p, owner in owners.items() if owner == name)) for name in "abcd"]


@given(OWNED, OWNED)
def test_what_was_avoidable_was_moved(before, after):
    moves = moves_between(members(before), (), members(after))
    assert 0 <= moves.avoidable <= moves.moved == sum(before.get(p, owner) != owner for p, owner in after.items())


@given(OWNED)
def test_nothing_is_avoidable_of_the_fewest_moves(before):
    """Deal anew by hand: everybody keeps up to an even share, those with most first; the rest goes to who has room."""
    sizes = sorted("abcd", key=lambda name: -sum(owner == name for owner in before.values()))
    share, more = divmod(len(before), 4)
    room = {name: share + (rank < more) for rank, name in enumerate(sizes)}
    after, left = {}, []
    for partition, owner in before.items():
        if room[owner]:
            room[owner] -= 1
            after[partition] = owner
        else:
            left.append(partition)
    for partition in left:
        owner = next(name for name in sizes if room[name])
        room[owner] -= 1
        after[partition] = owner
    moves = moves_between(members(before), (), members(after))
    assert (moves.moved, moves.avoidable) == (len(left), 0)


def test_nobody_needs_to_move_where_nobody_had_anything():
    assert fewest_moves({}, {"a": 3}, alike=True) == 0


@pytest.mark.parametrize("broker", BROKERS)
def test_real_logs_move_partitions_and_never_avoid_more_than_they_move(broker):
    states = [state for _, state in states_at_marks(broker) if state is not None]
    assert max(state.moved_partitions for state in states) > 0
    for state in states:
        assert 0 <= state.avoidable_moves <= state.moved_partitions
        assert state.moved_partitions >= sum(rebalance.moved for rebalance in state.history)
