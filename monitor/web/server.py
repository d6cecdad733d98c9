"""The HTTP server, in a thread of its own."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from monitor.lifecycle import Lifecycle
from monitor.web.app import create_app
from monitor.web.http.access import RequiresCredentials
from monitor.web.http.access_errors import AccessError
from monitor.web.http.access_files import AccessFiles, WatchedAccess
from monitor.web.http.credentials import Checker
from monitor.web.http.external_path import UnderPath
from monitor.web.http.headers import SecurityHeaders
from monitor.web.http.limits import FewAtOnce, InPieces, Limits, ReadOnly
from monitor.web.http.protocol import GuardedServer
from monitor.web.views.snapshot_source import Source

log = logging.getLogger(__name__)

_GRACE_S: Final = 2
"""How long a stop waits for answers that are being sent."""


class ListenError(Exception):
    """The address cannot be listened on; the text says which and why."""


class PortTaken(ListenError):  # noqa: N818 -- says what happened; a caller reads it as a sentence
    """Another program listens on the port."""


class AccessUnusable(ListenError):  # noqa: N818 -- as above
    """What guards the address cannot be used."""


class HttpServer(Lifecycle):
    """Serves the newest snapshot from ``start`` until ``stop``. Port 0 takes a free one, which ``url`` then names.

    Or another app, if it is given one in place of a source of snapshots. ``access`` says who may read, ``limits`` how
    much a client may ask for. ``path`` is a prefix under which it is served, too. ``at_stop`` is called once nothing is
    served anymore.
    """

    def __init__(  # noqa: PLR0913 -- all but the first have a default
        self,
        source: Source | Starlette,
        host: str = "127.0.0.1",
        port: int = 9464,
        access: AccessFiles = AccessFiles(),  # noqa: B008 -- immutable
        limits: Limits = Limits(),  # noqa: B008 -- immutable
        *,
        path: str = "",
        at_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._source = source
        self._path = path
        self._at_stop = at_stop
        self._host = host
        self._port = port
        self._files = access
        self._limits = limits
        self._scheme = "http"
        self._checker: Checker | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._socket: socket.socket | None = None

    @property
    def url(self) -> str:
        """Where it is served, without a slash at the end."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{self._scheme}://{host}:{self._port}"

    def start(self) -> None:
        """Take the port, then serve. A connection made after this returns is answered.

        Raises:
            PortTaken: another program listens there.
            AccessUnusable: a file that guards it cannot be used.
            ListenError: this machine does not have the address, or the port needs rights that the process lacks.
        """
        access = _watched(self._files)
        self._socket = _listen(self._host, self._port)
        self._port = self._socket.getsockname()[1]
        self._scheme = "http" if access.current.tls is None else "https"
        for warning in access.current.of_strangers(self._host):
            log.warning(warning)
        self._checker = Checker()
        self._server = GuardedServer(
            _config(self._guarded(access, self._checker), self._limits), access=access, limits=self._limits
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="groupwatch-http", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and give the port back. Nothing happens if it does not serve."""
        if self._server is None or self._thread is None or self._socket is None or self._checker is None:
            return
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self._checker.close()
        self._server = self._thread = self._socket = self._checker = None
        self._at_stop()

    def _guarded(self, access: WatchedAccess, checker: Checker) -> ASGIApp:
        """The app behind what guards it; from the inside to the outside."""
        app: ASGIApp = self._source if isinstance(self._source, Starlette) else create_app(self._source)
        app = FewAtOnce(app, self._limits)
        app = RequiresCredentials(app, lambda: access.current, checker)
        app = ReadOnly(app, self._limits)
        app = SecurityHeaders(app, lambda: access.current.hsts)
        return InPieces(UnderPath(app, self._path) if self._path else app)


def _watched(files: AccessFiles) -> WatchedAccess:
    try:
        return WatchedAccess(files)
    except AccessError as error:
        raise AccessUnusable(str(error)) from None


def _config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # a client's claim to be another one is not believed
        lifespan="off",
        h11_max_incomplete_event_size=limits.head_bytes,
        timeout_keep_alive=int(limits.idle_s) + 1,  # we look ourselves; uvicorn's would not end one that does not read
        timeout_graceful_shutdown=_GRACE_S,
    )


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket; connections wait in its queue until the server accepts them."""
    try:
        listening = _bound(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} on {host} is in use; choose another: http.port in the configuration, --port of the demo."
            ) from error
        raise ListenError(f"Cannot listen on port {port} of {host}: {error.strerror or error}.") from error
    # Connections inherit it. asyncio sets it for sockets that name their protocol, which this one does not; without it
    # the second of two small pieces waits for the client's acknowledgement of the first: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except UnicodeError:  # a name that no name server could know: a part of it is empty, or too long
        raise OSError("it is not a host name") from None
    return socket.create_server(address[:2], family=family)


def require_own(host: str) -> None:
    """Return if this machine can listen on the address.

    Raises:
        ListenError: it is no address, or none of this machine.
    """
    try:
        _bound(host, 0).close()
    except OSError as error:
        raise ListenError(f"Cannot listen on {host}: {error.strerror or error}.") from error
