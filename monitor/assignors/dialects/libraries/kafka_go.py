"""kafka-go's ``range`` and ``roundrobin`` (github.com/segmentio/kafka-go v0.4.51, ``groupbalancer.go``).

Words: a topic has n partitions and m readers, its subscribers, in the order of their member ids. Instance ids and racks
play no part, and no topic depends on another one.

``range``, ``RangeGroupBalancer``: reader i of m gets the partitions from floor(i * n / m) up to floor((i + 1) * n / m).
The extras therefore go to later readers, where Kafka's own gives them to the first ones.

>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=3),))
>>> for member in Range().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0,)]
C1 [(1, 2)]

``roundrobin``, ``RoundRobinGroupBalancer``: partition p goes to reader p mod m. Every topic begins with its first
reader, so with topics of one partition each the first reader gets them all.

>>> for member in RoundRobin().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0, 2)]
C1 [(1,)]
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.dialects.dealing import deal_topic_by_topic
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.member_orders import by_member_id
from monitor.assignors.kafka_client.allotment import Share
from monitor.model import Assignment


class Range(ReplayedDialect):
    """``range``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, by_member_id, _cut_by_fractions)


class RoundRobin(ReplayedDialect):
    """``roundrobin``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, by_member_id, _deal_from_first)


def _cut_by_fractions(partitions: int, readers: Sequence[int]) -> tuple[Share, ...]:
    bounds = [number * partitions // len(readers) for number in range(len(readers) + 1)]
    runs = zip(readers, bounds, bounds[1:], strict=False)
    return tuple(Share(rank=rank, partitions=tuple(range(start, stop))) for rank, start, stop in runs if start < stop)


def _deal_from_first(partitions: int, readers: Sequence[int]) -> tuple[Share, ...]:
    return tuple(
        Share(rank=rank, partitions=tuple(range(number, partitions, len(readers))))
        for number, rank in enumerate(readers[:partitions])
    )
