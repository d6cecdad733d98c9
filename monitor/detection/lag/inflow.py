"""What comes into a topic: records a second, and how unevenly its partitions get them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from monitor.detection.lag.throughput import PACE_MS, SHORTEST_MS
from monitor.model import PartitionState, Value

_SEEN: Final = attrgetter("at_ms")


class Inflow(Value):
    """What comes into a topic. ``per_second`` counts records (of MetaQ bytes) in all its partitions.

    ``skew`` is the largest share of a partition over the mean: 1 is even. Both are None if the rate of a partition is
    unknown, which it is in the first minute; ``skew`` is also None while nothing comes in. ``known_ms`` is from when on
    a poll makes an unknown rate known (ms since the epoch); None: the rate is known, or a partition was never polled.
    ``polled_ms`` is when one of unknown rate was last polled, the longest ago; ``unpolled`` are not polled since then.
    """

    per_second: float | None = None
    skew: float | None = None
    known_ms: int | None = None
    polled_ms: int | None = None
    unpolled: int = 0


def partition_inflow(partition: PartitionState, over_ms: int = PACE_MS) -> float | None:
    """How much comes into a partition in a second, over about the last five minutes; None if that is not known.

    ``over_ms`` is another time than that.

    An end that went back counts as nothing.
    """
    ends = partition.ends
    if not ends:
        return None
    newest = ends[-1]
    since_ms = newest.at_ms - over_ms
    place = max(0, bisect_right(ends, since_ms, key=_SEEN) - 1)
    began, later = ends[place], ends[min(place + 1, len(ends) - 1)]
    # Of a time without records there are two points: the log ended there in between, too.
    begun_ms = max(began.at_ms, since_ms) if later.offset == began.offset else began.at_ms
    span_ms = newest.at_ms - begun_ms
    if span_ms < SHORTEST_MS:
        return None
    return max(0, newest.offset - began.offset) * 1000 / span_ms


def topic_inflow(partitions: Sequence[PartitionState]) -> Inflow:
    """What comes into the topic of these partitions."""
    rates = [rate for each in partitions if (rate := partition_inflow(each)) is not None]
    if not rates or len(rates) < len(partitions):
        return _unknown([each for each in partitions if partition_inflow(each) is None])
    total = sum(rates)
    skew = round(max(rates) * len(rates) / total, 3) if total else None
    return Inflow(per_second=round(total, 3), skew=skew)


def _unknown(partitions: Sequence[PartitionState]) -> Inflow:
    """When the rates of these partitions can be known, which are not known now."""
    if not partitions or not all(each.ends for each in partitions):
        return Inflow()
    known_ms = max(each.ends[0].at_ms for each in partitions) + SHORTEST_MS
    polled = [each.ends[-1].at_ms for each in partitions]
    unpolled = sum(at_ms <= min(polled) + SHORTEST_MS for at_ms in polled)
    return Inflow(known_ms=known_ms, polled_ms=min(polled), unpolled=unpolled)
