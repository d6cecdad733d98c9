"""The client libraries that members of Kafka groups use, and what is known of a member's."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.model.values import Value


class Library(StrEnum):
    """A client library, by the name of its project."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    SARAMA = "sarama"
    KAFKA_GO = "kafka-go"
    FRANZ_GO = "franz-go"
    KAFKAJS = "kafkajs"
    PLATFORMATIC = "platformatic"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"


class Certainty(StrEnum):
    """How a member's library is known."""

    CERTAIN = "certain"
    """No other library that groupwatch knows writes such bytes."""
    LIKELY = "likely"
    """Several do. The client id or the timeouts are the defaults of one of them, or the group leader uses it."""
    POSSIBLE = "possible"
    """Several do, and nothing else distinguishes them."""
    UNKNOWN = "unknown"
    """No library that groupwatch knows does, or there are no bytes and the client id is no default."""


class ClientLibrary(Value):
    """The library of a member: one, or the set that contains it."""

    libraries: tuple[Library, ...] = ()
    """The library; several if each of them fits, sorted by name; absent: unknown."""
    certainty: Certainty = Certainty.UNKNOWN
    versions: str | None = None

    @property
    def one(self) -> Library | None:
        """The library, if it is known as one."""
        return self.libraries[0] if len(self.libraries) == 1 else None

    @property
    def label(self) -> str:
        """The library or libraries as a label of metrics.

        >>> ClientLibrary((Library.AIOKAFKA, Library.KAFKA_PYTHON), Certainty.POSSIBLE).label, UNKNOWN_LIBRARY.label
        ('aiokafka or kafka-python', 'unknown')
        """
        return " or ".join(self.libraries) or "unknown"


UNKNOWN_LIBRARY: Final = ClientLibrary()
"""The library of a member about which nothing is known."""


class ClientDefect(StrEnum):
    """A known defect of a client library (monitor.messages.client_defects says what each does)."""

    LEADERS_TOPICS_TO_ALL = "leaders_topics_to_all"
    LEADERS_TOPICS_ONLY = "leaders_topics_only"
    ROUNDROBIN_KEY_ERROR = "roundrobin_key_error"
    COOPERATIVE_CRASH = "cooperative_crash"
    FOREIGN_USER_DATA = "foreign_user_data"
    UNREADABLE_USER_DATA = "unreadable_user_data"
    SHARED_STICKY_STATE = "shared_sticky_state"
    FORGOTTEN_MEMBERS = "forgotten_members"
    UNORDERED_MEMBERS = "unordered_members"
    KAFKA_GO_SUBSCRIPTION = "kafka_go_subscription"
    PLATFORMATIC_SUBSCRIPTION = "platformatic_subscription"


class LibraryMembers(Value):
    """How many members of a group use a library."""

    library: ClientLibrary
    """The client library."""
    members: int
    """The members of the group that use it."""


class LibraryUse(Value, kw_only=True):
    """How many members of a cluster use a library with that certainty and those releases, and in how many groups.

    A group can use several libraries, so the groups of several uses do not add up to those of the cluster.
    """

    cluster: str
    libraries: tuple[Library, ...]
    """The library; several if each of them fits, sorted by name; empty: unknown."""
    certainty: Certainty
    versions: str | None = None
    members: int
    """The members in the cluster that use it."""
    groups: int
    """The groups that have such members."""
    group_names: tuple[str, ...] = ()
    """These groups, by name."""

    @property
    def library(self) -> ClientLibrary:
        """What is known of the library."""
        return ClientLibrary(self.libraries, self.certainty, self.versions)
