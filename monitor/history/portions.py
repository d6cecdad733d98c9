"""The numbers of portions. They order a recording and only grow, whatever the machine's clock does."""

from __future__ import annotations

from typing import Final

from monitor.history.tables import DAY_MS
from monitor.model import Value

BELIEVED_AHEAD_MS: Final = 3_600_000
"""How much later than the clock, and than all that is recorded, an event may seem to be. A forged record could name the
year 9999, and every later portion would be numbered from there."""

FAR_AHEAD_MS: Final = DAY_MS
"""From here on a clock is far ahead of what is recorded: it is wrong, or nothing has been logged for a day."""


class PortionTimes(Value):
    """The times of what a portion has (ms since the epoch).

    ``clock_ms`` is the machine's, before it asked where the logs end. The others are by the clocks of the brokers:
    ``last_ms`` is that of the newest event whose time is believed; None: there is none. Of ``rows``, so many are
    ``beyond`` belief (BELIEVED_AHEAD_MS).
    """

    clock_ms: int
    rows: int
    beyond: int
    last_ms: int | None

    @property
    def is_dated(self) -> bool:
        """Whether most of it is believed. If not, the machine's clock is behind those of the brokers."""
        return 2 * self.beyond <= self.rows


def next_number(newest_ms: int, at_ms: int) -> int:
    """A number after the newest one: the time if that has gone on.

    >>> next_number(newest_ms=5_000, at_ms=7_000), next_number(newest_ms=5_000, at_ms=4_000)
    (7000, 5001)
    """
    return max(newest_ms + 1, at_ms)


def near_time(newest_ms: int, clock_ms: int) -> int:
    """Now, unless the clock is behind the newest portion or far ahead of it: then right after that portion.

    >>> near_time(5_000, 7_000), near_time(5_000, 4_000), near_time(5_000, 90_000_000), near_time(0, 90_000_000)
    (7000, 5001, 5001, 90000000)

    Args:
        newest_ms: the number of the newest portion; 0: there is none.
        clock_ms: the machine's time (ms since the epoch).
    """
    is_near = newest_ms <= clock_ms < newest_ms + FAR_AHEAD_MS
    return clock_ms if is_near or not newest_ms else newest_ms + 1


def portion_number(newest_ms: int, times: PortionTimes, every_ms: int) -> int:
    """The number of a portion: the machine's time, as far as the order and the brokers' times allow.

    It is after every number before it. It is not before the events of the portion: who asks for an earlier instant must
    not get states that have them. It is not far after them: a clock that is ahead would end the recording in the
    future. All times are in ms since the epoch.

    >>> def number(clock_ms, last_ms):
    ...     times = PortionTimes(clock_ms=clock_ms, rows=1, beyond=0, last_ms=last_ms)
    ...     return portion_number(newest_ms=100_000, times=times, every_ms=60_000)
    >>> number(160_000, 159_000)
    160000
    >>> number(40_000, 159_000)  # the clock was set back
    159000
    >>> number(9_000_000, 159_000)  # it is far ahead
    219000

    Args:
        newest_ms: the number of the newest portion; 0: there is none.
        times: those of the portion.
        every_ms: how far apart portions are.
    """
    if times.last_ms is None:
        return next_number(newest_ms, times.clock_ms)
    return next_number(newest_ms, max(times.last_ms, min(times.clock_ms, times.last_ms + every_ms)))
