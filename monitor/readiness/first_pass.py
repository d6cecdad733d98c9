"""Whether the topics are known by a pass of this run: what an earlier one saw may be long out of date.

By the order of the log and not by clocks: the pass may have been dated by another machine, or before a clock was set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from monitor.model import Catalog


@dataclass(slots=True)
class FirstPass:
    """Waits for the collector's events to be read up to ``target``, where they ended when the query started.

    ``own``: this job's collector wrote them, so a pass of this run is among them. Otherwise nobody knows how old they
    are, and one more pass has to come: then the job that lists the topics is alive. ``by_readings``: so is whoever
    reads the groups, as they come by the same passes; one more reading is enough, be it an incomplete one.
    """

    target: Mapping[int, int]
    own: bool
    by_readings: bool = False
    _is_read: bool = False
    _heard_ms: int | None = None
    _heard: int = 0
    _seen: bool = False

    @property
    def seen(self) -> bool:
        """Whether groups may be judged by the newest catalog."""
        return self._seen

    def advance(self, events_read: Mapping[int, int], catalog: Catalog | None, readings: int = 0) -> None:
        """Take note of a micro-batch that has ended: how far it read the events, and what was known then.

        Args:
            events_read: by partition, the offset after the last event that was read.
            catalog: the newest.
            readings: how many micro-batches had something of a reading.
        """
        pass_ms = catalog.pass_ms if catalog is not None else None
        if not self._is_read and all(events_read.get(partition, 0) >= end for partition, end in self.target.items()):
            self._is_read, self._heard_ms, self._heard = True, pass_ms, readings
            self._seen = self.own
        self._seen |= self._is_read and pass_ms != self._heard_ms
        self._seen |= self._is_read and self.by_readings and readings != self._heard
