"""Metrics and probes: coroutines that send bytes which were prepared before, so nothing keeps a scrape waiting."""

from __future__ import annotations

import zlib
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.metrics.found import Source
from monitor.metrics.negotiation import prefers_gzip, prefers_openmetrics
from monitor.metrics.readiness import told_of_all

_VARY: Final = {"Vary": "Accept, Accept-Encoding"}
TEXT_HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8", **_VARY}
OPENMETRICS_HEADERS: Final = {"Content-Type": "application/openmetrics-text; version=1.0.0; charset=utf-8", **_VARY}
_GZIP: Final = zlib.MAX_WBITS | 16


def metrics_routes(source: Source) -> list[Route]:
    """``/metrics``, ``/healthz`` and ``/readyz``."""
    handlers = _MetricsHandlers(source)
    return [
        Route("/metrics", handlers.metrics),
        Route("/healthz", _healthz),
        Route("/readyz", handlers.readyz),
    ]


class _MetricsHandlers:
    def __init__(self, source: Source) -> None:
        self._read = source.read

    async def metrics(self, request: Request) -> Response:
        snapshot = self._read()
        openmetrics = snapshot.openmetrics_gzip if wants_openmetrics(request) else None
        prepared = snapshot.metrics_gzip if openmetrics is None else openmetrics
        headers = TEXT_HEADERS if openmetrics is None else OPENMETRICS_HEADERS
        if prefers_gzip(_all_of(request, "accept-encoding")):
            return Response(prepared, headers={**headers, "Content-Encoding": "gzip"})
        return Response(await run_in_threadpool(zlib.decompress, prepared, _GZIP), headers=headers)

    async def readyz(self, _: Request) -> Response:
        snapshot = self._read()
        return PlainTextResponse(told_of_all(snapshot), 200 if snapshot.ready else 503)


def wants_openmetrics(request: Request) -> bool:
    """Whether the metrics are to be in OpenMetrics, not in Prometheus' own text format."""
    return prefers_openmetrics(_all_of(request, "accept"))


def _all_of(request: Request, header: str) -> str:
    """A list in a header may be sent in several lines (RFC 9110, 5.3)."""
    return ",".join(request.headers.getlist(header))


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n")
