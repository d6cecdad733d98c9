"""Why a group has a new generation, from two of them: the generation before and the one after.

The log does not show what a member did, only who the members of each completed generation are. So a member that left
and one that timed out look alike, except static members: those do not leave when they close (KIP-345).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.model import (
    GroupState,
    Member,
    Phase,
    Rebalance,
    RebalanceCause,
)
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.history import ordered_causes
from monitor.tracking.rebalances.moves import member_identity, partitions_of


def rebalance_between(before: GroupState, generation: Generation) -> Rebalance:
    """The completed rebalance that this generation is the outcome of, the group having been in the state before it."""
    gone = _by_id(before.members, without=generation.members)
    new = _by_id(generation.members, without=before.members)
    restarted = _instance_ids(gone.values()) & _instance_ids(new.values())
    left = [member for member in gone.values() if member.instance_id not in restarted]
    joined = [member for member in new.values() if member.instance_id not in restarted]
    causes = _conversion_causes(before) or [
        *_membership_causes(joined, left, restarted=bool(restarted)),
        *_subscription_causes(before, generation),
    ]
    if _begins_mid_life(before, generation):
        causes = []
    elif not causes:
        causes = _assignment_causes(before.members, generation.members)
    return Rebalance(
        generation=generation.number,
        started_ms=generation.started_ms,
        ended_ms=generation.ended_ms,
        causes=ordered_causes(causes),
        joined=len(joined),
        left=len(left),
        is_first=not before.members,
    )


def static_restart(before: GroupState, generation: Generation) -> Rebalance | None:
    """The same generation rewritten because static members came back under new ids; None if it was something else.

    No member had to stop for it, so it is no rebalance by itself (GroupCoordinator: a static member that rejoins with
    an unchanged subscription while the group is stable).
    """
    gone = _by_id(before.members, without=generation.members)
    new = _by_id(generation.members, without=before.members)
    if not _instance_ids(gone.values()) & _instance_ids(new.values()):
        return None
    return static_restart_at(generation.number, generation.ended_ms)


def static_restart_at(generation: int, at_ms: int) -> Rebalance:
    """A static member took its old place under a new id in this generation, or epoch: no member had to stop for it."""
    return Rebalance(generation=generation, started_ms=at_ms, ended_ms=at_ms, causes=(RebalanceCause.STATIC_RESTART,))


def removal_cause(member: Member) -> RebalanceCause:
    """Why a member of a classic group is gone."""
    return RebalanceCause.LEAVE if member.instance_id is None else RebalanceCause.TIMEOUT


def _conversion_causes(before: GroupState) -> list[RebalanceCause]:
    return [change.cause for change in before.pending if change.cause is RebalanceCause.DOWNGRADE]


def _membership_causes(joined: list[Member], left: list[Member], *, restarted: bool) -> list[RebalanceCause]:
    causes = [removal_cause(member) for member in left]
    if joined:
        causes.append(RebalanceCause.JOIN)
    if restarted:
        causes.append(RebalanceCause.STATIC_RESTART)
    return causes


def _subscription_causes(before: GroupState, generation: Generation) -> list[RebalanceCause]:
    known = {member_identity(member): member for member in before.members}
    causes = []
    if any(
        set(known[name].topics) != set(m.topics) for m in generation.members if (name := member_identity(m)) in known
    ):
        causes.append(RebalanceCause.SUBSCRIPTION)
    if before.protocol and generation.protocol and before.protocol != generation.protocol:
        causes.append(RebalanceCause.ASSIGNOR)
    return causes


def _assignment_causes(before: tuple[Member, ...], after: tuple[Member, ...]) -> list[RebalanceCause]:
    """Nothing is known to have changed but the partitions that were given out.

    What a cooperative assignor holds back had an owner when it did (KIP-429); what a topic gained had none.
    """
    had = set(partitions_of(topics for member in before for topics in member.assigned))
    have = set(partitions_of(topics for member in after for topics in member.assigned))
    if had == have:
        return []
    given_back = set(partitions_of(topics for member in before for topics in member.owned))
    return [RebalanceCause.HANDOVER if had < have and have - had <= given_back else RebalanceCause.TOPICS]


def _begins_mid_life(before: GroupState, generation: Generation) -> bool:
    """Whether the log was first read in the middle of this group's life."""
    return before.phase is Phase.UNSEEN and generation.number > 1


def _by_id(members: tuple[Member, ...], *, without: tuple[Member, ...]) -> Mapping[str, Member]:
    others = {member.member_id for member in without}
    return {member.member_id: member for member in members if member.member_id not in others}


def _instance_ids(members: Iterable[Member]) -> set[str | None]:
    return {member.instance_id for member in members} - {None}
