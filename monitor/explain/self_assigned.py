"""How members that each compute their own share assign partitions, and why a partition has its owner."""

from __future__ import annotations

from typing import Final

from monitor.assignors.java.text import string_key
from monitor.assignors.registry import SYSTEM_OF, System
from monitor.assignors.rocketmq.message_queue import sorted_queues
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.detection.ownership.self_assigned.rocketmq import queue_of, strategy_of
from monitor.explain.statements import Judged
from monitor.messages.formatting import counted
from monitor.messages.names import listed, owner, people, shown
from monitor.model import KINDS, GroupState, Member, PartitionId, Sharing, TopicPartition

_RUNS: Final = frozenset({"AVG", "default", "range"})
_CIRCLES: Final = frozenset({"AVG_BY_CIRCLE", "roundrobin", "roundrobin of 0.8"})


NOT_EXCLUSIVE: Final = {
    Sharing.BROADCAST: "Its members use broadcasting: each consumes every partition and keeps its own offsets.",
    Sharing.BY_RECORD: (
        "The broker distributes records to its members, not partitions, so no partition has a single owner."
    ),
}

_NOT_EXACT: Final = {
    "none": "The owners are unknown: the group has no members, or one of them does not respond.",
    "invariants": "groupwatch does not know how the members assign partitions, so the reason is unknown.",
}


def sharing_told(known: Judged) -> str | None:
    """How the members assign partitions, and how groupwatch knows. None: there are no members."""
    group, expectation = known.group, known.view.expectation
    if group.sharing in NOT_EXCLUSIVE:
        return NOT_EXCLUSIVE[group.sharing]
    if expectation.kind == "none":
        return (
            "The expected owners are unknown, because some member's partitions are unknown." if group.members else None
        )
    name = shown(group.protocol or "none")
    if not KINDS[group.kind].reports_strategies:
        return _by_fit(known, name)
    if expectation.kind != "exact":
        return f"Its members report the strategy {name}, which groupwatch cannot compute for them."
    return f"Each member computes its own share. They report the strategy {name}, which groupwatch computes exactly."


def _by_fit(known: Judged, name: str) -> str:
    """For systems that do not report a group's strategy."""
    fit = known.view.expectation.fit
    if fit is None:
        return f"The configuration names the strategy {name} for its members, which groupwatch does not support."
    if fit.is_exact:
        others = [other for other in fit.fitting if other != fit.candidate]
        also = f" (and {listed(others)})" if others else ""
        ago = known.age_of(fit.since_ms)
        return f"Each member computes its own share. {name}{also} computes exactly the owners of the last {ago}."
    if known.view.expectation.kind == "exact":
        return f"Each member computes its own share with {name}, but not all members own what it assigns them."
    return (
        f"No strategy computes its owners: the nearest, {fit.candidate}, assigns "
        f"{counted(fit.differing, 'partition')} to other members. groupwatch evaluates only owners, orphaned "
        "partitions, and balance."
    )


def why_by_shares(view: AssignmentView, place: TopicPartition) -> str:
    """The sentences that explain the owner of a partition, or that its reason is unknown."""
    group, expectation = view.group, view.expectation
    if group.sharing in NOT_EXCLUSIVE:
        return NOT_EXCLUSIVE[group.sharing]
    if expectation.kind != "exact":
        return _NOT_EXACT[expectation.kind]
    owners, given = view.ownership.owners.get(place, ()), expectation.replayed.get(place, ())
    name = shown(group.protocol or "its strategy")
    if owners != given:
        return f"{name} assigns it to {owner(given)}, so its rule does not explain why it belongs to {owner(owners)}."
    if not owners:
        return _nobody(group, place)
    return " ".join(_of(view, place, member) for member in group.members if member.member_id in owners)


def _nobody(group: GroupState, place: TopicPartition) -> str:
    lacking = [member.member_id for member in group.members if place.topic not in member.topics]
    if len(lacking) == len(group.members):
        return "No member subscribes to the topic."
    if lacking and KINDS[group.kind].shares_among_all:
        return (
            f"It is in the share of a member that does not subscribe to the topic: {people(lacking, group)}. RocketMQ "
            "allocates every topic across all members of a group."
        )
    return "It is in no member's share, or no member has taken it yet."


def _of(view: AssignmentView, place: TopicPartition, member: Member) -> str:
    rule, who = _rule(view.group, member), shown(member.member_id)
    line = _line_up(view, place.topic)
    owners = view.ownership.owners
    own = [each for each in line if member.member_id in owners.get(TopicPartition(place.topic, each), ())]
    asking = _asking(view.group, place.topic)
    rank = f"{who} is number {asking.index(member.member_id) + 1} of {counted(len(asking), 'member')} sorted by id"
    of_topic = f"the {counted(len(line), 'partition')} of {shown(place.topic)}"
    if rule in _RUNS:
        return f"{rule} divides {of_topic} into consecutive runs. {rank} and takes {listed(list(map(str, own)))}."
    if rule in _CIRCLES:
        return f"{rule} assigns partitions one by one, to the members in turn. {rank}."
    return f"{rule}: the hash of the partition's name precedes a point of {who} on the ring of all members."


def _rule(group: GroupState, member: Member) -> str:
    if not KINDS[group.kind].reports_strategies:
        return group.protocol or ""
    strategy = strategy_of(member)
    return strategy.name if strategy is not None else ""


def _asking(group: GroupState, topic: str) -> list[str]:
    """The members that divide the topic: for RocketMQ all members, else its subscribers."""
    is_for_all = KINDS[group.kind].shares_among_all
    return sorted((m.member_id for m in group.members if is_for_all or topic in m.topics), key=string_key)


def _line_up(view: AssignmentView, topic: str) -> list[PartitionId]:
    """The partitions with an owner, in the order in which the strategies look at them."""
    own = [place.partition for place in view.ownership.owners if place.topic == topic]
    if SYSTEM_OF[view.group.kind] is System.ROCKETMQ:
        names = {queue: each for each in own if (queue := queue_of(topic, each)) is not None}
        return [names[queue] for queue in sorted_queues(names)]
    return sorted(own)
