"""Whether a cluster is still evaluated: what hangs reports nothing, and the last verdicts stay on the page."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

LEAST_MS: Final = 28_000
LIMIT_IN_TRIGGERS: Final = 10
LIMIT_IN_LONGEST_BATCHES: Final = 4
"""A cluster has stalled when it was not evaluated for the longest of: LEAST_MS, so many triggers, and so many times the
longest of the batches that ended last. LEAST_MS and the interval of the watchdog are less than the documented 30 s."""

FIRST_MS: Final = 120_000
"""The first micro-batch of a query starts its Python workers, loads the state, and reads a piece of the backlog."""

ABANDON_FACTOR: Final = 10
"""After so many times as long without a micro-batch the process ends, so that its supervisor starts it again."""

REMEMBERED_BATCHES: Final = 10
"""How many batches count for the longest. The first of a query is none of them."""


@dataclass(slots=True)
class StallWatch:
    """Takes when micro-batches begin, end and evaluate, in ms of a clock that only goes forward. For any thread."""

    trigger_ms: int
    ended: int = 0
    """How many batches have ended."""
    ended_ms: int | None = None
    """The end of the newest batch; before the first one, the start of the first query."""
    _evaluated_ms: int | None = None
    """When the groups were last evaluated, or a poll found that nothing had changed since."""
    first_evaluated_ms: int | None = None
    """The same of the first evaluation of this process."""
    _started_ms: int | None = None
    """The start of the query that runs now, as long as no batch of it has ended."""
    _looked_ms: int | None = None
    _waited_ms: int = 0
    """How much of the time since the newest batch nothing outside was known to cause."""
    _began_ms: int | None = None
    _stall_ms: int = 0
    """How long the newest batch took, if it was a stall."""
    _durations_ms: deque[int] = field(default_factory=lambda: deque(maxlen=REMEMBERED_BATCHES))

    def restart(self, now_ms: int) -> None:
        """A query starts: its first batch may take longer until the process is given up."""
        self._began_ms, self._started_ms = None, now_ms
        if self.ended_ms is None:
            self.ended_ms = self._looked_ms = now_ms

    def stop(self) -> None:
        """No query runs."""
        self._began_ms = self._started_ms = None

    def begin(self, now_ms: int) -> None:
        """A micro-batch has begun."""
        self._began_ms = now_ms

    def end(self, now_ms: int) -> None:
        """A micro-batch has ended."""
        is_first = self._started_ms is not None
        if self._began_ms is not None and not is_first:
            self._count_duration(now_ms - self._began_ms)
        self._began_ms = self._started_ms = None
        self.ended += 1
        self.ended_ms = self._looked_ms = now_ms
        self._waited_ms = 0

    def _count_duration(self, duration_ms: int) -> None:
        """Remember how long a batch took. One that was a stall itself counts once the next one has ended.

        Else its own length would excuse it: what it evaluated is as old as that.
        """
        if self._stall_ms:
            self._durations_ms.append(self._stall_ms)
            self._stall_ms = 0
        if duration_ms > self.usual_limit_ms:
            self._stall_ms = duration_ms
        else:
            self._durations_ms.append(duration_ms)

    def evaluate(self, now_ms: int) -> None:
        """The groups have been evaluated as of this time, or what they were evaluated by has not changed."""
        self._evaluated_ms = now_ms
        if self.first_evaluated_ms is None:
            self.first_evaluated_ms = now_ms

    def look(self, now_ms: int, *, excused: bool) -> None:
        """Count the time since the last look, unless it is known that something outside lets no batch end (excused).

        An excuse interrupts the count and does not reset it: only the end of a batch does.
        """
        if self._looked_ms is not None:
            self._waited_ms += 0 if excused else max(0, now_ms - self._looked_ms)
            self._looked_ms = now_ms

    @property
    def usual_limit_ms(self) -> int:
        """How long it may take from one evaluation to the next.

        >>> StallWatch(trigger_ms=5_000).usual_limit_ms
        50000
        """
        longest_ms = max(self._durations_ms, default=0)
        return max(LEAST_MS, LIMIT_IN_TRIGGERS * self.trigger_ms, LIMIT_IN_LONGEST_BATCHES * longest_ms)

    @property
    def limit_ms(self) -> int:
        """The same, or longer until the first evaluation of this process: the backlog is read in long batches.

        >>> StallWatch(trigger_ms=1_000).limit_ms
        120000
        """
        return self.usual_limit_ms if self._evaluated_ms is not None else max(self.usual_limit_ms, FIRST_MS)

    @property
    def newest_ms(self) -> int | None:
        """When the groups were last evaluated; as long as they never were, when a batch last ended."""
        return self.ended_ms if self._evaluated_ms is None else self._evaluated_ms

    def silence_ms(self, now_ms: int) -> int:
        """How long ago that was; 0 before the first query."""
        return 0 if self.newest_ms is None else now_ms - self.newest_ms

    def has_stalled(self, now_ms: int) -> bool:
        """Whether that is too long, whatever the reason."""
        return self.silence_ms(now_ms) > self.limit_ms

    def ends_batches(self, now_ms: int) -> bool:
        """Whether batches end, be it without an evaluation."""
        return self.ended_ms is None or now_ms - self.ended_ms <= self.limit_ms

    def is_hopeless(self, now_ms: int) -> bool:
        """Whether no batch has ended for so long, without an excuse, that nothing will come of waiting."""
        if self._started_ms is not None and now_ms - self._started_ms <= ABANDON_FACTOR * FIRST_MS:
            return False
        return self._waited_ms > ABANDON_FACTOR * self.limit_ms
