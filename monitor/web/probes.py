"""Metrics and probes: coroutines that send bytes which were prepared before, so nothing keeps a scrape waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.metrics.gzip_join import unpacked, unpacked_size
from monitor.web.negotiation import prefers_gzip, prefers_openmetrics
from monitor.web.views.snapshot_source import Source
from monitor.web.views.status import told_of_all

_VARY: Final = {"Vary": "Accept, Accept-Encoding"}
TEXT_HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8", **_VARY}
OPENMETRICS_HEADERS: Final = {"Content-Type": "application/openmetrics-text; version=1.0.0; charset=utf-8", **_VARY}

_PIECE: Final = 65_536
"""Bytes that are unpacked at a time: less than a millisecond's work, and what a transport holds before it asks to wait.
"""


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
        if accepts_gzip(request):
            return Response(prepared, headers={**headers, "Content-Encoding": "gzip"})
        return _as_text(prepared, headers, head=request.method == "HEAD")

    async def readyz(self, _: Request) -> Response:
        snapshot = self._read()
        return PlainTextResponse(told_of_all(snapshot), 200 if snapshot.ready else 503)


def _as_text(packed: bytes, headers: Mapping[str, str], *, head: bool) -> Response:
    headers = {**headers, "Content-Length": str(unpacked_size(packed))}
    return Response(headers=headers) if head else StreamingResponse(_unpacked(packed), headers=headers)


async def _unpacked(packed: bytes) -> AsyncIterator[bytes]:
    """Pieces of a text, unpacked while it is read: clients that are slow, or many, hold nothing of it."""
    for piece in unpacked(packed, _PIECE):
        yield piece
        await asyncio.sleep(0)  # a client that reads at once must not keep the others waiting


def wants_openmetrics(request: Request) -> bool:
    """Whether the metrics are to be in OpenMetrics, not in Prometheus' own text format."""
    return prefers_openmetrics(_all_of(request, "accept"))


def accepts_gzip(request: Request) -> bool:
    """Whether an answer may be sent in gzip."""
    return prefers_gzip(_all_of(request, "accept-encoding"))


def _all_of(request: Request, header: str) -> str:
    """A list in a header may be sent in several lines (RFC 9110, 5.3)."""
    return ",".join(request.headers.getlist(header))


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n")
