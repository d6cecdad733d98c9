"""The HTTP app of a process that only collects: its metrics, and whether its collectors are well."""

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from monitor.metrics.collector_samples import collectors_exposition, collectors_text, is_well
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import CollectorHealth
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.web.http.exact_routes import exact_app
from monitor.web.probes import OPENMETRICS_HEADERS, TEXT_HEADERS, timed, wants_openmetrics


def create_collect_app(
    health: Callable[[], tuple[CollectorHealth, ...]],
    process: ProcessMetrics | None = None,
    label: str = CLUSTER_LABEL,
) -> Starlette:
    """The app over whatever ``health`` says. It is ready while every collector's newest pass was complete.

    ``process`` is what the metrics say of the process; None: nothing. ``label`` names the cluster in them.
    """

    async def metrics(request: Request) -> PlainTextResponse:
        began_s, openmetrics = time.perf_counter(), wants_openmetrics(request)
        headers = OPENMETRICS_HEADERS if openmetrics else TEXT_HEADERS
        own = "" if process is None else process.text(openmetrics=openmetrics)
        text = own + collectors_exposition(health(), openmetrics=openmetrics, label=label)
        return PlainTextResponse(text, headers=headers, background=timed(process, began_s))

    async def readyz(_: Request) -> PlainTextResponse:
        known = health()
        return PlainTextResponse(collectors_text(known), 200 if all(map(is_well, known)) else 503)

    async def healthz(_: Request) -> PlainTextResponse:
        return PlainTextResponse("ok\n")

    routes = [Route("/metrics", metrics), Route("/readyz", readyz), Route("/healthz", healthz)]
    return exact_app(routes)
