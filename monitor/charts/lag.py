"""The lag of a group over time, and below it its rebalances and findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Final
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from monitor.charts.axes import number_ticks
from monitor.charts.slots import crowds
from monitor.charts.svg import AXIS_HEIGHT, add, add_link, add_text, add_time_axis, new_chart, percent, to_text
from monitor.charts.values import LagAt, LagChart, Mark, Span, TimeRange, Zoom, missing_ranges
from monitor.messages.formatting import counted, grouped, lag_range
from monitor.messages.notification import utc
from monitor.model.findings import Severity

TOP: Final = 18
"""Room above the highest lag, for its label."""

PLOT: Final = 150
"""The height of the lag."""

FLOOR: Final = TOP + PLOT
"""Where a lag of 0 is drawn."""

ROW: Final = 32
"""The height of a row below it: its label, and its bars."""

BAR: Final = 10
SEEN_GAP: Final = 0.02
"""A shorter part of the chart without a recording is as wide as the line."""

WORDED_GAP: Final = 0.12
"""In such a part there is room for words."""

MOST_ROWS: Final = 12
"""Rows of findings; further kinds of findings are only counted."""

LISTED_MARKS: Final = 3
LISTED_GAPS: Final = 5
_SEVERITIES: Final = tuple(Severity)
BOX: Final = 10_000
"""The width of the box in which the line is drawn; it is stretched to that of the chart."""


def lag_chart(chart: LagChart, *, width_px: int | None = None, with_style: bool = True) -> str:
    """The chart as SVG text. Without ``width_px``, it is as wide as its place.

    Leave out the style where the page has it already (``monitor.charts.style.STYLE``).
    """
    seen = _inside(chart)
    rows = _rows(seen.spans)
    base = FLOOR + 8 + ROW * (bool(seen.marks) + min(len(rows), MOST_ROWS)) + 20 * (len(rows) > MOST_ROWS)
    root = new_chart(base + AXIS_HEIGHT, lag_title(seen), lag_description(seen), has_links=_has_links(seen))
    add_time_axis(root, seen.range, base)
    _draw_lag(root, seen, base)
    _draw_rows(root, seen, rows)
    if seen.at_ms is not None:
        place = percent(seen.range.place(seen.at_ms))
        add(root, "line", "chart-at", x1=place, x2=place, y1=0, y2=base)
    return to_text(root, width_px, with_style=with_style)


def lag_title(chart: LagChart) -> str:
    """What the chart shows."""
    return f"Lag, rebalances and findings from {utc(chart.range.since_ms)} to {utc(chart.range.until_ms)}"


def lag_description(chart: LagChart) -> str:
    """What can be seen in the chart, in sentences.

    >>> points = (LagAt(0, 7), LagAt(5_000, 1_200), LagAt(9_000, None))
    >>> lag_description(LagChart(TimeRange(0, 10_000), points, marks=(Mark(1, "Rebalance to generation 2."),)))
    'The lag was 7 records at first, at most 1,200 records, and 1,200 records at last. 1 rebalance, 0 findings.'
    """
    course = lag_range((point.lag for point in chart.points), chart.unit) or "No lag is known."
    lacking = "".join(f" {missing_text(each, chart.range)}" for each in _unrecorded_parts(chart)[:LISTED_GAPS])
    unknown = " The lag is unknown in a part of the time." if _unknown_parts(chart) else ""
    counts = f"{counted(len(chart.marks), 'rebalance')}, {counted(len(chart.spans), 'finding')}."
    return f"{course}{lacking}{unknown} {counts}"


def missing_text(missing: TimeRange, span: TimeRange) -> str:
    """That nothing is recorded in a part of a range, as a sentence.

    >>> missing_text(TimeRange(0, 60_000), TimeRange(0, 90_000))
    'Nothing of the group is recorded before 1970-01-01 00:01:00 UTC.'
    >>> missing_text(TimeRange(30_000, 60_000), TimeRange(0, 90_000))
    'Nothing of the group is recorded from 1970-01-01 00:00:30 UTC to 1970-01-01 00:01:00 UTC.'
    >>> missing_text(TimeRange(0, 60_000), TimeRange(0, 60_000))
    'Nothing of the group is recorded from 1970-01-01 00:00:00 UTC to 1970-01-01 00:01:00 UTC.'
    """
    if missing.since_ms == span.since_ms and missing.until_ms < span.until_ms:
        return f"Nothing of the group is recorded before {utc(missing.until_ms)}."
    return f"Nothing of the group is recorded from {utc(missing.since_ms)} to {utc(missing.until_ms)}."


def _inside(chart: LagChart) -> LagChart:
    """What of it is in its range."""
    span = chart.range
    at_ms = chart.at_ms
    return replace(
        chart,
        points=tuple(each for each in chart.points if span.overlaps(each.at_ms, each.at_ms)),
        marks=tuple(each for each in chart.marks if span.overlaps(each.at_ms, each.at_ms)),
        spans=tuple(each for each in chart.spans if span.overlaps(each.from_ms, each.until_ms)),
        at_ms=at_ms if at_ms is not None and span.overlaps(at_ms, at_ms) else None,
    )


def _has_links(chart: LagChart) -> bool:
    pieces: Sequence[LagAt | Mark | Span | Zoom] = (*chart.points, *chart.marks, *chart.spans, *chart.zooms)
    return any(each.href for each in pieces)


# --- the lag ----------------------------------------------------------------------------------------------------------


def _draw_lag(root: ET.Element, chart: LagChart, base: int) -> None:
    ticks = number_ticks(max((point.lag or 0 for point in chart.points), default=0))
    most = max(1, ticks[-1])
    for tick in ticks:
        add(root, "line", "chart-grid", x1=0, x2="100%", y1=_height(tick, most), y2=_height(tick, most))
    for zoom in chart.zooms:
        link = add_link(root, zoom.href, zoom.label)
        start, end = chart.range.place(zoom.from_ms), chart.range.place(zoom.until_ms)
        add(link, "rect", "chart-hit", x=percent(start), width=percent(end - start), y=0, height=FLOOR)
    _draw_missing(root, chart, base)
    _draw_line(root, chart, most)
    for tick in ticks:
        label = counted(tick, chart.unit) if tick == ticks[-1] else grouped(tick)
        add_text(root, label, "chart-value", x=4, y=_height(tick, most) - 4)
    for point in chart.points:
        if point.href and point.lag is not None:
            link = add_link(root, point.href, f"{utc(point.at_ms)}: {counted(point.lag, chart.unit)}")
            place = percent(chart.range.place(point.at_ms))
            add(link, "circle", "chart-point", cx=place, cy=_height(point.lag, most), r=3.5)


def _height(lag: int, most: int) -> float:
    """Where a lag is drawn, in pixels from the top."""
    return round(FLOOR - PLOT * lag / most, 1)


def _unrecorded_parts(chart: LagChart) -> list[TimeRange]:
    """The parts without a recording that can be seen."""
    found = missing_ranges([point.at_ms for point in chart.points], chart.range, chart.apart_ms)
    return [each for each in found if _width(chart, each) > SEEN_GAP]


def _unknown_parts(chart: LagChart) -> list[TimeRange]:
    """The parts with points whose lag is not known, unless it never is, as in a Connect cluster."""
    edges: list[TimeRange] = []
    known_ms: int | None = None
    for point, after in pairwise((*chart.points, None)):
        if point is None or point.lag is not None:
            known_ms = None
            continue
        known_ms = point.at_ms if known_ms is None else known_ms
        if after is None or after.lag is not None:
            edges.append(TimeRange(known_ms, point.at_ms if after is None else after.at_ms))
    is_known = any(point.lag is not None for point in chart.points)
    return [each for each in edges if is_known and _width(chart, each) > SEEN_GAP]


def _width(chart: LagChart, part: TimeRange) -> float:
    return chart.range.place(part.until_ms) - chart.range.place(part.since_ms)


def _draw_missing(root: ET.Element, chart: LagChart, base: int) -> None:
    """The time without a recording, down to the findings, and that of an unknown lag: white would look like health."""
    pieces = [(each, base, "not recorded") for each in _unrecorded_parts(chart)]
    pieces += [(each, FLOOR, "lag unknown") for each in _unknown_parts(chart)]
    for part, height, words in pieces:
        start, width = chart.range.place(part.since_ms), _width(chart, part)
        add(
            root, "rect", "chart-unrecorded", x=percent(start) if start else 0, width=percent(width), y=0, height=height
        )
        if width >= WORDED_GAP:
            add_text(root, words, x=percent(start + width / 2), y=FLOOR // 2, text_anchor="middle")


def _draw_line(root: ET.Element, chart: LagChart, most: int) -> None:
    """A line for each run of known lags. One point alone is drawn as a dash."""
    box = add(root, "svg", width="100%", height=FLOOR + 2, viewBox=f"0 0 {BOX} {FLOOR + 2}", preserveAspectRatio="none")
    for run in _runs(chart):
        places = [(_along(chart.range, each), _height(each.lag or 0, most)) for each in run]
        if len(places) == 1:
            places = [(places[0][0] - 10, places[0][1]), (places[0][0] + 10, places[0][1])]
        line = " ".join(f"{x},{y}" for x, y in places)
        add(box, "polygon", "chart-area", points=f"{places[0][0]},{FLOOR} {line} {places[-1][0]},{FLOOR}")
        add(box, "polyline", "chart-lag", points=line)


def _runs(chart: LagChart) -> list[list[LagAt]]:
    """The points of known lags, cut where a lag is unknown, or nothing is recorded before the next one."""
    starts = {each.until_ms for each in _unrecorded_parts(chart)}
    runs: list[list[LagAt]] = [[]]
    for point in chart.points:
        if point.lag is None or point.at_ms in starts:
            runs.append([])
        if point.lag is not None:
            runs[-1].append(point)
    return [run for run in runs if run]


def _along(span: TimeRange, point: LagAt) -> int:
    return round(BOX * span.place(point.at_ms))


# --- the rows below it ------------------------------------------------------------------------------------------------


def _draw_rows(root: ET.Element, chart: LagChart, rows: Sequence[tuple[str, Sequence[Span]]]) -> None:
    top = FLOOR + 8
    if chart.marks:
        add_text(root, "Rebalances", "chart-name", x=4, y=top + 12)
        for marks in crowds(chart.marks, chart.range, lambda mark: mark.at_ms, most=1):
            _draw_marks(root, chart.range, marks, top + 18)
        top += ROW
    for label, spans in rows[:MOST_ROWS]:
        for crowd in crowds(spans, chart.range, lambda span: span.from_ms):
            _draw_bar(root, chart.range, _together(crowd), top + 18)
        add_text(root, label, "chart-name", x=4, y=top + 12)
        top += ROW
    if len(rows) > MOST_ROWS:
        add_text(root, f"and {counted(len(rows) - MOST_ROWS, 'more kind')} of findings", x=4, y=top + 12)


def _rows(spans: Sequence[Span]) -> list[tuple[str, Sequence[Span]]]:
    """The spans of each label: the worst labels first, and of these those that begin first."""
    found: dict[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda each: each.from_ms):
        found[span.label].append(span)
    worst = {label: min(_SEVERITIES.index(span.severity) for span in own) for label, own in found.items()}
    return sorted(found.items(), key=lambda row: worst[row[0]])


def _together(crowd: Sequence[Span]) -> Span:
    """Spans of the same label as one: from the start of the first to the end of the last, as bad as the worst."""
    first = crowd[0]
    if len(crowd) == 1:
        return first
    return replace(
        first,
        until_ms=max(span.until_ms for span in crowd),
        severity=min((span.severity for span in crowd), key=_SEVERITIES.index),
        sentence=f"{len(crowd):,} times, first: {first.sentence}",
        times="",
    )


def _draw_marks(root: ET.Element, span: TimeRange, marks: Sequence[Mark], top: int) -> None:
    link = add_link(root, marks[0].href, _sentences(marks))
    place = percent(span.place(marks[0].at_ms))
    kind = "chart-mark chart-many" if len(marks) > 1 else "chart-mark"
    add(link, "rect", "chart-hit", x=place, y=top - 3, width=10, height=BAR + 6, transform="translate(-5 0)")
    add(link, "line", kind, x1=place, x2=place, y1=top - 2, y2=top + BAR + 2)


def _sentences(marks: Sequence[Mark]) -> str:
    head = " ".join(f"{utc(mark.at_ms)}: {mark.sentence}" for mark in marks[:LISTED_MARKS])
    return head if len(marks) <= LISTED_MARKS else f"{head} And {len(marks) - LISTED_MARKS:,} more."


def _draw_bar(root: ET.Element, span: TimeRange, bar: Span, top: int) -> None:
    """The border is of the same color, so that a short one can be seen, too."""
    times = bar.times or f"{utc(bar.from_ms)} to {utc(bar.until_ms)}"
    link = add_link(root, bar.href, f"{bar.label} ({bar.severity.value}), {times}: {bar.sentence}")
    start, end = span.place(bar.from_ms), span.place(bar.until_ms)
    kind = f"chart-{bar.severity.value}"
    add(link, "rect", kind, x=percent(start), width=percent(end - start), y=top, height=BAR, stroke_width=2)
