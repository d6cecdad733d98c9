"""What every dialect promises: the strategy of one client library, as its own leader runs it.

A dialect is *replayed* where the library is a function of what the log has: it gives the assignment, and accepts no
other one. Where the log leaves an order open, it gives a bounded set of assignments. Elsewhere a dialect is *checked*:
it knows what all of the library's answers have in common, and refuses what none of them can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import StrEnum

from msgspec.structs import replace

from monitor.assignors.dialects.member_orders import is_mixed, member_orders
from monitor.assignors.dialects.refusals import first_difference
from monitor.assignors.errors import AssignorError
from monitor.model import Assignment, Member, TopicShape, Value
from monitor.model.evidence import Refusal, RefusalReason


class Exactness(StrEnum):
    """How much of a library's answer is known."""

    EXACT = "exact"
    """One answer, a function of what the log has."""
    ORDERS = "orders"
    """One answer for a given order that the log does not always tell: of members, of topics, of a set in memory."""
    CHECKED = "checked"
    """Its answers are checked and not replayed."""


class UnknownLeaderError(Exception):
    """The strategy depends on the leader, which is no member of the group. ``str()`` names it."""

    def __init__(self, leader: str | None) -> None:
        super().__init__(leader)
        self.leader = leader

    def __str__(self) -> str:
        """One sentence."""
        return f"The leader {self.leader!r} is no member of the group"


class Group(Value):
    """A group as its leader sees it.

    Attributes:
        members: in the order of the JoinGroup answer, which the group's record in the log has too. Ids are distinct.
        topics: the topics that exist, also without a subscriber. Members may subscribe to topics that do not exist.
        leader: the id of the member that assigns. Only KafkaJS and @platformatic/kafka need it.
    """

    members: tuple[Member, ...]
    topics: tuple[TopicShape, ...]
    leader: str | None = None

    def leader_topics(self) -> tuple[str, ...]:
        """What the leader subscribes to, in its order, each topic once.

        Raises:
            UnknownLeaderError: the leader is no member.
        """
        for member in self.members:
            if member.member_id == self.leader:
                return tuple(dict.fromkeys(member.topics))
        raise UnknownLeaderError(self.leader)

    def member_ids(self) -> tuple[str, ...]:
        """The ids of the members, in their order."""
        return tuple(member.member_id for member in self.members)

    def partition_counts(self) -> dict[str, int]:
        """The number of partitions of each topic that has any, in the order of the topics."""
        return {shape.topic: shape.partitions for shape in self.topics if shape.partitions > 0}


class CheckedDialect(ABC):
    """A strategy that can tell which assignments it cannot have given. Pure, and without a state."""

    @abstractmethod
    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """Why the strategy cannot have given this assignment; None: it could.

        The order of members, topics and partitions in the assignment does not count.

        Raises:
            UnknownLeaderError: the strategy needs the leader, and the group has none.
        """
        ...


class ReplayedDialect(CheckedDialect):
    """A strategy whose assignment is a function of what its leader sees."""

    @abstractmethod
    def assign(self, group: Group) -> Assignment:
        """The assignment that the library gives, if the orders in the log are those that its leader saw.

        Returns:
            One entry for every member, in the order of the group. Topics are in Java's string order, and the
            partitions of a topic ascend.

        Raises:
            AssignorError: the library fails for this group.
            UnknownLeaderError: as ``refusal``.
        """
        ...

    def possible_assignments(self, group: Group) -> Iterator[Assignment]:
        """The assignments that the log allows, without those for which the library fails; the likeliest first.

        One at most, unless the dialect is ``Exactness.ORDERS``. May repeat itself.
        """
        try:
            yield self.assign(group)
        except AssignorError:
            return

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``: the difference from the likeliest of the possible assignments."""
        likeliest: Refusal | None = None
        for possible in self.possible_assignments(group):
            difference = first_difference(given, possible)
            if difference is None:
                return None
            likeliest = likeliest or difference
        return likeliest or self.failure(group)

    def failure(self, group: Group) -> Refusal:
        """The refusal of any assignment, for a group for which the library fails."""
        try:
            self.assign(group)
        except AssignorError as error:
            return Refusal(RefusalReason.FAILS, failure=str(error))
        raise AssertionError("a library that does not fail has a possible assignment")


class OrderedDialect(ReplayedDialect):
    """A strategy whose assignment depends on the order of the members where static and dynamic ones meet.

    The log has the order of the JoinGroup answer wherever it was looked at, but nothing promises it.
    """

    def possible_assignments(self, group: Group) -> Iterator[Assignment]:
        """See ``ReplayedDialect.possible_assignments``: those of the orders that ``member_orders`` tries.

        With more than four members these are not all there are.
        """
        orders = member_orders(group.members) if is_mixed(group.members) else (group.members,)
        for members in orders:
            for answer in super().possible_assignments(replace(group, members=members)):
                given = {member.member_id: member for member in answer.members}
                yield Assignment(members=tuple(given[member.member_id] for member in group.members))
