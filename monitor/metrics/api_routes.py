"""The API: what the page shows as JSON, and the saved snapshot that explain and what-if can be asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from monitor.metrics.addresses import API, SAVED
from monitor.metrics.found import GroupFinder, Source
from monitor.metrics.listing import judged
from monitor.metrics.publish import verdict_json
from monitor.metrics.snapshot_lines import Evaluated, all_lines, group_lines

_LINES_OF_JSON: Final = "application/x-ndjson"


def api_routes(source: Source) -> list[Route]:
    """Everything under ``/api/``."""
    handlers = _ApiHandlers(source)
    return [
        Route(API.rstrip("/"), handlers.groups),
        Route(f"{API}{{rest:any}}", handlers.group),
        Route(SAVED.rstrip("/"), handlers.saved_groups),
        Route(f"{SAVED}{{rest:any}}", handlers.saved_group),
    ]


class _ApiHandlers:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._find = GroupFinder(source)

    def groups(self, _: Request) -> Response:
        return json_response(msgspec.json.encode(list(judged(self._source.read()))))

    def group(self, request: Request) -> Response:
        return json_response(verdict_json(self._find.verdict(request, API).verdict))

    def saved_groups(self, _: Request) -> Response:
        """All groups, one by one: Starlette asks for the pieces in a thread, and a scrape need not wait for them."""
        ready = (cluster for cluster in self._source.read().clusters if cluster.ready)
        found = ((cluster, self._source.inputs(cluster.cluster)) for cluster in ready)
        evaluated = [
            Evaluated(inputs=inputs, groups=tuple(summary.group for summary in cluster.groups))
            for cluster, inputs in found
            if inputs is not None
        ]
        return StreamingResponse(all_lines(evaluated), media_type=_LINES_OF_JSON)

    def saved_group(self, request: Request) -> Response:
        return Response(group_lines(self._find.inputs(request, SAVED)), media_type=_LINES_OF_JSON)


def json_response(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Bytes of JSON as an answer."""
    return Response(body, status, headers, media_type="application/json")
