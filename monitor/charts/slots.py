"""Events that are too close together to be distinguished are drawn as one: a storm has thousands of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, TypeVar

from monitor.charts.values import TimeRange

SLOTS: Final = 150
"""The width has so many parts: of each, a finger can hit what is in it."""

Item = TypeVar("Item")


def crowds(
    items: Sequence[Item], span: TimeRange, start: Callable[[Item], int], most: int = SLOTS
) -> Iterator[Sequence[Item]]:
    """The items in order, each alone if there are at most so many; else those that start in the same part together.

    >>> list(crowds([1, 2, 700], TimeRange(0, 1_000), lambda at_ms: at_ms, most=2))
    [(1, 2), (700,)]
    >>> list(crowds([700, 2, 1], TimeRange(0, 1_000), lambda at_ms: at_ms))
    [(1,), (2,), (700,)]
    """
    ordered = sorted(items, key=start)
    if len(ordered) <= most:
        yield from ((item,) for item in ordered)
        return
    length_ms = max(1, span.until_ms - span.since_ms)
    for _, crowd in groupby(ordered, lambda item: max(0, start(item) - span.since_ms) * SLOTS // length_ms):
        yield tuple(crowd)
