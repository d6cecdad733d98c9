"""The newest catalog of each cluster, on the driver, for the executors' Python workers to fetch.

A broadcast variable belongs to a plan, and the plan of a streaming query is fixed when it starts. So a worker receives
the key of the catalog (:mod:`streaming_jobs.buckets.batch_context`), and fetches each catalog once.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from typing import Final

MAX_KEY_BYTES: Final = 200

FETCH_LIMIT_S: Final = 60.0
"""How long one catalog may take; a connection that takes longer is cut off, whatever the cause."""

HANDSHAKE_LIMIT_S: Final = 20.0
"""The time limit of the authentication of a connection."""

MAX_CONNECTIONS: Final = 32
"""How many connections are answered at the same time; further ones wait until one of these has ended."""

RETRY_DELAY_S: Final = 0.05

MAX_CATALOGS_PER_CLUSTER: Final = 2
"""How many catalogs of a cluster stay: a task of the micro-batch before may be tried again."""


@dataclass(frozen=True, slots=True)
class CatalogAddress:
    """Where a catalog server is. Both sides prove that they know the secret before any data is sent."""

    host: str
    port: int
    secret: bytes = field(repr=False)

    def fetch(self, key: str) -> bytes:
        """The catalog of this key.

        Raises:
            KeyError: the server has no such catalog (any more).
            OSError: the server cannot be reached.
        """
        with Client((self.host, self.port)) as connection, _close_after(connection, FETCH_LIMIT_S):
            answer_challenge(connection, self.secret)
            deliver_challenge(connection, self.secret)
            connection.send_bytes(key.encode())
            found = connection.recv_bytes()
        if not found:
            raise KeyError(key)
        return found


class CatalogServer:
    """Serves catalogs on a free port until it is closed."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._secret = secrets.token_bytes(32)
        self._catalogs: dict[str, dict[str, bytes]] = {}
        self._lock = threading.Lock()
        self._stopping = False
        self._free = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._listener = Listener((host, 0), backlog=64)
        threading.Thread(target=self._serve, name="groupwatch-catalogs", daemon=True).start()

    @property
    def address(self) -> CatalogAddress:
        """Where it is."""
        return CatalogAddress(self._host, int(self._listener.address[1]), self._secret)

    def put(self, cluster: str, key: str, catalog: bytes) -> None:
        """Offer a catalog; the oldest of the cluster goes."""
        with self._lock:
            own = self._catalogs.setdefault(cluster, {})
            own[key] = catalog
            while len(own) > MAX_CATALOGS_PER_CLUSTER:
                del own[next(iter(own))]

    def close(self) -> None:
        """Serve no longer."""
        self._stopping = True
        with contextlib.suppress(OSError, EOFError):
            Client((self._host, self.address.port)).close()  # wakes the thread that accepts
        self._listener.close()

    def _serve(self) -> None:
        while not self._stopping:
            self._free.acquire()
            try:
                connection = self._listener.accept()
            except OSError:  # one that went away
                self._free.release()
                time.sleep(RETRY_DELAY_S)
                continue
            threading.Thread(target=self._handle_connection, args=(connection,), daemon=True).start()

    def _handle_connection(self, connection: Connection) -> None:
        """In a thread of its own, so that a stranger who connects and sends nothing keeps no worker waiting."""
        try:
            with connection, contextlib.suppress(OSError, EOFError, AuthenticationError):
                self._send_catalog(connection)
        finally:
            self._free.release()

    def _send_catalog(self, connection: Connection) -> None:
        with _close_after(connection, HANDSHAKE_LIMIT_S):
            deliver_challenge(connection, self._secret)
            answer_challenge(connection, self._secret)
        with _close_after(connection, FETCH_LIMIT_S):
            key = connection.recv_bytes(MAX_KEY_BYTES).decode("utf-8", "replace")
            with self._lock:
                found = next((own[key] for own in self._catalogs.values() if key in own), b"")
            connection.send_bytes(found)


@contextlib.contextmanager
def _close_after(connection: Connection, seconds: float) -> Iterator[None]:
    """End the connection if the block takes longer; a thread that waits for it then gets an error."""
    with socket.socket(fileno=os.dup(connection.fileno())) as end:
        timer = threading.Timer(seconds, end.shutdown, (socket.SHUT_RDWR,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
