"""How a group's members share partitions and why one belongs to whom it belongs, where each works out its own share."""

from __future__ import annotations

from typing import Final

from monitor.assignors.java.text import string_key
from monitor.assignors.rocketmq.message_queue import sorted_queues
from monitor.detection.ownership.assignment_view import Standing
from monitor.detection.ownership.self_assigned.rocketmq import queue_of, strategy_of
from monitor.explain.statements import Judged
from monitor.messages.names import counted, listed, owner, people, shown
from monitor.model import GroupKind, GroupState, Member, PartitionId, Sharing, TopicPartition

_RUNS: Final = frozenset({"AVG", "default", "range"})
_CIRCLES: Final = frozenset({"AVG_BY_CIRCLE", "roundrobin", "roundrobin of 0.8"})


NOT_EXCLUSIVE: Final = {
    Sharing.BROADCAST: "Its members broadcast: each reads every partition and keeps its offsets for itself.",
    Sharing.BY_RECORD: "The broker hands out records to its members, not partitions, so no partition has one owner.",
}

_NOT_EXACT: Final = {
    "none": "Who owns what is not known: the group has no members, or one of them does not answer.",
    "invariants": "How the members share partitions is not known, so why cannot be told.",
}


def sharing_told(known: Judged) -> str | None:
    """How the members share partitions, and how that is known. None: there are no members."""
    group, expectation = known.group, known.standing.expectation
    if group.sharing in NOT_EXCLUSIVE:
        return NOT_EXCLUSIVE[group.sharing]
    if expectation.kind == "none":
        return "Who should own what cannot be judged: what some member holds is not known." if group.members else None
    name = shown(group.protocol or "none")
    if group.kind is not GroupKind.ROCKETMQ:
        return _by_fit(known, name)
    if expectation.kind != "exact":
        return f"Its members share partitions by {name}, as they say, which cannot be computed here for them."
    return f"Each member takes its own share, by {name} as they say, which is computed here exactly."


def _by_fit(known: Judged, name: str) -> str:
    """Of systems that do not tell a group's strategy."""
    fit = known.standing.expectation.fit
    if fit is None:
        return f"The configuration says that its members share by {name}, which groupwatch does not have."
    if fit.is_exact:
        others = [other for other in fit.fitting if other != fit.candidate]
        also = f" (and {listed(others)})" if others else ""
        ago = known.age_of(fit.since_ms)
        return f"Each member takes its own share: {name}{also} gives exactly the owners that it has had for {ago}."
    if known.standing.expectation.kind == "exact":
        return f"Each member takes its own share, by {name}, but not all have what that gives them."
    return (
        f"No strategy gives the owners that it has: the nearest, {fit.candidate}, gives "
        f"{counted(fit.differing, 'partition')} to others. So only owners, orphans and balance are judged."
    )


def why_by_shares(standing: Standing, place: TopicPartition) -> str:
    """The sentences that say why the owner of a partition is who it is, or that this cannot be told."""
    group, expectation = standing.group, standing.expectation
    if group.sharing in NOT_EXCLUSIVE:
        return NOT_EXCLUSIVE[group.sharing]
    if expectation.kind != "exact":
        return _NOT_EXACT[expectation.kind]
    owners, given = standing.ownership.owners.get(place, ()), expectation.replayed.get(place, ())
    name = shown(group.protocol or "its strategy")
    if owners != given:
        return f"{name} gives it to {owner(given)}, so why it belongs to {owner(owners)} cannot be told by its rule."
    if not owners:
        return _nobody(group, place)
    return " ".join(_of(standing, place, member) for member in group.members if member.member_id in owners)


def _nobody(group: GroupState, place: TopicPartition) -> str:
    lacking = [member.member_id for member in group.members if place.topic not in member.topics]
    if len(lacking) == len(group.members):
        return "No member subscribes to the topic."
    if lacking and group.kind is GroupKind.ROCKETMQ:
        return (
            f"It is in the share of a member that does not subscribe to the topic: {people(lacking, group)}. RocketMQ "
            "shares every topic over all members of a group."
        )
    return "It is in no member's share, or none has taken it yet."


def _of(standing: Standing, place: TopicPartition, member: Member) -> str:
    rule, who = _rule(standing.group, member), shown(member.member_id)
    line = _line_up(standing, place.topic)
    owners = standing.ownership.owners
    own = [each for each in line if member.member_id in owners.get(TopicPartition(place.topic, each), ())]
    asking = _asking(standing.group, place.topic)
    rank = f"{who} is number {asking.index(member.member_id) + 1} of {counted(len(asking), 'member')} sorted by id"
    of_topic = f"the {counted(len(line), 'partition')} of {shown(place.topic)}"
    if rule in _RUNS:
        return f"{rule}: {of_topic} are cut into runs; {rank} and takes {listed(list(map(str, own)))}."
    if rule in _CIRCLES:
        return f"{rule}: partitions are dealt out one by one, round the members; {rank}."
    return f"{rule}: the hash of the partition's name lies before one of {who} on the ring of all members."


def _rule(group: GroupState, member: Member) -> str:
    if group.kind is not GroupKind.ROCKETMQ:
        return group.protocol or ""
    strategy = strategy_of(member)
    return strategy.name if strategy is not None else ""


def _asking(group: GroupState, topic: str) -> list[str]:
    """Over whom the topic is shared: of RocketMQ all members, else those that subscribe to it."""
    everybody = group.kind is GroupKind.ROCKETMQ
    return sorted((m.member_id for m in group.members if everybody or topic in m.topics), key=string_key)


def _line_up(standing: Standing, topic: str) -> list[PartitionId]:
    """The partitions that somebody has, in the order in which the strategies look at them."""
    own = [place.partition for place in standing.ownership.owners if place.topic == topic]
    if standing.group.kind is GroupKind.ROCKETMQ:
        names = {queue: each for each in own if (queue := queue_of(topic, each)) is not None}
        return [names[queue] for queue in sorted_queues(names)]
    return sorted(own)
