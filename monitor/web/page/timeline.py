"""The timeline of a group: its lag, rebalances and findings over time, as a chart and as a list. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup
from msgspec.structs import replace

from monitor.charts.lag import lag_chart
from monitor.charts.values import LagAt, LagChart, Mark, Span, TimeRange, Zoom
from monitor.history.instants import HELP, instant_text
from monitor.history.story import Happened, HappenedKind, LagThen
from monitor.history.tables import DAY_MS
from monitor.messages.formatting import counted
from monitor.messages.kind_words import finding_words
from monitor.messages.notification import utc
from monitor.model import Value
from monitor.web.page.options import AT
from monitor.web.page.past import Step
from monitor.web.views.addresses import PAGE, REPORT, TIMELINE, GroupAddress
from monitor.web.views.timeline import Timeline, timeline_href

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

MOST_EVENTS: Final = 1_000
"""Longer lists are cut; the command ``groupwatch history`` has all."""

_WORDS: Final = {
    HappenedKind.REBALANCE: "Rebalance",
    HappenedKind.OPENED: "Opened",
    HappenedKind.CLOSED: "Closed",
    HappenedKind.GROUP: "Group",
    HappenedKind.LOG: "Log",
}


class TimelineQuery(Value):
    """What an address asks for: the two instants as it names them and as they are, and an instant to be marked."""

    since: str
    until: str
    since_ms: int
    until_ms: int
    at_ms: int | None = None


class EventLine(Value):
    """Something that happened; ``href`` is the page of the group at that instant. ``finding`` is its name in words."""

    at: str
    href: str
    word: str
    finding: str
    sentence: str


class LagLine(Value):
    """The lag at an instant, in words."""

    at: str
    href: str
    lag: str


class TimelineLinks(Value):
    """Where the page leads.

    ``spans`` are other lengths of time; ``span`` is the label of the present one, "" if it has none. ``now`` is the
    page of the group, ``then`` the same at the marked instant, ``report`` the incident report on this time. A link that
    is "" is not there.
    """

    spans: tuple[Step, ...]
    span: str
    earlier: str
    later: str
    now: str
    then: str
    form: str
    report: str = ""


class TimelinePage(Value):
    """The whole page. ``chart`` is SVG. ``note`` says what is missing at the end, "" if nothing is.

    ``has_parts``: parts of the chart are links to their own timelines.
    """

    group: str
    query: TimelineQuery
    since: str
    until: str
    chart: Markup
    has_parts: bool
    note: str
    events: tuple[EventLine, ...]
    hidden_events: int
    lags: tuple[LagLine, ...]
    links: TimelineLinks
    accuracy: str = ""
    examples: str = HELP


def timeline_page(
    address: GroupAddress, timeline: Timeline, query: TimelineQuery, now_ms: int, longest_ms: int
) -> TimelinePage:
    """The page of a timeline, which may end before what the query asks for. Spans are at most ``longest_ms`` long."""
    is_cut = timeline.until_ms < query.until_ms
    links = _links(address, query, now_ms, longest_ms)
    chart = timeline_chart(address, timeline, query.at_ms)
    return TimelinePage(
        group=address.group,
        query=query,
        since=utc(timeline.since_ms),
        until=utc(timeline.until_ms),
        chart=Markup(lag_chart(chart, with_style=False)),
        has_parts=bool(chart.zooms),
        note=f"The recording reaches until {utc(timeline.until_ms)}." if is_cut else "",
        events=tuple(_event_line(address, each) for each in timeline.happened[:MOST_EVENTS]),
        hidden_events=max(0, len(timeline.happened) - MOST_EVENTS),
        lags=tuple(
            LagLine(utc(each.at_ms), _then_href(address, each.at_ms), counted(each.lag or 0, timeline.unit))
            for each in _highest(timeline)
        ),
        links=replace(links, later="") if is_cut else links,
        accuracy=timeline.accuracy,
    )


def _links(address: GroupAddress, query: TimelineQuery, now_ms: int, longest_ms: int) -> TimelineLinks:
    return TimelineLinks(
        spans=tuple(_spans(address, query, longest_ms)),
        span=next((label for label, length_ms in SPANS if length_ms == query.until_ms - query.since_ms), ""),
        earlier=_earlier_href(address, query),
        later=_later_href(address, query, now_ms),
        now=address.under(PAGE),
        then="" if query.at_ms is None else _then_href(address, query.at_ms),
        form=address.under(TIMELINE),
        report=_report_href(address, query),
    )


def _report_href(address: GroupAddress, query: TimelineQuery) -> str:
    """The report on the same time; "" where that is longer than a job reads events of."""
    if query.until_ms - query.since_ms > DAY_MS:
        return ""
    span = {"since": instant_text(query.since_ms), "until": instant_text(query.until_ms)}
    return f"{address.under(REPORT)}?{urlencode(span, safe=':')}"


def timeline_chart(address: GroupAddress, timeline: Timeline, at_ms: int | None = None) -> LagChart:
    """What is drawn: bars, ticks and points are links to the group then, parts of the chart to their own timelines."""
    linked = {point.at_ms for point in _highest(timeline)}
    return LagChart(
        range=TimeRange(timeline.since_ms, timeline.until_ms),
        points=tuple(
            LagAt(each.at_ms, each.lag, _then_href(address, each.at_ms) if each.at_ms in linked else "")
            for each in timeline.lag
        ),
        marks=tuple(Mark(each.at_ms, each.sentence, _then_href(address, each.at_ms)) for each in timeline.rebalances),
        spans=tuple(
            Span(
                each.from_ms,
                each.until_ms,
                each.severity,
                finding_words(each.name),
                each.sentence,
                _then_href(address, max(each.from_ms, timeline.since_ms)),
            )
            for each in timeline.findings
        ),
        zooms=tuple(_zooms(address, timeline)),
        unit=timeline.unit,
        at_ms=at_ms,
    )


def _then_href(address: GroupAddress, at_ms: int) -> str:
    return f"{address.under(PAGE)}?{urlencode({AT: instant_text(at_ms)}, safe=':')}"


def _zooms(address: GroupAddress, timeline: Timeline) -> Iterator[Zoom]:
    length_ms = (timeline.until_ms - timeline.since_ms) // PARTS
    if length_ms < SHORTEST_PART_MS:
        return
    for part in range(PARTS):
        since_ms = timeline.since_ms + part * length_ms
        until_ms = timeline.until_ms if part == PARTS - 1 else since_ms + length_ms
        label = f"Zoom in: {utc(since_ms)} to {utc(until_ms)}"
        yield Zoom(since_ms, until_ms, label, timeline_href(address, since_ms, until_ms))


def _highest(timeline: Timeline) -> Sequence[LagThen]:
    """Of each part of the time, the point with the largest lag."""
    known = [point for point in timeline.lag if point.lag is not None]
    span = TimeRange(timeline.since_ms, timeline.until_ms + 1)
    parts = groupby(known, lambda point: int(span.place(point.at_ms) * LINKED_POINTS))
    return [max(part, key=lambda point: point.lag or 0) for _, part in parts]


def _event_line(address: GroupAddress, event: Happened) -> EventLine:
    return EventLine(
        at=utc(event.at_ms),
        href=_then_href(address, event.at_ms),
        word=_WORDS[event.about],
        finding="" if event.finding is None else finding_words(event.finding),
        sentence=event.sentence,
    )


def _spans(address: GroupAddress, query: TimelineQuery, longest_ms: int) -> Iterator[Step]:
    """Other lengths, with the same end; one that ends now goes on to do so."""
    for label, length_ms in SPANS:
        if length_ms > longest_ms:
            return
        if query.until == "now":
            yield Step(label, f"{address.under(TIMELINE)}?since=-{length_ms // 3_600_000}h")
        else:
            yield Step(label, timeline_href(address, max(0, query.until_ms - length_ms), query.until_ms, query.at_ms))


def _earlier_href(address: GroupAddress, query: TimelineQuery) -> str:
    since_ms = max(0, 2 * query.since_ms - query.until_ms)
    return timeline_href(address, since_ms, query.since_ms) if since_ms < query.since_ms else ""


def _later_href(address: GroupAddress, query: TimelineQuery, now_ms: int) -> str:
    """The next span of the same length, or the one that ends now if that is nearer."""
    length_ms = query.until_ms - query.since_ms
    until_ms = min(now_ms, query.until_ms + length_ms)
    if query.until == "now" or until_ms <= query.until_ms:
        return ""
    return timeline_href(address, until_ms - length_ms, until_ms)
