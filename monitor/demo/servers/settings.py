"""How an embedded broker is to be, and the files that say so to Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

INTERNAL_USER: Final = "broker-internal"
"""The user that a broker with SASL uses towards itself; its password is new for every start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """How an embedded broker is to be.

    A dataclass and not a ``Value``, so that passwords stay out of its text.

    Attributes:
        heap_mb: Java heap in MB.
        jvm_options: More options of its JVM.
        listeners: Further listeners for clients, by upper-case names, with their security protocols.
        offsets_topic_partitions: Partitions of ``__consumer_offsets``.
        port: Where clients connect; 0: a free one.
        properties: More server properties; they win over those that are set here.
        sasl_users: User name to password. Not empty: clients need SASL/PLAIN, and ACLs decide (nothing is allowed that
            is not granted).
        super_users: Names of users to whom ACLs do not apply.
    """

    heap_mb: int = 512
    jvm_options: tuple[str, ...] = ()
    listeners: Mapping[str, str] = field(default_factory=dict)
    offsets_topic_partitions: int = 8
    port: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)
    sasl_users: Mapping[str, str] = field(default_factory=dict, repr=False)
    super_users: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one broker lives: its ports on 127.0.0.1, its folder, and the password of its internal user.

    Node 1 of a cluster is its controller, too; ``controller_port`` is the controller's in all of its brokers.
    """

    port: int
    controller_port: int
    data_dir: Path
    internal_password: str = field(default="", repr=False)
    node_id: int = 1
    listener_ports: Mapping[str, int] = field(default_factory=dict)


def server_properties(settings: BrokerSettings, place: Place) -> str:
    """The text of server.properties."""
    properties = {
        **_quorum(place),
        **_small(settings, place),
        **(_sasl(settings, place) if settings.sasl_users else {}),
        **_further_listeners(settings, place),
        **settings.properties,
    }
    return "".join(f"{key}={_escaped(value)}\n" for key, value in properties.items())


def log4j2_xml(log_file: Path) -> str:
    """The logging configuration: one file; of the long list of settings at start only the warnings."""
    quiet = ("kafka.server.KafkaConfig", "org.apache.kafka.common.config.AbstractConfig", "state.change.logger")
    loggers = "".join(f'<Logger name="{name}" level="WARN"/>' for name in quiet)
    path = str(log_file).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return (
        f'<Configuration status="ERROR" shutdownHook="disable"><Appenders><File name="file" fileName="{path}">'
        '<PatternLayout pattern="%d{ISO8601} %-5p %m (%c{1})%n"/></File></Appenders>'
        f'<Loggers>{loggers}<Root level="INFO"><AppenderRef ref="file"/></Root></Loggers></Configuration>\n'
    )


def _quorum(place: Place) -> dict[str, str]:
    """Node 1 is broker and controller in one. The voter is static: the data then does not depend on the port."""
    clients, first = f"CLIENTS://127.0.0.1:{place.port}", place.node_id == 1
    return {
        "node.id": str(place.node_id),
        "process.roles": "broker,controller" if first else "broker",
        "listeners": f"{clients},CONTROLLER://127.0.0.1:{place.controller_port}" if first else clients,
        "advertised.listeners": clients,
        "inter.broker.listener.name": "CLIENTS",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.quorum.voters": f"1@127.0.0.1:{place.controller_port}",
        "log.dirs": str(place.data_dir / "log"),
    }


def _small(settings: BrokerSettings, _place: Place) -> dict[str, str]:
    """Few nodes, few threads: it shares two cores with Spark."""
    return {
        "num.network.threads": "2",
        "num.io.threads": "2",
        "background.threads": "2",
        "num.recovery.threads.per.data.dir": "1",
        "group.coordinator.threads": "1",
        "transaction.state.log.num.partitions": "2",
        "share.coordinator.state.topic.num.partitions": "2",
        "offsets.topic.num.partitions": str(settings.offsets_topic_partitions),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "500",
        "log.cleaner.enable": "true",
        "log.cleaner.threads": "1",
        "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
        "auto.create.topics.enable": "false",
        "broker.session.timeout.ms": "6000",  # after kill -9, the restarted broker is kept out until this ends
        "controlled.shutdown.enable": "false",  # there is nobody to hand over to
    }


def _sasl(settings: BrokerSettings, place: Place) -> dict[str, str]:
    """SASL/PLAIN for clients, ACLs for all but super users.

    The controller's listener has no SASL and so its peer, the broker itself, is ANONYMOUS, who must be a super user;
    on the clients' listener nobody can be ANONYMOUS.
    """
    supers = (INTERNAL_USER, "ANONYMOUS", *settings.super_users)
    return {
        "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.clients.plain.sasl.jaas.config": _jaas(settings, place),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": ";".join(f"User:{_plain(name)}" for name in supers),
    }


def _further_listeners(settings: BrokerSettings, place: Place) -> dict[str, str]:
    """The properties that name listeners, with the further ones; empty without any."""
    if not settings.listeners:
        return {}
    addresses = "".join(f",{name}://127.0.0.1:{port}" for name, port in place.listener_ports.items())
    protocols = "".join(f",{name}:{protocol}" for name, protocol in settings.listeners.items())
    usual = _quorum(place) | (_sasl(settings, place) if settings.sasl_users else {})
    more = {"listeners": addresses, "advertised.listeners": addresses, "listener.security.protocol.map": protocols}
    return {key: usual[key] + added for key, added in more.items()}


def _jaas(settings: BrokerSettings, place: Place) -> str:
    users = {**settings.sasl_users, INTERNAL_USER: place.internal_password}
    accounts = " ".join(f'user_{_plain(name)}="{_plain(password)}"' for name, password in users.items())
    return (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="{INTERNAL_USER}" password="{place.internal_password}" {accounts};'
    )


def _plain(text: str) -> str:
    """A user name or password that needs no quoting anywhere. The message must not repeat it: it may be a password."""
    if not text or not all(character.isalnum() or character in "-_." for character in text):
        raise ValueError("user names and passwords of an embedded broker are letters, digits, '-', '_' and '.'")
    return text


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
