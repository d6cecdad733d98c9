"""The owners of partitions over time: a row for each partition, a bar for each time with the same owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from monitor.charts.slots import crowds
from monitor.charts.style import DARK_TEXT, OWNER_COLORS
from monitor.charts.svg import AXIS_HEIGHT, add, add_link, add_text, add_time_axis, new_chart, percent, to_text
from monitor.charts.values import OwnersChart, OwnerSpan, TimeRange
from monitor.messages.formatting import counted
from monitor.messages.names import listed
from monitor.messages.notification import utc

MOST_PARTITIONS: Final = 40
MOST_OWNERS: Final = 16
"""Owners in the legend; further ones are only counted. Every bar names its owners in its title."""

ROW: Final = 22
BAR: Final = 16
NAMES: Final = 0.24
"""The part of the width that has the names of the partitions."""

SIGNED: Final = 0.04
NUMBERED: Final = 0.09
WORDED: Final = 0.25
"""Bars of this part of the time have room for a sign, a number, or words, also on a telephone."""

TIMES: Final = 5
COLUMNS: Final = 2
"""The legend has so many columns."""

NO_OWNER: Final = "no owner"


def owners_chart(chart: OwnersChart, *, width_px: int | None = None, with_style: bool = True) -> str:
    """The chart as SVG text; the parameters are those of :func:`monitor.charts.lag.lag_chart`.

    Of more than 40 partitions it shows those that had no owner or several, or whose owner changed most, and counts the
    others.
    """
    rows = _rows(chart)
    shown = most_eventful(rows)
    numbers = _numbers(shown)
    base, more = ROW * len(shown) + 4, len(rows) - len(shown)
    height = base + AXIS_HEIGHT + ROW * (_legend_rows(numbers) + (len(numbers) > MOST_OWNERS) + bool(more)) + 6
    has_links = any(each.href for each in chart.spans)
    root = new_chart(height, _title(chart.range), _description(rows), has_links=has_links)
    left, plot = percent(NAMES), percent(1 - NAMES)
    names = add(root, "svg", width=left, height=base)
    bars = add(root, "svg", x=left, width=plot, height=base + AXIS_HEIGHT)
    add_time_axis(bars, chart.range, base, TIMES)
    for row, (partition, spans) in enumerate(shown.items()):
        # The end of a long name stays: it has the number of the partition.
        name = add(names, "g")
        add_text(name, partition, "chart-name", x="100%", dx=-6, y=ROW * row + 15, text_anchor="end")
        for crowd in crowds(spans, chart.range, lambda span: span.from_ms):
            _draw_spans(bars, chart.range, crowd, numbers, ROW * row + 3)
    _draw_legend(root, numbers, more, base + AXIS_HEIGHT)
    return to_text(root, width_px, with_style=with_style)


def _title(span: TimeRange) -> str:
    return f"Owners of partitions from {utc(span.since_ms)} to {utc(span.until_ms)}"


def _description(rows: Mapping[str, Sequence[OwnerSpan]]) -> str:
    """What can be seen in the chart, in sentences."""
    orphans = sum(any(not span.owners for span in spans) for spans in rows.values())
    doubles = sum(any(len(span.owners) > 1 for span in spans) for spans in rows.values())
    count = counted(len(rows), "partition")
    return f"{count}. For some time, {orphans:,} had no owner, and {doubles:,} had several owners."


def _rows(chart: OwnersChart) -> dict[str, list[OwnerSpan]]:
    """The spans of each partition in their order, as far as they are in the range."""
    rows: dict[str, list[OwnerSpan]] = defaultdict(list)
    for span in chart.spans:
        if chart.range.overlaps(span.from_ms, span.until_ms):
            rows[span.partition].append(span)
    return {partition: sorted(spans, key=lambda span: span.from_ms) for partition, spans in rows.items()}


def most_eventful(rows: Mapping[str, Sequence[OwnerSpan]]) -> dict[str, Sequence[OwnerSpan]]:
    """At most 40 rows, in their order: first those without an owner or with several, then by changes of the owner."""

    def rank(partition: str) -> tuple[bool, int]:
        spans = rows[partition]
        return all(len(span.owners) == 1 for span in spans), -len(spans)

    chosen = set(sorted(rows, key=rank)[:MOST_PARTITIONS])
    return {partition: spans for partition, spans in rows.items() if partition in chosen}


def _numbers(rows: Mapping[str, Sequence[OwnerSpan]]) -> dict[str, int]:
    """The owners with their numbers, from 1, in the order in which they are met."""
    owners = (owner for spans in rows.values() for span in spans for owner in span.owners)
    return {owner: number for number, owner in enumerate(dict.fromkeys(owners), 1)}


def _color(number: int) -> int:
    return (number - 1) % OWNER_COLORS


def _draw_spans(
    parent: ET.Element, span: TimeRange, crowd: Sequence[OwnerSpan], numbers: Mapping[str, int], top: int
) -> None:
    """One bar, or what is too close together as one that says how often the owner changed."""
    if len(crowd) == 1:
        _draw_span(parent, span, crowd[0], numbers, top)
        return
    first, until_ms = crowd[0], max(owned.until_ms for owned in crowd)
    title = f"{first.partition}: {len(crowd):,} changes of the owner, {utc(first.from_ms)} to {utc(until_ms)}"
    link = add_link(parent, first.href, title)
    start, end = span.place(first.from_ms), span.place(until_ms)
    add(link, "rect", "chart-owner chart-changing", x=percent(start), width=percent(end - start), y=top, height=BAR)


def _draw_span(parent: ET.Element, span: TimeRange, owned: OwnerSpan, numbers: Mapping[str, int], top: int) -> None:
    start, end = span.place(owned.from_ms), span.place(owned.until_ms)
    owners = listed(owned.owners) if owned.owners else NO_OWNER
    title = f"{owned.partition}: {owners}, {utc(owned.from_ms)} to {utc(owned.until_ms)}"
    link = add_link(parent, owned.href, title)
    shape, words = _looks(owned, numbers)
    add(link, "rect", shape, x=percent(start), width=percent(end - start), y=top, height=BAR)
    short = next((text for text, needed in words if end - start >= needed), None)
    if short is not None:
        kind = f"chart-on {_ink(owned, numbers)}".rstrip()
        add_text(link, short, kind, x=percent((start + end) / 2), y=top + 12, text_anchor="middle")


def _looks(owned: OwnerSpan, numbers: Mapping[str, int]) -> tuple[str, Sequence[tuple[str, float]]]:
    """The class of a bar, and what may be written on it with the part of the time that it needs, longest first."""
    if not owned.owners:
        return "chart-orphan", ((NO_OWNER, WORDED), ("\N{MULTIPLICATION SIGN}", SIGNED))
    if len(owned.owners) > 1:
        some = " ".join(f"#{numbers[owner]}" for owner in owned.owners[:3])
        return "chart-owner chart-double", ((some, WORDED), (str(len(owned.owners)), SIGNED))
    number = numbers[owned.owners[0]]
    return f"chart-owner chart-owner-{_color(number)}", ((f"#{number}", NUMBERED),)


def _ink(owned: OwnerSpan, numbers: Mapping[str, int]) -> str:
    """The class of the text on a bar."""
    if not owned.owners:
        return "chart-on-orphan"
    if len(owned.owners) > 1:
        return "chart-on-double"
    return "chart-on-light" if _color(numbers[owned.owners[0]]) in DARK_TEXT else ""


def _legend_rows(numbers: Mapping[str, int]) -> int:
    return -(-min(len(numbers), MOST_OWNERS) // COLUMNS)


def _draw_legend(root: ET.Element, numbers: Mapping[str, int], more: int, top: int) -> None:
    """The owner of each number, below the axis. A long name is cut by the end of its column."""
    rows = _legend_rows(numbers)
    for place, (owner, number) in enumerate(list(numbers.items())[:MOST_OWNERS]):
        column, row = divmod(place, rows)
        box = add(root, "svg", x=percent(column / COLUMNS), width=percent(1 / COLUMNS), y=top + ROW * row, height=ROW)
        add(box, "rect", f"chart-owner chart-owner-{_color(number)}", x=4, y=4, width=14, height=14)
        add_text(box, f"#{number} {owner}", "chart-name", x=24, y=15)
    lines = [
        *([f"and {counted(len(numbers) - MOST_OWNERS, 'more member')}"] if len(numbers) > MOST_OWNERS else []),
        *([f"{counted(more, 'more partition')} not shown"] if more else []),
    ]
    for row, line in enumerate(lines, rows):
        add_text(root, line, x=4, y=top + ROW * row + 15)
