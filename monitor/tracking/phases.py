"""The phases of a group as a table: what each kind of event makes of each phase, and which kind of event it is."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from monitor.model import KINDS, GroupState, Phase


class PhaseEvent(StrEnum):
    """The kinds of events that a phase tells apart."""

    COMMITTED = "committed"
    OFFSET_DELETED = "offset_deleted"
    CREATED = "created"
    """A membership without members and protocol type: the new coordinator writes one when the first member joins."""
    EMPTIED = "emptied"
    """No members: a classic generation without any, or the last one of another kind of group was removed."""
    STORED = "stored"
    """A membership with members: a completed rebalance, or a static member that took its old place."""
    UNREADY = "unready"
    """The topology of a streams group was not validated: the broker chooses no targets for it (KIP-1071)."""
    RAISED = "raised"
    """The group's epoch is above that of its targets: the broker has yet to choose new ones (KIP-848)."""
    DIVERGED = "diverged"
    """There are targets for the group's epoch, and members that have not reached them (KIP-848)."""
    SETTLED = "settled"
    """Every member has what it is to have (KIP-848); share groups know nothing else."""
    DELETED = "deleted"


TRANSITIONS: Final[Mapping[tuple[Phase, PhaseEvent], Phase]] = MappingProxyType(
    {
        (Phase.UNSEEN, PhaseEvent.COMMITTED): Phase.OFFSETS_ONLY,
        (Phase.UNSEEN, PhaseEvent.OFFSET_DELETED): Phase.UNSEEN,  # compaction kept the tombstone, not what it deleted
        (Phase.UNSEEN, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,
        (Phase.UNSEEN, PhaseEvent.EMPTIED): Phase.EMPTY,  # compaction kept the newest generation only
        (Phase.UNSEEN, PhaseEvent.STORED): Phase.STABLE,
        (Phase.UNSEEN, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.UNSEEN, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.UNSEEN, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.UNSEEN, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.UNSEEN, PhaseEvent.DELETED): Phase.GONE,  # a group of commits alone has such a tombstone too
        (Phase.OFFSETS_ONLY, PhaseEvent.COMMITTED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, PhaseEvent.OFFSET_DELETED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, PhaseEvent.EMPTIED): Phase.EMPTY,  # its first member left before the first assignment
        (Phase.OFFSETS_ONLY, PhaseEvent.STORED): Phase.STABLE,
        (Phase.OFFSETS_ONLY, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.OFFSETS_ONLY, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.OFFSETS_ONLY, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.OFFSETS_ONLY, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.OFFSETS_ONLY, PhaseEvent.DELETED): Phase.GONE,
        (Phase.EMPTY, PhaseEvent.COMMITTED): Phase.EMPTY,
        (Phase.EMPTY, PhaseEvent.OFFSET_DELETED): Phase.EMPTY,
        (Phase.EMPTY, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.EMPTY, PhaseEvent.EMPTIED): Phase.EMPTY,  # a rebalance that no member completed
        (Phase.EMPTY, PhaseEvent.STORED): Phase.STABLE,
        (Phase.EMPTY, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.EMPTY, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.EMPTY, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.EMPTY, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.EMPTY, PhaseEvent.DELETED): Phase.GONE,
        (Phase.NOT_READY, PhaseEvent.COMMITTED): Phase.NOT_READY,
        (Phase.NOT_READY, PhaseEvent.OFFSET_DELETED): Phase.NOT_READY,
        (Phase.NOT_READY, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.NOT_READY, PhaseEvent.EMPTIED): Phase.EMPTY,  # its members go when a source topic is missing
        (Phase.NOT_READY, PhaseEvent.STORED): Phase.STABLE,  # a classic group by now, the tombstones lost
        (Phase.NOT_READY, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.NOT_READY, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.NOT_READY, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.NOT_READY, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.NOT_READY, PhaseEvent.DELETED): Phase.GONE,
        (Phase.ASSIGNING, PhaseEvent.COMMITTED): Phase.ASSIGNING,
        (Phase.ASSIGNING, PhaseEvent.OFFSET_DELETED): Phase.ASSIGNING,
        (Phase.ASSIGNING, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.ASSIGNING, PhaseEvent.EMPTIED): Phase.EMPTY,
        (Phase.ASSIGNING, PhaseEvent.STORED): Phase.STABLE,  # converted to a classic group, the tombstones lost
        (Phase.ASSIGNING, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.ASSIGNING, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.ASSIGNING, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.ASSIGNING, PhaseEvent.SETTLED): Phase.STABLE,  # nobody has to move for the new targets
        (Phase.ASSIGNING, PhaseEvent.DELETED): Phase.GONE,
        (Phase.RECONCILING, PhaseEvent.COMMITTED): Phase.RECONCILING,
        (Phase.RECONCILING, PhaseEvent.OFFSET_DELETED): Phase.RECONCILING,
        (Phase.RECONCILING, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.RECONCILING, PhaseEvent.EMPTIED): Phase.EMPTY,
        (Phase.RECONCILING, PhaseEvent.STORED): Phase.STABLE,  # converted to a classic group, the tombstones lost
        (Phase.RECONCILING, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.RECONCILING, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.RECONCILING, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.RECONCILING, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.RECONCILING, PhaseEvent.DELETED): Phase.GONE,
        (Phase.STABLE, PhaseEvent.COMMITTED): Phase.STABLE,
        (Phase.STABLE, PhaseEvent.OFFSET_DELETED): Phase.STABLE,  # its topic was deleted under its feet
        (Phase.STABLE, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.STABLE, PhaseEvent.EMPTIED): Phase.EMPTY,
        (Phase.STABLE, PhaseEvent.STORED): Phase.STABLE,
        (Phase.STABLE, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.STABLE, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.STABLE, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.STABLE, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.STABLE, PhaseEvent.DELETED): Phase.GONE,  # converted to a KIP-848 group: members live on, offsets stay
        (Phase.GONE, PhaseEvent.COMMITTED): Phase.OFFSETS_ONLY,  # somebody commits: it exists through its offsets
        (Phase.GONE, PhaseEvent.OFFSET_DELETED): Phase.GONE,
        (Phase.GONE, PhaseEvent.CREATED): Phase.OFFSETS_ONLY,
        (Phase.GONE, PhaseEvent.EMPTIED): Phase.EMPTY,
        (Phase.GONE, PhaseEvent.STORED): Phase.STABLE,  # created anew, or converted back
        (Phase.GONE, PhaseEvent.UNREADY): Phase.NOT_READY,
        (Phase.GONE, PhaseEvent.RAISED): Phase.ASSIGNING,
        (Phase.GONE, PhaseEvent.DIVERGED): Phase.RECONCILING,
        (Phase.GONE, PhaseEvent.SETTLED): Phase.STABLE,
        (Phase.GONE, PhaseEvent.DELETED): Phase.GONE,
    }
)
"""Every phase and every kind of event. No pair is left out as impossible: the log is data from outside, compaction may
have taken any earlier record, and a fold that refused a pair would lose a group over it."""


REPORTED_STATES: Final[Mapping[str, PhaseEvent]] = MappingProxyType(
    {
        "Empty": PhaseEvent.EMPTIED,
        "NotReady": PhaseEvent.UNREADY,
        "Assigning": PhaseEvent.RAISED,
        "Reconciling": PhaseEvent.DIVERGED,
        "Stable": PhaseEvent.SETTLED,
    }
)
"""The states of groups without generations, in the coordinator's words (``ConsumerGroupState`` and the like)."""


def generation_phase_event(*, has_members: bool, has_protocol_type: bool = True) -> PhaseEvent:
    """The event of a generation of a classic group, or of another group whose members change all at once.

    >>> generation_phase_event(has_members=False), generation_phase_event(has_members=False, has_protocol_type=False)
    (<PhaseEvent.EMPTIED: 'emptied'>, <PhaseEvent.CREATED: 'created'>)
    """
    if has_members:
        return PhaseEvent.STORED
    return PhaseEvent.EMPTIED if has_protocol_type else PhaseEvent.CREATED


def epoch_phase_event(group: GroupState, *, has_members: bool, is_ready: bool, is_behind: bool) -> PhaseEvent:
    """The event of a group with epochs, by the coordinator's rule (``maybeUpdateGroupState`` of each kind of group).

    Args:
        group: its kind, and the epochs of the group and of its targets.
        has_members: whether any member is left.
        is_ready: whether its topology was validated; of groups without a topology, True.
        is_behind: whether a member has not reached its target.
    """
    if not has_members:
        return PhaseEvent.EMPTIED
    if not KINDS[group.kind].has_owners:  # no member waits for another to give a partition back
        return PhaseEvent.SETTLED
    if not is_ready:
        return PhaseEvent.UNREADY
    if group.generation > (group.target_epoch or 0):
        return PhaseEvent.RAISED
    return PhaseEvent.DIVERGED if is_behind else PhaseEvent.SETTLED


def enter_phase(state: GroupState, happened: PhaseEvent, at_ms: int) -> GroupState:
    """The state in the phase that the table gives; ``phase_ms`` moves only if the phase does."""
    phase = TRANSITIONS[state.phase, happened]
    return state if phase is state.phase else replace(state, phase=phase, phase_ms=at_ms)
