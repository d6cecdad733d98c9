"""The members of a group from generation to generation, for all groups whose members change all at once.

A classic group's log has a record of each generation; what a collector polls as a whole has a new one when two polls
differ. Both are the same here: who came and went, what moved, and what had to.
"""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import DEFAULT_KIND, GroupKind, GroupState, MembershipChange
from monitor.model.static_ids import StaticIdRun
from monitor.tracking.phases import enter_phase, generation_phase_event
from monitor.tracking.rebalances.causes import rebalance_between
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.history import record_rebalance
from monitor.tracking.rebalances.in_progress import sample_after_generation
from monitor.tracking.rebalances.moves import Moves, moves_between
from monitor.tracking.rebalances.static_ids import with_replacements
from monitor.tracking.rebalances.subscription_changes import changes_between


def with_rebalance(before: GroupState, generation: Generation) -> GroupState:
    """The group in its next generation, with the rebalance between the two at the end of its history."""
    moves = _moves(before, generation)
    rebalance = replace(
        rebalance_between(before, generation),
        moved=moves.moved,
        avoidable=moves.avoidable,
        subscriptions=changes_between(before, generation),
    )
    happened = generation_phase_event(has_members=bool(generation.members))
    after = record_rebalance(enter_phase(before, happened, generation.ended_ms), rebalance)
    return replace(
        with_generation(after, generation),
        generation_ms=generation.ended_ms,
        rebalances=before.rebalances + 1,
        released=moves.released,
    )


def with_generation(state: GroupState, generation: Generation) -> GroupState:
    """The group with the members of the generation; nothing is counted as a rebalance."""
    return replace(
        state,
        protocol_type=generation.protocol_type,
        protocol=generation.protocol,
        leader=generation.leader,
        generation=generation.number,
        members=generation.members,
        pending=(),
        sampled=sample_after_generation(state.sampled, generation.ended_ms),
        left_topics=() if generation.members else topics_left(state),
        static_ids=_static_ids(state, generation),
    )


def _static_ids(before: GroupState, generation: Generation) -> tuple[StaticIdRun, ...]:
    if all(member.instance_id is None for member in (*before.members, *generation.members)):  # as in most groups
        return before.static_ids
    old, new = ({member.member_id for member in each} for each in (before.members, generation.members))
    gone = [member for member in before.members if member.member_id not in new]
    come = [member for member in generation.members if member.member_id not in old]
    return with_replacements(before.static_ids, gone, come, generation.ended_ms)


def topics_left(before: GroupState) -> tuple[str, ...]:
    """The topics to which the group's last members subscribed, now that there are none; sorted."""
    if not before.members:
        return before.left_topics
    resolved = {regex.regex: regex.topics for regex in before.regexes}
    topics = {topic for member in before.members for topic in (*member.topics, *resolved.get(member.regex or "", ()))}
    return tuple(sorted(topics))


def without_membership(
    state: GroupState, *, kind: GroupKind = DEFAULT_KIND, pending: tuple[MembershipChange, ...] = ()
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
        source=state.source,
        fastest=state.fastest,
    )


def _moves(before: GroupState, generation: Generation) -> Moves:
    """None where it cannot be known who had what, and none by a generation that only emptied the group."""
    members = (*before.members, *generation.members)
    if not generation.members or any(m.unreadable is not None and not m.assignment_read for m in members):
        return Moves()
    return moves_between(before.members, before.released, generation.members)
