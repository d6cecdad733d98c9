"""Whether micro-batches keep up with their trigger, and when to say so."""

from __future__ import annotations

import statistics
from collections import deque
from dataclasses import dataclass, field
from typing import Final

OBSERVED_BATCHES: Final = 11
"""So many intervals are looked at. Their median counts: one slow micro-batch, or a clock that was set, is no news."""

SLOW: Final = 1.2
"""From so many times the trigger on, micro-batches are too slow."""

HEALED: Final = 1.1
"""Down to so many times the trigger they keep up again."""

LASTS_MS: Final = 60_000
"""For so long they must be too slow until that is news: the restart of a broker is none."""

HEALS_MS: Final = 600_000
"""For so long they must keep up until that is news: those of a job at the limit take now a little less, now more."""


@dataclass(slots=True)
class TriggerLag:
    """Takes the instants at which micro-batches begin: one that takes longer than the trigger delays the next one.

    ``trigger_ms`` 0: each is to begin as soon as it can, so none is late.
    """

    trigger_ms: int
    slow: bool = False
    _began_ms: int | None = None
    _changed_ms: int = 0
    """For how long they have not been as was last said."""
    _intervals_ms: deque[int] = field(default_factory=lambda: deque(maxlen=OBSERVED_BATCHES))

    def begin(self, now_ms: int, held_ms: int = 0) -> str | None:
        """Take the beginning of a micro-batch; a sentence if they have become too slow, or keep up again.

        ``held_ms``: for how long of the time since the one before there was nothing to do.
        """
        elapsed_ms = 0 if self._began_ms is None else max(0, now_ms - self._began_ms)
        if self._began_ms is not None:
            self._intervals_ms.append(now_ms - self._began_ms - held_ms)
        self._began_ms = now_ms
        if not self.trigger_ms or len(self._intervals_ms) < OBSERVED_BATCHES:
            return None
        usual_ms = statistics.median(self._intervals_ms)
        is_slow = usual_ms > (HEALED if self.slow else SLOW) * self.trigger_ms
        self._changed_ms = self._changed_ms + elapsed_ms if is_slow != self.slow else 0
        if self._changed_ms < (HEALS_MS if self.slow else LASTS_MS):
            return None
        self.slow, self._changed_ms = is_slow, 0
        return self._sentence(usual_ms)

    def _sentence(self, usual_ms: float) -> str:
        trigger = f"spark.trigger_s = {self.trigger_ms / 1000:g}"
        if not self.slow:
            return f"micro-batches keep up with {trigger} again"
        return (
            f"a micro-batch takes about {usual_ms / 1000:.1f} s, longer than {trigger}: the data shown is older than "
            "that. Raise it, or give the job more cores; see docs/scaling.md"
        )
