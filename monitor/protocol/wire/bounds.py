"""Numbers beyond sense: formats have room for them, and no client, broker or collector that is sound writes them.

They are refused where bytes become values, so that sums and ages stay within what can be stored and shown.
"""

from __future__ import annotations

from typing import Final

from monitor.protocol.wire.errors import DecodeError

MOST_OFFSET: Final = 1 << 60
"""The largest offset, in records or bytes: a log that grows by 1 GB/s has it after 36 years."""

MOST_PARTITIONS: Final = 1 << 20
"""Partitions of a topic are numbered below this: what should own them is worked out for every number up to the highest.
A whole cluster of Kafka has some hundred thousand."""

MOST_MS: Final = 253_402_300_799_999
"""The last millisecond of the year 9999: no later time can be written as a date."""

AHEAD_MS: Final = 300_000
"""How far a time may be ahead of the clock that it is held against. Clocks that are kept differ by milliseconds, and
what waits in a producer is dated earlier, so five minutes are a clock that nobody keeps, or a forgery."""


def latest_ms(written_ms: int) -> int:
    """The latest time that a record may tell of that was written then; 0 or less: it is not known when.

    >>> latest_ms(1_000), latest_ms(-1) == MOST_MS
    (301000, True)
    """
    return min(MOST_MS, written_ms + AHEAD_MS) if written_ms > 0 else MOST_MS


def require_time(time_ms: int, written_ms: int) -> None:
    """Make sure that a time is one, and not ahead of the record that tells it.

    Raises:
        DecodeError: "bad_number": it is before 1970; "from_the_future": it is more than AHEAD_MS later than the record.
    """
    if time_ms < 0:
        raise DecodeError("bad_number", 0)
    if time_ms > latest_ms(written_ms):
        raise DecodeError("from_the_future", 0)


def require_at_least(least: int, *numbers: int) -> None:
    """Make sure that none of the numbers is below the least.

    Raises:
        DecodeError: "bad_number".
    """
    if min(numbers) < least:
        raise DecodeError("bad_number", 0)
