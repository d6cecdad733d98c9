"""uvicorn's server with what it lacks: time limits of requests and clients, limits of connections, renewed TLS.

uvicorn waits for ever for a request's headers and for a client that does not read. It counts all requests alike, and
reads certificates once. asyncio reports to its protocol what happens to a connection; here it is noted down
(``Connection``) before uvicorn gets it. Once a second ``Connections.sweep`` ends what has waited too long.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Final, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from monitor.web.http.access_files import WatchedAccess
from monitor.web.http.connections import Awaits, Connection, Connections, client_of
from monitor.web.http.limits import Limits

_SWEEP_S: Final = 1.0
_BACKLOG: Final = 1024

_NO_REQUEST: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"
    b"Content-Length: 25\r\nConnection: close\r\n\r\nThis is no HTTP request.\n"
)


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    """Whether the log of asyncio says more than that a client has gone, for which it has a warning at each write."""
    return record.msg not in ("socket.send() raised exception.", "SSL connection is closed")


logging.getLogger("asyncio").addFilter(_is_worth_a_line)

_requests_log: Final = logging.getLogger("monitor.web.requests")
_requests_log.setLevel(logging.ERROR)  # what strangers send is not worth a line; what we do wrong is


class GuardedProtocol(H11Protocol):
    """Serves one connection, and notes down what it waits for."""

    def __init__(self, config: uvicorn.Config, state: ServerState, connection: Connection, forget: Forget) -> None:
        shared = {"connection": connection, "client": connection.client}
        super().__init__(config, state, shared, asyncio.get_running_loop())
        self.logger = _requests_log
        self._connection = connection
        self._forget = forget

    def connection_lost(self, exc: Exception | None) -> None:
        """Hear of the end."""
        self._forget(self._connection)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hear what the client sends."""
        if self._connection.awaits is Awaits.NEXT_REQUEST:
            self._connection.turns_to(Awaits.REQUEST, self.loop.time())
        super().data_received(data)
        self._note_answer()

    def on_response_complete(self) -> None:
        """Hear that an answer has been handed to the transport."""
        self._connection.turns_to(Awaits.NEXT_REQUEST, self.loop.time())
        super().on_response_complete()
        self._note_answer()  # the next request may have been here already

    def pause_writing(self) -> None:
        """Hear that the client does not read as fast as is sent."""
        self._connection.full(self.loop.time())
        super().pause_writing()

    def resume_writing(self) -> None:
        """Hear that it has read."""
        self._connection.taken()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP. uvicorn's own way fails within another answer and after HEAD."""
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # what the app answers to the first half goes nowhere
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_NO_REQUEST)
        self.transport.close()

    def _note_answer(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._connection.turns_to(Awaits.ANSWER, self.loop.time())


Forget = Callable[[Connection], None]


class GuardedServer(uvicorn.Server):
    """Serves on one socket, with TLS where the newest access has it."""

    def __init__(self, config: uvicorn.Config, access: WatchedAccess, limits: Limits) -> None:
        super().__init__(config)
        self._access = access
        self.limits: Final = limits
        self._connections = Connections(limits)
        self._own_tasks: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(self._arrival, sock=listening, backlog=_BACKLOG) for listening in sockets or []
        ]
        self.begin(self._sweep())
        self.begin(self._refresh())
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to accept, let answers be ended for a while, then end all."""
        for task in self._own_tasks:
            task.cancel()
        self._connections.end_idle()
        await super().shutdown(sockets)
        self._connections.end_all()

    def admit(self, transport: asyncio.Transport) -> Connection | None:
        """Note down a new connection; None: it has been ended."""
        client = client_of(transport.get_extra_info("peername"))
        connection = Connection(client, transport, asyncio.get_running_loop().time())
        if self._connections.admit(connection):
            return connection
        transport.abort()
        return None

    def protocol(self, connection: Connection) -> GuardedProtocol:
        """What serves this connection."""
        return GuardedProtocol(self.config, self.server_state, connection, self._connections.forget)

    @property
    def tls(self) -> ssl.SSLContext | None:
        """The newest, for new connections."""
        return self._access.current.tls

    def forget(self, connection: Connection) -> None:
        """It ended before it was served."""
        self._connections.forget(connection)

    def begin(self, work: Coroutine[object, object, None]) -> None:
        """Let it run beside the server, until the server ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._own_tasks.add(task)
        task.add_done_callback(self._own_tasks.discard)

    def _arrival(self) -> asyncio.Protocol:
        return _Arrival(self)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            self._connections.sweep(asyncio.get_running_loop().time())

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            await asyncio.to_thread(self._access.refresh)  # a disk that hangs holds up no connection


class _Arrival(asyncio.Protocol):
    """A connection until it is served: it is counted, and TLS's greetings are exchanged."""

    def __init__(self, server: GuardedServer) -> None:
        self._server = server
        self._connection: Connection | None = None
        self._early = b""
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        plain = cast("asyncio.Transport", transport)
        self._connection = self._server.admit(plain)
        if self._connection is None:
            return
        context = self._server.tls
        if context is None:
            self._hand_over(plain, self._connection)
        else:
            plain.pause_reading()
            self._server.begin(self._greet(plain, context, self._connection))

    def data_received(self, data: bytes) -> None:
        """What came in one go with the end of the greetings."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        if self._connection is not None:
            self._server.forget(self._connection)

    async def _greet(self, plain: asyncio.Transport, context: ssl.SSLContext, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        limits = self._server.limits
        try:
            secured = await loop.start_tls(
                plain,
                self,
                context,
                server_side=True,
                ssl_handshake_timeout=limits.request_s,
                ssl_shutdown_timeout=limits.linger_s,
            )
        except OSError:  # no TLS, no certificate that counts, or nothing at all: TLS reports it to the client
            plain.abort()
            self._server.forget(connection)
            return
        if secured is None or self._is_lost:
            self._server.forget(connection)
            return
        connection.secured(secured)
        self._hand_over(secured, connection)

    def _hand_over(self, transport: asyncio.Transport, connection: Connection) -> None:
        protocol = self._server.protocol(connection)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._early:
            protocol.data_received(self._early)
