"""Durations as a person reads them."""

from __future__ import annotations

from typing import Final

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
    told = [f"{count} {unit}" for count, unit in counts[first : first + 2] if count]
    return " ".join(told) or "0 s"


def lasted(duration_ms: int) -> str:
    """How long something took that is told in seconds; what took less than one did not take none.

    >>> lasted(0), lasted(1), lasted(999), lasted(75_000)
    ('0 s', 'less than 1 s', 'less than 1 s', '1 min 15 s')
    """
    return "less than 1 s" if 0 < duration_ms < 1000 else age(duration_ms)
