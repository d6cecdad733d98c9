"""Error responses with their reason. They are made before the app gets the request, and cost next to nothing."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import PlainTextResponse, Response
from starlette.types import Message, Scope, Send


async def refuse(
    scope: Scope, send: Send, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> None:
    """Answer with a status and a sentence: JSON under /api/, as the app does it, else plain text."""
    answer: Response
    if scope["path"].startswith("/api/"):
        body = msgspec.json.encode({"error": sentence})
        answer = Response(body, status, headers, media_type="application/json")
    else:
        answer = PlainTextResponse(f"{sentence}\n", status, headers)
    await answer(scope, _nothing, send)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
