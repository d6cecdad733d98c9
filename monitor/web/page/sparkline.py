"""The lag of a group over the last half hour as a line, as high as the most: for its page and for lists. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from monitor.messages.formatting import age, counted
from monitor.model import Value
from monitor.web.views.lag_history import KEPT_MS, LagPoint

WIDTH: Final = 240
HEIGHT: Final = 40

ROW_WIDTH: Final = 60
ROW_HEIGHT: Final = 16
"""The box of a line in a row of a list. It is half an hour wide, so that lines below each other agree."""

ROW_EVERY: Final = 4
"""A line in a row has a point a minute: fifty lines are drawn for each letter of a search."""


class Sparkline(Value):
    """``lines`` are points of SVG polylines in a box of WIDTH and HEIGHT; between two of them the lag was not known.

    ``title`` says the same in words. In a row of a list, the box has ROW_WIDTH and ROW_HEIGHT.
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
    return _whole_line(points, known, unit, tuple(_lines(points, max(known)))) if len(known) > 1 else None


def row_sparkline(points: Sequence[LagPoint], unit: str) -> Sparkline | None:
    """The same for a row of a list.

    >>> line = row_sparkline([LagPoint(0, 4), LagPoint(60_000, 0), LagPoint(900_000, 8)], "record")
    >>> line.lines, line.title
    (('30,8 32,15 60,1',), 'Lag over the last 15 min: from 0 to 8 records, now 8 records.')
    >>> row_sparkline([LagPoint(0, 4), LagPoint(60_000, None), LagPoint(120_000, 4)], "record").lines
    ('55,1 56,1', '59,1 60,1')
    """
    known = [point.lag for point in points if point.lag is not None]
    return _whole_line(points, known, unit, _row_lines(points, max(known))) if len(known) > 1 else None


def _whole_line(points: Sequence[LagPoint], known: Sequence[int], unit: str, lines: tuple[str, ...]) -> Sparkline:
    now = points[-1].lag
    shown_now = "unknown" if now is None else counted(now, unit)
    span = age(points[-1].at_ms - points[0].at_ms)
    title = f"Lag over the last {span}: from {min(known):,} to {counted(max(known), unit)}, now {shown_now}."
    return Sparkline(lines=lines, title=title, span=span)


def _row_lines(points: Sequence[LagPoint], most: int) -> tuple[str, ...]:
    """Whole numbers, in a plain loop: see ROW_EVERY."""
    newest_ms, high, top = points[-1].at_ms, ROW_HEIGHT - 2, max(most, 1)
    lines: list[list[str]] = [[]]
    for each in points:
        if each.lag is None:
            lines.append([])
        else:
            x = ROW_WIDTH - round(ROW_WIDTH * (newest_ms - each.at_ms) / KEPT_MS)
            lines[-1].append(f"{x},{1 + round(high * (1 - each.lag / top))}")
    return tuple(" ".join(each if len(each) > 1 else _row_dash(each[0])) for each in lines if each)


def _row_dash(place: str) -> tuple[str, str]:
    """One point alone, as a line that can be seen."""
    x, y = place.split(",")
    return f"{int(x) - 1},{y}", place


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
