"""The phases of a group as a table: what each kind of event makes of each phase."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from monitor.model import GroupState, Phase


class Happened(StrEnum):
    """The kinds of events that a phase tells apart."""

    COMMITTED = "committed"
    OFFSET_DELETED = "offset_deleted"
    CREATED = "created"
    """A membership without members and protocol type: the new coordinator writes one when the first member joins."""
    EMPTIED = "emptied"
    """No members: a classic generation without any, or the last one of another kind of group was removed."""
    STORED = "stored"
    """A membership with members: a completed rebalance, or a static member that took its old place."""
    RAISED = "raised"
    """The group's epoch is above that of its targets: the broker has yet to choose new ones (KIP-848)."""
    DIVERGED = "diverged"
    """There are targets for the group's epoch, and members that have not reached them (KIP-848)."""
    SETTLED = "settled"
    """Every member has what it is to have (KIP-848); share groups know nothing else."""
    DELETED = "deleted"


TRANSITIONS: Final[Mapping[tuple[Phase, Happened], Phase]] = MappingProxyType(
    {
        (Phase.UNSEEN, Happened.COMMITTED): Phase.OFFSETS_ONLY,
        (Phase.UNSEEN, Happened.OFFSET_DELETED): Phase.UNSEEN,  # compaction kept the tombstone, not what it deleted
        (Phase.UNSEEN, Happened.CREATED): Phase.OFFSETS_ONLY,
        (Phase.UNSEEN, Happened.EMPTIED): Phase.EMPTY,  # compaction kept the newest generation only
        (Phase.UNSEEN, Happened.STORED): Phase.STABLE,
        (Phase.UNSEEN, Happened.RAISED): Phase.ASSIGNING,
        (Phase.UNSEEN, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.UNSEEN, Happened.SETTLED): Phase.STABLE,
        (Phase.UNSEEN, Happened.DELETED): Phase.GONE,  # a commits-only group is deleted with a tombstone like this too
        (Phase.OFFSETS_ONLY, Happened.COMMITTED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, Happened.OFFSET_DELETED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, Happened.CREATED): Phase.OFFSETS_ONLY,
        (Phase.OFFSETS_ONLY, Happened.EMPTIED): Phase.EMPTY,  # its first member left before the first assignment
        (Phase.OFFSETS_ONLY, Happened.STORED): Phase.STABLE,
        (Phase.OFFSETS_ONLY, Happened.RAISED): Phase.ASSIGNING,
        (Phase.OFFSETS_ONLY, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.OFFSETS_ONLY, Happened.SETTLED): Phase.STABLE,
        (Phase.OFFSETS_ONLY, Happened.DELETED): Phase.GONE,
        (Phase.EMPTY, Happened.COMMITTED): Phase.EMPTY,
        (Phase.EMPTY, Happened.OFFSET_DELETED): Phase.EMPTY,
        (Phase.EMPTY, Happened.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.EMPTY, Happened.EMPTIED): Phase.EMPTY,  # a rebalance that no member completed
        (Phase.EMPTY, Happened.STORED): Phase.STABLE,
        (Phase.EMPTY, Happened.RAISED): Phase.ASSIGNING,
        (Phase.EMPTY, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.EMPTY, Happened.SETTLED): Phase.STABLE,
        (Phase.EMPTY, Happened.DELETED): Phase.GONE,
        (Phase.ASSIGNING, Happened.COMMITTED): Phase.ASSIGNING,
        (Phase.ASSIGNING, Happened.OFFSET_DELETED): Phase.ASSIGNING,
        (Phase.ASSIGNING, Happened.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.ASSIGNING, Happened.EMPTIED): Phase.EMPTY,
        (Phase.ASSIGNING, Happened.STORED): Phase.STABLE,  # converted to a classic group, the tombstones lost
        (Phase.ASSIGNING, Happened.RAISED): Phase.ASSIGNING,
        (Phase.ASSIGNING, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.ASSIGNING, Happened.SETTLED): Phase.STABLE,  # nobody has to move for the new targets
        (Phase.ASSIGNING, Happened.DELETED): Phase.GONE,
        (Phase.RECONCILING, Happened.COMMITTED): Phase.RECONCILING,
        (Phase.RECONCILING, Happened.OFFSET_DELETED): Phase.RECONCILING,
        (Phase.RECONCILING, Happened.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.RECONCILING, Happened.EMPTIED): Phase.EMPTY,
        (Phase.RECONCILING, Happened.STORED): Phase.STABLE,  # converted to a classic group, the tombstones lost
        (Phase.RECONCILING, Happened.RAISED): Phase.ASSIGNING,
        (Phase.RECONCILING, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.RECONCILING, Happened.SETTLED): Phase.STABLE,
        (Phase.RECONCILING, Happened.DELETED): Phase.GONE,
        (Phase.STABLE, Happened.COMMITTED): Phase.STABLE,
        (Phase.STABLE, Happened.OFFSET_DELETED): Phase.STABLE,  # its topic was deleted under its feet
        (Phase.STABLE, Happened.CREATED): Phase.OFFSETS_ONLY,  # created anew, and the tombstone between is lost
        (Phase.STABLE, Happened.EMPTIED): Phase.EMPTY,
        (Phase.STABLE, Happened.STORED): Phase.STABLE,
        (Phase.STABLE, Happened.RAISED): Phase.ASSIGNING,
        (Phase.STABLE, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.STABLE, Happened.SETTLED): Phase.STABLE,
        (Phase.STABLE, Happened.DELETED): Phase.GONE,  # converted to a KIP-848 group: members live on, offsets stay
        (Phase.GONE, Happened.COMMITTED): Phase.OFFSETS_ONLY,  # somebody commits: it exists through its offsets
        (Phase.GONE, Happened.OFFSET_DELETED): Phase.GONE,
        (Phase.GONE, Happened.CREATED): Phase.OFFSETS_ONLY,
        (Phase.GONE, Happened.EMPTIED): Phase.EMPTY,
        (Phase.GONE, Happened.STORED): Phase.STABLE,  # created anew, or converted back
        (Phase.GONE, Happened.RAISED): Phase.ASSIGNING,
        (Phase.GONE, Happened.DIVERGED): Phase.RECONCILING,
        (Phase.GONE, Happened.SETTLED): Phase.STABLE,
        (Phase.GONE, Happened.DELETED): Phase.GONE,
    }
)
"""Every phase and every kind of event. No pair is left out as impossible: the log is data from outside, compaction may
have taken any earlier record, and a fold that refused a pair would lose a group over it."""


def entered(state: GroupState, happened: Happened, at_ms: int) -> GroupState:
    """The state in the phase that the table gives; ``phase_ms`` moves only if the phase does."""
    phase = TRANSITIONS[state.phase, happened]
    return state if phase is state.phase else replace(state, phase=phase, phase_ms=at_ms)
