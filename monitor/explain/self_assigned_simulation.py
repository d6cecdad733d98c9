"""A group whose members each compute their own share, prepared for a simulation with other members."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from monitor.assignors import UnknownAssignor
from monitor.assignors.registry import SYSTEM_OF, find_any, offered_names
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.inference import Candidate
from monitor.detection.ownership.self_assigned.groups import Partitions, offered, owners_of, partitions_now
from monitor.explain.self_assigned import NOT_EXCLUSIVE
from monitor.explain.simulation import Roster
from monitor.messages.names import listed, shown, shown_group
from monitor.model import KINDS, GroupKind, GroupState, Member, MemberAssignment, PartitionId, TopicPartitions


def own_roster(inputs: GroupInputs) -> Roster:
    """The group ready to share its partitions again; ``group.protocol`` is the strategy that it has, if that is known.

    Raises:
        QuestionError: it has no members, they share no partitions, or what one of them holds is not known.
    """
    view = view_assignment(inputs.group, inputs.catalog)
    group, name = view.group, shown_group(inputs.group.group)
    if group.sharing in NOT_EXCLUSIVE:
        raise QuestionError(f"Group {name} does not assign partitions to single owners. {NOT_EXCLUSIVE[group.sharing]}")
    if not group.members:
        raise QuestionError(f"Group {name} has no members (it is {group.phase.value}), so there is nothing to assign.")
    if not view.ownership.complete:
        raise QuestionError(f"A member of group {name} does not respond, and its partitions are unknown.")
    assumed = ["All members see the same members and partitions, as they are now."]
    if KINDS[group.kind].shares_among_all:
        assumed.append("A share that falls to a member without a subscription to the topic has no owner.")
    return Roster(
        group=group,
        catalog=inputs.catalog,
        members=group.members,
        owners=view.ownership.owners,
        counts={},
        assumptions=tuple(assumed),
    )


def strategy_for(roster: Roster, name: str | None) -> str | None:
    """The strategy of this name, or the group's own; None: each member of RocketMQ has its own, which is kept.

    Raises:
        QuestionError: it is not known, or groupwatch does not have it.
    """
    group = roster.group
    names = listed(offered_names(SYSTEM_OF[group.kind]))
    if name is None and group.protocol is None:
        raise QuestionError(f"The group's strategy is unknown. Choose one with --assignor: {names}.")
    own = [m.assignor for m in group.members] if KINDS[group.kind].reports_strategies else [_rule_of(group.protocol)]
    unknown = [each for each in (own if name is None else [name]) if not _is_ours(group.kind, each)]
    if unknown:
        raise QuestionError(
            f"groupwatch does not support the strategy {shown(unknown[0] or 'none')} for this group; it supports "
            f"{names}."
        )
    return name if KINDS[group.kind].reports_strategies else name or group.protocol


def _rule_of(fitting: str | None) -> str | None:
    """The rule in the name of what fits: ``roundrobin of 0.8`` is a roundrobin."""
    return None if fitting is None else fitting.split(" ")[0]


def _is_ours(kind: GroupKind, name: str | None) -> bool:
    return not isinstance(find_any(name, SYSTEM_OF[kind]), UnknownAssignor)


def shared(roster: Roster, members: Sequence[Member], strategy: str | None) -> tuple[MemberAssignment, ...]:
    """What each of the members takes of the partitions that there are now.

    Raises:
        QuestionError: the strategy fails, or the members cannot be those of a group.
    """
    group = _with(roster.group, members, strategy)
    partitions = partitions_of(roster)
    given = [each for each in offered(group, partitions) if each.owners is not None]
    if not given:
        raise QuestionError("The members' strategies compute no assignment for this group.")
    owners = owners_of(_named(given, strategy).owners or {}, partitions)
    ids = {member.member_id for member in members}
    strangers = sorted({owner for owners_ in owners.values() for owner in owners_} - ids)
    if strangers:
        raise QuestionError(
            f"Threads of a consumer are numbered from 0, so {listed(strangers)} would still exist. Remove whole "
            "consumers, or their last threads."
        )
    return tuple(_assignment(member.member_id, owners) for member in members)


def partitions_of(roster: Roster) -> Partitions:
    """The partitions that the group's members subscribe."""
    return partitions_now(roster.catalog, frozenset[str]().union(*[member.topics for member in roster.members]))


def _with(group: GroupState, members: Sequence[Member], strategy: str | None) -> GroupState:
    if not KINDS[group.kind].reports_strategies:
        return replace(group, members=tuple(members), protocol=_rule_of(strategy))
    usual = group.members[0].assignor
    return replace(group, members=tuple([replace(m, assignor=strategy or m.assignor or usual) for m in members]))


def _named(given: Sequence[Candidate], strategy: str | None) -> Candidate:
    return next((each for each in given if each.name == strategy), given[0])


def _assignment(member_id: str, owners: Owners) -> MemberAssignment:
    held: dict[str, list[PartitionId]] = {}
    for place in sorted(owners):
        if member_id in owners[place]:
            held.setdefault(place.topic, []).append(place.partition)
    return MemberAssignment(
        member_id=member_id, topics=tuple(TopicPartitions(topic, tuple(own)) for topic, own in held.items())
    )
