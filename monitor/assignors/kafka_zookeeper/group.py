"""What ZooKeeper knows of a group: who registered for what, and which topics exist."""

from __future__ import annotations

from enum import StrEnum

from monitor.model import TopicPartitions, Value


class Release(StrEnum):
    """The releases whose assignors differ."""

    KAFKA_0_8 = "0.8.2.2"
    KAFKA_0_10 = "0.10.2.2"


class Pattern(StrEnum):
    """How a consumer names its topics."""

    STATIC = "static"
    WHITE_LIST = "white_list"
    BLACK_LIST = "black_list"


class Registration(Value):
    """A consumer as it registered: topics, or one regular expression, each with a number of streams (threads)."""

    consumer: str
    pattern: Pattern
    subscription: dict[str, int]


class ZooKeeperTopic(Value):
    """A topic and the numbers of the partitions that exist; they can have gaps."""

    topic: str
    partitions: tuple[int, ...]


class ZooKeeperGroup(Value):
    """A group, in the order in which ZooKeeper lists it. ``exclude_internal``: lists do not match internal topics."""

    registrations: tuple[Registration, ...]
    topics: tuple[ZooKeeperTopic, ...]
    exclude_internal: bool = True


class ThreadShare(Value):
    """What one thread takes: by topic in Java's string order, the partitions ascending."""

    thread: str
    topics: tuple[TopicPartitions, ...]


class ConsumerShare(Value):
    """What one consumer, computing for itself, takes; only threads that get something.

    ``error`` is what the original throws ("Class: message") in place of an answer.
    """

    consumer: str
    threads: tuple[ThreadShare, ...] = ()
    error: str | None = None
