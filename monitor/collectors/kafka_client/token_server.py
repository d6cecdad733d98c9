"""A token endpoint on loopback for the JVM of this machine, which renews what is in a token file.

Java's own reader of such a file (kafka-clients 3.9, in Spark) reads it once and never again. This endpoint gives the
file's content as it is now, to who knows a secret that is new in every process.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from monitor.collectors.kafka_client.oauth import OAuthLogin
from monitor.collectors.kafka_client.tokens import TokenError, read_token

MAX_BODY_BYTES: Final = 1 << 16
REQUEST_LIMIT_S: Final = 10


def over_loopback(login: OAuthLogin) -> OAuthLogin:
    """The same login by client credentials, if its token is in a file; starts the endpoint at the first call."""
    path = login.token_file
    if path is None:
        return login
    server = _server()
    client_id = server.client_id(path)
    return OAuthLogin(
        place=login.place,
        endpoint=f"http://127.0.0.1:{server.server_port}/token",
        client_id=client_id,
        client_secret=server.secret,
        scope=login.scope,
        extensions=login.extensions,
    )


class TokenServer(ThreadingHTTPServer):
    """Serves the tokens of some files."""

    daemon_threads = True

    def __init__(self) -> None:
        """Bind a free port of loopback; nothing is served yet."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = secrets.token_hex(32)
        self._paths: dict[str, str] = {}

    def client_id(self, path: str) -> str:
        """The id by which the token of a file is fetched; always the same one for it, in any thread."""
        name = hashlib.sha256(path.encode()).hexdigest()
        self._paths[name] = path
        return name

    def path(self, authorization: str) -> str | None:
        """The file of a client; None: it is not one, or does not know the secret."""
        for name, path in list(self._paths.items()):
            expected = base64.b64encode(f"{name}:{self.secret}".encode()).decode()
            if hmac.compare_digest(f"Basic {expected}".encode(), authorization.encode()):
                return path
        return None

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: whoever sends nonsense to a port of loopback is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: TokenServer
    timeout = REQUEST_LIMIT_S

    def do_POST(self) -> None:
        """Give the token."""
        self.rfile.read(max(0, min(int(self.headers.get("Content-Length", "0")), MAX_BODY_BYTES)))
        path = self.server.path(self.headers.get("Authorization", ""))
        if path is None:
            self._respond(401, {"error": "invalid_client"})
            return
        try:
            self._respond(200, {"access_token": read_token(path), "token_type": "Bearer"})
        except TokenError:
            self._respond(503, {"error": "temporarily_unavailable"})

    def _respond(self, status: int, content: dict[str, str]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_arguments: object) -> None:
        """Nothing: not even requests are logged."""


_starting: Final = threading.Lock()


def _server() -> TokenServer:
    with _starting:  # a cache alone would let two threads start one each
        return _only_server()


@lru_cache(maxsize=1)
def _only_server() -> TokenServer:
    server = TokenServer()
    threading.Thread(target=server.serve_forever, name="token-server", daemon=True).start()
    return server
