"""Headers that keep a browser from doing anything with a page but showing it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class SecurityHeaders:
    """Adds SECURITY_HEADERS to every answer, and forbids to store those that say nothing of it themselves.

    An answer that needs another policy, such as a file that has its style in it, brings its own.
    """

    def __init__(self, app: ASGIApp, hsts: Callable[[], str | None] = lambda: None) -> None:
        """``hsts`` gives the header Strict-Transport-Security of answers over TLS, None if there is none."""
        self._app = app
        self._hsts = hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
                if hsts := self._hsts():
                    headers["Strict-Transport-Security"] = hsts
            await send(message)

        await self._app(scope, receive, send_with_headers)
