"""The pages that a person looks at. They are rendered in threads, so a slow page does not keep a scrape waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.history.instants import instant_text
from monitor.messages.units import unit_of
from monitor.model import GroupSummary
from monitor.web.http.concurrency import AllTurns
from monitor.web.page.group import SHOWN_PARTITIONS, group_page
from monitor.web.page.on_demand import answered, forms_of
from monitor.web.page.options import AT, PageOptions
from monitor.web.page.past import past_part
from monitor.web.page.render import ICON, SCRIPT, STYLE, Pages
from monitor.web.page.sparkline import ROW_EVERY, Sparkline, row_sparkline, sparkline
from monitor.web.page.timeline import TimelineQuery, timeline_page
from monitor.web.views.addresses import LIBRARIES_PAGE, PAGE, TIMELINE, group_address
from monitor.web.views.ended_lines import endings_in_group
from monitor.web.views.group_list import Column, Listings, Wish
from monitor.web.views.libraries import SHOWN_USES, libraries_page
from monitor.web.views.overview import SHOWN_GROUPS, Overview, cluster_line, overview, recorded_line
from monitor.web.views.past import PastReader, has_instant, verdict_then
from monitor.web.views.snapshot_source import GroupFinder, Source, address_of

_KEPT: Final = {"Cache-Control": "max-age=86400"}
"""Pages name the version of these files in their addresses."""

MOST_TRENDS: Final = 500
"""A page that lists everything draws the lags of so many groups only: the lines of thousands are megabytes."""


def page_routes(
    source: Source, pages: Pages, now_ms: Callable[[], int], turns: AllTurns, past: PastReader
) -> list[Route]:
    """The overview, the pages of a group and of the client libraries, and what they are shown with."""
    handlers = _PageHandlers(source, pages, now_ms, past)

    async def group(request: Request) -> Response:
        return await turns.take(partial(handlers.group, request), is_past=has_instant(request))

    async def timeline(request: Request) -> Response:
        return await turns.past.take(partial(handlers.timeline, request))

    return [
        Route("/", handlers.overview),
        Route(f"{PAGE}{{rest:any}}", group),
        Route(f"{TIMELINE}{{rest:any}}", timeline),
        Route(LIBRARIES_PAGE, handlers.libraries),
        Route("/style.css", _file(STYLE, "text/css")),
        Route("/page.js", _file(SCRIPT, "text/javascript")),
        Route("/icon.svg", _file(ICON, "image/svg+xml")),
    ]


class _PageHandlers:
    def __init__(self, source: Source, pages: Pages, now_ms: Callable[[], int], past: PastReader) -> None:
        self._past = past
        self._source = source
        self._find = GroupFinder(source, now_ms)
        self._listings = Listings()
        self._pages = pages
        self._now_ms = now_ms

    def overview(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_GROUPS
        listing = self._listings.of(self._source.read())
        page = overview(listing, self._now_ms(), _wish(options), limit)
        return HTMLResponse(self._pages.overview(page, options, self._trends(page)))

    def _trends(self, page: Overview) -> dict[str, Sparkline]:
        """The lines of the lags of the first groups that the page lists, by their addresses."""
        own = (line for line in page.groups[:MOST_TRENDS] if line.groups == 1 and not line.summary.is_connect)
        drawn = ((line.href, self._trend(line.summary)) for line in own)
        return {href: trend for href, trend in drawn if trend is not None}

    def _trend(self, group: GroupSummary) -> Sparkline | None:
        return row_sparkline(self._source.history(group.cluster, group.group, ROW_EVERY), unit_of(group.kind))

    def libraries(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_USES
        page = libraries_page(self._listings.of(self._source.read()), self._now_ms(), limit)
        return HTMLResponse(self._pages.libraries(page, options))

    def group(self, request: Request) -> Response:
        """The group now, or at the requested instant."""
        if AT in request.query_params:
            return self._group_then(request)
        options = _options(request)
        found = self._find.verdict(request, PAGE)
        limit = None if options.all_rows else SHOWN_PARTITIONS
        page = group_page(found.verdict, limit, options.sort, options.map_topic, found.cluster.groups)
        forms = forms_of(found.verdict, request.query_params)
        asked = answered(lambda: self._find.inputs(request, PAGE), found.verdict, options, forms)
        history = self._source.history(found.verdict.cluster, found.verdict.group)
        past = past_part(address_of(request, PAGE), options, None, self._now_ms()) if self._past.has_recording else None
        ended = endings_in_group(found.cluster, found.verdict.group, self._now_ms())
        asked = replace(asked, lag=sparkline(history, page.unit), past=past, ended=ended)
        return HTMLResponse(self._pages.group(page, cluster_line(found.cluster, self._now_ms()), options, asked))

    def _group_then(self, request: Request) -> Response:
        """The same from the recording. Its links name the instant itself, also where the address says "-3h"."""
        address = address_of(request, PAGE)
        inputs = self._past.inputs(address, request.query_params[AT])
        options = replace(_options(request), at=instant_text(inputs.now_ms))
        verdict = verdict_then(inputs)
        limit = None if options.all_rows else SHOWN_PARTITIONS
        page = group_page(verdict, limit, options.sort, options.map_topic)
        asked = answered(lambda: inputs, verdict, options, forms_of(verdict, request.query_params))
        asked = replace(asked, past=past_part(address, options, inputs.now_ms, self._now_ms()))
        return HTMLResponse(self._pages.group(page, recorded_line(address.cluster), options, asked))

    def timeline(self, request: Request) -> Response:
        """What happened to a group; this reads the recording of all the time that is shown."""
        address, asked = address_of(request, TIMELINE), request.query_params
        since, until = asked.get("since") or "-1h", asked.get("until") or "now"
        since_ms, until_ms = self._past.span(since, until, self._past.longest_ms)
        at_ms = self._past.instant(asked[AT]) if AT in asked else None
        found = self._past.chronicle(address, since_ms, until_ms)
        query = TimelineQuery(since=since, until=until, since_ms=since_ms, until_ms=until_ms, at_ms=at_ms)
        page = timeline_page(address, found, query, self._now_ms(), self._past.longest_ms)
        return HTMLResponse(self._pages.timeline(page))


def _file(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=media_type, headers=_KEPT)

    return answer


def _options(request: Request) -> PageOptions:
    return PageOptions.read(request.scope["raw_path"].decode("ascii"), request.query_params)


def group_now(request: Request) -> str:
    """The page of a group as it is now, if the request asks for its past; else ""."""
    path = request.scope["raw_path"].decode("ascii", "replace")
    prefix = TIMELINE if path.startswith(TIMELINE) else PAGE if AT in request.query_params else None
    if prefix is None or not path.startswith(prefix):
        return ""
    address = group_address(path, prefix)
    return "" if address is None else address.under(PAGE)


def _wish(options: PageOptions) -> Wish:
    """The options of the list; an order that there is not is the usual one."""
    column = options.sort.removeprefix("-")
    return Wish(
        search=options.search,
        cluster=options.cluster,
        kind=options.finding_kind,
        team=options.team,
        problems=options.problems,
        column=Column(column) if column in list(Column) else Column.FINDINGS,
        turned=options.sort.startswith("-"),
    )
