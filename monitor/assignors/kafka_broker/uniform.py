"""The broker's ``uniform`` assignor (``UniformAssignor`` of kafka-group-coordinator 4.3 and 4.4; KIP-848).

It keeps what members have and makes the group even. If all subscribe to the same topics, ``uniform_same`` decides, else
``uniform_different``; both are described where they are. The result depends on orders: of the coordinator's map of
members (a ``HashMap`` of their ids) and of sets of topic ids.

>>> topics = [TopicShape(topic="t", partitions=4, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")]
>>> members = [
...     Member(member_id="C0", topics=("t",), assigned=(TopicPartitions("t", (0, 1, 3)),)),
...     Member(member_id="C1", topics=("t",)),
... ]
>>> for member in UniformAssignor().assign(members, topics).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0, 1)]
C1 [(2, 3)]

With different subscriptions: C2 has one partition as soon as u is handed out, so t is for the others.

>>> topics.append(TopicShape(topic="u", partitions=1, topic_id="AAAAAAAAAAIAAAAAAAAAAg"))
>>> members.append(Member(member_id="C2", topics=("t", "u")))
>>> for member in UniformAssignor().assign(members, topics).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('t', (0, 1))]
C1 [('t', (2, 3))]
C2 [('u', (0,))]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from monitor.assignors.anomalies import quirks_of
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_broker.group import BrokerGroup, SubscriptionType, as_assignment, form_group
from monitor.assignors.kafka_broker.uniform_different import assign_different
from monitor.assignors.kafka_broker.uniform_same import assign_same
from monitor.model import Assignment, Member, TopicPartitions, TopicShape, Value

__all__ = ["TopicPartitions", "UniformAssignor"]


class UniformAssignor(Value):
    """Keeps the group even, and partitions where they are. See the module for the rule."""

    name: ClassVar[str] = "uniform"

    def assign(
        self,
        members: Sequence[Member],
        topics: Sequence[TopicShape],
        *,
        subscription_type: SubscriptionType | None = None,
    ) -> Assignment:
        """See ``Assignor.assign``.

        Args:
            members: ``assigned`` is what they have in the current target assignment.
            topics: with their ids.
            subscription_type: what the coordinator says; None: found out from the subscriptions.

        Raises:
            AssignorError: a topic's metadata has gone, or members have partitions that do not exist.
        """
        by_id = {member.member_id: member for member in members}
        ordered = [by_id[member_id] for member_id in hash_map_order(by_id)]
        return _assign(form_group(ordered, topics, subscription_type), ordered, members, topics)

    def assign_in_order(
        self,
        members: Sequence[Member],
        topics: Sequence[TopicShape],
        *,
        subscription_type: SubscriptionType | None = None,
    ) -> Assignment:
        """As ``assign``, but the coordinator's map iterates in the order of ``members``, who are distinct."""
        return _assign(form_group(members, topics, subscription_type), members, members, topics)


def _assign(
    group: BrokerGroup, ordered: Sequence[Member], members: Sequence[Member], topics: Sequence[TopicShape]
) -> Assignment:
    answer = as_assignment(group, uniform(group), members)
    if not _can_be_odd(group):
        return answer
    return Assignment(members=answer.members, quirks=quirks_of(answer, ordered, topics))


def uniform(group: BrokerGroup) -> Sequence[Mapping[int, Iterable[int]]] | None:
    """By member number, the partitions of each topic; None: the original computes nothing at all.

    Raises:
        AssignorError: the original throws.
    """
    if not group.member_ids:
        return None
    same = group.subscription_type is SubscriptionType.HOMOGENEOUS
    return assign_same(group) if same else assign_different(group)


def _can_be_odd(group: BrokerGroup) -> bool:
    """Whether members have partitions that do not exist or belong to two, or subscriptions differ from their type."""
    numbers: dict[int, list[int]] = {}
    for held in group.held:
        for holding in held:
            numbers.setdefault(holding.topic, []).extend(holding.partitions)
    unequal = group.subscription_type is SubscriptionType.HOMOGENEOUS and len(set(map(frozenset, group.asked))) > 1
    return unequal or any(
        len(set(found)) < len(found) or max(found, default=-1) >= (group.topics[topic].partitions or 0)
        for topic, found in numbers.items()
    )
