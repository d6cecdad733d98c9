"""One set of client properties, two clients: Spark's Kafka source (Java) and kafka-python.

Properties have their Java names. Beside them ``sasl.username`` and ``sasl.password`` may stand for the line of
``sasl.jaas.config``. What kafka-python cannot honour is an error here, before anything connects.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from monitor.collectors.kafka_client.iam import (
    CLIENT_HANDLER_PROPERTY,
    IamLogin,
    iam_login,
    java_iam,
    uses_iam,
)
from monitor.collectors.kafka_client.iam import MECHANISM as IAM
from monitor.collectors.kafka_client.iam_tokens import iam_tokens
from monitor.collectors.kafka_client.jaas import LOGIN_MODULES, given_jaas, jaas_line
from monitor.collectors.kafka_client.java_keys import java_key_properties
from monitor.collectors.kafka_client.java_values import value_problems
from monitor.collectors.kafka_client.kerberos import MECHANISM as KERBEROS
from monitor.collectors.kafka_client.kerberos import KerberosLogin, kerberos_login
from monitor.collectors.kafka_client.oauth import (
    ENDPOINT,
    HANDLER,
    HANDLER_PROPERTY,
    NEW_NAMES,
    ONLY_IN_JAVA,
    OAuthLogin,
    current_login,
    jaas_for_tokens,
    oauth_login,
)
from monitor.collectors.kafka_client.oauth import MECHANISM as OAUTH
from monitor.collectors.kafka_client.tickets import tickets
from monitor.collectors.kafka_client.tls import tls_context
from monitor.collectors.kafka_client.token_server import loopback_endpoint, over_loopback
from monitor.collectors.kafka_client.tokens import token_provider
from monitor.config import ClusterSettings, ConfigError
from monitor.model import Value

SET_BY_GROUPWATCH: Final = frozenset(
    {
        "bootstrap.servers",
        "group.id",
        "key.serializer",
        "key.deserializer",
        "value.serializer",
        "value.deserializer",
        "auto.offset.reset",
        "enable.auto.commit",
        "interceptor.classes",
    }
)
"""Properties that a user cannot choose: groupwatch or Spark's Kafka source sets them, or the source refuses them."""

NUMBERS: Final[Mapping[str, str]] = {
    "request.timeout.ms": "request_timeout_ms",
    "reconnect.backoff.ms": "reconnect_backoff_ms",
    "reconnect.backoff.max.ms": "reconnect_backoff_max_ms",
    "retry.backoff.ms": "retry_backoff_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
    "connections.max.idle.ms": "connections_max_idle_ms",
    "receive.buffer.bytes": "receive_buffer_bytes",
    "send.buffer.bytes": "send_buffer_bytes",
}
"""Properties with a number that all three clients of kafka-python take, and their names there."""

MECHANISMS: Final = (*LOGIN_MODULES, OAUTH, KERBEROS, IAM)
"""The SASL mechanisms that both clients can use."""

MECHANISMS_OR: Final = ", ".join(MECHANISMS)

IDEMPOTENCE: Final = "enable.idempotence"
"""A property of producers; consumers, and so Spark's source, do not know it."""

SECURITY: Final = frozenset(
    {
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.username",
        "sasl.password",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.keystore.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
        ENDPOINT,
        *NEW_NAMES,
    }
)
"""Security properties that are translated."""

NOT_IN_PYTHON: Final[Mapping[str, str]] = {
    "ssl.engine.factory.class": "use ssl.truststore.location and ssl.keystore.location",
    "ssl.truststore.provider": "use a PEM, PKCS12 or JKS file",
    "ssl.keystore.provider": "use a PEM, PKCS12 or JKS file",
    "security.providers": f"use one of SASL {MECHANISMS_OR}",
    "sasl.login.class": f"use one of SASL {MECHANISMS_OR}",
    "sasl.client.callback.handler.class": f"use one of SASL {MECHANISMS_OR}",
}
"""Properties that decide whether a connection is possible and safe, and that only Java knows: what to do instead."""

IGNORED_BY_PYTHON: Final = frozenset(
    {
        "allow.auto.create.topics",
        "auto.include.jmx.reporter",
        "check.crcs",
        "client.rack",
        "default.api.timeout.ms",
        "enable.metrics.push",
        "exclude.internal.topics",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "fetch.min.bytes",
        "heartbeat.interval.ms",
        "isolation.level",
        "max.partition.fetch.bytes",
        "max.poll.interval.ms",
        "max.poll.records",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "partition.assignment.strategy",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.kerberos.service.name",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.login.callback.handler.class",
        "sasl.login.connect.timeout.ms",
        "sasl.login.read.timeout.ms",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.window.factor",
        "sasl.login.refresh.window.jitter",
        "sasl.login.retry.backoff.max.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.oauthbearer.clock.skew.seconds",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.header.urlencode",
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "session.timeout.ms",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.keymanager.algorithm",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
    }
)
"""Properties that only Spark's source gets, or that a log-in takes: they tune it, or narrow what TLS already checks."""

NOT_FOR_SPARK: Final = frozenset({"sasl.username", "sasl.password", IDEMPOTENCE, *NEW_NAMES})
"""Properties that Spark's source gets in another form, or does not know."""

KNOWN: Final = SECURITY | NUMBERS.keys() | IGNORED_BY_PYTHON | {"client.id", "client.dns.lookup", IDEMPOTENCE}
"""All properties that a cluster may have; there are others by ``IGNORED_PREFIXES``."""

IGNORED_PREFIXES: Final = ("metrics.", *ONLY_IN_JAVA)
"""Beginnings of other names. OAUTHBEARER refuses those that choose another way to a token."""


class Hidden(str):
    """A secret for a client that logs its arguments: it has the value, and prints as something else."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Never the value."""
        return "'[hidden]'"

    def __str__(self) -> str:
        """Never the value."""
        return "[hidden]"


class Login(Value, frozen=True):
    """Who logs in. Its text shows no password."""

    username: str
    password: str

    def __repr__(self) -> str:
        """The user only."""
        return f"Login(username={self.username!r})"


AnyLogin = Login | OAuthLogin | KerberosLogin | IamLogin
"""Who logs in, by one of the mechanisms."""


def spark_options(cluster: ClusterSettings, *, serves_tokens: bool = False) -> dict[str, str]:
    """The options of Spark's Kafka source and sink for this cluster, every property prefixed ``kafka.``.

    The values hold the secrets in clear text, as Spark needs them.

    Args:
        cluster: the cluster, with its client properties.
        serves_tokens: whether the JVM gets its tokens at a port of loopback, as a JVM of this machine can. They then
            stay good whatever becomes of the token file or the client secret.

    Raises:
        ConfigError: a reference that leads nowhere, a property that groupwatch sets itself, or a login that
            cannot be read.
    """
    properties = _checked_properties(cluster)
    login = cluster_login(cluster, properties)
    if serves_tokens and isinstance(login, OAuthLogin):
        login = over_loopback(login, partial(current_login, cluster.client_place, cluster.client))
    properties |= _java_login(login, properties)
    if _security_protocol(properties).endswith("SSL"):
        properties = java_key_properties(cluster.client_place, properties)
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    named = {key: value for key, value in properties.items() if key not in NOT_FOR_SPARK}
    return options | {f"kafka.{key}": value for key, value in named.items()}


def kafka_python_arguments(cluster: ClusterSettings) -> dict[str, Any]:
    """The keyword arguments that KafkaAdminClient, KafkaProducer and KafkaConsumer all take for this cluster.

    TLS is handed over as one ``ssl_context``; the password prints as ``[hidden]``.

    Raises:
        ConfigError: as for ``spark_options``, and what kafka-python cannot honour, with what to do instead.
    """
    properties = _checked_properties(cluster)
    of_iam = {CLIENT_HANDLER_PROPERTY} if uses_iam(properties) else set()
    told = (_unknown_to_python(key) for key in properties if key not in of_iam)
    if problems := [f"{cluster.client_place}.{problem}" for problem in told if problem is not None]:
        raise ConfigError(*problems)
    protocol = _security_protocol(properties)
    arguments: dict[str, Any] = {
        "bootstrap_servers": list(cluster.addresses),
        "client_id": properties.get("client.id", "groupwatch"),
        "security_protocol": protocol,
        **_tuning(properties),
    }
    arguments |= _python_login(cluster, properties)
    if protocol.endswith("SSL"):
        arguments["ssl_context"] = tls_context(cluster.client_place, properties)
    return arguments


def token_endpoints(cluster: ClusterSettings) -> tuple[str, ...]:
    """The URLs from which a JVM may fetch tokens for this cluster: those that Java has to be allowed.

    Raises:
        ConfigError: as for ``spark_options``.
    """
    oauth = token_login(cluster)
    return () if oauth is None else (loopback_endpoint(), oauth.endpoint)


def token_login(cluster: ClusterSettings) -> OAuthLogin | None:
    """Where the tokens for this cluster come from; None: it is not logged in to by tokens.

    Raises:
        ConfigError: as for ``spark_options``.
    """
    login = cluster_login(cluster)
    return login if isinstance(login, OAuthLogin) else None


def _java_login(login: AnyLogin | None, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties with which Spark's client logs in, where they differ from those that are given."""
    match login:
        case Login() if "sasl.jaas.config" not in properties:
            line = jaas_line(properties["sasl.mechanism"], login.username, login.password)
            return {"sasl.jaas.config": line}
        case OAuthLogin():
            return {"sasl.jaas.config": jaas_for_tokens(login), ENDPOINT: login.endpoint, HANDLER_PROPERTY: HANDLER}
        case IamLogin():
            return java_iam(properties)
    return {}


def _python_login(cluster: ClusterSettings, properties: Mapping[str, str]) -> dict[str, Any]:
    """The arguments with which kafka-python logs in."""
    match login := cluster_login(cluster, properties):
        case Login():
            user = {"sasl_plain_username": login.username, "sasl_plain_password": Hidden(login.password)}
            return {"sasl_mechanism": properties["sasl.mechanism"], **user}
        case OAuthLogin():
            provider = token_provider(cluster.client_place, cluster.client)
            return {"sasl_mechanism": OAUTH, "sasl_oauth_token_provider": provider}
        case IamLogin():
            return {"sasl_mechanism": OAUTH, "sasl_oauth_token_provider": iam_tokens(login)}
        case KerberosLogin():
            return {"sasl_mechanism": KERBEROS, "sasl_kerberos_name": tickets(login)}
    return {}


def idle_properties(properties: Mapping[str, str]) -> tuple[str, ...]:
    """The names of ``sasl.`` and ``ssl.`` properties that have no effect with this ``security.protocol``, sorted.

    >>> idle_properties({"security.protocol": "SSL", "sasl.username": "u", "ssl.key.password": "p"})
    ('sasl.username',)
    """
    protocol = _security_protocol(properties)
    idle = (() if protocol.startswith("SASL") else ("sasl.",)) + (() if protocol.endswith("SSL") else ("ssl.",))
    return tuple(sorted(key for key in properties if key.startswith(idle)))


def wants_idempotence(cluster: ClusterSettings) -> bool:
    """Whether what is written to this cluster may be written idempotently: unless the properties say no.

    Raises:
        ConfigError: as for ``spark_options``.
    """
    return _checked_properties(cluster).get(IDEMPOTENCE, "true").lower() == "true"


def _checked_properties(cluster: ClusterSettings) -> dict[str, str]:
    properties = cluster.client_properties()
    own = sorted(SET_BY_GROUPWATCH & properties.keys())
    problems = [f"{cluster.client_place}.{key} is set by groupwatch itself; remove it." for key in own]
    problems += value_problems(cluster.client_place, properties)
    if problems:
        raise ConfigError(*problems)
    return properties


def _unknown_to_python(key: str) -> str | None:
    """Why kafka-python cannot honour a property, a sentence that begins with its name; None: it can."""
    if key in NOT_IN_PYTHON:
        return f"{key} works only in Java clients; {NOT_IN_PYTHON[key]}."
    if key in KNOWN or key.startswith(IGNORED_PREFIXES):
        return None
    near = difflib.get_close_matches(key, KNOWN, n=1)
    suggestion = f" (did you mean {near[0]}?)" if near else ""
    return f"{key} is not a property of Kafka clients that groupwatch knows{suggestion}."


def _security_protocol(properties: Mapping[str, str]) -> str:
    return properties.get("security.protocol", "PLAINTEXT").upper()


def _tuning(properties: Mapping[str, str]) -> dict[str, Any]:
    tuning: dict[str, Any] = {}
    for key, argument in NUMBERS.items():
        if key in properties:
            number = int(properties[key])
            # Java: -1 leaves the size of a buffer to the operating system. kafka-python says that by no argument.
            tuning |= {} if number < 0 else {argument: number}
    if "client.dns.lookup" in properties:
        tuning["client_dns_lookup"] = properties["client.dns.lookup"]
    return tuning


def cluster_login(cluster: ClusterSettings, properties: Mapping[str, str] | None = None) -> AnyLogin | None:
    """The login for this cluster; None: it has no SASL.

    Args:
        cluster: the cluster.
        properties: its properties, if they are resolved already.

    Raises:
        ConfigError: as for ``spark_options``.
    """
    place, properties = cluster.client_place, properties or _checked_properties(cluster)
    if not _security_protocol(properties).startswith("SASL"):
        return None
    if uses_iam(properties):
        return iam_login(place, properties, cluster.addresses)
    mechanism = properties.get("sasl.mechanism", KERBEROS)
    if mechanism == OAUTH:
        return oauth_login(place, properties)
    if mechanism != KERBEROS and mechanism not in LOGIN_MODULES:
        raise ConfigError(f"{place}.sasl.mechanism should be one of {MECHANISMS_OR}.")
    if HANDLER_PROPERTY in properties:
        raise ConfigError(f"{place}.{HANDLER_PROPERTY} has a meaning for {OAUTH} only; remove it.")
    if mechanism == KERBEROS:
        return kerberos_login(place, properties)
    read: Callable[[ClusterSettings, Mapping[str, str], str], Login]
    read = _login_from_jaas if "sasl.jaas.config" in properties else _login_from_properties
    return read(cluster, properties, mechanism)


def _login_from_properties(cluster: ClusterSettings, properties: Mapping[str, str], mechanism: str) -> Login:
    missing = [key for key in ("sasl.username", "sasl.password") if not properties.get(key)]
    if missing:
        place = cluster.client_place
        raise ConfigError(*(f"{place}.{key} is required for SASL {mechanism}." for key in missing))
    return Login(username=properties["sasl.username"], password=properties["sasl.password"])


def _login_from_jaas(cluster: ClusterSettings, properties: Mapping[str, str], mechanism: str) -> Login:
    place = f"{cluster.client_place}.sasl.jaas.config"
    if "sasl.username" in properties or "sasl.password" in properties:
        raise ConfigError(f"{place} and sasl.username with sasl.password are duplicates; remove one of them.")
    entry = given_jaas(cluster.client_place, properties)
    module = LOGIN_MODULES[mechanism]
    if entry.module.rpartition(".")[2] != module.rpartition(".")[2]:
        raise ConfigError(f"{place} should use {module} for SASL {mechanism}.")
    if entry.options.get("tokenauth", "false").lower() == "true":
        raise ConfigError(f"{place} needs a delegation token, which works only in Java clients; create a user.")
    missing = [option for option in ("username", "password") if not entry.options.get(option)]
    if missing:
        raise ConfigError(f"{place} has no {' and no '.join(missing)}.")
    return Login(username=entry.options["username"], password=entry.options["password"])
