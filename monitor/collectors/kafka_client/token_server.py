"""A token endpoint on loopback for the JVM of this machine: it gives the token of a cluster as it is at that moment.

Java's own reader of a token file (kafka-clients 3.9, in Spark) reads it once and never again, and Java's client keeps
the client secret that it was started with. This endpoint reads the file, or asks the cluster's endpoint by the secret
of that moment. It does so for who knows a secret that is new in every process.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
import threading
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from monitor.collectors.kafka_client.oauth import CurrentLogin, OAuthLogin
from monitor.collectors.kafka_client.tokens import ClientRefusedError, TokenError, new_token
from monitor.config import ConfigError

log = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 1 << 16
REQUEST_LIMIT_S: Final = 10


def over_loopback(login: OAuthLogin, current: CurrentLogin) -> OAuthLogin:
    """The login with which the JVM gets the tokens of another one; starts the endpoint at the first call.

    Args:
        login: where the tokens come from, as it is now.
        current: looks it up again, for each token.
    """
    server = _server()
    return OAuthLogin(
        place=login.place,
        endpoint=loopback_endpoint(),
        client_id=server.client_id(login, current),
        client_secret=server.secret,
        scope=login.scope,
        extensions=login.extensions,
    )


def loopback_endpoint() -> str:
    """The URL of the endpoint; starts it at the first call."""
    return f"http://127.0.0.1:{_server().server_port}/token"


class TokenServer(ThreadingHTTPServer):
    """Serves the tokens of some clusters."""

    daemon_threads = True

    def __init__(self) -> None:
        """Bind a free port of loopback; nothing is served yet."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = secrets.token_hex(32)
        self._logins: dict[str, CurrentLogin] = {}
        self._problems: dict[str, str] = {}

    def client_id(self, login: OAuthLogin, current: CurrentLogin) -> str:
        """The id by which the tokens of a login are fetched; the same one whatever its secret is, in any thread."""
        named = json.dumps([login.place, login.endpoint, login.client_id, login.scope])
        name = hashlib.sha256(named.encode()).hexdigest()
        self._logins[name] = current
        return name

    def name(self, authorization: str) -> str | None:
        """The id of a client; None: it is not one, or does not know the secret."""
        for name in list(self._logins):
            expected = base64.b64encode(f"{name}:{self.secret}".encode()).decode()
            if hmac.compare_digest(f"Basic {expected}".encode(), authorization.encode()):
                return name
        return None

    def token(self, name: str) -> str:
        """A token of a client. A problem is logged when it begins.

        Raises:
            ConfigError: the login cannot be read now.
            TokenError: there is no token.
        """
        try:
            token = new_token(self._logins[name]()).text
        except (ConfigError, TokenError) as error:
            if self._problems.get(name) != error.args[0]:
                log.warning("Spark gets no new token, and asks again: %s", error.args[0])
            self._problems[name] = error.args[0]
            raise
        self._problems.pop(name, None)
        return token

    def handle_error(self, request: object, client_address: object) -> None:
        """Log nothing: a client that sends nonsense to a port of loopback is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: TokenServer
    timeout = REQUEST_LIMIT_S

    def do_POST(self) -> None:
        """Give the token."""
        self.rfile.read(max(0, min(int(self.headers.get("Content-Length", "0")), MAX_BODY_BYTES)))
        name = self.server.name(self.headers.get("Authorization", ""))
        if name is None:
            self._respond(401, {"error": "invalid_client"})
            return
        try:
            self._respond(200, {"access_token": self.server.token(name), "token_type": "Bearer"})
        except ClientRefusedError:  # Java asks again only later then
            self._respond(401, {"error": "invalid_client"})
        except (ConfigError, TokenError):
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
