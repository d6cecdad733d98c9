"""How long a backlog will still take, from how fast it was read lately. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.messages.formatting import age, counted, grouped
from monitor.model import Value, WarmUpProgress


class ProgressPoint(Value):
    """How much of a backlog remained at a moment."""

    at_ms: int
    remaining: int


def time_left_ms(readings: Sequence[ProgressPoint]) -> int | None:
    """How long after the last of these readings nothing will remain, at the pace from the first to the last of them.

    None while they show no pace. Give the last few only: the first micro-batch begins with the start of processes.

    >>> time_left_ms([ProgressPoint(at_ms=1_000, remaining=900), ProgressPoint(at_ms=3_000, remaining=500)])
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


def remaining_text(warm_up: WarmUpProgress) -> str:
    """How much remains, and for about how long if that can be told: the seconds are rounded up.

    >>> remaining_text(WarmUpProgress(total=3_000_000, remaining=1_200_000, left_ms=11_001))
    '1,200,000 of 3,000,000 offsets still to read, about 12 s left'
    """
    text = f"{grouped(warm_up.remaining)} of {counted(warm_up.total, 'offset')} still to read"
    if warm_up.left_ms is None:
        return text
    return f"{text}, about {age(-(-warm_up.left_ms // 1000) * 1000)} left"
