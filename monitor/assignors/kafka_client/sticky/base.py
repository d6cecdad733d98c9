"""What both sticky assignors promise, and how they are called."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from monitor.assignors.kafka_client.sticky.solution import Question, ask
from monitor.model import Assignment, Member, TopicShape, Value
from monitor.protocol.kafka.sticky_user_data import NO_GENERATION


class Sticky(Value):
    """Keeps the group even, and partitions where they are.

    ``seen_generation`` is the newest generation that this object of the original's class has seen in former calls,
    which it never forgets; -1: none.
    """

    seen_generation: int = NO_GENERATION

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """See ``Assignor.assign``.

        Raises:
            AssignorError: there are no members, or the claims of members make the original fail.
        """
        return self._answer(ask(members, topics))

    def assign_in_order(
        self, members: Sequence[Member], topics: Sequence[TopicShape], visit_order: Sequence[str] | None = None
    ) -> Assignment:
        """As ``assign``, but the original's map iterates in the order of ``members``.

        Args:
            members: distinct.
            topics: what exists.
            visit_order: all member ids in the order in which the uniform case, which has a map of its own, visits
                them; None: the order of Java's hash codes.

        Raises:
            AssignorError: as ``assign``.
        """
        visits = None if visit_order is None else tuple(visit_order)
        ordered = tuple(members)
        return self._answer(Question(ordered=ordered, members=ordered, topics=tuple(topics), visit_order=visits))

    @abstractmethod
    def _answer(self, question: Question) -> Assignment: ...
