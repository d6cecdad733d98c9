"""The table of phases is whole."""

from itertools import product

import pytest

from monitor.model import (
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    Member,
    MemberRemoved,
    MembershipStored,
    MemberState,
    MemberStored,
    OffsetCommitted,
    OffsetDeleted,
    Phase,
    Reconciliation,
    RegexResolved,
    TargetEpochStored,
    Topology,
    TopologyStored,
)
from monitor.tracking.group import fold_group
from monitor.tracking.phases import TRANSITIONS, PhaseEvent


def test_every_phase_knows_every_kind_of_event():
    assert set(TRANSITIONS) == set(product(Phase, PhaseEvent))


def test_no_event_leads_back_to_unseen_except_a_deletion_of_nothing():
    back = [pair for pair, phase in TRANSITIONS.items() if phase is Phase.UNSEEN]
    assert back == [(Phase.UNSEEN, PhaseEvent.OFFSET_DELETED)]


def stored(generation, *, protocol_type="consumer", members=()):
    return MembershipStored(
        group="g",
        generation=generation,
        protocol_type=protocol_type,
        protocol=None,
        leader=None,
        stored_ms=generation,
        members=members,
    )


KEPT = OffsetCommitted(group="g", topic="kept", partition=0, offset=1, committed_ms=1)
"""Another offset, so that the group does not vanish under the test."""

CONSUMER = GroupKind.CONSUMER


def joined(member_id):
    return MemberStored(group="g", kind=CONSUMER, member=Member(member_id=member_id), stored_ms=1)


def epoch(number):
    return EpochStored(group="g", kind=CONSUMER, epoch=number, stored_ms=1)


def targets_for(number):
    return TargetEpochStored(group="g", kind=CONSUMER, epoch=number, stored_ms=1)


def removed(member_id):
    return MemberRemoved(group="g", kind=CONSUMER, member_id=member_id, removed_ms=1)


TOPOLOGY = TopologyStored(group="g", topology=Topology(epoch=0), stored_ms=1)


def streams_joined(member_id):
    return MemberStored(group="g", kind=GroupKind.STREAMS, member=Member(member_id=member_id), stored_ms=1)


def streams_epoch(number, *, validated):
    return EpochStored(group="g", kind=GroupKind.STREAMS, epoch=number, stored_ms=1, validated_epoch=validated)


REACH = {
    Phase.UNSEEN: [],
    Phase.OFFSETS_ONLY: [KEPT],
    Phase.EMPTY: [KEPT, stored(1)],
    Phase.NOT_READY: [KEPT, streams_joined("m"), streams_epoch(7, validated=None)],
    Phase.ASSIGNING: [KEPT, joined("m"), epoch(7)],
    Phase.RECONCILING: [KEPT, joined("m"), epoch(7), targets_for(7)],
    Phase.STABLE: [KEPT, stored(1, members=(Member(member_id="m"),))],
    Phase.GONE: [KEPT, GroupDeleted(group="g", deleted_ms=1)],
}
EVENTS = {
    PhaseEvent.COMMITTED: [OffsetCommitted(group="g", topic="t", partition=0, offset=1, committed_ms=2)],
    PhaseEvent.OFFSET_DELETED: [OffsetDeleted(group="g", topic="t", partition=0)],
    PhaseEvent.CREATED: [stored(2, protocol_type="")],
    PhaseEvent.EMPTIED: [stored(2)],
    PhaseEvent.STORED: [stored(2, members=(Member(member_id="m"),))],
    PhaseEvent.UNREADY: [streams_joined("m"), TOPOLOGY, streams_epoch(9, validated=None)],
    PhaseEvent.RAISED: [joined("m"), epoch(9)],
    PhaseEvent.DIVERGED: [joined("m"), epoch(9), targets_for(9)],
    PhaseEvent.SETTLED: [joined("m"), epoch(0), targets_for(0)],  # a member of whom no assignment was seen has epoch 0
    PhaseEvent.DELETED: [GroupDeleted(group="g", deleted_ms=2)],
}


@pytest.mark.parametrize(("phase", "happened"), list(product(Phase, PhaseEvent)))
def test_a_group_goes_through_the_phases_of_the_table(phase, happened):
    before = fold_group("c", "g", None, REACH[phase])
    assert (before.phase if before else Phase.UNSEEN) is phase
    events = EVENTS[happened]
    if happened is PhaseEvent.DELETED and before is not None:
        events = [GroupDeleted(group="g", deleted_ms=2, kind=before.kind)]
    after = fold_group("c", "g", before, events)
    vanished = phase is Phase.UNSEEN and happened in (PhaseEvent.OFFSET_DELETED, PhaseEvent.DELETED)
    if vanished:
        assert after is None
    else:
        assert after.phase is TRANSITIONS[phase, happened]


@pytest.mark.parametrize("phase", [Phase.ASSIGNING, Phase.RECONCILING])
def test_the_last_member_of_a_modern_group_leaves_it_empty(phase):
    state = fold_group("c", "g", None, [*REACH[phase], removed("m")])
    assert state.phase is TRANSITIONS[phase, PhaseEvent.EMPTIED]


def at_epoch(member_id, number, *, kind=CONSUMER):
    standing = Reconciliation(epoch=number, state=MemberState.STABLE, since_ms=1)
    return CurrentStored(group="g", kind=kind, member_id=member_id, current=standing)


def resolved(*topics):
    return RegexResolved(group="g", regex="a.*", topics=topics, stored_ms=1)


def standing(*events):
    state = fold_group("c", "g", None, events)
    return state.phase, state.generation, state.target_epoch, state.rebalances


def test_a_4_3_broker_begins_a_group_at_epoch_1_without_a_record_of_it():
    """What a 4.3.1 broker writes when a member with an expression comes, and describes after each batch."""
    begun = [joined("m"), at_epoch("m", 1)]
    assert standing(*begun) == (Phase.STABLE, 1, 1, 0)
    assert standing(*begun, resolved()) == (Phase.STABLE, 1, 1, 0)  # it fits no topic: so it stays
    raised = [*begun, resolved("a1"), epoch(2)]
    assert standing(*raised) == (Phase.ASSIGNING, 2, 1, 1)
    assert standing(*raised, targets_for(2)) == (Phase.RECONCILING, 2, 2, 1)
    assert standing(*raised, targets_for(2), at_epoch("m", 2)) == (Phase.STABLE, 2, 2, 1)


def test_a_4_3_broker_raises_the_epoch_before_the_first_member_has_one():
    """A streams group of 4.3.1: epoch 2 is stored first, the member waits for its targets at epoch 1."""
    begun = [
        streams_joined("m"),
        TOPOLOGY,
        streams_epoch(2, validated=0),
        at_epoch("m", 1, kind=GroupKind.STREAMS),
    ]
    assert standing(*begun) == (Phase.ASSIGNING, 2, 1, 1)


def test_what_a_member_has_reached_pulls_the_others_behind():
    """The log as compaction leaves it: the records of epochs 5 and 6 stood where newer ones were written later."""
    state = fold_group("c", "g", None, [joined("a"), joined("b"), at_epoch("a", 5), at_epoch("b", 6)])
    assert (state.phase, state.generation, state.target_epoch) == (Phase.RECONCILING, 6, 6)


def test_a_static_member_that_is_away_has_reached_nothing():
    state = fold_group("c", "g", None, [joined("m"), epoch(7), targets_for(7), at_epoch("m", -2)])
    assert (state.phase, state.generation, state.target_epoch) == (Phase.RECONCILING, 7, 7)
