"""A server that sends a byte from time to time holds nobody for longer than the limit of the whole exchange."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest
import requests

from monitor.collectors.kafka_client.oauth import oauth_login
from monitor.collectors.kafka_client.tokens import TokenError, TokenProvider
from monitor.config import WebhookSettings
from monitor.deadline import Deadline, DeadlineError, http_handlers
from monitor.push import webhook
from monitor.push.cloud_event import finding_event
from monitor.push.collector_session import UnusableResponseError, collector_session
from monitor.push.webhook import Result, Webhook
from tests.protocol.test_findings_topic import RECORD
from tests.web.http.certificates import Authority


class Drip(NamedTuple):
    """What a server sends at once, and then byte by byte: of 1,000 bytes, for 20 s."""

    head: bytes
    rest: bytes


OK = b"HTTP/1.1 200 OK\r\n"
HEADERS = Drip(OK + b"X: ", b"a" * 1_000 + b"\r\n\r\n")
BODY = Drip(OK + b"Content-Length: 1000\r\n\r\n", b" " * 1_000)
HANDSHAKE = Drip(b"\x16\x03\x03\x40\x00", b"\x00" * 1_000)
"""The beginning of a record of TLS, which has 16,384 bytes."""

EVERY_S = 0.02
PARTS = pytest.mark.parametrize("drip", [HEADERS, BODY], ids=["headers", "body"])
TOO_SLOW = (UnusableResponseError, requests.Timeout)
"""Of a collector: the limit of a request is also that of one read, which a busy machine can reach first."""
IN_TIME = "the response was not complete within 1 s"


@contextmanager
def dripping(drip: Drip, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """The port of a server that responds so, until its client has gone or the block ends."""
    ends = threading.Event()

    def respond(plain: socket.socket) -> None:
        with suppress(OSError), plain if tls is None else tls.wrap_socket(plain, server_side=True) as client:
            client.recv(65_536)
            client.sendall(drip.head)
            for byte in drip.rest:
                if ends.wait(EVERY_S):
                    return
                client.sendall(bytes([byte]))

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=respond, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=serve, daemon=True)
        accepting.start()
        try:
            yield server.getsockname()[1]
        finally:
            ends.set()
            server.shutdown(socket.SHUT_RDWR)
    accepting.join()


def test_an_event_whose_receiver_drips_is_tried_again(monkeypatch: pytest.MonkeyPatch):
    """What was read by then has the status 200, which alone would be a delivery."""
    monkeypatch.setattr(webhook, "LIMIT_S", 1.0)
    with dripping(HEADERS) as port:
        attempt = Webhook(WebhookSettings(url=f"http://127.0.0.1:{port}/")).send(finding_event(RECORD))
    assert (attempt.result, attempt.problem) == (Result.FAILED, IN_TIME)


@PARTS
def test_a_token_endpoint_that_drips_is_one_sentence(drip: Drip):
    slow = {f"sasl.login.{key}.timeout.ms": "1000" for key in ("connect", "read")}
    named = {f"sasl.oauthbearer.client.credentials.client.{key}": "x" for key in ("id", "secret")}
    with dripping(drip) as port:
        url = f"http://127.0.0.1:{port}/token"
        login = oauth_login("client", slow | named | {"sasl.oauthbearer.token.endpoint.url": url})
        with pytest.raises(TokenError) as caught:
            TokenProvider(lambda: login).token()
    assert caught.value.args == (f"the token endpoint {url} is too slow: the response was not complete within 2 s.",)


@PARTS
def test_a_collector_that_drips_is_a_failure(drip: Drip):
    with dripping(drip) as port, pytest.raises(TOO_SLOW):
        collector_session().post(f"http://127.0.0.1:{port}/v1/metrics", data=b"x", timeout=1.0)


@pytest.mark.parametrize("drip", [HANDSHAKE, HEADERS], ids=["handshake", "headers"])
def test_the_limit_ends_connections_of_tls_too(tmp_path: Path, drip: Drip):
    authority = Authority(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*authority.sign("server"))
    trusting = ssl.create_default_context(cafile=authority.file)
    with dripping(drip, None if drip is HANDSHAKE else server) as port:
        url = f"https://127.0.0.1:{port}/"
        with pytest.raises(DeadlineError), Deadline(1.0) as deadline:
            urllib.request.build_opener(*http_handlers(deadline, trusting)).open(url, timeout=10)
        with pytest.raises(TOO_SLOW):
            collector_session().post(url, data=b"x", timeout=1.0, verify=str(authority.file))


def test_what_is_over_in_time_is_as_without_a_limit():
    drip = Drip(OK + b"Content-Length: 2\r\n\r\n", b"{}")
    with dripping(drip) as port, Deadline(60.0) as deadline:
        opener = urllib.request.build_opener(*http_handlers(deadline, ssl.create_default_context()))
        with opener.open(f"http://127.0.0.1:{port}/", timeout=10) as response:
            assert json.load(response) == {}


def test_after_the_limit_no_further_connection_belongs_to_the_exchange():
    ours, theirs = socket.socketpair()

    def exchange() -> None:
        with Deadline(0.2) as deadline:
            deadline.watch(ours)
            assert theirs.recv(1) == b"", "the end of the connection"
            with pytest.raises(DeadlineError):
                deadline.watch(theirs)

    with ours, theirs, pytest.raises(DeadlineError):
        exchange()
