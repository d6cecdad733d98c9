"""Serves only clients with credentials, where credentials are required; probes are open, and show little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.web.http.access_files import Access
from monitor.web.http.credentials import Checker, Verdict
from monitor.web.http.errors import refuse

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz"})
"""For probes of Kubernetes and of load balancers, which hold no credentials."""


class RequiresCredentials:
    """Answers 401 to a client without valid credentials, and 429 to one that was wrong too often."""

    def __init__(self, app: ASGIApp, access: Callable[[], Access], checker: Checker) -> None:
        """``access`` gives the newest."""
        self._app = app
        self._access = access
        self._checker = checker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        credentials = self._access().credentials
        if not credentials.required:
            await self._app(scope, receive, send)
            return
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        if not shown and scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, _Brief(send).send)
            return
        header = shown[0].decode("latin-1") if len(shown) == 1 else None
        match await self._checker.check(header, credentials, scope["state"].get("client", "")):
            case Verdict.PASSES:
                await self._app(scope, receive, send)
            case Verdict.LATER:
                await refuse(scope, send, 429, "Too many wrong credentials; try again later.", {"Retry-After": "10"})
            case Verdict.FAILS:
                challenges = {"WWW-Authenticate": ", ".join(credentials.schemes)}
                await refuse(scope, send, 401, "Credentials are required.", challenges)


class _Brief:
    """Sends an answer's status with a word in place of its text, which names clusters and what is wrong with them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._text = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._text = b"ok\n" if message["status"] == 200 else b"not ready\n"
            kept = [(name, value) for name, value in message["headers"] if name.lower() != b"content-length"]
            length = (b"content-length", b"%d" % len(self._text))
            await self._send({**message, "headers": [*kept, length]})
        elif not message.get("more_body", False):
            await self._send({**message, "body": self._text})
