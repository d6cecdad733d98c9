"""The HTTP app: metrics, probes, pages and JSON, all read from one immutable snapshot.

A scrape sends bytes that were prepared before, compressed: it computes nothing, asks no broker and waits for no batch
(for a client that wants no gzip they are unpacked first). Metrics and probes are coroutines; pages are rendered in
threads, so a slow page does not keep a scrape waiting. A group is judged again when somebody looks at it.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.detection.inputs import GroupInputs
from monitor.metrics.addresses import API, PAGE, SAVED, GroupAddress, group_address
from monitor.metrics.group_page import SHOWN_PARTITIONS, group_page
from monitor.metrics.overview import SHOWN_GROUPS, cluster_line, judged, overview
from monitor.metrics.pages import STYLE, PageOptions, Pages
from monitor.metrics.publish import verdict_json
from monitor.metrics.readiness import share_told, told, told_of_all
from monitor.metrics.security import SecurityHeaders
from monitor.metrics.snapshot_lines import ClusterInputs, Evaluated, NotJudgedError, all_lines, group_lines
from monitor.metrics.wording import visible
from monitor.model import ClusterSnapshot, GroupVerdict, Snapshot, Value

__all__ = ["NotJudgedError", "Source", "create_app"]

METRICS_HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Vary": "Accept-Encoding"}
_LINES_OF_JSON: Final = "application/x-ndjson"
_GZIP: Final = zlib.MAX_WBITS | 16

Answer = TypeVar("Answer")


class Source(Protocol):
    """Where the app gets what it serves."""

    def read(self) -> Snapshot:
        """The newest snapshot."""

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The newest verdict on a group; None if there is no such group.

        Raises:
            NotJudgedError: the group cannot be judged. The others can.
        """

    def inputs(self, cluster: str) -> ClusterInputs | None:
        """What the newest verdicts on the groups of a cluster are made of; None if none has been judged."""


def create_app(source: Source, now_ms: Callable[[], int] | None = None) -> Starlette:
    """The app over whatever snapshot is the newest. ``now_ms`` is the clock by which the page tells how old it is."""
    handlers = _Handlers(source, now_ms or _system_ms)
    return Starlette(
        routes=[
            Route("/", handlers.overview),
            Route(f"{PAGE}{{rest:any}}", handlers.group),
            Route("/style.css", _style),
            Route("/metrics", handlers.metrics),
            Route("/healthz", _healthz),
            Route("/readyz", handlers.readyz),
            Route(API.rstrip("/"), handlers.api_groups),
            Route(f"{API}{{rest:any}}", handlers.api_group),
            Route(SAVED.rstrip("/"), handlers.saved_groups),
            Route(f"{SAVED}{{rest:any}}", handlers.saved_group),
        ],
        middleware=[Middleware(SecurityHeaders)],
        exception_handlers={HTTPException: handlers.refusal},
    )


class _Found(Value):
    """A group that an address names, and its cluster."""

    cluster: ClusterSnapshot
    verdict: GroupVerdict


class _Handlers:
    def __init__(self, source: Source, now_ms: Callable[[], int]) -> None:
        self._read = source.read
        self._verdict = source.verdict
        self._inputs = source.inputs
        self._now_ms = now_ms
        self._pages = Pages()

    async def metrics(self, request: Request) -> Response:
        prepared = self._read().metrics_gzip
        if _accepts_gzip(request):
            return Response(prepared, headers={**METRICS_HEADERS, "Content-Encoding": "gzip"})
        return Response(await run_in_threadpool(zlib.decompress, prepared, _GZIP), headers=METRICS_HEADERS)

    async def readyz(self, _: Request) -> Response:
        snapshot = self._read()
        return PlainTextResponse(told_of_all(snapshot), 200 if snapshot.ready else 503)

    def overview(self, request: Request) -> Response:
        options = _options(request)
        limit = None if options.all_rows else SHOWN_GROUPS
        page = overview(self._read(), self._now_ms(), options.search, limit)
        return HTMLResponse(self._pages.overview(page, options))

    def group(self, request: Request) -> Response:
        options = _options(request)
        found = self._find(request, PAGE)
        page = group_page(found.verdict, None if options.all_rows else SHOWN_PARTITIONS)
        return HTMLResponse(self._pages.group(page, cluster_line(found.cluster, self._now_ms()), options))

    def api_groups(self, _: Request) -> Response:
        return _json(msgspec.json.encode(list(judged(self._read()))))

    def api_group(self, request: Request) -> Response:
        return _json(verdict_json(self._find(request, API).verdict))

    def saved_groups(self, _: Request) -> Response:
        """All groups, one by one: Starlette asks for the pieces in a thread, and a scrape need not wait for them."""
        found = ((cluster, self._inputs(cluster.cluster)) for cluster in self._read().clusters if cluster.ready)
        evaluated = [
            Evaluated(inputs=inputs, groups=tuple(summary.group for summary in cluster.groups))
            for cluster, inputs in found
            if inputs is not None
        ]
        return StreamingResponse(all_lines(evaluated), media_type=_LINES_OF_JSON)

    def saved_group(self, request: Request) -> Response:
        address = self._address(request, SAVED)
        self._ready(address)
        found = self._judged(address, self._group_inputs)
        if found is None:
            raise HTTPException(404, self._not_found(address))
        return Response(group_lines(found), media_type=_LINES_OF_JSON)

    def _group_inputs(self, cluster: str, group: str) -> GroupInputs | None:
        inputs = self._inputs(cluster)
        return inputs.inputs(group) if inputs is not None else None

    def refusal(self, request: Request, error: Exception) -> Response:
        """An error as its reader can read it: JSON under /api/, else a page."""
        status, sentence = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
        headers = error.headers if isinstance(error, HTTPException) else None
        if request.url.path.startswith("/api/"):
            return _json(msgspec.json.encode({"error": sentence}), status, headers)
        return HTMLResponse(self._pages.message(f"{status}", sentence), status, headers)

    def _find(self, request: Request, prefix: str) -> _Found:
        """The group that the address of a request names, or an HTTPException that says why there is none."""
        address = self._address(request, prefix)
        cluster = self._ready(address)
        verdict = self._judged(address, self._verdict)
        if verdict is not None:
            return _Found(cluster=cluster, verdict=verdict)
        raise HTTPException(404, self._not_found(address))

    def _address(self, request: Request, prefix: str) -> GroupAddress:
        address = group_address(request.scope["raw_path"].decode("ascii"), prefix)
        if address is None:
            raise HTTPException(404, "This address names no group: it must end in a cluster and a group.")
        return address

    def _ready(self, address: GroupAddress) -> ClusterSnapshot:
        clusters = {cluster.cluster: cluster for cluster in self._read().clusters}
        cluster = clusters.get(address.cluster)
        if cluster is None:
            raise HTTPException(404, f"No cluster named {visible(address.cluster)} is watched.")
        if not cluster.ready:
            raise HTTPException(503, f"The groups of {visible(address.cluster)} are not known yet. {told(cluster)}")
        return cluster

    def _judged(self, address: GroupAddress, judge: Callable[[str, str], Answer | None]) -> Answer | None:
        try:
            return judge(address.cluster, address.group)
        except NotJudgedError as error:
            sentence = f"Group {visible(address.group)} of cluster {visible(address.cluster)} cannot be judged"
            raise HTTPException(500, f"{sentence} ({visible(str(error))}). The other groups are.") from error

    def _not_found(self, address: GroupAddress) -> str:
        sentence = f"No group named {visible(address.group)} was found in cluster {visible(address.cluster)}."
        shard = self._read().shard
        return sentence if shard.is_all else f"{sentence} {share_told(shard)}"


def _accepts_gzip(request: Request) -> bool:
    """Whether the client asks for gzip (RFC 9110, 12.5.3); "q=0" says that it does not want it."""
    for offer in request.headers.get("accept-encoding", "").split(","):
        coding, _, weight = offer.replace(" ", "").partition(";q=")
        if coding.lower() in ("gzip", "*"):
            return not weight or weight.strip("0.") != ""
    return False


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ok\n")


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


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _system_ms() -> int:
    return time.time_ns() // 1_000_000
