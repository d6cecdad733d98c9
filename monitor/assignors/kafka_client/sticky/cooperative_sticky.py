"""Kafka's client-side ``cooperative-sticky`` assignor (``CooperativeStickyAssignor`` of kafka-clients 4.3; KIP-429).

As ``sticky``, but members keep their partitions while they join, so a partition cannot go to another member at once.

Properties: those of ``sticky`` for the *target*, and

1. A partition whose owner has to give it up gets no new owner yet. The old owner sees the loss and joins again, and
   the next assignment gives it to the taker. Until then it has no owner.

Steps:

1. What a member owns, and since which generation, comes from the fields of its subscription; older clients have the
   generation in the user data.
2. The target is found as for ``sticky``.
3. What comes to a member in the target while another one owns it is taken out.

Worked example: C1 joins. C0 has to give up two partitions, and C1 gets nothing before that is done.

>>> from monitor.model import Member, TopicPartitions, TopicShape
>>> members = [
...     Member(member_id="C0", topics=("t",), owned=(TopicPartitions("t", (0, 1, 2, 3)),), generation=4),
...     Member(member_id="C1", topics=("t",)),
... ]
>>> topics = [TopicShape(topic="t", partitions=4)]
>>> for find in (CooperativeStickyAssignor().target, CooperativeStickyAssignor().assign):
...     answer = find(members, topics)
...     print([(member.member_id, [topic.partitions for topic in member.topics]) for member in answer.members])
[('C0', [(0, 1)]), ('C1', [(2, 3)])]
[('C0', [(0, 1)]), ('C1', [])]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from monitor.assignors.kafka_client.sticky.base import Sticky
from monitor.assignors.kafka_client.sticky.pending_revocations import moving_partitions, without
from monitor.assignors.kafka_client.sticky.solution import Question, Solution, ask, solve, to_assignment
from monitor.model import Assignment, Member, TopicShape
from monitor.protocol.kafka.sticky_user_data import PriorAssignment, read_cooperative


class CooperativeStickyAssignor(Sticky):
    """The one that lets consumers go on. See the module for the rule."""

    name: ClassVar[str] = "cooperative-sticky"

    def target(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """The assignment that the group is on its way to: with the partitions that must first be given up.

        Raises:
            AssignorError: as ``assign``.
        """
        question = ask(members, topics)
        return to_assignment(self._solve(question), question)

    def _solve(self, question: Question) -> Solution:
        return solve(question, [_memory(member) for member in question.ordered], self.seen_generation)

    def _answer(self, question: Question) -> Assignment:
        target = self._solve(question)
        answer = to_assignment(without(target, moving_partitions(target, question.ordered)), question)
        if not target.odd:
            return answer
        # A partition that waits for its owner to let go is no quirk.
        return Assignment(members=answer.members, quirks=to_assignment(target, question).quirks)


def _memory(member: Member) -> PriorAssignment:
    generation = member.generation if member.generation >= 0 else read_cooperative(member.user_data)
    return PriorAssignment(owned=member.owned, generation=generation)
