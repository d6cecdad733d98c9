"""The log from which the groups are known, as the micro-batches of one query read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from monitor.model import LogPlaces


@dataclass(slots=True)
class GroupsLog:
    """What the newest micro-batch has read of the log. ``places``: where in the offsets topic groups are."""

    topic: str
    places: LogPlaces = field(default_factory=LogPlaces)
    partitions: int = 0
    """By how many partitions of the offsets topic groups are placed; 0: there was no micro-batch, or it is unknown."""
    changed_ms: int = 0
    """When a micro-batch last had records of the log; 0: none had."""
    _read: dict[int, int] = field(default_factory=dict)

    def take(self, read: Mapping[int, int], clock: Callable[[], int]) -> None:
        """A micro-batch reads until these offsets."""
        if read != self._read:
            self._read, self.changed_ms = dict(read), clock()
        self.partitions = self.places.in_force(read)
