"""What a request may be and how much is done at once, so that no client keeps a scrape waiting.

Metrics and probes cost nothing and are never queued. Everything else is computed for each request. Of these, a few are
served at a time, some wait for a moment, and more are refused with ``Retry-After``.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.model import Value
from monitor.web.http.errors import refuse

FREE_PATHS: Final = frozenset({"/metrics", "/healthz", "/readyz", "/style.css", "/page.js", "/icon.svg"})
"""What was prepared before: it is sent at once, whatever other requests there are."""

_CLOSE: Final = {"Connection": "close"}


class Limits(Value):
    """Limits of connections and requests: seconds, bytes, counts.

    A connection is ended when its request's headers (or TLS's greetings) are not complete after ``request_s``, when it
    was idle for ``idle_s``, when its client has taken none of an answer for ``stall_s`` or not all for ``answer_s``,
    and ``linger_s`` after it should have ended. ``connections`` are kept in all, ``connections_of_a_client`` of one
    address; for one more, the one goes that has waited longest for its client. Answers that wait to be read may hold
    ``unread_bytes``. An address and all headers have ``head_bytes`` together. An address may be long, as a group's name
    may have 32,767 bytes, each percent-encoded in three.
    """

    request_s: float = 10.0
    idle_s: float = 65.0
    stall_s: float = 20.0
    answer_s: float = 300.0
    linger_s: float = 20.0
    connections: int = 400
    connections_of_a_client: int = 100
    head_bytes: int = 131_072
    target_bytes: int = 102_400
    unread_bytes: int = 256 * 1024 * 1024
    costly: int = 4
    costly_waiting: int = 12
    costly_wait_s: float = 5.0


class ReadOnly:
    """Lets through what asks and brings nothing: GET and HEAD, without a body, of an address of a sane length.

    The protocol ends a head while it comes, but looks only at what is incomplete: one that ends within the piece that
    takes it over its limit (asyncio reads 256 KiB at once) comes through. So the whole is measured here.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._longest = limits.target_bytes
        self._most = limits.head_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] not in ("GET", "HEAD"):
            await refuse(scope, send, 405, "Only GET and HEAD are served.", {"Allow": "GET, HEAD", **_CLOSE})
        elif _target_bytes(scope) > self._longest:
            await refuse(scope, send, 414, "The address is too long.", _CLOSE)
        elif _head_bytes(scope) > self._most:
            await refuse(scope, send, 400, "The headers are too long.", _CLOSE)
        elif any(map(_tells_of_a_body, scope["headers"])):
            await refuse(scope, send, 413, "A request here has no body.", _CLOSE)
        else:
            await self._app(scope, receive, send)


class FewAtOnce:
    """Bounds how many of the requests that cost something are computed at once."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._places = asyncio.Semaphore(limits.costly)
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["path"] in FREE_PATHS:
            await self._app(scope, receive, send)
        elif await self._place():
            place = _Place(self._places, send)
            try:
                await self._app(scope, receive, place.send)
            finally:
                place.leave()
        else:
            await refuse(scope, send, 503, "Too many requests at once; try again in a moment.", {"Retry-After": "2"})

    async def _place(self) -> bool:
        if self._waiting >= self._limits.costly_waiting:
            return False
        self._waiting += 1
        try:
            await asyncio.wait_for(self._places.acquire(), self._limits.costly_wait_s)
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1
        return True


class _Place:
    """A place among those who compute. It is left while a piece is sent: that takes as long as its reader likes."""

    def __init__(self, places: asyncio.Semaphore, send: Send) -> None:
        self._places = places
        self._send = send
        self._is_held = True

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.leave()
        await self._send(message)
        if message.get("more_body", False):
            await self._places.acquire()  # the next piece has to be computed
            self._is_held = True

    def leave(self) -> None:
        if self._is_held:
            self._is_held = False
            self._places.release()


class Holds(Protocol):
    """What an answer is held for."""

    unsent_bytes: int


class InPieces:
    """Hands large bodies to the transport piece by piece, as they are read: it would copy what it cannot send."""

    PIECE: Final = 131_072
    """Bytes of a piece: twice of what a transport holds before it asks to wait."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        held: Holds | None = scope["state"].get("connection")

        async def send_pieces(message: Message) -> None:
            body = message.get("body", b"")
            if len(body) <= self.PIECE or scope["method"] == "HEAD":
                await send(message)
                return
            more = message.get("more_body", False)
            for start in range(0, len(body), self.PIECE):
                end = start + self.PIECE
                if held is not None:
                    held.unsent_bytes = len(body) - start
                last = end >= len(body)
                await send({**message, "body": body[start:end], "more_body": more or not last})
            if held is not None:
                held.unsent_bytes = 0

        await self._app(scope, receive, send_pieces)


def _target_bytes(scope: Scope) -> int:
    return len(scope["raw_path"]) + len(scope["query_string"])


def _head_bytes(scope: Scope) -> int:
    """The size of the address and of all headers' lines, as usually written: a colon, a space, a line's end."""
    return _target_bytes(scope) + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _tells_of_a_body(header: tuple[bytes, bytes]) -> bool:
    name, value = header
    return name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0") != b"")
