"""The tree of MetaQ (Metamorphosis): brokers, the partitions of topics, and groups.

Its layout is that of ``MetaZookeeper``. A partition is ``<broker id>-<number>``, and partitions are in the order of
their *text*: ``0-10`` comes before ``0-2`` (``MetaZookeeper.getPartitionStringsForSubTopics``). Offsets are bytes.
"""

from __future__ import annotations

import re
from typing import Annotated, Final

import msgspec

from monitor.model import Member
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.json_value import decode_json_struct
from monitor.protocol.zookeeper.groups import (
    CONSUMERS,
    GroupReader,
    Layout,
    SeenBroker,
    SeenTopic,
    SeenTree,
    parse_address,
    parse_number,
)
from monitor.protocol.zookeeper.tree import NodeProblem, Tree, join_path

PATHS: Final = (
    "brokers/ids/*/master",
    "brokers/topics-sub/*/*",
    "brokers/topics/*/*",
    "consumers/*/ids/*",
    "consumers/*/owners/*/*",
)
"""What has to be read; "*" is every child."""

OFFSET_PATHS: Final = ("consumers/*/offsets/*/*",)

MOST_PARTITIONS: Final = 10_000
"""More partitions of a topic than these on one broker are not believed: one node could claim two billions."""

_LARGEST_NUMBER: Final = 2**31 - 1
_LARGEST_OFFSET: Final = 2**63 - 1
_PARTITION: Final = re.compile(r"([0-9]{1,10})-([0-9]{1,10})")
_BROKER: Final = re.compile(r"([0-9]{1,10})-(?:m|s[0-9]{1,10})")
_GENERATED_ID: Final = re.compile(r"(.+)-\d+-\d{13}-\d+")


class _TopicBroker(msgspec.Struct, rename="camel"):
    """What a broker has of a topic (``TopicBroker``)."""

    num_parts: Annotated[int, msgspec.Meta(ge=0)]


_TOPIC_BROKER: Final = msgspec.json.Decoder(_TopicBroker)


def metaq_tree(tree: Tree) -> SeenTree:
    """The decoded tree. A node that cannot be read is a problem, and hides nothing else.

    The partitions of a topic are those of every broker that offers it, masters and slaves: so the consumers see it.
    Topics that only servers before 1.4.3 offer are in the older folder.
    """
    problems: list[NodeProblem] = []
    topics = _topics(tree, problems)
    reader = GroupReader(tree, _LAYOUT, topics, problems)
    groups = [reader.group(group, _consumers(tree, group, problems)) for group in reader.names()]
    return SeenTree(
        topics=tuple(topics),
        brokers=tuple(_masters(tree, problems)),
        groups=tuple(group for group in groups if group is not None),
        problems=tuple(problems),
    )


def consumer_host(group: str, consumer: str) -> str:
    """The address in the id that a consumer has chosen by itself; "" if it was chosen otherwise.

    >>> consumer_host("g", "g_192.0.2.2-16655-1795203140502-1"), consumer_host("g", "g_idA")
    ('192.0.2.2', '')
    """
    chosen = _GENERATED_ID.fullmatch(consumer.removeprefix(f"{group}_"))
    return chosen[1] if chosen else ""


def parse_partition(name: str) -> str:
    """A partition; its name is kept as it is.

    Raises:
        DecodeError: it is none.
    """
    parts = _PARTITION.fullmatch(name)
    if parts is None or max(int(parts[1]), int(parts[2])) > _LARGEST_NUMBER:
        raise DecodeError("bad_text", 0)
    return name


def parse_offset(data: bytes) -> int | None:
    """The offset, in bytes, that was committed with the message's id before it; None: the end, wherever that will be.

    The id may be negative, so the last dash divides. Clients before 1.4 write the offset alone. The largest number
    means the end until the broker has reported where that is (``ZkOffsetStorage``, ``ConsumerZooKeeper``).

    >>> parse_offset(b"-5468931097024790528-797"), parse_offset(b"12-0"), parse_offset(b"7")
    (797, 0, 7)

    Raises:
        DecodeError: it is no offset.
    """
    text = data.decode("ascii", "replace")
    message, dash, offset = text.rpartition("-")
    if dash:
        parse_number(message.removeprefix("-"), 2**63)
    committed = parse_number(offset, _LARGEST_OFFSET)
    return None if committed == _LARGEST_OFFSET else committed


def _topics(tree: Tree, problems: list[NodeProblem]) -> list[SeenTopic]:
    offered = set(tree.under("brokers/topics-sub"))
    topics = []
    for topic in sorted(offered | set(tree.under("brokers/topics"))):
        base = join_path("brokers/topics-sub" if topic in offered else "brokers/topics", topic)
        if partitions := _partitions(tree, base, topic in offered, problems):
            topics.append(SeenTopic(topic=topic, partitions=tuple(sorted(partitions))))
    return topics


def _partitions(tree: Tree, base: str, is_json: bool, problems: list[NodeProblem]) -> set[str]:
    partitions: set[str] = set()
    for name in tree.under(base):
        path = join_path(base, name)
        if path not in tree.nodes:
            continue
        try:
            broker, count = _broker_id(name), _count(tree.nodes[path].data, is_json)
        except DecodeError as error:
            problems.append(NodeProblem(path=path, what=error.reason))
            continue
        if count > MOST_PARTITIONS:
            problems.append(NodeProblem(path=path, what="too_many"))
            continue
        partitions.update(f"{broker}-{number}" for number in range(count))
    return partitions


def _broker_id(name: str) -> str:
    found = _BROKER.fullmatch(name)
    if found is None:
        raise DecodeError("bad_text", 0)
    return found[1]


def _count(data: bytes, is_json: bool) -> int:
    if is_json:
        return decode_json_struct(_TOPIC_BROKER, data).num_parts
    return parse_number(data.decode("ascii", "replace"), _LARGEST_NUMBER)


def _masters(tree: Tree, problems: list[NodeProblem]) -> list[SeenBroker]:
    """The masters that are there. The broker's own node stays when it goes; the one below it does not."""
    masters = []
    for broker in tree.under("brokers/ids"):
        path = join_path("brokers/ids", broker, "master")
        if path not in tree.nodes:
            continue
        text = tree.nodes[path].data.decode("utf-8", "replace")
        try:  # an address with a scheme, or two, is none
            address = parse_address(text.removeprefix("meta://") if text.startswith("meta://") else "")
            masters.append(SeenBroker(broker=broker, address=address))
        except DecodeError as error:
            problems.append(NodeProblem(path=path, what=error.reason))
    return masters


def _consumers(tree: Tree, group: str, problems: list[NodeProblem]) -> list[Member]:
    members = []
    for consumer in tree.under(join_path(CONSUMERS, group, "ids")):
        path = join_path(CONSUMERS, group, "ids", consumer)
        if path not in tree.nodes:
            continue
        topics, unreadable = _parse_subscription(tree.nodes[path].data)
        if unreadable is not None:
            problems.append(NodeProblem(path=path, what="bad_utf8"))
        host = consumer_host(group, consumer)
        members.append(
            Member(
                member_id=consumer,
                client_id=consumer,
                host=host,
                topics=topics,
                unreadable=unreadable,
                assignment_read=unreadable is not None,  # who owns what is elsewhere in the tree
            )
        )
    return members


def _parse_subscription(data: bytes) -> tuple[tuple[str, ...], str | None]:
    try:
        names = data.decode("utf-8").split(",")
    except UnicodeDecodeError as error:
        return (), str(DecodeError("bad_utf8", error.start))
    return tuple(sorted({name for name in names if name})), None


_LAYOUT: Final = Layout(partition=parse_partition, offset=parse_offset, client=str, host=consumer_host)
