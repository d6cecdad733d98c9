"""Tokens of SASL OAUTHBEARER for kafka-python: fetched from an endpoint or read from a file, and renewed in time."""

from __future__ import annotations

import base64
import json
import re
import ssl
import threading
import time
from functools import lru_cache, partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote_plus, urlencode, urlsplit
from urllib.request import OpenerDirector, Request

from kafka.errors import KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider

from monitor.collectors.kafka_client.oauth import CurrentLogin, OAuthLogin, current_login
from monitor.collectors.kafka_client.tls import tls_context
from monitor.config import ClientProperties, ConfigError
from monitor.config.files import small_text
from monitor.deadline import Deadline
from monitor.model import Value
from monitor.outgoing_http import failure, http_opener, trusting

REFRESH_AT: Final = 0.8
"""The part of its life after which a token is replaced, as by Java (``sasl.login.refresh.window.factor``)."""

UNKNOWN_LIFE_S: Final = 300
LATEST_S: Final = 1e12
MAX_RESPONSE_BYTES: Final = 1 << 20
TRUST_IT: Final = "Set ssl.truststore.location in sasl.jaas.config."
_TOKEN: Final = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}")


class TokenError(KafkaError):  # type: ignore[misc] # of a library without types
    """No token to log in with; the text is a sentence without a secret."""


class ClientRefusedError(TokenError):
    """The endpoint refuses the client: to ask again at once would change nothing."""


class Token(Value, frozen=True):
    """A token and its times (s since 1970). Its text shows no token."""

    text: str
    fetched_s: float
    expires_s: float

    def __repr__(self) -> str:
        """The times only."""
        return f"Token(expires_s={self.expires_s})"


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # of a library without types
    """What a client of kafka-python takes its tokens from, at each connection and each renewed login."""

    def __init__(self, current: CurrentLogin) -> None:
        """Prepare; nothing is fetched yet.

        Args:
            current: looks up the login, for each token.
        """
        super().__init__()
        self._current = current
        self._login: OAuthLogin | None = None
        self._token: Token | None = None
        self._lock = threading.Lock()

    def token(self) -> str:
        """A token that is valid for a while; the old one while that is valid and there is no new one.

        Raises:
            TokenError: there is none.
        """
        with self._lock:
            try:
                return self._current_token().text
            except (ConfigError, TokenError) as error:
                if self._token is None or self._token.expires_s <= time.time():
                    raise TokenError(error.args[0]) from None
                return self._token.text

    def extensions(self) -> dict[str, str]:
        """The extensions of the login (KIP-342)."""
        return dict((self._login or self._current()).extensions)

    def _current_token(self) -> Token:
        """The token, a new one if it is due or another client asks for it now."""
        login = self._current()
        if self._token is None or self._login != login or is_due(self._token, time.time()):
            self._token, self._login = new_token(login), login
        return self._token


@lru_cache(maxsize=64)
def token_provider(place: str, client: ClientProperties) -> TokenProvider:
    """One provider for all clients of a cluster: they share its token.

    Args:
        place: where the properties stand in the configuration.
        client: the properties, which are looked up again for each token.
    """
    return TokenProvider(partial(current_login, place, client))


def is_due(token: Token, now_s: float) -> bool:
    """Whether a token should be replaced.

    >>> token = Token(text="t", fetched_s=100, expires_s=200)
    >>> is_due(token, 179), is_due(token, 180)
    (False, True)
    """
    return now_s >= token.fetched_s + REFRESH_AT * (token.expires_s - token.fetched_s)


def read_token(path: str) -> str:
    """The token in a file, as it is now.

    Raises:
        TokenError: it cannot be read, or is no token.
    """
    try:
        text = small_text(Path(path)).strip()
    except OSError as error:
        raise TokenError(f"the token file {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        text = ""
    if _TOKEN.fullmatch(text) is None:
        raise TokenError(f"the token file {path} has no token.")
    return text


def new_token(login: OAuthLogin) -> Token:
    """A token of the endpoint, by the client's credentials, or that of the file, which is read each time.

    Raises:
        TokenError: the endpoint is away or refuses, or the file has no token; one sentence.
    """
    now_s = time.time()
    if login.token_file is not None:
        return Token(text=read_token(login.token_file), fetched_s=now_s, expires_s=now_s)
    response = _response(login)
    text = response.get("access_token") if isinstance(response, dict) else None
    if not isinstance(text, str) or _TOKEN.fullmatch(text) is None:
        raise TokenError(f"the response of the token endpoint {login.address} has no access_token.")
    return Token(text=text, fetched_s=now_s, expires_s=_expiry(text, response.get("expires_in"), now_s))


def token_claims(token: str) -> dict[str, Any]:
    """The claims of a JWT, unverified; empty if it is none.

    >>> token_claims("e30.eyJleHAiOjV9.c2ln"), token_claims("opaque")
    ({'exp': 5}, {})
    """
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}


def _expiry(text: str, expires_in: object, now_s: float) -> float:
    claimed, lasting = _seconds(token_claims(text).get("exp")), _seconds(expires_in)
    if claimed is not None:
        return claimed
    return now_s + (UNKNOWN_LIFE_S if lasting is None else lasting)


def _seconds(number: object) -> float | None:
    """A time as JSON has it; None: it is none that a clock can have."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number) if 0 <= number < LATEST_S else None


def _response(login: OAuthLogin) -> Any:  # noqa: ANN401 - of JSON
    context = _tls_context(login)
    try:
        with Deadline((login.connect_ms + login.read_ms) / 1000) as deadline:
            return _content(login, http_opener(context, deadline))
    except (OSError, HTTPException) as error:
        is_distrusted = isinstance(error, URLError) and isinstance(error.reason, ssl.SSLCertVerificationError)
        remedy = f" {TRUST_IT}" if is_distrusted else ""
        raise TokenError(f"the token endpoint {login.address} {failure(error)}.{remedy}") from None
    except (ValueError, RecursionError):
        raise TokenError(f"the response of the token endpoint {login.address} is no JSON.") from None


def _content(login: OAuthLogin, opener: OpenerDirector) -> Any:  # noqa: ANN401 - of JSON
    try:
        with opener.open(_request(login), timeout=max(login.connect_ms, login.read_ms) / 1000) as response:
            return json.loads(response.read(MAX_RESPONSE_BYTES))
    except HTTPError as error:
        with error:
            raise _refusal(login, error) from None


def _tls_context(login: OAuthLogin) -> ssl.SSLContext:
    if urlsplit(login.endpoint).scheme != "https" or not login.tls:
        return trusting(None)
    try:
        return tls_context(f"{login.place}.sasl.jaas.config", dict(login.tls))
    except ConfigError as error:
        raise TokenError(str(error)) from None


def _request(login: OAuthLogin) -> Request:
    pair = (login.client_id, login.client_secret)
    credentials = ":".join(map(quote_plus, pair) if login.url_encoded else pair)
    form = {"grant_type": "client_credentials"} | ({"scope": login.scope.strip()} if login.scope.strip() else {})
    return Request(
        login.endpoint,
        data=urlencode(form).encode(),
        headers={
            "Authorization": f"Basic {base64.b64encode(credentials.encode()).decode()}",
            "Accept": "application/json",
            "Cache-Control": "no-cache",
        },
    )


def _refusal(login: OAuthLogin, error: HTTPError) -> TokenError:
    """The endpoint's error, by its status and OAuth's own code. The rest of the response could be a secret."""
    try:
        code = json.loads(error.read(MAX_RESPONSE_BYTES)).get("error")
    except (ValueError, AttributeError, OSError, RecursionError):
        code = None
    is_code = isinstance(code, str) and _ERROR_CODE.fullmatch(code) is not None
    told = f"{error.code}, {code}" if is_code else str(error.code)
    start = f"the token endpoint {login.address}"
    if error.code in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ClientRefusedError(f"{start} refuses the client ({told}). Check the client id and the client secret.")
    return TokenError(f"{start} gives no token ({told}).")
