"""The records of a classic group, one after the other: a completed generation, or the end of the group."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import (
    GroupDeleted,
    GroupKind,
    GroupState,
    MembershipChange,
    MembershipStored,
    Phase,
    Rebalance,
    RebalanceCause,
)
from monitor.tracking.classic.causes import classic_rebalance, static_restart
from monitor.tracking.classic.moves import Moves, moves_between
from monitor.tracking.phases import Happened, entered
from monitor.tracking.rebalances.history import recorded
from monitor.tracking.rebalances.in_progress import left_of

_COUNTED: Final = frozenset({Phase.STABLE, Phase.EMPTY})  # the phases whose membership record tells a generation


def stored(state: GroupState, event: MembershipStored) -> GroupState:
    """The group after a generation was stored. See fold_group for what counts as a rebalance."""
    before = _as_classic(state)
    happened = _what_was_stored(event)
    rewritten = before.phase in _COUNTED and event.generation == before.generation
    counted = happened is not Happened.CREATED and not rewritten
    moves = _moves(before, event) if counted else Moves(released=before.released)
    rebalance = classic_rebalance(before, event) if counted else static_restart(before, event) if rewritten else None
    if counted and rebalance is not None:
        rebalance = replace(rebalance, moved=moves.moved, avoidable=moves.avoidable)
    return replace(
        _remembering(entered(before, happened, event.stored_ms), rebalance),
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        leader=event.leader,
        generation=event.generation,
        generation_ms=before.generation_ms if rewritten else event.stored_ms,
        members=event.members,
        rebalances=before.rebalances + counted,
        pending=(),
        released=moves.released,
        sampled=left_of(before.sampled, event.stored_ms),
    )


def _moves(before: GroupState, event: MembershipStored) -> Moves:
    """None where it cannot be known who had what, and none by a generation that only emptied the group."""
    members = (*before.members, *event.members)
    if not event.members or any(m.unreadable is not None and not m.assignment_read for m in members):
        return Moves()
    return moves_between(before.members, before.released, event.members)


def deleted(state: GroupState, event: GroupDeleted) -> GroupState:
    """The group without its classic records: deleted, or converted to a KIP-848 group if it had members."""
    if state.kind is not GroupKind.CLASSIC:
        return state  # it was converted long ago, and compaction has only now come by
    converted = (MembershipChange(cause=RebalanceCause.UPGRADE),) if state.members else ()
    return forgotten(entered(state, Happened.DELETED, event.deleted_ms), pending=converted)


def forgotten(
    state: GroupState, *, kind: GroupKind = GroupKind.CLASSIC, pending: tuple[MembershipChange, ...] = ()
) -> GroupState:
    """The group without members and all that belongs to one kind of group; phase and rebalances stay."""
    return GroupState(
        cluster=state.cluster,
        group=state.group,
        phase=state.phase,
        phase_ms=state.phase_ms,
        offsets=state.offsets,
        rebalances=state.rebalances,
        history=state.history,
        earlier_ms=state.earlier_ms,
        kind=kind,
        pending=pending,
        moved_partitions=state.moved_partitions,
        avoidable_moves=state.avoidable_moves,
        rebalance_ms=state.rebalance_ms,
        redelivered_records=state.redelivered_records,
        pause_ms=state.pause_ms,
        burst_records=state.burst_records,
    )


def _as_classic(state: GroupState) -> GroupState:
    return state if state.kind is GroupKind.CLASSIC else forgotten(state)


def _remembering(state: GroupState, rebalance: Rebalance | None) -> GroupState:
    return state if rebalance is None else recorded(state, rebalance)


def _what_was_stored(event: MembershipStored) -> Happened:
    if event.members:
        return Happened.STORED
    return Happened.EMPTIED if event.protocol_type else Happened.CREATED
