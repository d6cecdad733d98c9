"""Connections to a cluster by kafka-python: opened within a time limit, closed whole, explained when they fail.

kafka-python prints the requests that carry a password at DEBUG level, and a page of warnings while it cannot connect;
so its logging is switched off, and only the errors of this package show what went wrong.
"""

from __future__ import annotations

import logging
import re
import socket
import ssl
import struct
import threading
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

from monitor.collectors.errors import ClusterAway, ConnectionFailed
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
"""How long one broker may take to let a client in, at least; it is doubled after each failure."""
OVERTIME_S: Final = 1.0
"""How much longer than its limit a connection may take that is just being made."""
PROBE_LIMIT_S: Final = 2.0
REFUSAL_LIMIT_S: Final = 1.0
CLOSE_LIMIT_S: Final = 1.0
POLL_S: Final = 0.005

_API_VERSIONS: Final = struct.pack(">ihhih", 10, 18, 0, 0, -1)
"""An ApiVersionsRequest of version 0, to which every broker since 0.10 responds before the login. One that does not
know it closes the connection."""

CERTIFICATE_REFUSED: Final = re.compile("ALERT.*(CERTIFICATE|UNKNOWN_CA)")
"""OpenSSL's reasons for alerts by which a server refuses the certificate of a client, or requires one."""

_QUIET: Final = logging.CRITICAL + 1


def open_admin(
    cluster: ClusterSettings,
    limit_s: float = CONNECT_LIMIT_S,
    *,
    release: tuple[int, ...] | None = None,
    request_ms: int = REQUEST_LIMIT_MS,
) -> KafkaAdminClient:
    """An admin client that has reached a broker.

    ``release`` is that of brokers before 0.10, which have no request for it; None: the client requests it.
    ``request_ms`` is how long a request may take, unless the client properties set another limit.

    Raises:
        ConfigError: the client properties cannot be used.
        ConnectionFailed: no broker let it in within ``limit_s`` seconds.
    """
    told = {} if release is None else {"api_version": release}
    return _open(KafkaAdminClient, cluster, limit_s, told, request_ms)


def accepts_connections(cluster: ClusterSettings) -> bool:
    """Whether an address of the cluster accepts a TCP connection, even if nothing responds to a request there."""
    for address in cluster.addresses:
        try:
            with socket.create_connection((_host(address), int(address.rpartition(":")[2])), timeout=PROBE_LIMIT_S):
                return True
        except OSError:
            continue
    return False


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
    """Switch kafka-python's logging off. Its requests are not printed even if other code switches it on again."""
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
        raise _connection_error(cluster, error, CONNECT_LIMIT_S, is_let_in=True) from None


_OF_THE_CLIENT: Final[Mapping[type[BaseException], str]] = MappingProxyType(
    {
        KafkaConnectionError: "no connection to a broker",
        NodeNotReadyError: "no connection to a broker",
        KafkaTimeoutError: "no response in time",
        UnknownBrokerIdError: "a broker that the cluster does not list",
    }
)
"""Errors of kafka-python itself: no documentation of Kafka has their names."""


def is_unanswered(error: BaseException) -> bool:
    """Whether an error is that of a broker that does not answer, as when it starts."""
    return isinstance(error, (OSError, *_OF_THE_CLIENT))


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
    setup_ms = max(SETUP_LIMIT_MS, int(limit_s * 1000 / 4))  # whoever waits for long lets each broker take long

    def net_client(**configuration: Any) -> KafkaNetClient:  # noqa: ANN401 - passed through
        nets.append(KafkaNetClient(**configuration, socket_connection_setup_timeout_ms=setup_ms))
        return nets[-1]

    attempts = [*_bootstrap_attempts(cluster.addresses, limit_s)]
    for number, (servers, attempt_s) in enumerate(attempts, 1):
        try:
            with _time_limit(attempt_s + OVERTIME_S, nets):
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
                raise _connection_error(cluster, error, limit_s) from None
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


@contextmanager
def _time_limit(limit_s: float, nets: list[KafkaNetClient]) -> Iterator[None]:
    """Close these after so many seconds, unless the block ends before; what waits for them then fails.

    kafka-python keeps to no limit in the TLS handshake: it would wait for ever for a broker that hangs.
    """

    def close() -> None:
        for net in nets:
            net.close()

    timer = threading.Timer(limit_s, close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


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
        raise _connection_error(cluster, error, 0) from None


def _without_requests(record: logging.LogRecord) -> bool:
    return record.levelno > logging.DEBUG


def _connection_error(
    cluster: ClusterSettings, error: KafkaError, limit_s: float, *, is_let_in: bool = False
) -> ConnectionFailed:
    """The error as a sentence: ClusterAway if nothing says that a setting or a permission is wrong.

    ``is_let_in``: the client has logged in before.
    """
    start = f"Cluster {cluster.name}: "
    refusal = _refusal(cluster, error)
    if refusal is not None:
        return ConnectionFailed(start + refusal)
    try:
        return ClusterAway(start + _probe_result(cluster, error, limit_s, is_let_in=is_let_in))
    except _WrongSetting as wrong:
        return ConnectionFailed(f"{start}{wrong}")


def _refusal(cluster: ClusterSettings, error: KafkaError) -> str | None:
    """Why the broker refuses the user, if the error shows that."""
    if isinstance(error, TokenError | TicketError):
        return str(error.args[0])
    if isinstance(error, SaslAuthenticationFailedError):
        return f"the broker refused the login (SaslAuthenticationFailed). {_what_to_check(cluster)}"
    if isinstance(error, UnsupportedSaslMechanismError | IllegalSaslStateError):
        return f"the broker does not accept this SASL mechanism ({error_name(error)}). Check sasl.mechanism."
    if isinstance(error, AuthorizationError):
        return f"the user is not allowed to do this ({error_name(error)}). Check its ACLs."
    return None


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


class _WrongSetting(Exception):  # noqa: N818 - it reads as what was found
    """What a connection shows to be wrong, as a sentence."""


def _probe_result(cluster: ClusterSettings, error: KafkaError, limit_s: float, *, is_let_in: bool) -> str:
    """What a plain connection to the addresses shows about an error without details.

    Raises:
        _WrongSetting: TLS or the login fails.
    """
    context: ssl.SSLContext | None = kafka_python_arguments(cluster).get("ssl_context")
    tried, unknown = f"tried for {limit_s:g} s", list[str]()
    for address in cluster.addresses:
        try:
            is_silent = _probe(address, context)
        except ssl.SSLError as failure:
            raise _WrongSetting(_tls_reason(cluster, address, failure)) from None
        except OSError as failure:
            unknown += [address] * isinstance(failure, socket.gaierror)
            continue
        if is_silent:
            advice = "Check the broker and bootstrap_servers."
            return f"{address} accepts connections but does not respond ({tried}). {advice}"
        return _unusable(cluster, address, f"({error_name(error)}, {tried})", is_let_in=is_let_in)
    if len(unknown) == len(cluster.addresses):
        return f"no host name of {cluster.bootstrap_servers} resolves ({tried}). Check bootstrap_servers and the DNS."
    unresolved = f"; {_host(unknown[0])} does not resolve" if unknown else ""
    return f"no broker answers at {cluster.bootstrap_servers} ({tried}{unresolved}). Check bootstrap_servers."


def _unusable(cluster: ClusterSettings, address: str, told: str, *, is_let_in: bool) -> str:
    """What to say of an address that responds, but not as it should. Raises like ``_probe_result``."""
    if cluster.client_properties().get("security.protocol", "").upper().startswith("SASL") and not is_let_in:
        # kafka-python misses an answer that comes together with the end of the connection, as a refusal does.
        raise _WrongSetting(f"{address} closes the connection at the login {told}. {_what_to_check(cluster)}")
    advice = "Check security.protocol, and the addresses that the brokers advertise."
    return f"{address} accepts connections but sends no usable response {told}. {advice}"


def _tls_reason(cluster: ClusterSettings, address: str, failure: ssl.SSLError) -> str:
    if isinstance(failure, ssl.SSLCertVerificationError):
        reason = f"TLS: the certificate of {address} is not trusted ({failure.verify_message})."
        return f"{reason} Check ssl.truststore.location."
    reason = failure.reason or "no TLS response"
    if CERTIFICATE_REFUSED.search(reason) is None:
        return f"TLS with {address} failed ({reason}). Check security.protocol and the certificates."
    if {"ssl.keystore.location", "ssl.keystore.key"} & set(cluster.client):
        return f"TLS: {address} refuses the certificate of this client ({reason}). Check ssl.keystore.location."
    return f"TLS: {address} wants a certificate of the client ({reason}). Set ssl.keystore.location."


def _host(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


def _probe(address: str, context: ssl.SSLContext | None) -> bool:
    """Connect, and agree on TLS if a context is given; whether the broker then leaves a request without a response."""
    host, port = _host(address), address.rpartition(":")[2]
    with socket.create_connection((host, int(port)), timeout=PROBE_LIMIT_S) as plain:
        if context is None:
            return _is_silent(plain)
        try:
            encrypted = context.wrap_socket(plain, server_hostname=host)
        except TimeoutError:
            return True
        with encrypted:
            _await_refusal(encrypted)
            return _is_silent(encrypted)


def _is_silent(connection: socket.socket) -> bool:
    connection.settimeout(PROBE_LIMIT_S)
    try:
        connection.sendall(_API_VERSIONS)
        connection.recv(1)
    except TimeoutError:
        return True
    except OSError:  # it was closed, which a listener does that expects something else
        return False
    return False


def _await_refusal(encrypted: ssl.SSLSocket) -> None:
    """In TLS 1.3 a server refuses a client's certificate only after the client's handshake is done."""
    encrypted.settimeout(REFUSAL_LIMIT_S)
    try:
        encrypted.recv(1)
    except ssl.SSLError:
        raise
    except OSError:  # no answer in time, or the end of the connection: nothing against the certificate
        return
