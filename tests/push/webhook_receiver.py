"""A receiver of webhooks: it keeps what it was sent, and answers with the statuses that it is given, then with 204."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

PATIENCE_S = 30.0


class Request(NamedTuple):
    """What came, and the status that it was answered with; names of headers are in lower case."""

    headers: Mapping[str, str]
    body: bytes
    status: int


@dataclass
class Receiver:
    """For all threads. ``statuses`` are for the next requests."""

    url: str
    statuses: list[int] = field(default_factory=list)
    retry_after: str = "20"
    requests: list[Request] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, headers: Mapping[str, str], body: bytes) -> int:
        """The status for this request."""
        with self.changed:
            status = self.statuses.pop(0) if self.statuses else 204
            self.requests.append(Request({name.lower(): value for name, value in headers.items()}, body, status))
            self.changed.notify_all()
            return status

    def accepted(self) -> list[bytes]:
        """The bodies of the requests that were accepted."""
        return [request.body for request in self.requests if request.status < 300]

    def wait_for(self, requests: int) -> None:
        """Return when there were so many requests."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= requests, PATIENCE_S)


@contextmanager
def webhook_receiver(port: int = 0) -> Iterator[Receiver]:
    """A receiver on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = receiver.take(dict(self.headers), self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            for name, value in (
                ("Content-Length", "0"),
                ("Retry-After", receiver.retry_after),
                ("Location", "/elsewhere"),
            ):
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
