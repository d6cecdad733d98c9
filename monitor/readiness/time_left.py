"""How long a backlog will still take, from how fast it was read lately. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.model import Value


class Reading(Value):
    """How much of a backlog remained at a moment."""

    at_ms: int
    remaining: int


def time_left_ms(readings: Sequence[Reading]) -> int | None:
    """How long after the last of these readings nothing will remain, at the pace from the first to the last of them.

    None while they show no pace. Give the last few only: the first micro-batch begins with the start of processes.

    >>> time_left_ms([Reading(at_ms=1_000, remaining=900), Reading(at_ms=3_000, remaining=500)])
    2500
    """
    if not readings:
        return None
    first, last = readings[0], readings[-1]
    if last.remaining == 0:
        return 0
    read, took_ms = first.remaining - last.remaining, last.at_ms - first.at_ms
    if read <= 0 or took_ms <= 0:
        return None
    return last.remaining * took_ms // read
