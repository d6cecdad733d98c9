"""Instants and spans as a person types them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from monitor.messages.names import shown

HELP: Final = (
    "2026-11-22 02:14 (UTC unless it ends in an offset such as +01:00), 14:12 (the last one), yesterday 02:14, or -3h, "
    "-15m, -90s, -2d, -1w"
)
"""What :func:`read_instant` takes, in words."""

_AGO: Final = re.compile(r"-(\d{1,6})([smhdw])")
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_CLOCK: Final = re.compile(r"(?:(today|yesterday) +)?(\d{1,2}:\d{2}(?::\d{2})?)")
"""A time of day; without a day, it is the last one."""
_LAST_MS: Final = 253_402_300_799_000
"""The last second of the year 9999, the last that can be written."""

_MS: Final = re.compile(r"\d{13}")


class InstantError(Exception):
    """A text that is no instant; the text is one sentence."""


def read_instant(text: str, now_ms: int, zone: tzinfo = UTC) -> int:
    """The instant that a text means, in ms since the epoch.

    >>> read_instant("2026-11-22 02:14", 0), read_instant("2026-11-22T03:14:00+01:00", 0)
    (1795313640000, 1795313640000)
    >>> read_instant("-3h", 20_000_000)
    9200000
    >>> read_instant("02:14", 1_795_315_215_000), read_instant("yesterday 02:14", 1_795_315_215_000)
    (1795313640000, 1795227240000)

    Args:
        text: a date and time of ISO 8601; a time of the last 24 hours, or of yesterday; so long ago; or ms since the
            epoch.
        now_ms: now.
        zone: the time zone of a text that names no offset.

    Raises:
        InstantError: it is none, or it is later than now.
    """
    at_ms = _instant(text.strip(), now_ms, zone)
    if at_ms is None:
        raise InstantError(f"{shown(text)} is no instant: give {HELP}.")
    if at_ms > now_ms > 0:
        raise InstantError(f"{shown(text)} is in the future.")
    return at_ms


def instant_text(at_ms: int) -> str:
    """An instant as :func:`read_instant` takes it.

    >>> instant_text(1_795_313_640_000), instant_text(1_795_313_640_120)
    ('2026-11-22T02:14:00Z', '2026-11-22T02:14:00.120Z')
    """
    second, ms = divmod(min(at_ms, _LAST_MS), 1_000)
    fraction = f".{ms:03}" if ms else ""
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def is_relative(text: str) -> bool:
    """Whether a text means the same in every time zone: so long ago, now, or ms since the epoch.

    >>> is_relative("-3h"), is_relative("now"), is_relative("14:12")
    (True, True, False)
    """
    stripped = text.strip()
    return stripped == "now" or bool(_AGO.fullmatch(stripped) or _MS.fullmatch(stripped))


def read_span(since: str, until: str, now_ms: int, zone: tzinfo = UTC) -> tuple[int, int]:
    """The two instants, in ms since the epoch.

    >>> read_span("-2m", "now", 200_000)
    (80000, 200000)

    Raises:
        InstantError: one of them is none, or the first is not before the second.
    """
    since_ms, until_ms = read_instant(since, now_ms, zone), read_instant(until, now_ms, zone)
    if since_ms >= until_ms:
        raise InstantError(f"{shown(since)} is not before {shown(until)}.")
    return since_ms, until_ms


def _instant(text: str, now_ms: int, zone: tzinfo) -> int | None:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return max(0, now_ms - int(ago[1]) * _UNIT_MS[ago[2]])
    if _MS.fullmatch(text):
        return int(text)
    if text == "now":
        return now_ms
    try:
        clock = _CLOCK.fullmatch(text)
        found = datetime.fromisoformat(text) if clock is None else _at_clock(clock[1], clock[2], now_ms, zone)
        at_ms = round((found if found.tzinfo is not None else found.replace(tzinfo=zone)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return at_ms if at_ms >= 0 else None


def _at_clock(day: str | None, text: str, now_ms: int, zone: tzinfo) -> datetime:
    """A time of today or of yesterday; without a day, the last one."""
    now = datetime.fromtimestamp(now_ms / 1000, zone)
    at = datetime.combine(now.date(), time.fromisoformat(text if text[2] == ":" else f"0{text}"), zone)
    is_yesterday = day == "yesterday" or (day is None and at > now)
    return datetime.combine(now.date() - timedelta(days=1), at.time(), zone) if is_yesterday else at
