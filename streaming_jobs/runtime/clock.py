"""The clock of a job: it follows the machine's, but a step of that one does not become a step of every age.

What is judged by age would otherwise be older by an hour at once, or not age for an hour, when the machine's clock is
set (docs/decisions/0012-steps-of-the-clock.md).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

SLEW: Final = 2
"""At most one part in so many of the time that passes is added or left out, to approach the machine's clock."""

MIN_LOGGED_STEP_NS: Final = 10 * 10**9
"""From this difference on the log says that the machine's clock was set."""


def monotonic_ns() -> int:
    """Time that only goes forward; the time in which the machine was suspended counts, where the system can tell."""
    return time.clock_gettime_ns(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def monotonic_ms() -> int:
    """The same in milliseconds, to tell how long something took."""
    return monotonic_ns() // 1_000_000


class SteadyClock:
    """Gives the time in ms: that of the machine's clock at first, then never less than before and without leaps.

    A second of it lasts between two thirds of a second and two seconds. It may be read from any thread.
    """

    def __init__(self, wall_ns: Callable[[], int] = time.time_ns, passed: Callable[[], int] = monotonic_ns) -> None:
        """Begin with the machine's time; ``passed`` gives nanoseconds that only go forward."""
        self._wall_ns = wall_ns
        self._passed = passed
        self._lock = threading.Lock()
        self._at = passed()
        self._now_ns = wall_ns()
        self._behind_ns = 0
        self._told = False

    def __call__(self) -> int:
        """Now, in milliseconds since the epoch."""
        with self._lock:
            at = self._passed()
            elapsed = max(0, at - self._at)
            self._at = at
            ahead_ns = self._wall_ns() - (self._now_ns + elapsed)
            most = elapsed // SLEW
            correction = max(-most, min(most, ahead_ns))
            self._now_ns += elapsed + correction
            self._behind_ns = ahead_ns - correction
            self._log_step()
            return self._now_ns // 1_000_000

    @property
    def behind_ms(self) -> int:
        """By how much the machine's clock was ahead of this one when it was last read; negative: behind it."""
        return self._behind_ns // 1_000_000

    def _log_step(self) -> None:
        is_far = abs(self._behind_ns) >= MIN_LOGGED_STEP_NS
        if is_far and not self._told:
            log.warning(
                "The system clock moved %s by about %d s; reported ages converge within %d s.",
                "forward" if self._behind_ns > 0 else "back",
                abs(self._behind_ns) // 10**9,
                SLEW * abs(self._behind_ns) // 10**9,
            )
        self._told = is_far


now_ms: Final = SteadyClock()
"""The only clock that verdicts are given."""
