"""Sarama's ``range`` and ``roundrobin`` (github.com/IBM/sarama v1.61.1, ``balance_strategy.go``).

Members are served by member id. Instance ids and racks play no part.

``range``, ``NewBalanceStrategyRange``: each subscriber of a topic gets one run of its partitions; the first ones get
the extras. That is Kafka's own rule.

``roundrobin``, ``roundRobinBalancer.Plan``:

1. Line up all partitions by the *text* ``topic-partition``: t-10 comes before t-2, and t-1-0, of the topic t-1, before
   t-10, of the topic t.
2. Give each partition to the next member that subscribes to its topic, continuing behind the last owner.

Worked example: t-10 comes between t-1 and t-2.

>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=11),))
>>> for member in RoundRobin().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0, 3, 5, 7, 9, 10)]
C1 [(1, 2, 4, 6, 8)]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from monitor.assignors.dialects.dealing import deal_topic_by_topic, ring_assignment
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.member_orders import by_member_id
from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.allotment import Share, SharedTopic
from monitor.assignors.kafka_client.subscribed_topics import SubscribedTopic, subscribed_topics
from monitor.model import Assignment


class Range(ReplayedDialect):
    """``range``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, by_member_id)


class RoundRobin(ReplayedDialect):
    """``roundrobin``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``.

        Raises:
            AssignorError: there are no members or no topics.
        """
        if not group.members or not group.topics:
            raise AssignorError("error", "members and topics are not provided")
        ordered = by_member_id(group.members)
        return ring_assignment(group, ordered, _share_by_text(subscribed_topics(ordered, group.topics)))


def _share_by_text(topics: Sequence[SubscribedTopic]) -> Iterator[SharedTopic]:
    lined_up = sorted(
        (f"{topic.shape.topic}-{partition}", number, partition)
        for number, topic in enumerate(topics)
        for partition in range(topic.shape.partitions)
    )
    given: list[dict[int, list[int]]] = [defaultdict(list) for _ in topics]
    seat = 0
    for _, number, partition in lined_up:
        circle = topics[number].subscribers
        rank = circle[bisect_left(circle, seat) % len(circle)]
        given[number][rank].append(partition)
        seat = rank + 1
    for topic, shares in zip(topics, given, strict=True):
        ascending = tuple(Share(rank=rank, partitions=tuple(sorted(mine))) for rank, mine in shares.items())
        yield SharedTopic(topic=topic.shape.topic, shares=ascending)
