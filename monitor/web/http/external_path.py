"""The app under a path prefix, for a proxy that serves it beside other programs.

A proxy may remove the prefix before it forwards a request, or not: both addresses are served. Probes and Prometheus go
past the proxy and use none. The links of a page get the prefix, since a browser has only the address at the proxy.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_NEXT: Final = re.compile(r"<(?=/)")
"""Where the header Link of a list has a path."""

_LINK: Final = re.compile(rb'(<[a-z]+\b[^<>]* (?:href|src|action)=")(?=/)')
"""Where a tag of a page links to a path. Names from clusters have no < and >: templates and charts escape them."""


class UnderPath:
    """Serves an app under a prefix such as ``/groupwatch``, and without it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        page = _Page(send, self._prefix.encode())
        await self._app(without_prefix(scope, self._prefix), receive, page.send)


def without_prefix(scope: Scope, prefix: str) -> Scope:
    """The request with the prefix taken from its path, if it has it.

    >>> without_prefix({"path": "/a/groups", "raw_path": b"/a/groups"}, "/a")
    {'path': '/groups', 'raw_path': b'/groups'}
    >>> without_prefix({"path": "/ab", "raw_path": b"/ab"}, "/a")
    {'path': '/ab', 'raw_path': b'/ab'}
    """
    raw, sent = scope["raw_path"], prefix.encode()
    if raw != sent and not raw.startswith(sent + b"/"):
        return scope
    return {**scope, "path": scope["path"].removeprefix(prefix) or "/", "raw_path": raw.removeprefix(sent) or b"/"}


class _Page:
    """Sends a response, and an HTML page only when it is complete: with its links changed it has another length."""

    def __init__(self, send: Send, prefix: bytes) -> None:
        self._send = send
        self._prefix = prefix
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if "link" in headers:
                headers["link"] = _NEXT.sub(f"<{self._prefix.decode()}", headers["link"])
        if message["type"] == "http.response.start" and _is_html(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        body = _LINK.sub(rb"\1" + self._prefix, self._body)
        MutableHeaders(scope=start)["Content-Length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_html(start: Message) -> bool:
    return MutableHeaders(scope=start).get("content-type", "").startswith("text/html")
