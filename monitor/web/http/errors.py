"""Error responses with their reason. Some are made before the app gets the request, and cost next to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Scope, Send

from monitor.model import Value

PROBLEM_JSON: Final = "application/problem+json"


class ApiError(Value):
    """A failed request, as a problem of RFC 9457 (its type is left out: about:blank)."""

    title: str
    """The status in words."""
    status: int
    """The status of the response."""
    detail: str
    """Why the request failed, in a sentence."""
    error: str
    """The same as detail."""
    not_ready: tuple[str, ...] = ()
    """Requested clusters that are not ready, with the status 503."""


def problem_response(
    status: int, sentence: str, headers: Mapping[str, str] | None = None, not_ready: tuple[str, ...] = ()
) -> Response:
    """The response of the API to a request that failed. ``error`` is what clients read before there was ``detail``."""
    found = ApiError(
        title=HTTPStatus(status).phrase, status=status, detail=sentence, error=sentence, not_ready=not_ready
    )
    return Response(msgspec.json.encode(found), status, headers, media_type=PROBLEM_JSON)


async def refuse(
    scope: Scope, send: Send, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with a status and a sentence: a problem under /api/, as the app does it, else plain text."""
    is_api = scope["path"].startswith("/api/")
    answer = (
        problem_response(status, sentence, headers) if is_api else PlainTextResponse(f"{sentence}\n", status, headers)
    )
    await answer(scope, _nothing, send)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
