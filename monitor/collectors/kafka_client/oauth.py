"""SASL OAUTHBEARER by the Java client's properties: client credentials (OIDC), or a file with a token.

``OAuthLogin`` is read from the properties of Kafka 3.9 (options of ``sasl.jaas.config``) or of Kafka 4.1
(``sasl.oauthbearer.client.credentials.client.id`` and so on). Spark's client knows only the former.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from monitor.collectors.kafka_client.jaas import given_jaas, jaas_entry
from monitor.collectors.kafka_client.java_values import value_problems
from monitor.config import ClientProperties, ConfigError
from monitor.model import Value

MECHANISM: Final = "OAUTHBEARER"
LOGIN_MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"

HANDLER_PROPERTY: Final = "sasl.login.callback.handler.class"
HANDLER: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
HANDLERS: Final = (HANDLER, "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler")
"""Java's class that gets a token from an endpoint or a file, and its name before Kafka 3.4."""

ENDPOINT: Final = "sasl.oauthbearer.token.endpoint.url"
CLIENT_ID: Final = "sasl.oauthbearer.client.credentials.client.id"
CLIENT_SECRET: Final = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105, RUF100 -- a name
SCOPE: Final = "sasl.oauthbearer.scope"
NEW_NAMES: Final[Mapping[str, str]] = {CLIENT_ID: "clientId", CLIENT_SECRET: "clientSecret", SCOPE: "scope"}
"""Properties of Kafka 4.1, and the options of ``sasl.jaas.config`` that they replace."""

ONLY_IN_JAVA: Final = ("sasl.oauthbearer.assertion.", "sasl.oauthbearer.jwt.")
"""Beginnings of properties of Kafka 4.1 that choose another way to a token."""

EXTENSION: Final = "extension_"
TLS: Final = "ssl."
LOOPBACK: Final = re.compile(r"localhost|127\.[0-9.]+|::1")


class OAuthLogin(Value, frozen=True):
    """Where tokens come from. Its text shows no secret."""

    place: str
    """Where the properties stand in the configuration."""

    endpoint: str
    """An http or https URL, or a file URL."""

    client_id: str = ""
    client_secret: str = ""
    scope: str = ""
    extensions: tuple[tuple[str, str], ...] = ()
    tls: tuple[tuple[str, str], ...] = ()
    """Properties of the connection to the endpoint, by names such as ``ssl.truststore.location``."""

    url_encoded: bool = False
    """Whether id and secret are percent-encoded in the request (``sasl.oauthbearer.header.urlencode``)."""

    connect_ms: int = 10_000
    read_ms: int = 10_000

    def __repr__(self) -> str:
        """The endpoint, without what a URL may hide."""
        return f"OAuthLogin({self.address})"

    @property
    def token_file(self) -> str | None:
        """The path of the file with the token; None: tokens come from an endpoint."""
        url = urlsplit(self.endpoint)
        return unquote(url.path) if url.scheme == "file" else None

    @property
    def address(self) -> str:
        """The endpoint as it may be shown: without user and query."""
        return _address(urlsplit(self.endpoint))

    @property
    def is_clear(self) -> bool:
        """Whether the secret crosses a network without TLS."""
        url = urlsplit(self.endpoint)
        return url.scheme == "http" and LOOPBACK.fullmatch(url.hostname or "") is None


CurrentLogin = Callable[[], OAuthLogin]
"""Looks up a login as it is now; ConfigError: it cannot be read."""


def oauth_login(place: str, properties: Mapping[str, str]) -> OAuthLogin:
    """Where the tokens of these properties come from.

    Args:
        place: where the properties stand in the configuration; errors name ``place.key``.
        properties: by their Java names, references resolved, with values that Java takes (``value_problems``).

    Raises:
        ConfigError: what is missing, or what only Java clients can do.
    """
    options = _options(place, properties)
    login = OAuthLogin(
        place=place,
        endpoint=properties.get(ENDPOINT, ""),
        client_id=options.get("clientId", ""),
        client_secret=options.get("clientSecret", ""),
        scope=options.get("scope", ""),
        extensions=tuple((key[len(EXTENSION) :], value) for key, value in options.items() if key.startswith(EXTENSION)),
        tls=tuple((key, value) for key, value in options.items() if key.startswith(TLS)),
        url_encoded=properties.get("sasl.oauthbearer.header.urlencode", "false").lower() == "true",
        connect_ms=_milliseconds(properties, "sasl.login.connect.timeout.ms"),
        read_ms=_milliseconds(properties, "sasl.login.read.timeout.ms"),
    )
    if problems := [f"{place}.{problem}" for problem in _problems(login, properties)]:
        raise ConfigError(*problems)
    return login


def current_login(place: str, client: ClientProperties) -> OAuthLogin:
    """Where the tokens come from by what the properties refer to now. Raises like ``oauth_login``."""
    properties = client.resolve(place)
    if problems := value_problems(place, properties):
        raise ConfigError(*problems)
    return oauth_login(place, properties)


def jaas_for_tokens(login: OAuthLogin) -> str:
    """The value of ``sasl.jaas.config`` with which Java gets the same tokens."""
    own = {"clientId": login.client_id, "clientSecret": login.client_secret, "scope": login.scope}
    options = {name: value for name, value in own.items() if value}
    options |= {f"{EXTENSION}{name}": value for name, value in login.extensions} | dict(login.tls)
    return jaas_entry(LOGIN_MODULE, options)


def _options(place: str, properties: Mapping[str, str]) -> dict[str, str]:
    given = {option: properties[key] for key, option in NEW_NAMES.items() if key in properties}
    if "sasl.jaas.config" not in properties:
        return given
    entry = given_jaas(place, properties)
    if entry.module.rpartition(".")[2] != LOGIN_MODULE.rpartition(".")[2]:
        raise ConfigError(f"{place}.sasl.jaas.config should use {LOGIN_MODULE} for SASL {MECHANISM}.")
    if twice := [f"{key} and {option}" for key, option in NEW_NAMES.items() if option in given.keys() & entry.options]:
        raise ConfigError(
            *(f"{place}.{pair} in sasl.jaas.config are duplicates; remove one of them." for pair in twice)
        )
    return {**entry.options, **given}


def _problems(login: OAuthLogin, properties: Mapping[str, str]) -> Iterator[str]:
    for key in properties:
        if key.startswith(ONLY_IN_JAVA):
            yield f"{key} works only in Java clients; use client credentials or a token file."
    if properties.get(HANDLER_PROPERTY, HANDLER) not in HANDLERS:
        yield f"{HANDLER_PROPERTY} works only in Java clients; use {HANDLER}."
    if {"sasl.username", "sasl.password"} & properties.keys():
        yield f"sasl.username and sasl.password have no meaning for SASL {MECHANISM}; use {CLIENT_ID}."
    yield from value_problems("sasl.jaas.config", dict(login.tls))
    yield from _endpoint_problems(login)


def _endpoint_problems(login: OAuthLogin) -> Iterator[str]:
    try:
        url = urlsplit(login.endpoint)
        has_host = bool(url.hostname) and url.port != 0
    except ValueError:
        yield f"{ENDPOINT} is not a URL."
        return
    if not login.endpoint:
        yield f"{ENDPOINT} is required for SASL {MECHANISM}."
    elif url.scheme == "file":
        if not url.path or url.netloc or "\0" in unquote(url.path):
            yield f"{ENDPOINT} should be file:///PATH."
    elif url.scheme not in ("http", "https") or not has_host or not login.endpoint.isascii():
        yield f"{ENDPOINT} should be an https:// or file:/// URL."
    elif "@" in url.netloc:  # processes and Spark's page show the URL, and neither client sends its user and password
        yield f"{ENDPOINT} should have no user and no password; use {CLIENT_ID}."
    else:
        for key, value in ((CLIENT_ID, login.client_id), (CLIENT_SECRET, login.client_secret)):
            if not value:
                yield f"{key} is required for SASL {MECHANISM}."


def _address(url: SplitResult) -> str:
    if url.scheme == "file":
        return f"file://{url.path}"
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.hostname}{port}{url.path}"


def _milliseconds(properties: Mapping[str, str], key: str) -> int:
    return int(properties.get(key, "10000"))
