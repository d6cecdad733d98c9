"""The lag of a group over the last half hour, as a line that is as long as the time and as high as the most. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from monitor.messages.formatting import age, counted
from monitor.model import Value
from monitor.web.views.lag_history import LagPoint

WIDTH: Final = 240
HEIGHT: Final = 40


class Sparkline(Value):
    """``lines`` are points of SVG polylines in a box of WIDTH and HEIGHT; between two of them the lag was not known.

    ``title`` says the same in words.
    """

    lines: tuple[str, ...]
    title: str
    span: str


def sparkline(points: Sequence[LagPoint], unit: str) -> Sparkline | None:
    """None where there is no line to be drawn: with fewer than two known points.

    >>> line = sparkline([LagPoint(0, 5), LagPoint(60_000, None), LagPoint(120_000, 10)], "record")
    >>> line.lines, line.title
    (('-1.0,20.0 0.0,20.0', '239.0,1.0 240.0,1.0'), 'Lag over the last 2 min: from 5 to 10 records, now 10 records.')
    """
    known = [point.lag for point in points if point.lag is not None]
    if len(known) < 2:
        return None
    least, most = min(known), max(known)
    now = points[-1].lag
    shown_now = "unknown" if now is None else counted(now, unit)
    span = age(points[-1].at_ms - points[0].at_ms)
    return Sparkline(
        lines=tuple(_lines(points, most)),
        title=f"Lag over the last {span}: from {least:,} to {counted(most, unit)}, now {shown_now}.",
        span=span,
    )


def _lines(points: Sequence[LagPoint], most: int) -> Iterator[str]:
    began, length = points[0].at_ms, max(points[-1].at_ms - points[0].at_ms, 1)
    for is_known, run in groupby(points, lambda point: point.lag is not None):
        if is_known:
            # One point alone is drawn as a dash: a line without length cannot be seen.
            places = [_place((each.at_ms - began) / length, (each.lag or 0) / max(most, 1)) for each in run]
            yield " ".join(f"{x:.1f},{y:.1f}" for x, y in (places if len(places) > 1 else _dash(places[0])))


def _place(along: float, up: float) -> tuple[float, float]:
    """A point of the box, with a margin for the stroke above and below."""
    return WIDTH * along, 1 + (HEIGHT - 2) * (1 - up)


def _dash(place: tuple[float, float]) -> list[tuple[float, float]]:
    return [(place[0] - 1, place[1]), place]
