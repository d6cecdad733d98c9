"""How the simple strategies deal out topics, once it is known in which order their library serves members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.java.text import string_key
from monitor.assignors.kafka_client.allotment import Share, SharedTopic, collect
from monitor.assignors.kafka_client.range_assignor import cut_in_runs
from monitor.assignors.kafka_client.roundrobin import share_in_turn
from monitor.assignors.kafka_client.subscribed_topics import SubscribedTopic, subscribed_topics
from monitor.model import (
    Assignment,
    Member,
    MemberAssignment,
    TopicPartition,
    TopicPartitions,
    TopicShape,
    number,
)

MemberOrder = Callable[[Sequence[Member]], Sequence[Member]]
"""Puts members in the order in which the library serves them; it may leave some out."""

Cut = Callable[[int, Sequence[int]], tuple[Share, ...]]
"""Shares out a number of partitions among the subscribers of a topic."""


def deal_topic_by_topic(group: Group, order: MemberOrder, cut: Cut = cut_in_runs) -> Assignment:
    """Each topic is shared out by itself among its subscribers, which are put in order again for each topic."""
    shared = (
        SharedTopic(topic=topic.shape.topic, shares=cut(topic.shape.partitions, topic.subscribers))
        for topic in topics_with_ordered_subscribers(group, order)
    )
    return collect(group.members, group.members, shared)


def topics_with_ordered_subscribers(group: Group, order: MemberOrder) -> Iterator[SubscribedTopic]:
    """The topics to assign, with their subscribers (places in the group) in the order of the library."""
    places = {member.member_id: place for place, member in enumerate(group.members)}
    found: dict[tuple[int, ...], tuple[int, ...]] = {}  # many topics have the same subscribers
    for topic in subscribed_topics(group.members, group.topics):
        if topic.subscribers not in found:
            ordered = order([group.members[place] for place in topic.subscribers])
            found[topic.subscribers] = tuple(places[member.member_id] for member in ordered)
        yield SubscribedTopic(shape=topic.shape, subscribers=found[topic.subscribers])


def deal_in_one_round(group: Group, order: MemberOrder) -> Assignment:
    """Each partition, by topic and number, goes to the next subscriber in the ring of members."""
    ordered = order(group.members)
    lined_up = sorted(subscribed_topics(ordered, group.topics), key=lambda topic: topic.shape.topic)
    return ring_assignment(group, ordered, share_in_turn(lined_up))


def deal_to_everybody(group: Group, ordered: Sequence[Member], topics: Iterable[TopicShape]) -> Assignment:
    """Each partition of these topics, in this order, goes to the next of all members, whatever they subscribe to."""
    ring = tuple(range(len(ordered)))
    lined_up = (SubscribedTopic(shape=shape, subscribers=ring) for shape in topics)
    return ring_assignment(group, ordered, share_in_turn(lined_up))


def ring_assignment(group: Group, ordered: Sequence[Member], shared: Iterable[SharedTopic]) -> Assignment:
    """The assignment of all members, where those who are not in the ring get nothing. Ranks are places in the ring."""
    seated = {member.member_id for member in ordered}
    absent = [member for member in group.members if member.member_id not in seated]
    return collect(group.members, [*ordered, *absent], shared)


def assign_places(group: Group, places: Mapping[str, Iterable[TopicPartition]]) -> Assignment:
    """The assignment that gives each member (by id) its partitions, in whatever order they come."""
    return Assignment(
        members=tuple(
            MemberAssignment(member_id=member.member_id, topics=by_topic(places.get(member.member_id, ())))
            for member in group.members
        )
    )


def assign_owners(group: Group, owners: Mapping[TopicPartition, str]) -> Assignment:
    """The assignment that gives each partition to its owner."""
    places: dict[str, list[TopicPartition]] = {member: [] for member in group.member_ids()}
    for place, owner in owners.items():
        places[owner].append(place)
    return assign_places(group, places)


def by_topic(places: Iterable[TopicPartition]) -> tuple[TopicPartitions, ...]:
    """The partitions topic by topic: topics in Java's string order, numbers ascending.

    >>> by_topic([TopicPartition("u", 1), TopicPartition("t", 2), TopicPartition("u", 0)])
    (TopicPartitions(topic='t', partitions=(2,)), TopicPartitions(topic='u', partitions=(0, 1)))
    """
    numbers: dict[str, list[int]] = defaultdict(list)
    for place in places:
        numbers[place.topic].append(number(place.partition))
    return tuple(TopicPartitions(topic, tuple(sorted(numbers[topic]))) for topic in sorted(numbers, key=string_key))
