"""Ticks: round numbers and round times, few enough to be read on a telephone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from monitor.charts.values import TimeRange
from monitor.model import Value

MOST_TIMES: Final = 6
"""So many labels fit in 320 px."""

MOST_NUMBERS: Final = 4

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_STEPS_MS: Final = (
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14, 28, 91, 364)),
)
_LAST_S: Final = 253_402_300_799
"""The end of the year 9999, the last that can be written."""


class TimeTick(Value):
    """A round time; ``date`` is set at the first tick and where another day has begun."""

    at_ms: int
    label: str
    date: str = ""


def time_ticks(span: TimeRange, most: int = MOST_TIMES) -> tuple[TimeTick, ...]:
    """At most so many round times of the range, in UTC; two fewer where labels have seconds.

    >>> [(tick.label, tick.date) for tick in time_ticks(TimeRange(1_795_304_400_000, 1_795_308_000_000))]
    [('23:45', 'Nov 21 UTC'), ('00:00', 'Nov 22'), ('00:15', ''), ('00:30', '')]
    """
    step_ms = _step_ms(span, most)
    ticks: list[TimeTick] = []
    day = ""
    for at_ms in _multiples(span, step_ms):
        time = datetime.fromtimestamp(min(at_ms // 1_000, _LAST_S), UTC)
        today = f"{time:%b} {time.day}"
        if step_ms >= _DAY:
            ticks.append(TimeTick(at_ms, today, "" if ticks else f"{time:%Y} UTC"))
            continue
        label = f"{time:%H:%M:%S}" if step_ms < _MINUTE else f"{time:%H:%M}"
        ticks.append(TimeTick(at_ms, label, "" if today == day else today if ticks else f"{today} UTC"))
        day = today
    return tuple(ticks)


def _step_ms(span: TimeRange, most: int) -> int:
    """The smallest round step with few enough ticks."""
    fitting = (
        step for step in _STEPS_MS if len(_multiples(span, step)) <= (most if step >= _MINUTE else max(1, most - 2))
    )
    return next(fitting, max(_STEPS_MS[-1], -(-(span.until_ms - span.since_ms) // most)))


def _multiples(span: TimeRange, step_ms: int) -> range:
    return range(-(-span.since_ms // step_ms) * step_ms, span.until_ms + 1, step_ms)


def number_ticks(most: int) -> tuple[int, ...]:
    """Round numbers from 0, the last of which is ``most`` or more.

    >>> number_ticks(0), number_ticks(1), number_ticks(1_234), number_ticks(70)
    ((0,), (0, 1), (0, 500, 1000, 1500), (0, 20, 40, 60, 80))
    """
    step = 1
    while step * MOST_NUMBERS < most:
        first = int(str(step)[0])
        step = step * 2 if first != 2 else step // 2 * 5
    return tuple(range(0, -(-most // step) * step + 1, step))
