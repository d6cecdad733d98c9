"""What members of a streams group had when its assignor was asked: kept while it is needed, if no record can lack."""

import pytest
from msgspec.structs import replace

from monitor.model import (
    AssignorInput,
    CurrentStored,
    EpochStored,
    FormerTasks,
    GroupDeleted,
    GroupKind,
    GroupObserved,
    IdPartitions,
    Member,
    MemberRemoved,
    MemberStored,
    Reconciliation,
    Source,
    SpareTasks,
    TargetEpochStored,
    TargetStored,
)
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state

STREAMS = GroupKind.STREAMS


def tasks(*numbers):
    return (IdPartitions("0", numbers),) if numbers else ()


def joined(member_id, at_ms):
    return MemberStored(group="g", kind=STREAMS, member=Member(member_id=member_id), stored_ms=at_ms)


def epoch(number, at_ms=None):
    return EpochStored(group="g", kind=STREAMS, epoch=number, stored_ms=number if at_ms is None else at_ms)


def target(member_id, *active, standby=()):
    spare = SpareTasks(standby=tasks(*standby)) if standby else None
    return TargetStored(group="g", kind=STREAMS, member_id=member_id, target=tasks(*active), spare=spare)


def aimed(number):
    return TargetEpochStored(group="g", kind=STREAMS, epoch=number, stored_ms=number)


def runs(member_id, number, *active, standby=()):
    spare = SpareTasks(standby=tasks(*standby)) if standby else None
    current = Reconciliation(epoch=number, since_ms=number, assigned=tasks(*active), spare=spare)
    return CurrentStored(group="g", kind=STREAMS, member_id=member_id, current=current)


def left(member_id, at_ms):
    return (
        TargetStored(group="g", kind=STREAMS, member_id=member_id, target=None),
        MemberRemoved(group="g", kind=STREAMS, member_id=member_id, removed_ms=at_ms),
    )


def folded(*events, state=None, one_by_one=False):
    if not one_by_one:
        return fold_group("c", "g", state, events)
    for event in events:
        state = fold_group("c", "g", state, [event])
        state = state and decode_group_state(encode_state(state))
    return state


NEW = (joined("a", 2), epoch(2), runs("a", 1), target("a", 0, 1, 2), aimed(2), runs("a", 2, 0, 1, 2))
"""A new group of Kafka 4.3: its first epoch is 2, and its first member joins with it."""

SECOND = (joined("b", 3), epoch(3), target("a", 0, 1, standby=(2,)), target("b", 2), aimed(3))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_before_its_first_targets_a_new_group_had_nothing(one_by_one):
    found = folded(*NEW, one_by_one=one_by_one).assignor_input
    assert found == AssignorInput(epoch=2, is_complete=True, targets=(FormerTasks("a"),))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_targets_that_an_epoch_changes_are_kept_as_they_were(one_by_one):
    found = folded(*NEW, *SECOND, one_by_one=one_by_one).assignor_input
    assert found == AssignorInput(3, is_complete=True, targets=(FormerTasks("a", tasks(0, 1, 2)), FormerTasks("b")))


def test_what_members_ran_is_kept_where_it_was_not_their_target():
    """The member has yet to give task 2 back as the third joins: it runs what it has, without that."""
    third = (runs("a", 2, 0, 1), joined("c", 4), epoch(4), target("a", 0), target("c", 1), aimed(4))
    found = folded(*NEW, *SECOND, *third).assignor_input
    assert found.targets == (FormerTasks("a", tasks(0, 1), tasks(2)), FormerTasks("c"))
    assert found.held == (FormerTasks("a", tasks(0, 1)), FormerTasks("b"))


def test_nothing_is_kept_for_longer_than_the_next_epoch():
    state = folded(*NEW, *SECOND, joined("c", 4), epoch(4))
    assert state.assignor_input == AssignorInput(epoch=4, is_open=True, is_complete=True)


def test_targets_of_several_epochs_come_at_once():
    """A broker waits for further members: group.streams.initial.rebalance.delay.ms."""
    found = folded(*NEW, joined("b", 3), epoch(3), joined("c", 4), epoch(4), target("a", 0), aimed(4)).assignor_input
    assert (found.is_complete, found.targets) == (True, (FormerTasks("a", tasks(0, 1, 2)),))


def test_who_left_has_no_former_tasks():
    found = folded(*NEW, *SECOND, *left("b", 4), epoch(4), target("a", 0, 1, 2), aimed(4)).assignor_input
    assert found == AssignorInput(4, is_complete=True, targets=(FormerTasks("a", tasks(0, 1), tasks(2)),), held=HELD)


HELD = (FormerTasks("a", tasks(0, 1, 2)),)
"""It had yet to take the standby task, and to give 2 back."""


def test_a_member_that_is_gone_before_its_first_target_is_forgotten():
    waits = folded(*NEW, joined("b", 3), epoch(3), target("b", 2), *left("b", 4))
    assert waits.assignor_input == AssignorInput(3, is_open=True, is_complete=True)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param((joined("a", 1), epoch(2), target("a", 0), aimed(2)), id="the first epoch may be missing"),
        pytest.param((epoch(2), joined("a", 2), target("a", 0), aimed(2)), id="an epoch before its members"),
        pytest.param((joined("a", 7), epoch(7), target("a", 0), aimed(7)), id="a later epoch"),
        pytest.param((*NEW, joined("b", 4), epoch(4), target("b", 1), aimed(4)), id="an epoch is missing"),
        pytest.param((*NEW, epoch(3), target("a", 1), target("a", 0), aimed(3)), id="a target is stored twice"),
        pytest.param((*NEW, epoch(3), target("a", 1), aimed(2)), id="targets of another epoch"),
    ],
)
def test_nothing_is_kept_where_a_record_can_be_missing(events):
    found = folded(*events).assignor_input
    assert (found.is_complete, found.is_open, found.targets, found.held) == (False, False, (), ())


def test_after_a_gap_the_next_epoch_is_known_again():
    gap = folded(joined("a", 7), epoch(7), target("a", 0, 1), aimed(7), runs("a", 7, 0, 1))
    found = folded(joined("b", 8), epoch(8), target("a", 0), target("b", 1), aimed(8), state=gap).assignor_input
    assert (found.is_complete, found.targets) == (True, (FormerTasks("a", tasks(0, 1)), FormerTasks("b")))


def test_an_epoch_that_is_written_again_changes_nothing():
    state = folded(*NEW, *SECOND)
    assert folded(epoch(3, at_ms=9), state=state).assignor_input == state.assignor_input


def test_a_target_between_two_epochs_is_not_the_assignors():
    """Kafka 4.4 copies the target of a static member to the one that replaces it."""
    copied = folded(*NEW, *SECOND, *left("b", 4), joined("b2", 4), target("b2", 2))
    assert copied.assignor_input == folded(*NEW, *SECOND).assignor_input
    found = folded(joined("c", 5), epoch(4), target("b2"), target("c", 2), aimed(4), state=copied).assignor_input
    assert found.targets == (FormerTasks("b2", tasks(2)), FormerTasks("c"))


def test_a_deleted_group_has_none_and_starts_over():
    deleted = folded(*NEW, *left("a", 3), epoch(3), GroupDeleted(group="g", deleted_ms=9, kind=STREAMS))
    assert deleted is None
    again = folded(*(replace(event, stored_ms=20) if hasattr(event, "stored_ms") else event for event in NEW))
    assert again.assignor_input.is_complete


def test_a_group_that_a_broker_describes_has_none():
    polled = GroupObserved(
        cluster="c",
        group="g",
        kind=STREAMS,
        source=Source.ADMIN,
        pass_ms=1,
        observed_ms=1,
        members=(Member(member_id="m", reconciliation=Reconciliation(epoch=2, target=tasks(0))),),
        generation=2,
        target_epoch=2,
        state="Stable",
    )
    assert folded(polled).assignor_input is None
