"""Which partitions went from whom to whom while a group is balanced.

When a partition is to go from A to B although another one of the same topic went from B to A before, that one is sent
back instead: two members never swap partitions of one topic. Which one, if there are several, each library decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

Route = tuple[int, int]
"""From one member to another (ranks)."""


class Movements:
    """The places that are not where they were when balancing began, by topic and by route."""

    def __init__(self, topic_of: Sequence[int]) -> None:
        """Take the topic of each place."""
        self._topic_of = topic_of
        self._route: dict[int, Route] = {}
        self._moved: dict[tuple[int, Route], list[int]] = defaultdict(list)

    def ways_back(self, place: int, owner: int, target: int) -> Sequence[int]:
        """The places that can go to the target instead of this one, since they came from there; oldest first."""
        source = self._route[place][0] if place in self._route else owner
        return self._moved.get((self._topic_of[place], (target, source)), ())

    def record(self, place: int, owner: int, target: int) -> None:
        """The place goes from its owner to the target. One that comes home has not moved."""
        source = owner
        if place in self._route:
            route = self._route.pop(place)
            self._moved[self._topic_of[place], route].remove(place)
            source = route[0]
        if source != target:
            self._route[place] = (source, target)
            self._moved[self._topic_of[place], (source, target)].append(place)

    def state(self) -> frozenset[tuple[int, Route]]:
        """Everything that later moves can depend on."""
        return frozenset(self._route.items())
