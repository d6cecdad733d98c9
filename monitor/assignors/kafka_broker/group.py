"""A group as the coordinator's assignors see it.

In this package a member is named by its *number*, its position in the coordinator's map of members, and a topic by its
*index* among the topics of the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.hash import integer_hash, uuid_hash
from monitor.assignors.java.order import hash_map_order, hash_set_copy_order
from monitor.assignors.java.tree_bins import TREE_SIZE
from monitor.assignors.java.uuid import Uuid, parse_uuid
from monitor.model import Assignment, Member, MemberAssignment, TopicPartitions, TopicShape, Value, numbers


class SubscriptionType(StrEnum):
    """Whether all members subscribe to the same topics; the coordinator knows it and passes it to the assignor."""

    HOMOGENEOUS = "HOMOGENEOUS"
    HETEROGENEOUS = "HETEROGENEOUS"


class BrokerTopic(Value):
    """A topic of the cluster. ``partitions`` None: its metadata has gone."""

    name: str
    uuid: Uuid
    partitions: int | None


class Holding(Value):
    """What a member has of a topic in the current target assignment, in the order of a Java set."""

    topic: int
    partitions: tuple[int, ...]


class BrokerGroup(Value):
    """A group. By number: ``member_ids``, ``asked``, ``names_asked``, ``held``."""

    topics: tuple[BrokerTopic, ...]
    member_ids: tuple[str, ...]
    asked: tuple[tuple[int, ...], ...]
    """The topics that a member subscribes to, in the order of a Java set of their names; unknown names are left out."""
    names_asked: tuple[int, ...]
    """How many names a member subscribes to, unknown ones included: the size of a set that Java creates."""
    held: tuple[tuple[Holding, ...], ...]
    """What a member has, topics in the order of a Java map of their ids."""
    subscription_type: SubscriptionType

    def in_map_order(self, topics: Iterable[int], capacity: int | None = None) -> list[int]:
        """The topics in the order of a Java map of their ids, which was filled in the order given."""
        return _in_map_order(self.topics, topics, capacity)

    def count(self, topic: int) -> int:
        """How many partitions the topic has.

        Raises:
            AssignorError: its metadata has gone.
        """
        count = self.topics[topic].partitions
        if count is None:
            raise AssignorError(
                "PartitionAssignorException",
                f"Members are subscribed to topic {self.topics[topic].uuid} which doesn't exist in the topic metadata.",
            )
        return count


def form_group(
    members: Sequence[Member], topics: Sequence[TopicShape], subscription_type: SubscriptionType | None
) -> BrokerGroup:
    """The group, from members in the order of the coordinator's map.

    Args:
        members: distinct.
        topics: those that have an id count; a negative number of partitions means that the metadata has gone.
        subscription_type: None: found out as the coordinator does, by the names in the subscriptions.
    """
    shapes = [shape for shape in topics if shape.topic_id is not None]
    index = {shape.topic: number for number, shape in enumerate(shapes)}
    known = tuple(
        BrokerTopic(
            name=shape.topic,
            uuid=parse_uuid(shape.topic_id or ""),
            partitions=shape.partitions if shape.partitions >= 0 else None,
        )
        for shape in shapes
    )
    asked = _Asked(index)
    subscriptions = {frozenset(member.topics) for member in members}
    same = SubscriptionType.HOMOGENEOUS if len(subscriptions) <= 1 else SubscriptionType.HETEROGENEOUS
    return BrokerGroup(
        topics=known,
        member_ids=tuple(member.member_id for member in members),
        asked=tuple(asked[member.topics] for member in members),
        names_asked=tuple(len(set(member.topics)) for member in members),
        held=tuple(_held(member.assigned, index, known) for member in members),
        subscription_type=subscription_type or same,
    )


class _Asked(dict[tuple[str, ...], tuple[int, ...]]):
    """The topics of a subscription; each subscription is looked at once."""

    def __init__(self, index: Mapping[str, int]) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, names: tuple[str, ...]) -> tuple[int, ...]:
        self[names] = found = tuple(self._index[name] for name in hash_set_copy_order(names) if name in self._index)
        return found


def _held(
    assigned: Iterable[TopicPartitions], index: Mapping[str, int], topics: Sequence[BrokerTopic]
) -> tuple[Holding, ...]:
    held = {index[entry.topic]: entry.partitions for entry in assigned if entry.topic in index}
    order = _in_map_order(topics, held) if len(held) > 1 else held
    return tuple(Holding(topic=topic, partitions=_in_set_order(numbers(held[topic]))) for topic in order)


def _in_map_order(topics: Sequence[BrokerTopic], keys: Iterable[int], capacity: int | None = None) -> list[int]:
    uuids = {topic: topics[topic].uuid for topic in keys}
    return hash_map_order(uuids, lambda topic: uuid_hash(uuids[topic]), capacity, uuids.__getitem__)


def _in_set_order(partitions: tuple[int, ...]) -> tuple[int, ...]:
    """The order of a ``HashSet`` of the numbers: that of ``hash_set_copy_order``, faster where it is simple."""
    ascending = all(one < other for one, other in pairwise(partitions))
    if ascending and (not partitions or (partitions[0] >= 0 and partitions[-1] < max(len(partitions), 16))):
        return partitions  # each has a place of its own in any table that holds so many
    if len(partitions) < TREE_SIZE:
        return tuple(sorted(dict.fromkeys(partitions), key=_place_of_sixteen))
    return tuple(hash_set_copy_order(partitions, integer_hash))


def _place_of_sixteen(number: int) -> int:
    return (number ^ (number & 0xFFFF_FFFF) >> 16) & 15


def as_assignment(
    group: BrokerGroup, given: Sequence[Mapping[int, Iterable[int]]] | None, members: Sequence[Member]
) -> Assignment:
    """The answer: topics in the cluster's order, partitions ascending.

    Args:
        group: the group.
        given: by number, the partitions of each topic; None: the original computes nothing at all.
        members: the members in the order of the answer.
    """
    shares = [
        [TopicPartitions(group.topics[topic].name, tuple(sorted(taken[topic]))) for topic in sorted(taken)]
        for taken in given or ()
    ]
    return collect(group, shares, members)


def collect(group: BrokerGroup, given: Sequence[Iterable[TopicPartitions]], members: Sequence[Member]) -> Assignment:
    """The answer: one entry for every member.

    Args:
        group: the group.
        given: by number, what each gets; empty: the original computes nothing at all.
        members: the members in the order of the answer.
    """
    named = dict(zip(group.member_ids, map(tuple, given), strict=False))
    ids = dict.fromkeys(member.member_id for member in members)
    return Assignment(members=tuple(MemberAssignment(member_id=name, topics=named.get(name, ())) for name in ids))
