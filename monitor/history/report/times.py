"""Instants and durations of a report, as its reader subtracts them: in tenths of seconds, cut and never rounded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from monitor.history.tables import day_of
from monitor.messages.formatting import age

TENTH_MS: Final = 100
MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, the last that can be written."""


class Clock:
    """Shows the instants of a report. Their zone is UTC, which the head of the report says once."""

    def __init__(self, since_ms: int, until_ms: int) -> None:
        self._since_ms, self._until_ms = since_ms, until_ms
        self._day = day_of(since_ms) if day_of(since_ms) == day_of(until_ms) else None

    def at(self, at_ms: int) -> str:
        """An instant: with its date, unless the whole report is of one day.

        >>> Clock(1_795_315_200_000, 1_795_315_300_000).at(1_795_315_215_999)
        '02:40:15.9'
        >>> Clock(1_795_315_200_000, 1_795_415_300_000).at(1_795_315_215_999)
        '2026-11-22 02:40:15.9'
        """
        known_ms = min(max(at_ms, 0), LAST_MS)
        form = "%H:%M:%S" if self._day == day_of(known_ms) else "%Y-%m-%d %H:%M:%S"
        return f"{datetime.fromtimestamp(known_ms // 1_000, UTC):{form}}.{known_ms % 1_000 // TENTH_MS}"

    def head(self) -> str:
        """The span of the report, with its date and zone.

        >>> Clock(1_795_315_200_000, 1_795_315_300_000).head()
        '2026-11-22, 02:40:00.0 to 02:41:40.0. All times are UTC.'
        """
        day = f"{self._day}, " if self._day else ""
        return f"{day}{self.at(self._since_ms)} to {self.at(self._until_ms)}. All times are UTC."


def duration_text(duration_ms: int) -> str:
    """A duration of less than an hour in tenths of seconds, a longer one in its two largest units.

    >>> duration_text(11_299), duration_text(25_000), duration_text(90_400), duration_text(4_000_000), duration_text(20)
    ('11.2 s', '25 s', '1 min 30.4 s', '1 h 6 min', 'less than 0.1 s')
    """
    if duration_ms < TENTH_MS:
        return "less than 0.1 s"
    if duration_ms >= HOUR_MS:
        return age(duration_ms)
    minutes, rest_ms = divmod(duration_ms, MINUTE_MS)
    tenths = rest_ms // TENTH_MS
    parts = [f"{minutes} min"] if minutes else []
    parts += [f"{tenths / 10:g} s"] if tenths else []
    return " ".join(parts)


def time_between(from_ms: int, until_ms: int) -> str:
    """What a reader gets who subtracts the two instants as they are shown.

    >>> time_between(17_290, 28_310)
    '11.1 s'
    """
    return duration_text((until_ms // TENTH_MS - from_ms // TENTH_MS) * TENTH_MS)
