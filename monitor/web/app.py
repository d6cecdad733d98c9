"""The HTTP app: metrics, probes, pages and JSON, all read from one immutable snapshot.

A scrape sends bytes that were prepared before, compressed: it makes no request to a broker and waits for no batch.
(For a client that does not accept gzip they are unpacked first.) Metrics and probes are coroutines; pages are rendered
in threads, so a slow page does not keep a scrape waiting. A group is judged again for each request of its page.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from monitor.metrics.process_metrics import ProcessMetrics
from monitor.web.api.routes import api_routes
from monitor.web.http.concurrency import AllTurns, PastTurns, Turns
from monitor.web.http.errors import problem_response
from monitor.web.http.exact_routes import exact_app
from monitor.web.page.help_routes import help_routes
from monitor.web.page.render import Pages
from monitor.web.page.report import report_routes
from monitor.web.page.routes import group_now, page_routes
from monitor.web.page.topic_routes import topic_routes
from monitor.web.probes import metrics_routes
from monitor.web.views.deployment import NO_CHOICE, Deployment
from monitor.web.views.past import Past, PastReader
from monitor.web.views.snapshot_source import NotKnownYet, Source
from monitor.web.views.topic_list import TopicListings


def create_app(
    source: Source,
    now_ms: Callable[[], int] | None = None,
    process: ProcessMetrics | None = None,
    past: Past | None = None,
    deployment: Deployment = NO_CHOICE,
) -> Starlette:
    """The app over whatever snapshot is the newest.

    ``now_ms`` is the clock for the age of the page, ``process`` the metrics of the process itself, ``past`` the
    recording (None: there is none). ``deployment`` is what its settings say of it.
    """
    pages, clock, turns = Pages(), now_ms or _system_ms, AllTurns(Turns(), PastTurns())
    listings = TopicListings(source)
    reader = PastReader(past, clock)
    metrics = metrics_routes(source, clock, process)
    routes = [
        *page_routes(source, pages, clock, turns, reader),
        *topic_routes(source, listings, pages, clock, turns.now),
        *report_routes(reader, turns.past, deployment.external_url),
        *help_routes(pages),
        *metrics,
        *api_routes(source, listings, clock, turns, reader, deployment),
    ]
    return exact_app(routes, {HTTPException: _Refusal(pages)})


class _Refusal:
    """An error as its reader can read it: JSON under /api/, else a page."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def __call__(self, request: Request, error: Exception) -> Response:
        status, sentence = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
        headers = error.headers if isinstance(error, HTTPException) else None
        if request.scope["path"].startswith("/api/"):
            not_ready = error.clusters if isinstance(error, NotKnownYet) else ()
            return problem_response(status, sentence, headers, not_ready)
        return HTMLResponse(self._pages.message(f"{status}", sentence, group_now(request)), status, headers)


def _system_ms() -> int:
    return time.time_ns() // 1_000_000
