"""The timeline of a group: its lag, rebalances and findings over time, as a chart and as a list. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup

from monitor.charts.lag import lag_chart
from monitor.charts.values import LagAt, LagChart, TimeRange, Zoom
from monitor.history.chronicle.values import Chronicle
from monitor.history.instants import HELP, instant_text
from monitor.history.report.charts import past_chart
from monitor.history.report.findings import findings_then
from monitor.history.report.notes import accuracy
from monitor.history.report.rebalances import rebalance_lines, rebalances_then
from monitor.history.story import GroupStory, LagThen, apart_ms, missing_sentences, story_of
from monitor.history.tables import DAY_MS
from monitor.messages.formatting import counted
from monitor.messages.notification import utc
from monitor.model import Value
from monitor.web.page.options import AT
from monitor.web.page.past import Step, span_href
from monitor.web.views.addresses import PAGE, REPORT, TIMELINE, GroupAddress

SPANS: Final = (
    ("1 hour", 3_600_000),
    ("6 hours", 21_600_000),
    ("24 hours", DAY_MS),
    ("7 days", 7 * DAY_MS),
    ("30 days", 30 * DAY_MS),
)
PARTS: Final = 12
"""The chart has so many parts that are links to the timeline of that part alone."""

SHORTEST_PART_MS: Final = 60_000
LINKED_POINTS: Final = 24
"""So many points of the lag are links: of each part of the time, the highest. A finger has room for no more."""

MOST_GAPS: Final = 5
"""So many parts without a recording are named."""

MOST_EVENTS: Final = 1_000
"""Longer lists are cut; the command ``groupwatch history`` has all."""


class TimelineQuery(Value):
    """What an address asks for: the two instants as it names them and as they are, and an instant to be marked."""

    since: str
    until: str
    since_ms: int
    until_ms: int
    at_ms: int | None = None


class TimelinePage(Value):
    """The whole page. ``chart`` is SVG; ``has_parts``: parts of it are links to their own timelines.

    ``has_gaps``: parts of the time are not recorded. ``highest`` is the largest lag of each part of the time.
    ``accuracy`` says how exact all that is, and ``note`` what is not recorded, "" if nothing is. ``spans`` are links to
    other lengths of time, and ``span`` is the label of the present one, "" if it has none. ``now``, ``form``,
    ``earlier``, ``later`` and ``report`` are links, "" where there is none.
    """

    address: GroupAddress
    query: TimelineQuery
    story: GroupStory
    chart: Markup
    has_parts: bool
    has_gaps: bool
    highest: Sequence[LagThen]
    accuracy: str
    note: str
    spans: tuple[Step, ...]
    span: str
    now: str
    form: str
    earlier: str
    later: str
    report: str
    most_events: int = MOST_EVENTS
    examples: str = HELP

    def then(self, at_ms: int) -> str:
        """The link to the group at an instant."""
        return _then_href(self.address, at_ms)


def timeline_page(
    address: GroupAddress, chronicle: Chronicle, query: TimelineQuery, now_ms: int, longest_ms: int
) -> TimelinePage:
    """The page of a timeline, which may end before what the query asks for. Spans are at most ``longest_ms`` long."""
    story, length_ms = story_of(chronicle), query.until_ms - query.since_ms
    chart, is_cut = _chart(address, chronicle, story, query.at_ms), story.until_ms < query.until_ms
    is_reportable = length_ms <= DAY_MS  # a job reads events of no more
    has_every_poll = chronicle.peak is not None  # the tables of minutes have none
    return TimelinePage(
        address=address,
        query=query,
        story=story,
        chart=Markup(lag_chart(chart, with_style=False)),
        has_parts=bool(chart.zooms),
        highest=_highest(story),
        accuracy=accuracy(story.step_ms, has_every_poll=has_every_poll) if story.step_ms else "",
        has_gaps=bool(missing_sentences(story)),
        note=" ".join(_notes(story, is_cut=is_cut)),
        spans=tuple(_spans(address, query, longest_ms)),
        span=next((label for label, known_ms in SPANS if known_ms == length_ms), ""),
        now=address.under(PAGE),
        form=address.under(TIMELINE),
        earlier=_earlier_href(address, query),
        later="" if is_cut else _later_href(address, query, now_ms),
        report=span_href(address, query.since_ms, query.until_ms, prefix=REPORT) if is_reportable else "",
    )


def _notes(story: GroupStory, *, is_cut: bool) -> Iterator[str]:
    """What is not recorded: a list without events would read as if nothing had happened."""
    missing = missing_sentences(story)
    yield from missing[:MOST_GAPS]
    if len(missing) > MOST_GAPS:
        yield f"Nothing of the group is recorded in {counted(len(missing) - MOST_GAPS, 'more part')} of this time."
    if is_cut:
        yield f"The recording reaches until {utc(story.until_ms)}."


def _chart(address: GroupAddress, chronicle: Chronicle, story: GroupStory, at_ms: int | None) -> LagChart:
    """What is drawn: bars, ticks and points are links to the group then, parts of the chart to their own timelines."""
    href, linked = partial(_then_href, address), {point.at_ms for point in _highest(story)}
    points = (LagAt(each.at_ms, each.lag, href(each.at_ms) if each.at_ms in linked else "") for each in story.lag)
    chart = LagChart(
        range=TimeRange(story.since_ms, story.until_ms),
        points=tuple(points),
        zooms=tuple(_zooms(address, story)),
        unit=story.unit,
        at_ms=at_ms,
        apart_ms=apart_ms(story),
    )
    rebalances = rebalance_lines(rebalances_then(chronicle), chronicle.kind)
    return past_chart(chart, rebalances, findings_then((*chronicle.cluster_findings, *chronicle.findings)), href)


def _then_href(address: GroupAddress, at_ms: int) -> str:
    return f"{address.under(PAGE)}?{urlencode({AT: instant_text(at_ms)}, safe=':')}"


def _zooms(address: GroupAddress, story: GroupStory) -> Iterator[Zoom]:
    length_ms = (story.until_ms - story.since_ms) // PARTS
    if length_ms < SHORTEST_PART_MS:
        return
    for part in range(PARTS):
        since_ms = story.since_ms + part * length_ms
        until_ms = story.until_ms if part == PARTS - 1 else since_ms + length_ms
        label = f"Zoom in: {utc(since_ms)} to {utc(until_ms)}"
        yield Zoom(since_ms, until_ms, label, span_href(address, since_ms, until_ms))


def _highest(story: GroupStory) -> Sequence[LagThen]:
    """The point with the largest lag in each part of the time."""
    known = [point for point in story.lag if point.lag is not None]
    span = TimeRange(story.since_ms, story.until_ms + 1)
    parts = groupby(known, lambda point: int(span.place(point.at_ms) * LINKED_POINTS))
    return [max(part, key=lambda point: point.lag or 0) for _, part in parts]


def _spans(address: GroupAddress, query: TimelineQuery, longest_ms: int) -> Iterator[Step]:
    """Other lengths, with the same end; one that ends now continues to do so."""
    for label, length_ms in SPANS:
        if length_ms > longest_ms:
            return
        if query.until == "now":
            yield Step(label, f"{address.under(TIMELINE)}?since=-{length_ms // 3_600_000}h")
        else:
            yield Step(label, span_href(address, max(0, query.until_ms - length_ms), query.until_ms, query.at_ms))


def _earlier_href(address: GroupAddress, query: TimelineQuery) -> str:
    since_ms = max(0, 2 * query.since_ms - query.until_ms)
    return span_href(address, since_ms, query.since_ms) if since_ms < query.since_ms else ""


def _later_href(address: GroupAddress, query: TimelineQuery, now_ms: int) -> str:
    """The next span of the same length, or the one that ends now if that is nearer."""
    length_ms = query.until_ms - query.since_ms
    until_ms = min(now_ms, query.until_ms + length_ms)
    if query.until == "now" or until_ms <= query.until_ms:
        return ""
    return span_href(address, until_ms - length_ms, until_ms)
