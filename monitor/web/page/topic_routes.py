"""The addresses of the pages of topics. They take turns, as those of groups do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from monitor.web.http.concurrency import Turns
from monitor.web.page.options import PageOptions
from monitor.web.page.render import Pages
from monitor.web.page.topic_page import SHOWN_PARTITIONS, topic_page, topics_page
from monitor.web.views.addresses import TOPICS, TOPICS_API, UNUSED_API
from monitor.web.views.snapshot_source import Source
from monitor.web.views.topic_finder import SHOWN_GROUPS, TopicFinder
from monitor.web.views.topic_list import TopicListings


def topic_routes(
    source: Source, listings: TopicListings, pages: Pages, now_ms: Callable[[], int], turns: Turns
) -> list[Route]:
    """The list of topics and the page of each. ``listings`` are those of ``source``."""
    handlers = _TopicHandlers(source, listings, pages, now_ms)

    async def topics(request: Request) -> Response:
        return await turns.take(partial(handlers.topics, request))

    async def topic(request: Request) -> Response:
        return await turns.take(partial(handlers.topic, request))

    return [Route(TOPICS, topics), Route(TOPICS.rstrip("/"), topics), Route(f"{TOPICS}{{rest:any}}", topic)]


class _TopicHandlers:
    def __init__(self, source: Source, listings: TopicListings, pages: Pages, now_ms: Callable[[], int]) -> None:
        self._source = source
        self._listings = listings
        self._find = TopicFinder(source, listings)
        self._pages = pages
        self._now_ms = now_ms

    def topics(self, request: Request) -> Response:
        options = PageOptions.read(TOPICS, request.query_params)
        page = topics_page(self._source.read(), self._listings, options, self._now_ms())
        return HTMLResponse(self._pages.topics(page, options, UNUSED_API if page.is_unused else TOPICS_API.rstrip("/")))

    def topic(self, request: Request) -> Response:
        options = PageOptions.read(request.scope["raw_path"].decode("ascii"), request.query_params)
        found = self._find.topic(request, TOPICS, None if options.all_rows else SHOWN_GROUPS)
        page = topic_page(found, self._source.read(), self._now_ms(), None if options.all_rows else SHOWN_PARTITIONS)
        return HTMLResponse(self._pages.topic(page, options))
