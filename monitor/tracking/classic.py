"""The records of a classic group, one after the other: a completed generation, or the end of the group."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import (
    KINDS,
    GroupDeleted,
    GroupState,
    Member,
    MembershipChange,
    MembershipStored,
    Phase,
    RebalanceCause,
)
from monitor.tracking.phases import PhaseEvent, enter_phase, generation_phase_event
from monitor.tracking.rebalances.causes import static_restart
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.history import record_rebalance
from monitor.tracking.rebalances.membership import with_generation, with_rebalance, without_membership
from monitor.tracking.rebalances.moves import member_identity

_PHASES_WITH_GENERATION: Final = frozenset(
    {Phase.STABLE, Phase.EMPTY}
)  # the phases whose membership record tells a generation


def store_membership(state: GroupState, event: MembershipStored) -> GroupState:
    """The group after a generation was stored. See fold_group for what counts as a rebalance."""
    before = state if KINDS[state.kind].has_generations else without_membership(state)
    generation = _generation(event)
    happened = generation_phase_event(has_members=bool(event.members), has_protocol_type=bool(event.protocol_type))
    rewritten = before.phase in _PHASES_WITH_GENERATION and event.generation == before.generation
    if rewritten:
        return _rewrite_generation(before, generation, happened)
    if happened is PhaseEvent.CREATED:
        created = with_generation(enter_phase(before, PhaseEvent.CREATED, event.stored_ms), generation)
        return replace(created, generation_ms=event.stored_ms)
    return with_rebalance(before, generation)


def delete_group(state: GroupState, event: GroupDeleted) -> GroupState:
    """The group without its classic records: deleted, or converted to a KIP-848 group if it had members."""
    if not KINDS[state.kind].has_generations:
        return state  # it was converted long ago, and compaction has only now come by
    converted = (MembershipChange(cause=RebalanceCause.UPGRADE),) if state.members else ()
    return without_membership(enter_phase(state, PhaseEvent.DELETED, event.deleted_ms), pending=converted)


def _rewrite_generation(before: GroupState, generation: Generation, happened: PhaseEvent) -> GroupState:
    """The same generation stored once more, mostly as a static member came back: no new generation, no moves."""
    state = enter_phase(before, happened, generation.ended_ms)
    restart = static_restart(before, generation)
    members = _with_assignors_inputs(before.members, generation)
    return with_generation(
        state if restart is None else record_rebalance(state, restart), replace(generation, members=members)
    )


def _with_assignors_inputs(before: tuple[Member, ...], after: Generation) -> tuple[Member, ...]:
    """The members with what the assignor was given of each, in the order of before.

    A static member that came back has another id, and says that it owns nothing. The coordinator asked no assignor: it
    gave the member what its predecessor had (GroupCoordinator, ``updateStaticMemberThenRebalanceOrCompleteJoin``).
    """
    known = {member_identity(member): (place, member) for place, member in enumerate(before)}
    ordered = sorted(after.members, key=lambda member: known.get(member_identity(member), (len(known), member))[0])
    return tuple([_as_joined(member, known.get(member_identity(member)), after.ended_ms) for member in ordered])


def _as_joined(member: Member, known: tuple[int, Member] | None, at_ms: int) -> Member:
    if known is None:
        return member
    former = known[1]
    joined_as = former.joined_as or former.member_id
    return replace(
        member,
        generation=former.generation,
        owned=former.owned,
        user_data=former.user_data,
        joined_as=None if joined_as == member.member_id else joined_as,
        returned_ms=former.returned_ms if former.member_id == member.member_id else at_ms,
    )


def _generation(event: MembershipStored) -> Generation:
    return Generation(
        number=event.generation,
        members=event.members,
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        started_ms=event.stored_ms if event.state_ms is None else min(event.state_ms, event.stored_ms),
        ended_ms=event.stored_ms,
        leader=event.leader,
    )
