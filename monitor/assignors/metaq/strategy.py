"""What both strategies of MetaQ promise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from monitor.assignors.errors import AssignorError
from monitor.assignors.self_assignment import ClientShare
from monitor.model import Value

Plan = Callable[[str], Sequence[str]]
"""Gives the partitions of a consumer, also of one that is not in the list."""


class Strategy(Value):
    """A rule by which each consumer finds its own partitions of one topic.

    ``name`` is what groupwatch calls it: MetaQ writes it nowhere.
    """

    name: ClassVar[str]

    @abstractmethod
    def plan(self, partitions: Sequence[str], consumers: Sequence[str]) -> Plan:
        """Work out what all consumers have in common.

        Raises:
            AssignorError: every consumer fails in the same way.
        """

    def allocate(
        self, partitions: Sequence[str], consumers: Sequence[str], ask: Sequence[str]
    ) -> tuple[ClientShare[str], ...]:
        """What each of the given consumers takes, in the order of ``ask``.

        Args:
            partitions: all partitions of the topic, in the order in which the consumers see them.
            consumers: the group's consumers of this topic, in that order.
            ask: the consumers that allocate; one that is not in the list takes nothing.
        """
        try:
            plan = self.plan(partitions, consumers)
        except AssignorError as error:
            return tuple(ClientShare(client=consumer, error=str(error)) for consumer in ask)
        return tuple(ClientShare(client=consumer, queues=tuple(plan(consumer))) for consumer in ask)
