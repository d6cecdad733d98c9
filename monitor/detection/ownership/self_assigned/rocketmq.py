"""RocketMQ: each member takes its share of every topic's queues by its own strategy, over all members of the group.

Every 20 s, a client goes through the topics that it subscribes to (``RebalanceImpl.rebalanceByTopic``, 4.9 and 5.x).
It sorts each topic's queues and the ids of *all* clients of the group, and computes its own share by its strategy.
Nothing checks that the shares fit together. So if a client does not subscribe to a topic, its share of that topic has
no owner; and if two clients have different strategies, some queues are taken twice and others never. Brokers list a
client id for each of its connections: clients with the same id all take its first share, and nobody the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from monitor.assignors import UnknownAssignor, find
from monitor.assignors.registry import System
from monitor.assignors.rocketmq.averagely import Averagely
from monitor.assignors.rocketmq.averagely_by_circle import AveragelyByCircle
from monitor.assignors.rocketmq.message_queue import MessageQueue, sorted_clients, sorted_queues
from monitor.assignors.rocketmq.strategy import Strategy
from monitor.detection.ownership.inference import Candidate, OwnersOf, Place, best_fit
from monitor.model import GroupState, Member, PartitionId, TopicPartition, TopicPartitions
from monitor.model.silent_members import answered_holdings, presumed_holdings

Partitions = Mapping[str, Sequence[PartitionId]]
"""Partitions by topic."""

MOST_DIGITS: Final = 10
"""The digits of a queue's number, which is an int of Java."""

WITHOUT_ARGUMENTS: Final = (Averagely, AveragelyByCircle)
"""Strategies whose result depends on queues and clients alone. The arguments of the others cannot be queried."""


def queue_of(topic: str, partition: PartitionId) -> MessageQueue | None:
    """The queue that is written ``<broker>-<number>``; None if it is not written so.

    >>> queue_of("T", "broker-a-3"), queue_of("T", "broker-a")
    (MessageQueue(topic='T', broker='broker-a', queue_id=3), None)
    """
    broker, _, number = str(partition).rpartition("-")
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        return None
    return MessageQueue(topic, broker, int(number))


def candidates(group: GroupState, partitions: Partitions) -> tuple[Candidate, ...]:
    """What the members take, each by its own strategy; nothing if the strategy of one of them is not ours.

    Nothing either where a partition has a name that no queue has. Of ids with several connections, what the members
    hold shows whether these still count: of a client that was lost, a broker may keep one for a while.
    """
    once = _shares(group, partitions, [member.member_id for member in group.members])
    if once is None:
        return ()
    name = ", ".join(strategies(group))
    repeated = [each.member_id for each in group.members for _ in range(each.connections)]
    if len(repeated) == len(group.members):
        return (Candidate(name, once),)
    options = (once, _shares(group, partitions, repeated) or once)
    fit = best_fit([Candidate(str(at), owners) for at, owners in enumerate(options)], _holdings(group), 0)
    return (Candidate(name, options[int(fit.candidate)] if fit else once),)


def _holdings(group: GroupState) -> OwnersOf:
    held: dict[Place, list[str]] = {}
    for member in group.members:
        for entry in member.assigned:
            for partition in entry.partitions:
                held.setdefault(Place(entry.topic, str(partition)), []).append(member.member_id)
    return {place: tuple(sorted(names)) for place, names in held.items()}


def _shares(group: GroupState, partitions: Partitions, ids: Iterable[str]) -> OwnersOf | None:
    """The owners of all queues with these client ids; None: they cannot be computed."""
    rules = {member.member_id: strategy_of(member) for member in group.members}
    if not rules or any(rule is None for rule in rules.values()):
        return None
    clients = sorted_clients(ids)
    taken: dict[Place, list[str]] = {}
    for topic, own in partitions.items():
        names = {queue: str(each) for each in own if (queue := queue_of(topic, each)) is not None}
        if len(names) < len(own):
            return None
        queues = sorted_queues(names)
        for rule in dict.fromkeys(rule for rule in rules.values() if rule is not None):
            asking = [m.member_id for m in group.members if topic in m.topics and rules[m.member_id] == rule]
            for share in rule.allocate(queues, clients, asking) if queues else ():
                if share.error is not None or share.queues is None:
                    return None
                for queue in share.queues:
                    taken.setdefault(Place(topic, names[queue]), []).append(share.client)
    return {place: tuple(sorted(set(names))) for place, names in taken.items()}


def strategies(group: GroupState) -> tuple[str, ...]:
    """The names that the members give, each once, sorted: the simple names of Java's classes."""
    return tuple(sorted({member.assignor for member in group.members if member.assignor is not None}))


def is_told(group: GroupState) -> bool:
    """Whether the strategies that the members name are all that has to be known of them."""
    return all(isinstance(strategy_of(member), WITHOUT_ARGUMENTS) for member in group.members)


def strategy_of(member: Member) -> Strategy | None:
    """The member's strategy, with the arguments that it has by default; None if it is not known or not ours."""
    found = find(member.assignor, System.ROCKETMQ)
    return None if isinstance(found, UnknownAssignor) else found


def with_presumed(group: GroupState, partitions: Partitions) -> GroupState:
    """The group with what members that do not answer are presumed to hold.

    That is what they were known to hold. Otherwise it is their share by the strategy and the topics that all others
    have in common, as far as no other holds it. If that is not known, the member counts as one that cannot be read.
    """
    silent = [member for member in group.members if not member.answers]
    if not silent:
        return group
    others = [member for member in group.members if member.answers]
    asked = replace(group, members=tuple(_like_the_others(member, others) for member in group.members))
    shares = candidates(asked, partitions) if _is_whole(asked.members) else ()
    held = answered_holdings(others)
    members = (
        member if member.answers else _with_share(member, shares[0].owners if shares else None, held)
        for member in asked.members
    )
    return replace(group, members=tuple(members))


def _like_the_others(member: Member, others: Sequence[Member]) -> Member:
    strategies, topics = {other.assignor for other in others}, {other.topics for other in others}
    if member.answers:
        return member
    return replace(
        member,
        assignor=member.assignor or (strategies.pop() if len(strategies) == 1 else None),
        topics=member.topics or (topics.pop() if len(topics) == 1 else ()),
    )


def _is_whole(members: Iterable[Member]) -> bool:
    return all(member.topics and member.assignor is not None for member in members)


def _with_share(member: Member, shares: OwnersOf | None, held: AbstractSet[TopicPartition]) -> Member:
    if member.assigned:
        return member
    if shares is None:
        return replace(member, unreadable="it does not answer")
    own: dict[str, list[PartitionId]] = {}
    for place, owners in shares.items():
        if member.member_id in owners:
            own.setdefault(place.topic, []).append(place.partition)
    share = [TopicPartitions(topic, tuple(sorted(own[topic]))) for topic in sorted(own)]
    return replace(member, assigned=presumed_holdings(share, held))
