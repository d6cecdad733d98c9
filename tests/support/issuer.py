"""An OAuth issuer on loopback: a token endpoint for client credentials, and the keys by which brokers check tokens."""

from __future__ import annotations

import base64
import json
import secrets
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import parse_qs

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.renewed_file import RenewedFile, replace_text

CLIENT_ID: Final = "watcher"
AUDIENCE: Final = "kafka"


class Issuer:
    """Issues signed tokens (RS256) within a ``with`` block; all of them are kept in ``issued``.

    With a certificate and its key, it has an https URL beside the http URL.
    """

    def __init__(self, lifetime_s: float = 3600, certificate: tuple[Path, Path] | None = None) -> None:
        self.lifetime_s = lifetime_s
        self.change_secret()
        self.audience = AUDIENCE
        self.is_away = False
        self.fixed_response: str | None = None
        self.issued: list[str] = []
        self.requests: list[dict[str, list[str]]] = []
        self.key_requests = 0
        self._keys: dict[str, rsa.RSAPrivateKey] = {}
        self._signing = self.publish_key()
        self._servers = [_Server(self), *([] if certificate is None else [_Server(self, certificate)])]
        self._base = f"http://127.0.0.1:{self._servers[0].server_port}"
        self._threads = [threading.Thread(target=server.serve_forever, daemon=True) for server in self._servers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for server, thread in zip(self._servers, self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()

    @property
    def token_url(self) -> str:
        return f"{self._base}/token"

    @property
    def https_token_url(self) -> str:
        return f"https://127.0.0.1:{self._servers[1].server_port}/token"

    @property
    def keys_url(self) -> str:
        return f"{self._base}/keys"

    def change_secret(self) -> None:
        """A new client secret; the earlier one is refused from now on."""
        self.secret = f"client-secret-{secrets.token_hex(8)}"

    def publish_key(self) -> str:
        """A further key, by its id: brokers may fetch it, no token is signed with it yet."""
        key_id = secrets.token_hex(4)
        self._keys[key_id] = rsa.generate_private_key(65537, 2048)
        return key_id

    def sign_with(self, key_id: str) -> None:
        """Sign with this key from now on; tokens of the earlier ones stay valid."""
        self._signing = key_id

    def issue(self) -> str:
        """A new token."""
        now_s = time.time()
        claims = {"iss": self._base, "sub": CLIENT_ID, "aud": self.audience, "jti": secrets.token_hex(4)}
        claims |= {"iat": int(now_s), "exp": int(now_s + self.lifetime_s)}
        signed = f"{_part({'alg': 'RS256', 'kid': self._signing, 'typ': 'JWT'})}.{_part(claims)}"
        signature = self._keys[self._signing].sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        self.issued.append(f"{signed}.{_encoded(signature)}")
        return self.issued[-1]

    def keys(self) -> dict[str, Any]:
        """The public keys, as a set of JSON web keys."""
        self.key_requests += 1
        return {"keys": [_public(key_id, key) for key_id, key in self._keys.items()]}

    def response(self, authorization: str, form: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        """What the token endpoint responds."""
        self.requests.append(form)
        if self.is_away:
            return 503, {"error": "temporarily_unavailable"}
        if authorization != f"Basic {basic_credentials(self.secret)}":
            return 401, {"error": "invalid_client", "error_description": f"not {self.secret}"}
        return 200, {"access_token": self.issue(), "token_type": "Bearer", "expires_in": int(self.lifetime_s)}


class TokenFile(RenewedFile):
    """A file whose token is replaced at half of its life, as Kubernetes does, for the time of a ``with`` block."""

    def __init__(self, file: Path, issuer: Issuer) -> None:
        super().__init__(file, issuer.lifetime_s, lambda file: replace_text(file, issuer.issue()))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, issuer: Issuer, certificate: tuple[Path, Path] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = issuer
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._respond(200, self.server.issuer.keys())

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        status, content = self.server.issuer.response(self.headers.get("Authorization", ""), form)
        self._respond(status, content, self.server.issuer.fixed_response)

    def _respond(self, status: int, content: dict[str, Any], fixed: str | None = None) -> None:
        body = (json.dumps(content) if fixed is None else fixed).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_arguments: object) -> None:
        pass


def broker_properties(issuer: Issuer, listener: str) -> dict[str, str]:
    """The properties of a broker whose listener takes the tokens of this issuer, and ends a session with its token."""
    prefix = f"listener.name.{listener.lower()}"
    classes = "org.apache.kafka.common.security.oauthbearer"
    return {
        f"{prefix}.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{prefix}.oauthbearer.sasl.jaas.config": f"{classes}.OAuthBearerLoginModule required;",
        f"{prefix}.oauthbearer.sasl.server.callback.handler.class": f"{classes}.OAuthBearerValidatorCallbackHandler",
        f"{prefix}.oauthbearer.connections.max.reauth.ms": "3600000",
        "sasl.oauthbearer.jwks.endpoint.url": issuer.keys_url,
        "sasl.oauthbearer.jwks.endpoint.refresh.ms": "1000",
        "sasl.oauthbearer.clock.skew.seconds": "0",  # by default, tokens are taken for 30 s after their end
        "sasl.oauthbearer.expected.audience": AUDIENCE,
    }


def broker_options(issuer: Issuer) -> tuple[str, ...]:
    """The options of the JVM of such a broker."""
    return (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={issuer.keys_url}",)


def client_properties(issuer: Issuer, secret: str | None = None) -> dict[str, str]:
    """The properties of a client that fetches its tokens, by the names of Kafka 4.1."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": issuer.token_url,
        "sasl.oauthbearer.client.credentials.client.id": CLIENT_ID,
        "sasl.oauthbearer.client.credentials.client.secret": secret or issuer.secret,
    }


def trusting_properties(issuer: Issuer, authority: Path, secret: str) -> dict[str, str]:
    """The properties of a client that fetches its tokens by https and trusts a CA; a JAAS line, as for Kafka 3.9."""
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    trusted = f'ssl.truststore.type="PEM" ssl.truststore.location="{authority}"'
    line = f'{module} required clientId="{CLIENT_ID}" clientSecret="{secret}" {trusted};'
    named = {"sasl.oauthbearer.token.endpoint.url": issuer.https_token_url, "sasl.jaas.config": line}
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", **named}


def file_properties(path: Path) -> dict[str, str]:
    """The properties of a client whose token is in a file."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": f"file://{path}",
    }


def basic_credentials(secret: str) -> str:
    """What a client with this secret sends to the token endpoint, after the word Basic."""
    return base64.b64encode(f"{CLIENT_ID}:{secret}".encode()).decode()


def _public(key_id: str, key: rsa.RSAPrivateKey) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    n, e = (_encoded(number.to_bytes((number.bit_length() + 7) // 8, "big")) for number in (numbers.n, numbers.e))
    return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": key_id, "n": n, "e": e}


def _part(content: dict[str, Any]) -> str:
    return _encoded(json.dumps(content).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
