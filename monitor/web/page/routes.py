"""The pages that a person looks at. They are rendered in threads, so a slow page does not keep a scrape waiting."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.web.http.concurrency import Turns
from monitor.web.page.group import SHOWN_PARTITIONS, group_page
from monitor.web.page.on_demand import answered
from monitor.web.page.options import PageOptions
from monitor.web.page.render import ICON, SCRIPT, STYLE, Pages
from monitor.web.page.sparkline import sparkline
from monitor.web.page.what_if_form import what_if_form
from monitor.web.views.addresses import LIBRARIES_PAGE, PAGE
from monitor.web.views.group_list import Column, Listings, Wish
from monitor.web.views.libraries import SHOWN_USES, libraries_page
from monitor.web.views.overview import SHOWN_GROUPS, cluster_line, overview
from monitor.web.views.snapshot_source import GroupFinder, Source

_KEPT: Final = {"Cache-Control": "max-age=86400"}
"""Pages name the version of these files in their addresses."""


def page_routes(source: Source, pages: Pages, now_ms: Callable[[], int], turns: Turns) -> list[Route]:
    """The overview, the pages of a group and of the client libraries, and what they are shown with."""
    handlers = _PageHandlers(source, pages, now_ms)

    async def group(request: Request) -> Response:
        return await turns.take(partial(handlers.group, request))

    return [
        Route("/", handlers.overview),
        Route(f"{PAGE}{{rest:any}}", group),
        Route(LIBRARIES_PAGE, handlers.libraries),
        Route("/style.css", _file(STYLE, "text/css")),
        Route("/page.js", _file(SCRIPT, "text/javascript")),
        Route("/icon.svg", _file(ICON, "image/svg+xml")),
    ]


class _PageHandlers:
    def __init__(self, source: Source, pages: Pages, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._find = GroupFinder(source)
        self._listings = Listings()
        self._pages = pages
        self._now_ms = now_ms

    def overview(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_GROUPS
        listing = self._listings.of(self._source.read())
        page = overview(listing, self._now_ms(), _wish(options), limit)
        return HTMLResponse(self._pages.overview(page, options))

    def libraries(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_USES
        page = libraries_page(self._listings.of(self._source.read()), self._now_ms(), limit)
        return HTMLResponse(self._pages.libraries(page, options))

    def group(self, request: Request) -> Response:
        options = _options(request)
        found = self._find.verdict(request, PAGE)
        limit = None if options.all_rows else SHOWN_PARTITIONS
        page = group_page(found.verdict, limit, options.sort, options.map_topic, found.cluster.groups)
        form = what_if_form(found.verdict, request.query_params)
        asked = answered(lambda: self._find.inputs(request, PAGE), found.verdict, options, form)
        history = self._source.history(found.verdict.cluster, found.verdict.group)
        asked = replace(asked, lag=sparkline(history, page.unit))
        return HTMLResponse(self._pages.group(page, cluster_line(found.cluster, self._now_ms()), options, asked))


def _file(content: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        return Response(content, media_type=media_type, headers=_KEPT)

    return answer


def _options(request: Request) -> PageOptions:
    return PageOptions.read(request.scope["raw_path"].decode("ascii"), request.query_params)


def _wish(options: PageOptions) -> Wish:
    """What is asked of the list; an order that there is not is the usual one."""
    column = options.sort.removeprefix("-")
    return Wish(
        search=options.search,
        cluster=options.cluster,
        kind=options.finding_kind,
        problems=options.problems,
        column=Column(column) if column in list(Column) else Column.FINDINGS,
        turned=options.sort.startswith("-"),
    )
