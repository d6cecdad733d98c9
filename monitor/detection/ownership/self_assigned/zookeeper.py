"""The consumers of Kafka 0.8 to 0.10 that share partitions by ZooKeeper: each takes its part for each of its threads.

A member is a thread here, as owners are: ``<consumer>-<number>``, with the consumer as its client id. Which assignor a
consumer has is written nowhere (docs of monitor.assignors.kafka_zookeeper).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.assignors import UnknownAssignor, find
from monitor.assignors.kafka_zookeeper.group import Pattern, Registration, ZooKeeperGroup, ZooKeeperTopic
from monitor.assignors.registry import System
from monitor.detection.ownership.inference import Candidate, zookeeper_candidates
from monitor.model import GroupState, Member, PartitionId, numbers


def candidates(group: GroupState, partitions: Mapping[str, Sequence[PartitionId]]) -> tuple[Candidate, ...]:
    """What each assignor gives, or the one that the deployment says the group has: of ``roundrobin``, both releases'.

    Topics are those that exist, so lists of topics need not be matched again: a thread's topics are what it reads.
    """
    topics = tuple(ZooKeeperTopic(topic=topic, partitions=numbers(tuple(own))) for topic, own in partitions.items())
    asked = ZooKeeperGroup(registrations=registrations(group.members, partitions), topics=topics)
    every = zookeeper_candidates(asked)
    if group.protocol is None:
        return every
    found = find(group.protocol, System.KAFKA_ZOOKEEPER)
    name = None if isinstance(found, UnknownAssignor) else found.name
    return tuple(each for each in every if name is not None and each.name.split()[0] == name)


def registrations(
    members: Sequence[Member], partitions: Mapping[str, Sequence[PartitionId]]
) -> tuple[Registration, ...]:
    """The consumers as they registered: of each topic as many streams as threads of theirs read it."""
    streams: dict[str, dict[str, int]] = {}
    for member in members:
        own = streams.setdefault(consumer_of(member), {})
        for topic in member.topics:
            if topic in partitions:
                own[topic] = own.get(topic, 0) + 1
    return tuple(
        Registration(consumer=consumer, pattern=Pattern.STATIC, subscription=own) for consumer, own in streams.items()
    )


def consumer_of(thread: Member) -> str:
    """The consumer whose thread it is."""
    return thread.client_id or thread.member_id.rpartition("-")[0]


def is_told(group: GroupState) -> bool:
    """Whether the assignor is known, and not found by what fits."""
    return group.protocol is not None
