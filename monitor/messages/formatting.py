"""Numbers, ages and names as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from monitor.model.escaping import escaped

NO_OWN_LAG: Final = "A Connect cluster has no lag of its own: the consumer groups of its sinks have."
"""What is said of it where others have a lag: "unknown" would be the word for a defect."""

LATE_POLL_MS: Final = 180_000
"""Ends are polled each 20 s or so."""

_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def age(duration_ms: int) -> str:
    """A duration in its two largest units; never negative.

    >>> age(900), age(75_000), age(3_600_000), age(93_784_000)
    ('0 s', '1 min 15 s', '1 h', '1 d 2 h')
    """
    rest = max(0, duration_ms) // 1000
    counts: list[tuple[int, str]] = []
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        counts.append((count, unit))
    first = next((index for index, (count, _) in enumerate(counts) if count), len(counts) - 1)
    parts = [f"{count} {unit}" for count, unit in counts[first : first + 2] if count]
    return " ".join(parts) or "0 s"


def lasted(duration_ms: int) -> str:
    """A duration in full seconds; one of less than a second is not shown as 0 s.

    >>> lasted(0), lasted(1), lasted(999), lasted(75_000)
    ('0 s', 'less than 1 s', 'less than 1 s', '1 min 15 s')
    """
    return "less than 1 s" if 0 < duration_ms < 1000 else age(duration_ms)


def until(duration_ms: int) -> str:
    """How long until something, rounded up: in minutes, or in seconds if it is less than one.

    >>> until(540_001), until(60_000), until(59_001), until(1)
    ('10 min', '1 min', '60 s', '1 s')
    """
    minutes, seconds = -(-duration_ms // 60_000), -(-duration_ms // 1000)
    return f"{minutes} min" if duration_ms >= 60_000 else f"{seconds} s"


_LAST_S: Final = 253_402_300_799
"""The end of the year 9999, the last that can be written."""


def clock_time(instant_ms: int) -> str:
    """The time of day of an instant that is near the others of its text, to the second.

    >>> clock_time(1_795_315_215_999)
    '02:40:15 UTC'
    """
    return f"{datetime.fromtimestamp(min(max(instant_ms // 1000, 0), _LAST_S), UTC):%H:%M:%S} UTC"


def grouped(count: int) -> str:
    """A count with its thousands apart.

    >>> grouped(1234567)
    '1,234,567'
    """
    return f"{count:,}"


def rate(per_second: float) -> str:
    """A rate with as many digits as are significant.

    >>> rate(12345.6), rate(12.34), rate(0.004), rate(0.0)
    ('12,346', '12.3', '0.004', '0')
    """
    if per_second >= 100:
        return f"{per_second:,.0f}"
    return f"{per_second:.3g}"


def unknown_rate(known_ms: int | None, polled_ms: int | None, unpolled: int, now_ms: int) -> str:
    """Why it is not known how much comes in, and until when; the others: see monitor.detection.lag.inflow.Inflow.

    >>> unknown_rate(60_000, 20_000, 1, 30_500), unknown_rate(60_000, 50_000, 1, 60_000)
    ('known in about 30 s, after a minute of polls', 'known after the next poll')
    >>> unknown_rate(None, None, 0, 0), unknown_rate(60_000, 40_000, 2, 240_000)
    ('not polled yet', 'unknown: 2 partitions were not polled for 3 min 20 s')
    """
    if known_ms is None or polled_ms is None:
        return "not polled yet"
    if now_ms - polled_ms > LATE_POLL_MS:
        were = "were" if unpolled > 1 else "was"
        return f"unknown: {counted(unpolled, 'partition')} {were} not polled for {age(now_ms - polled_ms)}"
    left_ms = known_ms - now_ms
    if left_ms > 0:
        return f"known in about {until(left_ms)}, after a minute of polls"
    return "known after the next poll"


def visible(name: str) -> str:
    r"""A name with every character that cannot be seen written out, so that no two names look alike by it.

    >>> print(visible("orders"), visible("a\nb"), visible("\u202eabc"), visible(""))
    orders a\nb \u202eabc (empty name)
    """
    return escaped(name) or "(empty name)"


def searchable(text: str) -> str:
    r"""A name, or what somebody looks for in one, as both are compared: as it is shown, in any case.

    >>> searchable("\u202eOrders"), searchable("\\u202eORD") in searchable("\u202eOrders")
    ('\\u202eorders', True)
    """
    return escaped(text).casefold()


def round_down(count: int, steps: tuple[int, ...]) -> int:
    """The largest of these digits, each with any number of zeros, that is not more than the count.

    A number that grows by itself is shown so in a sentence that has to stay the same. The first step is 1. Below 1
    it is 0.

    >>> [round_down(count, (1, 2, 5)) for count in (0, 2, 9, 10, 47, 1_234)]
    [0, 2, 5, 10, 20, 1000]
    >>> [round_down(count, (1, 3)) for count in (3, 29, 113)]
    [3, 10, 100]
    """
    if count < 1:
        return 0
    unit = int(f"1{'0' * (len(str(count)) - 1)}")
    return unit * max(step for step in steps if step * unit <= count)


def counted(count: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "group"), counted(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{grouped(count)} {word}" if count == 1 else f"{grouped(count)} {word}s"


def lag_range(lags: Iterable[int | None], unit: str) -> str | None:
    """How a lag went, as a sentence; None: it was never known.

    >>> lag_range([7, 1_200, None], "record"), lag_range([None], "record")
    ('The lag was 7 records at first, at most 1,200 records, and 1,200 records at last.', None)
    """
    known = [lag for lag in lags if lag is not None]
    if not known:
        return None
    first, most, last = (counted(lag, unit) for lag in (known[0], max(known), known[-1]))
    return f"The lag was {first} at first, at most {most}, and {last} at last."
