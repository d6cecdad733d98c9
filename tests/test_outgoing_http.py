"""Requests trust whom they should, follow no redirection, and fail with a clause without the server's words."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request

import pytest

from monitor.deadline import Deadline, DeadlineError
from monitor.outgoing_http import CaFileError, failure, http_opener, trusting
from tests.web.http.certificates import Authority


class Redirecting(BaseHTTPRequestHandler):
    """Sends everyone from ``/`` to ``/other``, and notes who went there."""

    visited: list[str]

    def do_GET(self) -> None:
        self.visited.append(self.path)
        self.send_response(302)
        self.send_header("Location", "/other")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def redirecting() -> Iterator[tuple[str, list[str]]]:
    visited: list[str] = []
    handler = type("Handler", (Redirecting,), {"visited": visited})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", visited
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("limited", [False, True], ids=["without a deadline", "with one"])
def test_no_redirection_is_followed(redirecting: tuple[str, list[str]], limited: bool):
    url, visited = redirecting
    with Deadline(30) as deadline:
        opener = http_opener(trusting(None), deadline if limited else None)
        with pytest.raises(HTTPError) as caught:
            opener.open(Request(url), timeout=30)
        caught.value.close()
    assert (caught.value.code, visited) == (302, ["/"])


def test_the_reason_against_a_ca_file_is_a_clause(tmp_path: Path):
    (tmp_path / "text").write_text("no certificate")
    with pytest.raises(CaFileError, match=r"^it has no certificate in PEM$"):
        trusting(tmp_path / "text")
    with pytest.raises(CaFileError, match=r"^No such file or directory$"):
        trusting(tmp_path / "missing")


def test_an_untrusted_certificate_is_named(tmp_path: Path):
    own, other = Authority(tmp_path, "own"), Authority(tmp_path, "other")
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key = other.sign("server")
    server_tls.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as server:
        server.handle_error = lambda *_: None
        server.socket = server_tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with pytest.raises(URLError) as caught:
            http_opener(trusting(own.file)).open(f"https://127.0.0.1:{server.server_address[1]}/", timeout=30)
        server.shutdown()
        thread.join()
    assert failure(caught.value).startswith("has a certificate that is not trusted (")


@pytest.mark.parametrize(
    ("error", "clause"),
    [
        (URLError(ConnectionRefusedError(111, "Connection refused")), "cannot be reached (Connection refused)"),
        (URLError(socket.gaierror(-2, "Name or service not known")), "cannot be reached (Name or service not known)"),
        (URLError(TimeoutError("timed out")), "cannot be reached (timed out)"),
        (URLError("no host given"), "cannot be reached (no host given)"),
        (TimeoutError("timed out"), "sent no complete response (timed out)"),
        (DeadlineError("the response was not complete within 1 s"), None),
        (http.client.BadStatusLine("\x1b[31msecret"), "sent no complete response (BadStatusLine)"),
        (http.client.RemoteDisconnected("closed"), "sent no complete response (RemoteDisconnected)"),
        (ConnectionResetError(104, "Connection reset by peer"), "sent no complete response (Connection reset by peer)"),
    ],
    ids=lambda value: type(getattr(value, "reason", value)).__name__,
)
def test_a_failure_is_a_clause_about_the_server(error: OSError | http.client.HTTPException, clause: str | None):
    assert failure(error) == (clause or "is too slow: the response was not complete within 1 s")
