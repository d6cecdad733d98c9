"""kafka-python's ``range`` and ``roundrobin`` (kafka-python 3.0.12, ``kafka/coordinator/assignors``).

Both are Kafka's own rules, but for three things:

1. Racks play no part, and ids are compared by code points.
2. Members are grouped into static and dynamic ones without being sorted first. Of each kind only the last run of
   neighbours in the JoinGroup answer takes part; the others get nothing. ``range`` looks at the neighbours among a
   topic's subscribers.
3. ``roundrobin`` fails as soon as a member that does not subscribe to a topic has to be passed over. Its leader raises
   a KeyError, and the group rebalances for ever.

Worked example: C0 is alone before C1, and C2 is of C0's kind, so C0 gets nothing.

>>> ids = (("C0", "i0"), ("C1", None), ("C2", "i2"))
>>> members = tuple(Member(member_id=name, topics=("t",), instance_id=instance) for name, instance in ids)
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=3),))
>>> for member in Range().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 []
C1 [(2,)]
C2 [(0, 1)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.assignors.dialects.dealing import deal_to_everybody, deal_topic_by_topic
from monitor.assignors.dialects.dialect import Group, OrderedDialect
from monitor.assignors.dialects.member_orders import last_runs
from monitor.assignors.errors import AssignorError
from monitor.model import Assignment, Member, TopicShape


class Range(OrderedDialect):
    """``range``, ``RangePartitionAssignor``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, last_runs)


class RoundRobin(OrderedDialect):
    """``roundrobin``, ``RoundRobinPartitionAssignor``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``.

        Raises:
            AssignorError: a member has to be passed over. The message is the missing key: the member behind that one.
        """
        ring = last_runs(group.members)
        topics = _wanted_topics(group)
        for key in _missing_keys(ring, topics):
            raise AssignorError("KeyError", repr(key))
        return deal_to_everybody(group, ring, topics)


def _wanted_topics(group: Group) -> list[TopicShape]:
    """The topics that anybody subscribes to, by name: also members that get nothing."""
    wanted = frozenset[str]().union(*{member.topics for member in group.members})
    return sorted((shape for shape in group.topics if shape.topic in wanted), key=lambda shape: shape.topic)


def _missing_keys(ring: Sequence[Member], topics: Sequence[TopicShape]) -> Iterator[tuple[str | None, str]]:
    """What the original looks up in place of a member id, where it has to pass a member over."""
    seat = 0
    for shape in topics:
        for turn in range(seat, seat + min(shape.partitions, len(ring))):
            if shape.topic not in ring[turn % len(ring)].topics:
                behind = ring[(turn + 1) % len(ring)]
                yield behind.instance_id, behind.member_id
        seat += shape.partitions
