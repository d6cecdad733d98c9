"""Whether what is known of the groups is new enough to judge by, where they come by a collector's readings.

A cluster's own log is read as it is written. Of a system that is not read, nothing new would be known: its members
would seem to commit nothing, and its lag to stand still. Its groups grow stale instead, until it is read again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

LEAST_MS: Final = 30_000
MISSED: Final = 3
"""After how many intervals without a reading nothing is judged; never before LEAST_MS."""


@dataclass(slots=True)
class Freshness:
    """Watches the readings come. ``mark`` gives something that is another one after each, from how many were read here.

    ``problem`` says how long none has come, once that is too long; else None.
    """

    interval_ms: int
    mark: Callable[[int], object]
    problem: str | None = None
    _seen: object = None
    _seen_ms: int | None = None

    def is_fresh(self, read: int, at_ms: int) -> bool:
        """Whether a reading came lately; ``at_ms`` is by a clock that only goes forward.

        ``read`` is how many micro-batches of this run had something of a reading (ClusterView.readings).
        """
        mark = self.mark(read)
        if self._seen_ms is None or mark != self._seen:
            self._seen, self._seen_ms = mark, at_ms
        late_ms = at_ms - self._seen_ms
        fresh = late_ms <= max(LEAST_MS, MISSED * self.interval_ms)
        self.problem = None if fresh else f"no poll of its groups has arrived for {late_ms // 1000} s"
        return fresh
