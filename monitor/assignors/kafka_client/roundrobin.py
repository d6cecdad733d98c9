"""Kafka's client-side ``roundrobin`` assignor (``RoundRobinAssignor`` of kafka-clients 4.4.0).

Properties, in this order:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. With equal subscriptions the members' totals differ by at most one. With different ones there is no bound: a member
   that is skipped does not get its turn back.
3. The result depends on what is in the input, not on its order. Racks and earlier owners play no part.

Steps:

1. Seat the members in a ring, in assignment order (``member_order``).
2. Line up all partitions of all subscribed topics, by topic in Java's string order, then by number.
3. Give each partition to the next member of the ring that subscribes to its topic, continuing behind the last owner.

Within a topic step 3 always visits the same subscribers in the same circle, so a whole topic is shared out at once.

Worked example: C1 and C2 alone subscribe to b. C0 takes a-0, C1 b-0, C2 b-1, and C1 again b-2. Then the ring continues
behind C1, so C2 and not C0 takes c-0.

>>> everybody, two = ("a", "c"), ("a", "b", "c")
>>> members = [Member(member_id=name, topics=own) for name, own in [("C0", everybody), ("C1", two), ("C2", two)]]
>>> topics = [TopicShape(topic=name, partitions=count) for name, count in [("a", 1), ("b", 3), ("c", 1)]]
>>> for member in RoundRobinAssignor().assign(members, topics).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('a', (0,))]
C1 [('b', (0, 2))]
C2 [('b', (1,)), ('c', (0,))]
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.allotment import Share, SharedTopic, collect
from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.assignors.kafka_client.subscribed_topics import SubscribedTopic, subscribed_topics
from monitor.model import Assignment, Member, TopicShape


class RoundRobinAssignor:
    """Deals partitions to subscribers one by one. See the module for the rule."""

    name: Final = "roundrobin"

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """See ``Assignor.assign``.

        Raises:
            AssignorError: there are no members; the original's ring cannot be empty.
        """
        if not members:
            raise AssignorError("IllegalArgumentException", "CircularIterator can only be used on non-empty lists")
        ordered = in_assignment_order(members)
        return collect(members, ordered, share_in_turn(subscribed_topics(ordered, topics)))


def share_in_turn(topics: Iterable[SubscribedTopic]) -> Iterator[SharedTopic]:
    """Deal the topics' partitions in this order to a ring of members (ranks), going on behind the last owner."""
    seat = 0
    for topic in topics:
        circle, partitions = topic.subscribers, topic.shape.partitions
        first = bisect_left(circle, seat)
        shares = tuple(
            Share(rank=circle[(first + turn) % len(circle)], partitions=tuple(range(turn, partitions, len(circle))))
            for turn in range(min(partitions, len(circle)))
        )
        yield SharedTopic(topic=topic.shape.topic, shares=shares)
        seat = circle[(first + partitions - 1) % len(circle)] + 1
