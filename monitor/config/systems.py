"""The settings of what is watched beside Kafka's own groups: RocketMQ, ZooKeeper, and the queries of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from monitor.config.client import HIDDEN, ClientProperties, as_texts
from monitor.config.section import Interval, Limit, Name, Section, checked_addresses, checked_expression


class SecretReference:
    """A secret, or where it is: a text that may contain ``${env:NAME}`` and ``${file:/path}``. Never shown.

    It is looked up by ``resolve``, not before, as client properties are.

    >>> SecretReference("${env:ROCKETMQ_SECRET_KEY}")
    SecretReference([hidden])
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text: Final = text

    def resolve(self, place: str) -> str:
        """The secret itself.

        Args:
            place: where it stands in the configuration, ``rocketmq.NAME.secret_key``; errors begin with it.

        Raises:
            ConfigError: a variable that is not set or a file that cannot be read.
        """
        table, _, key = place.rpartition(".")
        return ClientProperties({key: self._text}).resolve(table)[key]

    def __eq__(self, other: object) -> bool:
        """Compare by content, references not looked up."""
        return isinstance(other, SecretReference) and other._text == self._text

    def __hash__(self) -> int:
        """Agree with ``__eq__``."""
        return hash(self._text)

    def __repr__(self) -> str:
        """That there is one, and nothing of it."""
        return f"SecretReference({HIDDEN})"


def _as_secret(given: object) -> object:
    if isinstance(given, str) and given:
        return SecretReference(given)
    if given is None or isinstance(given, SecretReference):
        return given
    raise ValueError("should be a text, preferably a reference ${env:NAME} or ${file:/path}")


Secret = Annotated[SecretReference | None, BeforeValidator(_as_secret)]


class SystemSettings(Section):
    """The common settings of all watched systems other than current Kafka clusters."""

    name: Name
    """The value of the label `cluster`; in a file it is the name of the table."""
    via: str = ""
    """The Kafka cluster whose events topic carries the events of this system (the carrier), by its name in
    `[clusters]`; `""`: the only one. A checkpoint keeps it."""
    interval_s: Interval = 10.0
    """Time between the starts of two polls."""
    collect: bool = True
    """`false`: the collector runs elsewhere (`groupwatch collect`), and the job only reads its events."""

    @property
    def carrier(self) -> str:
        """The name of the Kafka cluster whose events topic carries what is read; "": the only one."""
        return self.via


class RocketMQSettings(SystemSettings):
    """One RocketMQ cluster (4.9 or 5), read through the remoting protocol of its name servers and brokers."""

    name_servers: str = Field(min_length=1)
    """The name servers: `host:port`, or several of them separated by semicolons, as RocketMQ's own tools accept
    them."""
    request_limit_s: Limit = 3.0
    """The timeout of a request."""
    access_key: Secret = None
    """With `secret_key` it signs the requests, for brokers that require it (ACL). `${env:NAME}` and `${file:/path}` are
    resolved at each use."""
    secret_key: Secret = None
    """See `access_key`."""
    tls: bool = False
    """Use TLS for connections to name servers and brokers."""
    tls_ca_file: str | None = Field(default=None, min_length=1)
    """A PEM file of the trusted certificates; not set: those of the machine."""
    groups: str = Field(default=".*", min_length=1)
    """The groups to read: a regular expression of RE2 for the whole name."""

    @field_validator("name_servers")
    @classmethod
    def _has_ports(cls, given: str) -> str:
        return checked_addresses(given, ";")

    @field_validator("groups")
    @classmethod
    def _is_an_expression(cls, given: str) -> str:
        return checked_expression(given)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if (self.access_key is None) != (self.secret_key is None):
            raise ValueError("should have both of access_key and secret_key, or neither")
        if self.tls_ca_file is not None and not self.tls:
            raise ValueError("should have tls = true because it has tls_ca_file")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The name servers, each ``host:port``."""
        return tuple(self.name_servers.split(";"))

    @property
    def place(self) -> str:
        """Where this stands in the configuration; errors of its secrets begin with it and the key."""
        return f"rocketmq.{self.name}"


class ZooKeeperSettings(SystemSettings):
    """Consumers that keep their groups in ZooKeeper: those of MetaQ, or of Kafka 0.8 to 0.10."""

    hosts: str = Field(min_length=1)
    """The ZooKeeper servers: `host:port`, or several of them separated by commas."""
    system: Literal["metaq", "kafka"]
    """The system of the consumers."""
    root: str = ""
    """The root node of the tree (the chroot). Not set: `/meta` for `metaq`, the top for `kafka`."""
    session_limit_s: Limit = 10.0
    """The timeout of a ZooKeeper session."""
    bootstrap_servers: str | None = Field(default=None, min_length=1)
    """Brokers to query for end offsets, for `kafka` only; not set: the brokers in the tree."""
    strategies: Annotated[dict[str, str], BeforeValidator(as_texts)] = Field(default={})
    """A table of the groups' strategies, which neither system stores. The key is a regular expression of RE2 for the
    whole name of the groups; the first match counts ([collectors.md](collectors.md))."""

    @model_validator(mode="before")
    @classmethod
    def _default_root(cls, given: Any) -> Any:  # noqa: ANN401 - pydantic gives whatever was configured
        if isinstance(given, Mapping) and given.get("system") == "metaq" and "root" not in given:
            return {**given, "root": "/meta"}
        return given

    @field_validator("hosts", "bootstrap_servers")
    @classmethod
    def _has_ports(cls, given: str | None) -> str | None:
        return None if given is None else checked_addresses(given, ",")

    @field_validator("root")
    @classmethod
    def _is_a_path(cls, given: str) -> str:
        if given == "/":
            return ""
        if given and ("" in given.split("/")[1:] or not given.startswith("/")):
            raise ValueError("should be the path of a node, like /meta")
        return given

    @field_validator("strategies")
    @classmethod
    def _are_expressions(cls, given: dict[str, str]) -> dict[str, str]:
        return {checked_expression(groups): strategy for groups, strategy in given.items()}

    @model_validator(mode="after")
    def _asks_kafka_only_for_kafka(self) -> Self:
        if self.system == "metaq" and self.bootstrap_servers is not None:
            raise ValueError("should have no bootstrap_servers: MetaQ's brokers are those in the tree")
        return self


class SparkQueriesSettings(Section):
    """Queries of Spark Structured Streaming that read a Kafka cluster, as groups of that cluster."""

    name: Name
    """The name of the collector; in a file it is the name of the table."""
    cluster: str = ""
    """The Kafka cluster whose topics the queries read, by its name in `[clusters]`; `""`: the only one. Put all queries
    of one cluster into one table."""
    checkpoints: Annotated[dict[str, str], BeforeValidator(as_texts)] = Field(min_length=1)
    """A table of the checkpoints' folders (paths, or URIs of a Hadoop file system). The key is the name of the
    group."""
    interval_s: Interval = 10.0
    """Time between the starts of two polls."""
    collect: bool = True
    """`false`: the collector runs elsewhere (`groupwatch collect`), and the job only reads its events."""

    @property
    def carrier(self) -> str:
        """The name of the Kafka cluster whose groups they are, and whose events topic carries them; "": the only."""
        return self.cluster


System = RocketMQSettings | ZooKeeperSettings
"""A watched system with a query of its own that is no Kafka cluster of today."""
