"""The pages that a person looks at. They are rendered in threads, so a slow page does not keep a scrape waiting."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.metrics.addresses import PAGE
from monitor.metrics.found import GroupFinder, Source
from monitor.metrics.group_page import SHOWN_PARTITIONS, group_page
from monitor.metrics.overview import SHOWN_GROUPS, cluster_line, overview
from monitor.metrics.pages import STYLE, PageOptions, Pages


def page_routes(source: Source, pages: Pages, now_ms: Callable[[], int]) -> list[Route]:
    """The overview, the page of a group, and what they are shown with."""
    handlers = _PageHandlers(source, pages, now_ms)
    return [
        Route("/", handlers.overview),
        Route(f"{PAGE}{{rest:any}}", handlers.group),
        Route("/style.css", _style),
    ]


class _PageHandlers:
    def __init__(self, source: Source, pages: Pages, now_ms: Callable[[], int]) -> None:
        self._read = source.read
        self._find = GroupFinder(source)
        self._pages = pages
        self._now_ms = now_ms

    def overview(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_GROUPS
        page = overview(self._read(), self._now_ms(), options.search, limit)
        return HTMLResponse(self._pages.overview(page, options))

    def group(self, request: Request) -> Response:
        options = _options(request)
        found = self._find.verdict(request, PAGE)
        page = group_page(found.verdict, None if options.all_rows else SHOWN_PARTITIONS)
        return HTMLResponse(self._pages.group(page, cluster_line(found.cluster, self._now_ms()), options))


async def _style(_: Request) -> Response:
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "max-age=86400"})


def _options(request: Request) -> PageOptions:
    query = request.query_params
    return PageOptions(
        path=request.scope["raw_path"].decode("ascii"),
        search=query.get("q", ""),
        all_rows="all" in query,
        paused="paused" in query,
    )
