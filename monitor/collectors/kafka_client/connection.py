"""Connections to a cluster by kafka-python: opened within a time limit, closed whole, explained when they fail.

kafka-python prints the requests that carry a password at DEBUG level, and a page of warnings while it cannot connect;
so its logging is switched off, and what went wrong is told by the errors of this package alone.
"""

from __future__ import annotations

import logging
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.errors import (
    AuthorizationError,
    IllegalSaslStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NodeNotReadyError,
    SaslAuthenticationFailedError,
    UnknownBrokerIdError,
    UnsupportedSaslMechanismError,
)
from kafka.net.compat import KafkaNetClient
from kafka.net.sasl.oauth import AbstractTokenProvider

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, wants_idempotence
from monitor.collectors.kafka_client.iam import uses_iam
from monitor.collectors.kafka_client.java_values import LONGEST_WAIT_MS, REQUEST_MS
from monitor.collectors.kafka_client.kerberos import MECHANISM as KERBEROS
from monitor.collectors.kafka_client.oauth import MECHANISM as OAUTH
from monitor.collectors.kafka_client.tickets import TicketError, Tickets
from monitor.collectors.kafka_client.tokens import TokenError
from monitor.config import ClusterSettings

log = logging.getLogger(__name__)

CONNECT_LIMIT_S: Final = 10.0
REQUEST_LIMIT_MS: Final = REQUEST_MS
SETUP_LIMIT_MS: Final = 5_000
"""How long one broker may take to let a client in; it is doubled after each failure."""
PROBE_LIMIT_S: Final = 2.0
REFUSAL_LIMIT_S: Final = 1.0
CLOSE_LIMIT_S: Final = 1.0
POLL_S: Final = 0.005

CERTIFICATE_REFUSED: Final = re.compile("ALERT.*(CERTIFICATE|UNKNOWN_CA)")
"""OpenSSL's reasons for alerts by which a server refuses the certificate of a client, or wants one."""

_QUIET: Final = logging.CRITICAL + 1


def open_admin(
    cluster: ClusterSettings,
    limit_s: float = CONNECT_LIMIT_S,
    *,
    release: tuple[int, ...] | None = None,
    request_ms: int = REQUEST_LIMIT_MS,
) -> KafkaAdminClient:
    """An admin client that has reached a broker.

    ``release`` is that of brokers before 0.10, which cannot be asked for it; None: they are asked. ``request_ms`` is
    how long a request may take, unless the client properties say otherwise.

    Raises:
        ConfigError: the client properties cannot be used.
        ConnectionFailed: no broker let it in within ``limit_s`` seconds.
    """
    told = {} if release is None else {"api_version": release}
    return _open(KafkaAdminClient, cluster, limit_s, told, request_ms)


def open_producer(
    cluster: ClusterSettings, limit_s: float = CONNECT_LIMIT_S, *, creates_topics: bool = True
) -> KafkaProducer:
    """A producer that keeps the order of its records and waits for all replicas. Raises like ``open_admin``.

    It is idempotent where the brokers allow it: what it sends again is not there twice. Brokers before 2.8 want one
    more permission for that (IDEMPOTENT_WRITE), some services have topics without it, and a deployment may say
    ``enable.idempotence = false``; then one request in flight still keeps the order, and a record may be there twice
    (docs/decisions/0019).
    """
    try:
        if wants_idempotence(cluster):
            producer = _open_producer(cluster, limit_s, creates_topics=creates_topics, idempotent=True)
            if _may_be_idempotent(producer, limit_s):
                return producer
            close_producer(producer, CLOSE_LIMIT_S)
            log.info("Cluster %s: the brokers refuse idempotent writes; records may be duplicated", cluster.name)
    except KafkaConfigurationError:  # brokers before 0.11 know nothing of it
        log.info("Cluster %s: the brokers do not support idempotent writes; records may be duplicated", cluster.name)
    return _open_producer(cluster, limit_s, creates_topics=creates_topics, idempotent=False)


def _open_producer(
    cluster: ClusterSettings, limit_s: float, *, creates_topics: bool, idempotent: bool
) -> KafkaProducer:
    order = {"acks": "all", "enable_idempotence": idempotent, "max_in_flight_requests_per_connection": 1}
    sizes = {"max_request_size": 8 << 20, "batch_size": 256 << 10, "linger_ms": 20, "compression_type": "gzip"}
    # It has to be longer than a request and a moment may take, and a deployment may choose the former.
    request_ms: int = kafka_python_arguments(cluster).get("request_timeout_ms", REQUEST_LIMIT_MS)
    limits = {"max_block_ms": REQUEST_LIMIT_MS, "delivery_timeout_ms": request_ms + REQUEST_LIMIT_MS}
    others = {"allow_auto_create_topics": creates_topics, "metrics_enabled": False}
    return _open(KafkaProducer, cluster, limit_s, {**order, **sizes, **limits, **others})


def _may_be_idempotent(producer: KafkaProducer, limit_s: float) -> bool:
    """Whether the producer was not refused the id by which brokers know what was sent again; waits for the answer.

    A refusal is for good, whatever is sent afterwards fails with it. There is no public way to ask.
    """
    manager, deadline = producer._transaction_manager, time.monotonic() + limit_s
    while not manager.has_producer_id() and not manager.has_fatal_error() and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return not manager.has_fatal_error()


def close_producer(producer: KafkaProducer, limit_s: float) -> None:
    """Close a producer whatever its records have come to; what is not written within the limit is given up.

    kafka-python's own ``close`` raises if records are left, and leaves the producer and its thread running.
    """
    try:
        producer.close(timeout=limit_s)
    except KafkaError:
        producer._sender.force_close()  # there is no public way
        producer._sender.join(REQUEST_LIMIT_MS / 1000)
        producer.close(timeout=limit_s)


def open_consumer(
    cluster: ClusterSettings,
    limit_s: float = CONNECT_LIMIT_S,
    *,
    fetch_bytes: int = 4096,
    release: tuple[int, ...] | None = None,
    group: str | None = None,
) -> KafkaConsumer:
    """A consumer that commits nothing by itself. Raises, and takes a release, like ``open_admin``.

    ``fetch_bytes`` is how much it asks a partition for at a time; by default, enough to see that there is something.
    ``group`` is where its owner may commit; None: it belongs to no group.
    """
    alone = {"group_id": group, "enable_auto_commit": False, "auto_offset_reset": "earliest"}
    small = {"max_partition_fetch_bytes": fetch_bytes, "fetch_max_wait_ms": LONGEST_WAIT_MS, "metrics_enabled": False}
    told = {} if release is None else {"api_version": release}
    return _open(KafkaConsumer, cluster, limit_s, {**alone, **small, **told, "allow_auto_create_topics": False})


def silence_client_logging() -> None:
    """Switch kafka-python's logging off. Its requests are not printed even if somebody switches it on again."""
    logging.getLogger("kafka").setLevel(_QUIET)
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("kafka.")]:
        # A filter of "kafka" would not see the records of the loggers below it.
        logging.getLogger(name).addFilter(_without_requests)


@contextmanager
def explain_request_errors(cluster: ClusterSettings) -> Iterator[None]:
    """Turn the client's errors inside into ConnectionFailed; errors of this package pass."""
    try:
        yield
    except KafkaError as error:
        raise ConnectionFailed(_explanation(cluster, error, CONNECT_LIMIT_S)) from None


_OF_THE_CLIENT: Final[Mapping[type[BaseException], str]] = MappingProxyType(
    {
        KafkaConnectionError: "no connection to a broker",
        NodeNotReadyError: "no connection to a broker",
        KafkaTimeoutError: "no response in time",
        UnknownBrokerIdError: "a broker that the cluster does not list",
    }
)
"""Errors of kafka-python itself: no documentation of Kafka has their names."""


def error_name(error: BaseException) -> str:
    """The name of an error as Kafka's documentation has it, or in words where it is one of the client or the system.

    >>> from kafka.errors import TopicAuthorizationFailedError
    >>> error_name(TopicAuthorizationFailedError("t"))
    'TopicAuthorizationFailed'
    >>> error_name(NodeNotReadyError()), error_name(OSError(111, "Connection refused")), error_name(OSError())
    ('no connection to a broker', 'Connection refused', 'the connection failed')
    """
    if type(error) in _OF_THE_CLIENT:
        return _OF_THE_CLIENT[type(error)]
    if isinstance(error, OSError):
        return error.strerror or "the connection failed"
    return type(error).__name__.removesuffix("Error")


def _open(
    client: Callable[..., Any],
    cluster: ClusterSettings,
    limit_s: float,
    more: dict[str, Any],
    request_ms: int = REQUEST_LIMIT_MS,
) -> Any:  # noqa: ANN401 - one of three clients of a library without types
    silence_client_logging()
    arguments: dict[str, Any] = {"request_timeout_ms": request_ms, "reconnect_backoff_max_ms": 1000}
    arguments |= kafka_python_arguments(cluster) | more
    _require_login(cluster, arguments, limit_s)
    nets: list[KafkaNetClient] = []

    def net_client(**configuration: Any) -> KafkaNetClient:  # noqa: ANN401 - passed through
        nets.append(KafkaNetClient(**configuration, socket_connection_setup_timeout_ms=SETUP_LIMIT_MS))
        return nets[-1]

    attempts = [*_bootstrap_attempts(cluster.addresses, limit_s)]
    for number, (servers, attempt_s) in enumerate(attempts, 1):
        try:
            return client(
                **arguments | {"bootstrap_servers": list(servers)},
                bootstrap_timeout_ms=int(attempt_s * 1000),
                kafka_client=net_client,
            )
        except KafkaError as error:
            # A client that fails in its constructor leaves its thread running and its sockets open.
            for net in nets:
                net.close()
            nets.clear()
            if number == len(attempts) or not isinstance(error, KafkaTimeoutError):
                raise ConnectionFailed(_explanation(cluster, error, limit_s)) from None
    raise AssertionError("there is always an attempt")


def _bootstrap_attempts(addresses: Sequence[str], limit_s: float) -> Iterator[tuple[Sequence[str], float]]:
    """Which addresses to begin with, and for how many seconds: all of them, then each by itself.

    kafka-python begins with one by chance, and waits for it until its time is over, should it accept a connection and
    say nothing.

    >>> [*_bootstrap_attempts(["a:1"], 10)]
    [(['a:1'], 10)]
    >>> [*_bootstrap_attempts(["a:1", "b:1"], 12)]
    [(['a:1', 'b:1'], 4.0), (['a:1'], 4.0), (['b:1'], 4.0)]
    """
    if len(addresses) == 1:
        yield addresses, limit_s
        return
    each_s = limit_s / (1 + len(addresses))
    yield addresses, each_s
    for address in addresses:
        yield [address], each_s


def _require_login(cluster: ClusterSettings, arguments: Mapping[str, Any], limit_s: float) -> None:
    """See that there is a token or a ticket: a client would try for its whole limit, and not know why it failed."""
    provider: AbstractTokenProvider | None = arguments.get("sasl_oauth_token_provider")
    tickets: Tickets | None = arguments.get("sasl_kerberos_name")
    try:
        if provider is not None:
            provider.token()
        if tickets is not None:
            tickets.require([_host(address) for address in cluster.addresses], limit_s)
    except (TokenError, TicketError) as error:
        raise ConnectionFailed(_explanation(cluster, error, 0)) from None


def _without_requests(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG


def _explanation(cluster: ClusterSettings, error: KafkaError, limit_s: float) -> str:
    start = f"Cluster {cluster.name}: "
    if isinstance(error, TokenError | TicketError):
        return f"{start}{error.args[0]}"
    if isinstance(error, SaslAuthenticationFailedError):
        return f"{start}the broker refused the login (SaslAuthenticationFailed). {_what_to_check(cluster)}"
    if isinstance(error, UnsupportedSaslMechanismError | IllegalSaslStateError):
        return f"{start}the broker does not accept this SASL mechanism ({error_name(error)}). Check sasl.mechanism."
    if isinstance(error, AuthorizationError):
        return f"{start}the user is not allowed to do this ({error_name(error)}). Check its ACLs."
    return start + _probe_result(cluster, error, limit_s)


def _what_to_check(cluster: ClusterSettings) -> str:
    properties = cluster.client_properties()
    mechanism = properties.get("sasl.mechanism", KERBEROS)
    if uses_iam(properties):
        return "Check the IAM policy (kafka-cluster:Connect), the region and the clock."
    if mechanism == OAUTH:
        return "Check the token: its issuer, its audience and its expiry."
    if mechanism == KERBEROS:
        return "Check the keytab of the broker, and the clocks of both machines."
    return "Check the user name, the password and sasl.mechanism."


def _probe_result(cluster: ClusterSettings, error: KafkaError, limit_s: float) -> str:
    """What a plain connection to the addresses tells about an error that tells nothing."""
    context: ssl.SSLContext | None = kafka_python_arguments(cluster).get("ssl_context")
    for address in cluster.addresses:
        try:
            _probe(address, context)
        except ssl.SSLCertVerificationError as failure:
            reason = f"TLS: the certificate of {address} is not trusted ({failure.verify_message})."
            return f"{reason} Check ssl.truststore.location."
        except ssl.SSLError as failure:
            return _tls_reason(cluster, address, failure)
        except OSError:
            continue
        if cluster.client_properties().get("security.protocol", "").upper().startswith("SASL"):
            # kafka-python misses an answer that comes together with the end of the connection, as a refusal does.
            return (
                f"{address} closes the connection at the login ({error_name(error)}, tried for {limit_s:g} s)."
                f" {_what_to_check(cluster)}"
            )
        return (
            f"{address} accepts connections but sends no usable response ({error_name(error)}, tried for"
            f" {limit_s:g} s). Check security.protocol, and the addresses that the brokers advertise."
        )
    return f"no broker answers at {cluster.bootstrap_servers} (tried for {limit_s:g} s). Check bootstrap_servers."


def _tls_reason(cluster: ClusterSettings, address: str, failure: ssl.SSLError) -> str:
    reason = failure.reason or "no TLS response"
    if CERTIFICATE_REFUSED.search(reason) is None:
        return f"TLS with {address} failed ({reason}). Check security.protocol and the certificates."
    if {"ssl.keystore.location", "ssl.keystore.key"} & set(cluster.client):
        return f"TLS: {address} refuses the certificate of this client ({reason}). Check ssl.keystore.location."
    return f"TLS: {address} wants a certificate of the client ({reason}). Set ssl.keystore.location."


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _probe(address: str, context: ssl.SSLContext | None) -> None:
    """Connect, and agree on TLS if a context is given."""
    host, port = _host(address), address.rpartition(":")[2]
    with socket.create_connection((host, int(port)), timeout=PROBE_LIMIT_S) as plain:
        if context is not None:
            try:
                encrypted = context.wrap_socket(plain, server_hostname=host)
            except TimeoutError:
                raise ssl.SSLError("no TLS response") from None
            with encrypted:
                _await_refusal(encrypted)


def _await_refusal(encrypted: ssl.SSLSocket) -> None:
    """In TLS 1.3 a server refuses a client's certificate only after the client's handshake is done."""
    encrypted.settimeout(REFUSAL_LIMIT_S)
    try:
        encrypted.recv(1)
    except ssl.SSLError:
        raise
    except OSError:  # no answer in time, or the end of the connection: nothing against the certificate
        return
