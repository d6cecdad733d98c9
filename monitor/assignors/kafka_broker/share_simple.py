"""Share groups' ``simple`` assignor (``SimpleAssignor`` of kafka-group-coordinator 4.3 and 4.4; KIP-932).

In a share group several members can read one partition. The assignor spreads the members over the partitions.

Properties:

1. Only subscribers get a partition, and only *assignable* ones, as long as members had nothing else before.
2. Each partition has about as many readers as there are members for each partition, rounded up: its *sharing*.
3. Each member reads about equally many: its *due*. With more partitions than members that is several.
4. Members keep what they have, as far as 2 and 3 allow.
5. The order of the members, and those of Java's sets and maps, decide who reads what.

Steps, for all partitions at once if all members subscribe to the same topics, else for each topic by itself: see
``share_round``.

Quirks. If members subscribe to different topics, a member keeps what it has of a topic without subscribers.
A partition that is no longer assignable stays with those who have it as long as they have not too much;
the original can also fail over it.

>>> members = [Member(member_id=f"C{number}", topics=("t",)) for number in range(3)]
>>> topics = [TopicShape(topic="t", partitions=2, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")]
>>> for member in ShareSimpleAssignor().assign(members, topics).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0, 1)]
C1 [(0,)]
C2 [(1,)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

import msgspec

from monitor.assignors.anomalies import quirks_of
from monitor.assignors.java.hash import integer_hash, topic_id_partition_hash
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_broker.group import BrokerGroup, SubscriptionType, as_assignment, form_group
from monitor.assignors.kafka_broker.share_pass import ShareRound, share_out
from monitor.model import Assignment, Member, TopicPartitions, TopicShape, Value, numbers

Given = dict[int, set[int]]
"""The partitions of one member, by topic."""


class ShareSimpleAssignor(Value):
    """Spreads the members of a share group over partitions. See the module for the rule."""

    name: ClassVar[str] = "simple"

    def assign(
        self,
        members: Sequence[Member],
        topics: Sequence[TopicShape],
        *,
        subscription_type: SubscriptionType | None = None,
        assignable: Sequence[TopicPartitions] | None = None,
    ) -> Assignment:
        """See ``Assignor.assign``; a partition can have several owners.

        Args:
            members: ``assigned`` is what they have in the current target assignment.
            topics: with their ids.
            subscription_type: what the coordinator says; None: found out from the subscriptions.
            assignable: the partitions that may be assigned; None: all.

        Raises:
            AssignorError: a topic's metadata has gone, or the original runs out of members.
        """
        by_id = {member.member_id: member for member in members}
        ordered = [by_id[member_id] for member_id in hash_map_order(by_id)]
        group = form_group(ordered, topics, subscription_type)
        return _with_quirks(as_assignment(group, simple(group, assignable), members), members, topics, assignable)

    def assign_in_order(
        self,
        members: Sequence[Member],
        topics: Sequence[TopicShape],
        *,
        subscription_type: SubscriptionType | None = None,
        assignable: Sequence[TopicPartitions] | None = None,
    ) -> Assignment:
        """As ``assign``, but the coordinator's map iterates in the order of ``members``, who are distinct."""
        group = form_group(members, topics, subscription_type)
        return _with_quirks(as_assignment(group, simple(group, assignable), members), members, topics, assignable)


def _with_quirks(
    answer: Assignment,
    members: Sequence[Member],
    topics: Sequence[TopicShape],
    assignable: Sequence[TopicPartitions] | None,
) -> Assignment:
    if len({frozenset(member.topics) for member in members}) <= 1 and not any(member.assigned for member in members):
        return answer
    return Assignment(
        members=answer.members, quirks=quirks_of(answer, members, topics, shared=True, assignable=assignable)
    )


def simple(group: BrokerGroup, assignable: Iterable[TopicPartitions] | None) -> list[Given] | None:
    """By member number, the partitions of each topic; None: the original computes nothing at all.

    Raises:
        AssignorError: the original throws.
    """
    if not group.member_ids:
        return None
    allowed = (
        None if assignable is None else {entry.topic: frozenset(numbers(entry.partitions)) for entry in assignable}
    )
    same = group.subscription_type is SubscriptionType.HOMOGENEOUS
    return _share_all(group, allowed) if same else _share_each(group, allowed)


Allowed = Mapping[str, frozenset[int]] | None


class _Place(msgspec.Struct, frozen=True, gc=False):
    """A partition, by its topic's index."""

    topic: int
    partition: int


def _share_all(group: BrokerGroup, allowed: Allowed) -> list[Given] | None:
    if not group.names_asked[0]:
        return None  # one name is enough for the original to go on, even if no topic has it
    topics = dict.fromkeys(group.asked[0])
    first_hash = {topic: topic_id_partition_hash(group.topics[topic].uuid, 0) for topic in topics}
    held = [[holding for holding in mine if holding.topic in topics] for mine in group.held]
    turn = ShareRound(
        members=tuple(range(len(held))),
        held={
            member: tuple(_Place(holding.topic, number) for holding in mine for number in holding.partitions)
            for member, mine in enumerate(held)
        },
        targets=tuple(_Place(topic, number) for topic in topics for number in _assignable(group, topic, allowed)),
    )
    given = [{holding.topic: set(holding.partitions) for holding in mine} for mine in held]
    for change in share_out(turn, lambda place: first_hash[place.topic] + place.partition):
        mine = given[change.member]
        for place in change.lost:
            mine[place.topic].discard(place.partition)
        for place in change.got:
            mine.setdefault(place.topic, set()).add(place.partition)
    return given


def _share_each(group: BrokerGroup, allowed: Allowed) -> list[Given] | None:
    subscribers: dict[int, list[int]] = defaultdict(list)
    for member, topics in enumerate(group.asked):
        for topic in topics:
            subscribers[topic].append(member)
    if not subscribers:
        return None
    held: dict[int, dict[int, tuple[int, ...]]] = defaultdict(dict)
    for member, holdings in enumerate(group.held):
        for holding in holdings:
            held[holding.topic][member] = holding.partitions
    given = [{holding.topic: set(holding.partitions) for holding in holdings} for holdings in group.held]
    # The order decides which error comes first; apart from that, what one topic gives depends on no other.
    targets = {topic: tuple(_assignable(group, topic, allowed)) for topic in group.in_map_order(subscribers)}
    for topic, who in subscribers.items():
        turn = ShareRound(members=tuple(who), held=held[topic], targets=targets[topic])
        for change in share_out(turn, integer_hash):
            mine = given[change.member].setdefault(topic, set())
            mine.difference_update(change.lost)
            mine.update(change.got)
    return given


def _assignable(group: BrokerGroup, topic: int, allowed: Allowed) -> list[int]:
    numbers = range(group.count(topic))
    if allowed is None:
        return list(numbers)
    mine = allowed.get(group.topics[topic].name, frozenset())
    return [number for number in numbers if number in mine]
