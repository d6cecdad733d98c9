"""Whether micro-batches still end: what hangs says nothing by itself, and all that was known stays on the page."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

LEAST_MS: Final = 30_000
LIMIT_IN_TRIGGERS: Final = 10
LIMIT_IN_LONGEST_BATCHES: Final = 4
"""A query has stalled when no micro-batch has ended for the longest of: LEAST_MS, so many triggers, and so many times
the longest of the batches that ended last."""

FIRST_MS: Final = 120_000
"""The first micro-batch of a query starts its Python workers, loads the state, and reads a piece of the backlog."""

ABANDON_FACTOR: Final = 10
"""After so many times as long the process ends, for whoever starts it again."""

REMEMBERED_BATCHES: Final = 10
"""How many batches count for the longest."""


@dataclass(slots=True)
class StallWatch:
    """Takes when micro-batches begin and end, in ms of a clock that only goes forward. For any thread."""

    trigger_ms: int
    ended: int = 0
    """How many batches have ended."""
    _since_ms: int | None = None
    """The end of the newest batch, or the instant from which on one was expected."""
    _has_ended: bool = False
    _began_ms: int | None = None
    _durations_ms: deque[int] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))

    def expect(self, now_ms: int) -> None:
        """Expect batches from now on: a query starts, or what it waited for is there again."""
        self._since_ms = now_ms

    def restart(self, now_ms: int) -> None:
        """A query starts: its first batch may take longer."""
        self._has_ended, self._began_ms = False, None
        self.expect(now_ms)

    def begin(self, now_ms: int) -> None:
        """A micro-batch has begun."""
        self._began_ms = now_ms

    def end(self, now_ms: int) -> None:
        """A micro-batch has ended."""
        if self._began_ms is not None:
            self._durations_ms.append(now_ms - self._began_ms)
        self._has_ended, self._began_ms = True, None
        self.ended += 1
        self.expect(now_ms)

    @property
    def limit_ms(self) -> int:
        """How long it may take until a batch ends.

        >>> watch = StallWatch(trigger_ms=1000)
        >>> watch.limit_ms
        120000
        """
        usual_ms = max(
            LEAST_MS, LIMIT_IN_TRIGGERS * self.trigger_ms, LIMIT_IN_LONGEST_BATCHES * max(self._durations_ms, default=0)
        )
        return usual_ms if self._has_ended else max(usual_ms, FIRST_MS)

    def silence_ms(self, now_ms: int) -> int:
        """For how long no batch has ended."""
        return 0 if self._since_ms is None else now_ms - self._since_ms

    def has_stalled(self, now_ms: int) -> bool:
        """Whether that is too long."""
        return self.silence_ms(now_ms) > self.limit_ms

    def is_hopeless(self, now_ms: int) -> bool:
        """Whether it is so long that nothing will come of waiting."""
        return self.silence_ms(now_ms) > ABANDON_FACTOR * self.limit_ms
