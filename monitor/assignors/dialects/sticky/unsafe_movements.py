"""How librdkafka keeps books of the partitions that move while a group is balanced, with its mistakes.

As ``movements``, with three differences that matter. Source: ``PartitionMovements`` of ``rdkafka_sticky_assignor.c``.

- A partition that moved before is looked up under its present owner, and not under the one where it was at first. So
  it can itself be what goes back.
- What goes back is held by its place in a list, and then removed from that list. So the *next* one of the list moves,
  while the books say that the first one did. If there is none, librdkafka reads memory that it has freed.
- The route of a partition that came home is not forgotten. An assertion fails if a partition moves again and its route
  does not end where it is.
- Routes are the keys under which partitions are listed. When the partition that brought a key moves on, the key is
  freed, while others are still listed under it.

A leader that fails an assertion or reads freed memory ends. With freed memory that is no certainty, but nearly so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.assignors.errors import AssignorError

CRASHED: Final = "signal 11: "
"""The leader reads memory that it must not read. Nothing is printed that could follow the colon."""
_ABORTED: Final = "signal 6"
_WRONG_OWNER: Final = (
    "rdkafka_sticky_assignor.c:404: PartitionMovements_movePartition: "
    "Assertion `!rd_strcmp(existing_cpair->dst, old_consumer)' failed."
)
_WRONG_OWNER_OF_MOVING: Final = (
    "rdkafka_sticky_assignor.c:438: PartitionMovements_getTheActualPartitionToBeMoved: "
    "Assertion `!rd_strcmp(oldConsumer, cpair->dst)' failed."
)
_NOT_LISTED: Final = (
    "rdkafka_sticky_assignor.c:358: PartitionMovements_removeMovementRecordOfPartition: Assertion `plist' failed."
)


class _Route:
    """From one member to another (ranks). Its identity counts, as that of an address does."""

    def __init__(self, source: int, target: int) -> None:
        self.ends = (source, target)
        self.is_freed = False


class Listed:
    """The places that moved along one route, and the route that is the key of this list."""

    def __init__(self, key: _Route) -> None:
        self.key = key
        self.places: list[int] = []

    def first(self) -> int:
        """The place that moved first.

        Raises:
            AssignorError: there is none any more. librdkafka reads where it was.
        """
        if not self.places:
            raise AssignorError(CRASHED)
        return self.places[0]


class UnsafeMovements:
    """The books: the route of each place that ever moved, and the places listed by topic and route."""

    def __init__(self, topic_of: Sequence[int]) -> None:
        """Take the topic of each place."""
        self._topic_of = topic_of
        self._route: dict[int, _Route] = {}
        self._listed: dict[int, dict[tuple[int, int], Listed]] = {}

    def way_back(self, place: int, owner: int, target: int) -> Listed | None:
        """The places that went from the target to the owner before, by the books; None: there are none.

        Raises:
            AssignorError: librdkafka fails.
        """
        topic = self._topic_of[place]
        if topic not in self._listed:
            return None
        if place in self._route and self._route[place].ends[1] != owner:
            raise AssignorError(_ABORTED, _WRONG_OWNER_OF_MOVING)
        return self._find(topic, (target, owner))

    def record(self, place: int, owner: int, target: int) -> None:
        """The place goes from its owner to the target.

        Raises:
            AssignorError: librdkafka fails.
        """
        source = owner
        if place in self._route:
            route = self._unlist(place)
            if route.ends[1] != owner:
                raise AssignorError(_ABORTED, _WRONG_OWNER)
            source = route.ends[0]
        if source != target:
            self._list(place, _Route(source, target))

    def _list(self, place: int, route: _Route) -> None:
        if place in self._route:
            self._route[place].is_freed = True
        self._route[place] = route
        topic = self._topic_of[place]
        listed = self._find(topic, route.ends)
        if listed is None:
            listed = self._listed.setdefault(topic, {})[route.ends] = Listed(route)
        listed.places.append(place)

    def _unlist(self, place: int) -> _Route:
        topic, route = self._topic_of[place], self._route[place]
        if topic not in self._listed:
            raise AssignorError(CRASHED)  # a list of a topic that has none any more
        listed = self._find(topic, route.ends)
        if listed is None:
            raise AssignorError(_ABORTED, _NOT_LISTED)
        if place in listed.places:
            listed.places.remove(place)
        if not listed.places:
            del self._listed[topic][route.ends]
            if not self._listed[topic]:
                del self._listed[topic]
        return route

    def _find(self, topic: int, ends: tuple[int, int]) -> Listed | None:
        listed = self._listed.get(topic, {}).get(ends)
        if listed is not None and listed.key.is_freed:
            raise AssignorError(CRASHED)
        return listed
