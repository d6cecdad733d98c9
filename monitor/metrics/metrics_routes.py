"""Metrics and probes: coroutines that send bytes which were prepared before, so nothing keeps a scrape waiting."""

from __future__ import annotations

import zlib
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.metrics.found import Source
from monitor.metrics.readiness import told_of_all

METRICS_HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Vary": "Accept-Encoding"}
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
        prepared = self._read().metrics_gzip
        if accepts_gzip(request):
            return Response(prepared, headers={**METRICS_HEADERS, "Content-Encoding": "gzip"})
        return Response(await run_in_threadpool(zlib.decompress, prepared, _GZIP), headers=METRICS_HEADERS)

    async def readyz(self, _: Request) -> Response:
        snapshot = self._read()
        return PlainTextResponse(told_of_all(snapshot), 200 if snapshot.ready else 503)


def accepts_gzip(request: Request) -> bool:
    """Whether the client asks for gzip (RFC 9110, 12.5.3); "q=0" says that it does not want it."""
    for offer in request.headers.get("accept-encoding", "").split(","):
        coding, _, weight = offer.replace(" ", "").partition(";q=")
        if coding.lower() in ("gzip", "*"):
            return not weight or weight.strip("0.") != ""
    return False


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n")
