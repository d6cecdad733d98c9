"""KafkaJS' ``RoundRobinAssigner`` (kafkajs 2.2.4, ``consumer/assigners/roundRobinAssigner/index.js``).

Properties:

1. Only the *leader's* topics have owners. What other members subscribe to beyond them has no owner.
2. Every partition of them has exactly one owner, who need not subscribe to the topic: such a member drops it silently.
3. The members' totals differ by at most one.

Steps:

1. Line up the partitions of the leader's topics, in the order of its subscription, then by number.
2. Deal them in one round to all members, by member id (in units of UTF-16). Instance ids and racks play no part.

Worked example: C1 leads and subscribes to u and t. C0 gets u-0, which it did not ask for.

>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("u", "t")))
>>> topics = (TopicShape(topic="t", partitions=2), TopicShape(topic="u", partitions=1))
>>> group = Group(members=members, topics=topics, leader="C1")
>>> for member in RoundRobinAssigner().assign(group).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('t', (1,)), ('u', (0,))]
C1 [('t', (0,))]
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.assignors.dialects.dealing import deal_to_everybody
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.member_orders import by_member_id_in_utf16
from monitor.model import Assignment, TopicShape


class RoundRobinAssigner(ReplayedDialect):
    """``RoundRobinAssigner``, KafkaJS' only strategy. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails.

        Raises:
            UnknownLeaderError: the leader is no member.
        """
        return deal_to_everybody(group, by_member_id_in_utf16(group.members), leader_shapes(group))


def leader_shapes(group: Group) -> Iterator[TopicShape]:
    """The topics that the leader subscribes to and that have partitions, in the order of its subscription."""
    existing = {shape.topic: shape for shape in group.topics if shape.partitions > 0}
    return (existing[topic] for topic in group.leader_topics() if topic in existing)
