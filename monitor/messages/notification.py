"""Instants as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_LAST_S: Final = 253_402_300_799
"""The end of the year 9999, the last that can be written. No decoder lets a later time through (wire.bounds)."""


def utc(instant_ms: int) -> str:
    """An instant as a person reads it, to the second.

    >>> utc(1_795_315_215_999)
    '2026-11-22 02:40:15 UTC'
    """
    second = min(max(instant_ms // 1000, 0), _LAST_S)
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S} UTC"
