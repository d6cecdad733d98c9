"""For how long an entry of a file was met: yes, no and unknown add up to the time that passed, to the millisecond.

An observation says of an instant whether the entry was met. The time between two of them counts as the first one says.
It is unknown where either is, where the two are too far apart, and across a restart: unmeasured time is never good.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import Value
from monitor.model.expectations import Met
from monitor.model.snapshots import LATE_MS

VALID_MS: Final = LATE_MS
"""For so long an observation is valid, unless the trigger of the job is longer (see readiness.next_batch)."""


class MetTime(Value):
    """How long an entry was met, was not, and how long that is not known (ms)."""

    yes_ms: int = 0
    no_ms: int = 0
    unknown_ms: int = 0

    @property
    def passed_ms(self) -> int:
        """All of it.

        >>> MetTime(7, 2, 1).passed_ms
        10
        """
        return self.yes_ms + self.no_ms + self.unknown_ms

    @property
    def error_ratio(self) -> float | None:
        """The share of the time that counts against an objective: not met or unknown; None: no time has passed.

        >>> MetTime(7, 2, 1).error_ratio
        0.3
        """
        passed_ms = self.passed_ms
        return (self.no_ms + self.unknown_ms) / passed_ms if passed_ms else None

    def plus(self, met: Met, more_ms: int) -> MetTime:
        """With more time.

        >>> MetTime(7, 2, 1).plus(Met.NO, 5)
        MetTime(yes_ms=7, no_ms=7, unknown_ms=1)
        """
        match met:
            case Met.YES:
                return replace(self, yes_ms=self.yes_ms + more_ms)
            case Met.NO:
                return replace(self, no_ms=self.no_ms + more_ms)
            case Met.UNKNOWN:
                return replace(self, unknown_ms=self.unknown_ms + more_ms)


class MetAccount(Value):
    """The time of an entry until ``at_ms``, and what was observed then.

    ``met`` unknown after a restart: what was observed before it says nothing of the time since.
    """

    at_ms: int
    met: Met = Met.UNKNOWN
    time: MetTime = MetTime()

    def observe(self, at_ms: int, met: Met, valid_ms: int = VALID_MS) -> MetAccount:
        """After another observation.

        An earlier instant than the last one is a clock that was set back: counting continues from there.

        Args:
            at_ms: its instant.
            met: what was observed.
            valid_ms: how far apart two observations may be.

        >>> MetAccount(0, Met.YES).observe(1_000, Met.NO).observe(3_000, Met.NO).observe(3_500, Met.UNKNOWN).time
        MetTime(yes_ms=1000, no_ms=2000, unknown_ms=500)
        >>> MetAccount(0, Met.YES).observe(61_000, Met.YES).time
        MetTime(yes_ms=0, no_ms=0, unknown_ms=61000)
        """
        passed_ms = max(0, at_ms - self.at_ms)
        is_known = passed_ms <= valid_ms and met is not Met.UNKNOWN
        return MetAccount(at_ms=at_ms, met=met, time=self.time.plus(self.met if is_known else Met.UNKNOWN, passed_ms))

    def after_restart(self) -> MetAccount:
        """As a process begins with it that was not there in between."""
        return replace(self, met=Met.UNKNOWN)
