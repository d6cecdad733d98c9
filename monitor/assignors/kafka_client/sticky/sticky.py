"""Kafka's client-side ``sticky`` assignor (``StickyAssignor`` of kafka-clients 4.3; KIP-54, KIP-341).

An eager assignor: members give up everything before they join, and report in their user data what they owned. If all
subscribe to the same topics the *uniform* case decides (``uniform``), else the *general* one (``general``); both are
described where they are. What members claim is settled first (``prior_ownership``).

Properties, in this order (as long as no member claims a partition that does not exist):

1. Every partition of a subscribed topic has exactly one owner.
2. The group is even: with equal subscriptions the totals differ by at most one; else no single move would help.
3. Members keep what they own, as far as 2 allows.
4. Fed back, an assignment does not change.
5. The result can depend on the member ids: hash codes decide which of equal members gives something up.

Worked example (the Javadoc's, whose answer is not what the class gives): C1 leaves, the others keep what they have.

>>> from monitor.protocol.kafka.sticky_user_data import PriorAssignment, write_sticky
>>> from monitor.model import Member, TopicShape
>>> topics = [TopicShape(topic=f"t{number}", partitions=2) for number in range(4)]
>>> names = tuple(shape.topic for shape in topics)
>>> group = [Member(member_id=name, topics=names) for name in ("C0", "C1", "C2")]
>>> first = StickyAssignor().assign(group, topics)
>>> stay = [
...     Member(member_id=mine.member_id, topics=names, user_data=write_sticky(PriorAssignment(mine.topics, 1)))
...     for mine in first.members if mine.member_id != "C1"
... ]
>>> for before, after in zip((first.members[0], first.members[2]), StickyAssignor().assign(stay, topics).members):
...     print(after.member_id, [f"{topic.topic}p{p}" for topic in before.topics for p in topic.partitions],
...           [f"{topic.topic}p{p}" for topic in after.topics for p in topic.partitions])
C0 ['t0p0', 't1p1', 't3p0'] ['t0p0', 't0p1', 't1p1', 't3p0']
C2 ['t1p0', 't2p1'] ['t1p0', 't2p1', 't2p0', 't3p1']
"""

from __future__ import annotations

from typing import ClassVar

from monitor.assignors.kafka_client.sticky.base import Sticky
from monitor.assignors.kafka_client.sticky.solution import Question, solve, to_assignment
from monitor.model import Assignment
from monitor.protocol.kafka.sticky_user_data import read_sticky


class StickyAssignor(Sticky):
    """The eager one. See the module for the rule."""

    name: ClassVar[str] = "sticky"

    def _answer(self, question: Question) -> Assignment:
        memories = [read_sticky(member.user_data) for member in question.ordered]
        return to_assignment(solve(question, memories, self.seen_generation), question)
