"""Metrics and probes: coroutines that send bytes which were prepared before, so nothing keeps a scrape waiting.

Only the metrics of the process itself are written for each scrape, and they come first: less than a millisecond's
work for a few clusters. ``# EOF`` stays last.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.metrics.gzip_join import deflated, followed, run_of, unpacked, unpacked_size
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.web.negotiation import prefers_gzip, prefers_openmetrics
from monitor.web.views.snapshot_source import Source
from monitor.web.views.status import readiness_text

_VARY: Final = {"Vary": "Accept, Accept-Encoding"}
TEXT_HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8", **_VARY}
OPENMETRICS_HEADERS: Final = {"Content-Type": "application/openmetrics-text; version=1.0.0; charset=utf-8", **_VARY}

_PIECE: Final = 65_536
"""Bytes that are unpacked at a time: less than a millisecond's work, and what a transport holds before it asks to wait.
"""


def metrics_routes(source: Source, now_ms: Callable[[], int], process: ProcessMetrics | None = None) -> list[Route]:
    """``/metrics``, ``/healthz`` and ``/readyz``. ``process`` is what it says of itself; None: nothing.

    ``now_ms`` is the clock for the age of an evaluation.
    """
    handlers = _MetricsHandlers(source, now_ms, process)
    return [
        Route("/metrics", handlers.metrics),
        Route("/healthz", _healthz),
        Route("/readyz", handlers.readyz),
    ]


class _MetricsHandlers:
    def __init__(self, source: Source, now_ms: Callable[[], int], process: ProcessMetrics | None) -> None:
        self._read = source.read
        self._now_ms = now_ms
        self._process = process

    async def metrics(self, request: Request) -> Response:
        began_s = time.perf_counter()
        snapshot = self._read()
        openmetrics = snapshot.openmetrics_gzip if wants_openmetrics(request) else None
        prepared = snapshot.metrics_gzip if openmetrics is None else openmetrics
        headers = TEXT_HEADERS if openmetrics is None else OPENMETRICS_HEADERS
        own = "" if self._process is None else self._process.text(openmetrics=openmetrics is not None)
        answer = _as_gzip if accepts_gzip(request) else _as_text
        response = answer(own.encode(), prepared, headers, head=request.method == "HEAD")
        response.background = timed(self._process, began_s)
        return response

    async def readyz(self, _: Request) -> Response:
        snapshot, now_ms = self._read(), self._now_ms()
        return PlainTextResponse(readiness_text(snapshot, now_ms), 200 if snapshot.is_ready(now_ms) else 503)


def timed(process: ProcessMetrics | None, began_s: float) -> BackgroundTask | None:
    """To be done when an answer to a scrape was sent, which began then by ``time.perf_counter``."""
    if process is None:
        return None

    async def observe() -> None:
        process.observe_scrape(time.perf_counter() - began_s)

    return BackgroundTask(observe)


def _as_gzip(own: bytes, packed: bytes, headers: Mapping[str, str], *, head: bool) -> Response:
    """Both texts in one stream. What was prepared is not copied, so clients that are slow hold nothing of it."""
    pieces = followed(run_of([deflated(own)]), packed)
    size = sum(map(len, pieces))
    return _in_pieces(_each(pieces), {**headers, "Content-Encoding": "gzip"}, size, head=head)


def _as_text(own: bytes, packed: bytes, headers: Mapping[str, str], *, head: bool) -> Response:
    return _in_pieces(_unpacked(own, packed), headers, len(own) + unpacked_size(packed), head=head)


def _in_pieces(
    pieces: AsyncIterator[bytes | memoryview], headers: Mapping[str, str], size: int, *, head: bool
) -> Response:
    headers = {**headers, "Content-Length": str(size)}
    return Response(headers=headers) if head else StreamingResponse(pieces, headers=headers)


async def _each(pieces: Iterable[bytes | memoryview]) -> AsyncIterator[bytes | memoryview]:
    for piece in pieces:
        yield piece


async def _unpacked(own: bytes, packed: bytes) -> AsyncIterator[bytes]:
    """Pieces of a text, unpacked while it is read: clients that are slow, or many, hold nothing of it."""
    yield own
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
