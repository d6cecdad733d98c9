"""Which partitions went from whom to whom while a group is balanced.

When a partition is to go from A to B although another one of the same topic went from B to A before, the original
sends that one back instead: two members never swap partitions of one topic. Which one, if there are several, is the
first element of a Java ``HashSet``. Source: ``AbstractStickyAssignor.PartitionMovements``.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, partition_of
from monitor.model import Value

_SMALLEST_TABLE: Final = 16
_LONGEST_CHAIN: Final = 8
_SMALLEST_TABLE_WITH_TREES: Final = 64
_WORD: Final = 0xFFFF_FFFF


class Route(Value, eq=True):
    """From one member to another (ranks)."""

    source: int
    target: int


class Movements:
    """The partitions that are not where they were when balancing began, by topic and by route."""

    def __init__(self, known: KnownTopics) -> None:
        self._known = known
        self._route: dict[int, Route] = {}
        self._moved: dict[int, dict[Route, PlaceSet]] = defaultdict(dict)

    def instead_of(self, place: int, topic: int, owner: int, target: int) -> int:
        """The partition that moves in place of this one, or this one. One that goes back goes back to the target."""
        before = self._route[place].source if place in self._route else owner
        back = self._moved[topic].get(Route(source=target, target=before))
        return place if back is None else back.first()

    def state(self) -> frozenset[tuple[int, Route]]:
        """Everything that later moves can depend on."""
        return frozenset(self._route.items())

    def record(self, place: int, topic: int, owner: int, target: int) -> None:
        """The partition goes from its owner to the target. One that comes home has not moved."""
        source = owner
        if place in self._route:
            source = self._forget(place, topic).source
        if source != target:
            route = self._route[place] = Route(source=source, target=target)
            if route not in self._moved[topic]:
                self._moved[topic][route] = PlaceSet(self._known.hash_of(topic))
            self._moved[topic][route].add(place)

    def _forget(self, place: int, topic: int) -> Route:
        route = self._route.pop(place)
        moved = self._moved[topic]
        moved[route].remove(place)
        if not moved[route]:
            del moved[route]  # a set that is needed again begins with a small table
        return route


class PlaceSet:
    """A ``HashSet<TopicPartition>`` of one topic, as far as its first element needs.

    Limit: in a table of 64 places or more, a place with more than eight partitions becomes a tree, whose first node can
    be another one than the oldest. Partition numbers would have to differ by multiples of the table's size.
    """

    def __init__(self, topic_hash: int) -> None:
        self._topic_hash = topic_hash
        self._table = _SMALLEST_TABLE
        self._spread: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._spread)

    def add(self, place: int) -> None:
        """Put in a partition that is not there."""
        word = (31 * (31 + partition_of(place)) + self._topic_hash) & _WORD
        spread = word ^ word >> 16
        self._spread[place] = spread
        if len(self._spread) > _LONGEST_CHAIN and self._table < _SMALLEST_TABLE_WITH_TREES:
            mask = self._table - 1
            chain = sum((other ^ spread) & mask == 0 for other in self._spread.values())
            self._table *= 1 + (chain > _LONGEST_CHAIN)  # a small table grows where a large one gets a tree
        if 4 * len(self._spread) > 3 * self._table:
            self._table *= 2

    def remove(self, place: int) -> None:
        """Take out a partition that is there."""
        del self._spread[place]

    def first(self) -> int:
        """What Java's iterator gives first."""
        mask = self._table - 1
        return min(self._spread, key=lambda place: self._spread[place] & mask)
