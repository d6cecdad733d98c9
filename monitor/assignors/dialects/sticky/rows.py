"""Topics that no rule about members can tell apart, and the moves between members that they allow."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from monitor.assignors.dialects.structure import Structure
from monitor.model import TopicPartition, Value

Owners = Mapping[TopicPartition, str]
"""The owner of each partition, by member id."""
Cell = tuple[int, str]
"""A row, and a member that may own its partitions."""


class Rows(Value):
    """Partitions that the same members may own form a *row*.

    Attributes:
        subscribers: those who may own the partitions of each row.
        places: the partitions of each row, in order.
        row_of: the row of each partition.
    """

    subscribers: tuple[tuple[str, ...], ...]
    places: tuple[tuple[TopicPartition, ...], ...]
    row_of: Mapping[TopicPartition, int]

    def count(self, owners: Owners) -> Counter[Cell]:
        """How many partitions of a row each member owns. Partitions without a row do not count."""
        return Counter((self.row_of[place], owner) for place, owner in owners.items() if place in self.row_of)


def form_rows(alike: Iterable[tuple[tuple[str, ...], Sequence[TopicPartition]]]) -> Rows:
    """The rows of partitions that come with those who may own them: of a topic at a time, or one by one.

    >>> form_rows([(("C0",), [TopicPartition("t", 0)]), (("C0",), [TopicPartition("u", 0)])]).subscribers
    (('C0',),)
    """
    found: dict[tuple[str, ...], list[TopicPartition]] = defaultdict(list)
    for names, places in alike:
        found[names] += places
    return Rows(
        subscribers=tuple(found),
        places=tuple(tuple(sorted(places)) for places in found.values()),
        row_of={place: row for row, places in enumerate(found.values()) for place in places},
    )


def topic_rows(structure: Structure) -> Rows:
    """The rows of all partitions that have a subscriber."""
    return form_rows((names, structure.partitions[topic]) for topic, names in structure.subscribers.items())


class Step(Value):
    """The taker gets a partition of the row from the giver."""

    row: int
    taker: str
    giver: str


def levelling_path(rows: Rows, loads: Mapping[str, int], held: Mapping[Cell, int]) -> list[Step]:
    """Steps that together move one partition from a member to one that holds two fewer or less; empty: there are none.

    A member takes from a row that it subscribes to, and who gives it one takes another one in its place. Without such
    a path, the loads are as even as they can be: the sum of their squares is at its minimum.

    Args:
        rows: who may own what.
        loads: how many partitions each member holds in all.
        held: how many partitions of each row each member can give away.
    """
    reach = _Reach(rows, held)
    for heaviest in sorted(loads, key=lambda member: (-loads[member], member)):
        for taker in reach.spread(heaviest):
            if loads[heaviest] >= loads[taker] + 2:
                return reach.path(taker)
    return []


class _Reach:
    """The members from which partitions can move, and to which. Each is reached once, from the first that can."""

    def __init__(self, rows: Rows, held: Mapping[Cell, int]) -> None:
        self._rows = rows
        self._held: dict[str, list[int]] = defaultdict(list)
        for (row, member), count in held.items():
            if count > 0:
                self._held[member].append(row)
        self._following: dict[str, Step | None] = {}
        self._done: set[int] = set()

    def spread(self, start: str) -> Iterator[str]:
        """The members that were not reached before, and that can take something from this one in one step or more."""
        if start in self._following:
            return
        self._following[start] = None
        reached = deque([start])
        while reached:
            giver = reached.popleft()
            for row in self._held[giver]:
                for taker in () if row in self._done else self._rows.subscribers[row]:
                    if taker not in self._following:
                        self._following[taker] = Step(row, taker, giver)
                        reached.append(taker)
                        yield taker
                self._done.add(row)

    def path(self, taker: str) -> list[Step]:
        """The steps that take something to this member."""
        path = []
        step = self._following[taker]
        while step is not None:
            path.append(step)
            step = self._following[step.giver]
        return path


def loads_of(owners: Owners, members: Sequence[str]) -> dict[str, int]:
    """How many partitions each member owns."""
    counts = Counter(owners.values())
    return {member: counts[member] for member in members}
