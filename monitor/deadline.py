"""A limit for a whole exchange over connections, however slowly the other side sends.

The timeouts of Python's sockets are for one read each: a server that sends a byte from time to time holds a client for
as long as it likes.
"""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from ssl import SSLContext
from types import TracebackType
from typing import Any, Final, Self

Watch = Callable[[socket.socket], None]
"""Takes each new connection of an exchange."""


class DeadlineError(TimeoutError):
    """The exchange was not over in time; the text is a clause with the limit."""


class Deadline:
    """Ends the connections of one exchange after a time. For one ``with`` block, which is the exchange.

    Raises (at the end of the block):
        DeadlineError: it took longer, whatever came of it by then: what ended early may look whole.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s: Final = limit_s
        self._timer = threading.Timer(limit_s, self._end)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._watched: list[socket.socket] = []
        self._is_over = False

    def watch(self, connection: socket.socket) -> None:
        """Let this connection end at the deadline, also after TLS has taken it over.

        Raises:
            DeadlineError: it is over already.
        """
        with self._lock:
            if self._is_over:
                raise self._error()
            # TLS takes the connection out of this object; a duplicate remains.
            self._watched.append(connection.dup())

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for connection in self._watched:
                connection.close()
            self._watched.clear()
            if self._is_over:
                raise self._error() from error

    def _end(self) -> None:
        with self._lock:
            self._is_over = True
            for connection in self._watched:
                with suppress(OSError):  # the other side has ended it
                    connection.shutdown(socket.SHUT_RDWR)

    def _error(self) -> DeadlineError:
        return DeadlineError(f"the response was not complete within {self._limit_s:g} s")


def http_handlers(deadline: Deadline, context: SSLContext) -> tuple[urllib.request.BaseHandler, ...]:
    """What opens http and https for ``urllib.request.build_opener``, with connections that end at the deadline."""
    return (_HttpHandler(deadline.watch), _HttpsHandler(deadline.watch, context))


class _Watched(HTTPConnection):
    watch: Watch

    def connect(self) -> None:
        super().connect()
        self.watch(self.sock)


class _WatchedTls(HTTPSConnection, _Watched):
    """HTTPSConnection connects by the next class in this order, and then agrees on TLS."""


def _connection(kind: type[_Watched], watch: Watch, host: str, **options: Any) -> HTTPConnection:  # noqa: ANN401 -- as they are
    """As urllib creates one: HTTPSConnection takes no further argument."""
    connection = kind(host, **options)
    connection.watch = watch
    return connection


class _HttpHandler(urllib.request.HTTPHandler):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(partial(_connection, _Watched, self._watch), req)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, watch: Watch, context: SSLContext) -> None:
        super().__init__(context=context)
        self._watch, self._tls = watch, context

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(partial(_connection, _WatchedTls, self._watch), req, context=self._tls)
