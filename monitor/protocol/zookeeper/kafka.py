"""The tree of Kafka 0.8 to 0.10: brokers, topics, and the groups of the high-level consumer.

Its layout is that of ``kafka.utils.ZkUtils``; what a consumer registers is ``kafka.consumer.TopicCount``. A member is a
*thread* of a consumer, ``<consumer id>-<number>``: threads own partitions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec

from monitor.model import Member
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.json_value import decode_json_struct
from monitor.protocol.zookeeper.groups import (
    CONSUMERS,
    MOST_MEMBERS,
    GroupReader,
    Layout,
    SeenBroker,
    SeenTopic,
    SeenTree,
    parse_address,
    parse_number,
)
from monitor.protocol.zookeeper.topic_filter import listed_topics
from monitor.protocol.zookeeper.tree import NodeProblem, Tree, join_path

PATHS: Final = ("brokers/ids/*", "brokers/topics/*", "consumers/*/ids/*", "consumers/*/owners/*/*")
"""What has to be read; "*" is every child."""

OFFSET_PATHS: Final = ("consumers/*/offsets/*/*",)

_LARGEST_PARTITION: Final = 2**31 - 1
_LARGEST_OFFSET: Final = 2**63 - 1
_GENERATED_ID: Final = re.compile(r"(.+)-\d{13}-[0-9a-f]{8}")

Threads = Annotated[int, msgspec.Meta(ge=0)]


class _Registration(msgspec.Struct):
    """How many threads of each topic, or of each topic on a list, a consumer has."""

    subscription: dict[str, Threads]
    pattern: Literal["static", "white_list", "black_list"]


class _Topic(msgspec.Struct):
    partitions: dict[str, list[int]]


class _Broker(msgspec.Struct):
    """``endpoints`` are there from 0.9 on; ``host`` is null and ``port`` -1 if none of them is without encryption."""

    host: str | None = None
    port: int = -1
    endpoints: list[str] = []
    version: int | None = None


_REGISTRATION: Final = msgspec.json.Decoder(_Registration)
_TOPIC: Final = msgspec.json.Decoder(_Topic)
_BROKER: Final = msgspec.json.Decoder(_Broker)


def kafka_tree(tree: Tree) -> SeenTree:
    """The decoded tree. A node that cannot be read is a problem, and hides nothing else.

    A consumer whose registration cannot be read, or whose list cannot be resolved, is a member that is marked so: what
    the group should read is not known then.
    """
    problems: list[NodeProblem] = []
    topics = _topics(tree, problems)
    reader = GroupReader(tree, _LAYOUT, topics, problems)
    groups = [reader.group(group, _threads(tree, group, topics, problems)) for group in reader.names()]
    return SeenTree(
        topics=tuple(topics),
        brokers=tuple(_brokers(tree, problems)),
        groups=tuple(group for group in groups if group is not None),
        problems=tuple(problems),
    )


def thread_consumer(thread: str) -> str:
    """The id of the consumer that a thread is of.

    >>> thread_consumer("g_host-1795203222629-57b599c0-11")
    'g_host-1795203222629-57b599c0'
    """
    return thread.rpartition("-")[0]


def consumer_host(group: str, consumer: str) -> str:
    """The host in the id that a consumer has chosen by itself; "" if it was chosen otherwise.

    >>> consumer_host("g", "g_vm-1795203222629-57b599c0"), consumer_host("g", "g_fixedA")
    ('vm', '')
    """
    chosen = _GENERATED_ID.fullmatch(consumer.removeprefix(f"{group}_"))
    return chosen[1] if chosen else ""


def _topics(tree: Tree, problems: list[NodeProblem]) -> list[SeenTopic]:
    topics = []
    for topic in tree.under("brokers/topics"):
        path = join_path("brokers/topics", topic)
        if path not in tree.nodes:
            continue
        try:
            numbers = [_partition(name) for name in decode_json_struct(_TOPIC, tree.nodes[path].data).partitions]
        except DecodeError as error:
            problems.append(NodeProblem(path=path, what=error.reason))
            continue
        topics.append(SeenTopic(topic=topic, partitions=tuple(sorted(set(numbers)))))
    return topics


def _brokers(tree: Tree, problems: list[NodeProblem]) -> list[SeenBroker]:
    brokers = []
    for broker in tree.under("brokers/ids"):
        path = join_path("brokers/ids", broker)
        if path not in tree.nodes:
            continue
        try:
            registered = decode_json_struct(_BROKER, tree.nodes[path].data)
            address = _address(registered)
        except DecodeError as error:
            problems.append(NodeProblem(path=path, what=error.reason))
            continue
        brokers.append(SeenBroker(broker=broker, address=address, form=registered.version))
    return brokers


def _address(broker: _Broker) -> str:
    """Where a client without encryption and login reaches it."""
    plain = [each.removeprefix("PLAINTEXT://") for each in broker.endpoints if each.startswith("PLAINTEXT://")]
    if broker.host and broker.port > 0:
        plain.insert(0, f"[{broker.host}]:{broker.port}" if ":" in broker.host else f"{broker.host}:{broker.port}")
    return parse_address(plain[0] if plain else "")


def _threads(tree: Tree, group: str, topics: Sequence[SeenTopic], problems: list[NodeProblem]) -> list[Member]:
    """All threads of the group's consumers."""
    members: list[Member] = []
    for consumer in tree.under(join_path(CONSUMERS, group, "ids")):
        path = join_path(CONSUMERS, group, "ids", consumer)
        if path not in tree.nodes:
            continue
        try:
            counts = _thread_counts(decode_json_struct(_REGISTRATION, tree.nodes[path].data), topics)
        except DecodeError as error:
            problems.append(NodeProblem(path=path, what=error.reason))
            members.append(_member(group, consumer, consumer, unreadable=str(error)))
            continue
        threads = max(counts.values(), default=0)
        if len(members) + threads > MOST_MEMBERS:
            problems.append(NodeProblem(path=path, what="too_many"))
            members.append(_member(group, consumer, consumer, unreadable="too many threads"))
            continue
        names = sorted(counts)
        members += [
            _member(group, consumer, f"{consumer}-{number}", tuple(name for name in names if counts[name] > number))
            for number in range(threads)
        ]
    return members


def _thread_counts(registration: _Registration, topics: Sequence[SeenTopic]) -> Mapping[str, int]:
    """The consumer's threads of each topic. On a list counts the first expression; "" means no topic at all."""
    subscription, pattern = registration.subscription, registration.pattern
    if pattern == "static" or not subscription:
        return subscription
    expression, threads = next(iter(subscription.items()))
    matching = listed_topics(expression, [seen.topic for seen in topics], wanted=pattern == "white_list")
    return dict.fromkeys(matching, threads) or {"": threads}


def _member(
    group: str, consumer: str, thread: str, topics: tuple[str, ...] = (), unreadable: str | None = None
) -> Member:
    return Member(
        member_id=thread,
        client_id=consumer,
        host=consumer_host(group, consumer),
        topics=tuple(topic for topic in topics if topic),
        unreadable=unreadable,
        assignment_read=unreadable is not None,  # who owns what is elsewhere in the tree
    )


def _partition(name: str) -> int:
    return parse_number(name, _LARGEST_PARTITION)


def _offset(data: bytes) -> int:
    return parse_number(data.decode("ascii", "replace"), _LARGEST_OFFSET)


_LAYOUT: Final = Layout(partition=_partition, offset=_offset, client=thread_consumer, host=consumer_host)
