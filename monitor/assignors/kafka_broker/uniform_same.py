"""``uniform`` where all members subscribe to the same topics (``UniformHomogeneousAssignmentBuilder``).

Words: the *share* is all partitions divided by the members, rounded down; the *extras* are the remainder.

Properties:

1. Every partition has exactly one owner.
2. Every member has the share, and as many members as there are extras have one more.
3. Members keep what they have, up to that.
4. The order of the members decides who takes the extras and which partitions come to whom.

Steps:

1. Line up partitions without an owner: topics in the order of a Java set of their ids, then by number.
2. Visit the members in order. Each keeps up to its *quota* of what it has, in the order of Java's sets; the rest joins
   the line. The quota is the share, and one more while extras are left. Who does not use its extra gives it back,
   unless there are no more members left than extras.
3. Visit those who have room left, in order: each takes all it can from the head of the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.order import set_copy_capacity
from monitor.assignors.kafka_broker.group import BrokerGroup, Holding
from monitor.model import Value

Given = dict[int, Sequence[int]]
"""The partitions of one member, by topic."""


class _Run(Value):
    """Some partitions of one topic, in line."""

    topic: int
    partitions: Sequence[int]


class _Room(Value):
    """A member that can take so many more."""

    member: int
    places: int


def assign_same(group: BrokerGroup) -> list[Given] | None:
    """By member number, the partitions of each topic; None if no member subscribes to a topic that exists.

    Raises:
        AssignorError: a topic's metadata has gone, or partitions are left over because members have some that do not
            exist or have them twice.
    """
    topics = group.in_map_order(group.asked[0], set_copy_capacity(group.names_asked[0]))
    if not topics:
        return None
    line = _unassigned(group, topics)
    quotas = _Quotas(sum(group.count(topic) for topic in topics), len(group.member_ids))
    asked = frozenset(topics)
    given: list[Given] = []
    rooms = []
    for member, held in enumerate(group.held):
        quota = quotas.open()
        given.append(_keep([holding for holding in held if holding.topic in asked], quota, line))
        room = quotas.close(quota, sum(map(len, given[member].values())), group.member_ids[member:])
        if room > 0:
            rooms.append(_Room(member=member, places=room))
    _fill(given, rooms, line)
    return given


def _unassigned(group: BrokerGroup, topics: Sequence[int]) -> list[_Run]:
    free = {topic: np.ones(group.count(topic), np.bool_) for topic in topics}
    for held in group.held:
        for holding in held:
            if holding.topic in free:
                _strike(free[holding.topic], holding.partitions)
    runs = [_Run(topic=topic, partitions=np.flatnonzero(free[topic]).tolist()) for topic in topics]
    return [run for run in runs if run.partitions]


def _strike(free: NDArray[np.bool_], partitions: Sequence[int]) -> None:
    numbers = np.array(partitions, np.int64)
    free[numbers[(numbers >= 0) & (numbers < len(free))]] = False


class _Quotas:
    """How many partitions a member may have."""

    def __init__(self, partitions: int, members: int) -> None:
        self._share, self._extras = divmod(partitions, members)

    def open(self) -> int:
        """The quota of the member whose turn it is."""
        return self._share + (self._extras > 0)

    def close(self, quota: int, kept: int, still_waiting: Sequence[str]) -> int:
        """How many more it can take, if it kept so many; it is the first of those who are still waiting."""
        room = quota - kept
        if quota == self._share:
            return room
        if room > 0 and len(still_waiting) > self._extras:
            return room - 1
        self._extras -= 1
        return room


def _keep(held: Sequence[Holding], quota: int, line: list[_Run]) -> Given:
    """What a member keeps of what it has; the rest joins the line."""
    kept: Given = {}
    for holding in held:
        keeps = holding.partitions[: max(quota, 0)]
        quota -= len(keeps)
        if keeps or not holding.partitions:
            kept[holding.topic] = keeps
        if len(keeps) < len(holding.partitions):
            line.append(_Run(topic=holding.topic, partitions=holding.partitions[len(keeps) :]))
    return kept


def _fill(given: Sequence[Given], rooms: Sequence[_Room], line: Sequence[_Run]) -> None:
    runs = _Line(line)
    for room in rooms:
        mine = given[room.member]
        for run in runs.take(room.places):
            mine[run.topic] = [*mine.get(run.topic, ()), *run.partitions]
    if runs.waiting():
        raise AssignorError("PartitionAssignorException", "Partitions were left unassigned")


class _Line:
    """What is waiting for a taker; taken from the head."""

    def __init__(self, runs: Sequence[_Run]) -> None:
        self._runs = runs
        self._next = 0
        self._taken = 0

    def waiting(self) -> bool:
        """Whether anything is left."""
        return self._next < len(self._runs)

    def take(self, places: int) -> Iterator[_Run]:
        """So many partitions from the head, or what is there."""
        while places > 0 and self.waiting():
            run = self._runs[self._next]
            part = run.partitions[self._taken : self._taken + places]
            yield _Run(topic=run.topic, partitions=part)
            places -= len(part)
            self._taken += len(part)
            if self._taken == len(run.partitions):
                self._next, self._taken = self._next + 1, 0
