"""What the groups of MetaQ and of Kafka 0.8 to 0.10 have in common in ZooKeeper: who owns what, and offsets.

``consumers/<group>/ids`` are the consumers that are there, ``owners/<topic>/<partition>`` who reads what, both
ephemeral: they end with the consumer's session. ``offsets/<topic>/<partition>`` stay.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.model import Member, ObservedOffset, PartitionId, TopicPartition, TopicPartitions, Value
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.zookeeper.tree import Node, NodeProblem, Tree, join_path

CONSUMERS: Final = "consumers"

MOST_MEMBERS: Final = 10_000
"""More threads than these of one group are not believed: one node could claim two billions."""

_ADDRESS: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")

PartitionOf = Callable[[str], PartitionId]
"""Reads the name of a node below ``owners`` and ``offsets``. Raises DecodeError."""
OffsetOf = Callable[[bytes], int | None]
"""Reads the data of a node below ``offsets``; None: no offset yet. Raises DecodeError."""


class SeenTopic(Value):
    """A topic that exists, with its partitions in the strategies' order."""

    topic: str
    partitions: tuple[PartitionId, ...]


class SeenBroker(Value):
    """A broker that is there: its id as text, and ``host:port``.

    ``form`` is the version of what a Kafka broker has written of itself, which shows its release: 1 is 0.8, 2 is 0.9,
    3 and more are 0.10 and later; None: not known.
    """

    broker: str
    address: str
    form: int | None = None


class SeenGroup(Value):
    """A group. ``unowned`` counts the partitions without an owner, of topics that a member subscribes to."""

    group: str
    members: tuple[Member, ...] = ()
    offsets: tuple[ObservedOffset, ...] = ()
    unowned: int = 0


class SeenTree(Value):
    """The decoded content of a tree. Topics and groups are sorted by name."""

    topics: tuple[SeenTopic, ...] = ()
    brokers: tuple[SeenBroker, ...] = ()
    groups: tuple[SeenGroup, ...] = ()
    problems: tuple[NodeProblem, ...] = ()


class Layout(Value):
    """How a system writes what both have."""

    partition: PartitionOf
    offset: OffsetOf
    client: Callable[[str], str]
    """The consumer's id in the name under which it owns partitions."""
    host: Callable[[str, str], str]
    """The host in a consumer's id, given its group and the id; "" if it does not show."""


def parse_number(text: str, most: int) -> int:
    """A number that is written with decimal digits only.

    Raises:
        DecodeError: it is none, or larger than ``most``.
    """
    if text.isascii() and text.isdigit() and len(text) <= 19 and (number := int(text)) <= most:
        return number
    raise DecodeError("bad_text", 0)


def parse_address(text: str) -> str:
    """A ``host:port`` that one can connect to, as it is.

    Raises:
        DecodeError: it is none.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found[1]) < 65536:
        raise DecodeError("bad_text", 0)
    return text


class GroupReader:
    """Reads the groups of one tree, and collects what is wrong in it."""

    def __init__(self, tree: Tree, layout: Layout, topics: Sequence[SeenTopic], problems: list[NodeProblem]) -> None:
        """Read this tree, whose topics are known already; problems are added to the list."""
        self._tree = tree
        self._layout = layout
        self._topics = topics
        self._problems = problems

    def names(self) -> list[str]:
        """The groups that can be read, sorted. One whose members or owners are refused would seem to have none."""
        refused = set()
        for path in self._tree.refused:
            self._problems.append(NodeProblem(path=path, what="refused"))
            names = path.split("/")
            if names[0] == CONSUMERS and len(names) > 1 and names[2:3] != ["offsets"]:
                refused.add(names[1])
        return [name for name in self._tree.under(CONSUMERS) if name not in refused]

    def group(self, name: str, registered: Sequence[Member]) -> SeenGroup | None:
        """A group with the members that have registered, what they own, and its offsets; None if there is nothing.

        An owner that is not registered is a member too, without subscription, as long as its session lives: it keeps
        others from the partition. A node that outlives its session is no owner: no consumer reads there.
        """
        holdings = self._holdings(name, {member.member_id for member in registered})
        known = [replace(each, assigned=_by_topic(holdings.pop(each.member_id, ()))) for each in registered]
        strangers = [self._unregistered_member(name, owner, places) for owner, places in holdings.items()]
        members = tuple(sorted([*known, *strangers], key=lambda member: member.member_id))
        offsets = tuple(self._offsets(name))
        if not members and not offsets:
            return None
        return SeenGroup(group=name, members=members, offsets=offsets, unowned=_count_unowned(members, self._topics))

    def _unregistered_member(self, group: str, owner: str, places: Iterable[TopicPartition]) -> Member:
        client = self._layout.client(owner)
        host = self._layout.host(group, client)
        return Member(member_id=owner, client_id=client, host=host, assigned=_by_topic(places))

    def _holdings(self, group: str, registered: set[str]) -> dict[str, list[TopicPartition]]:
        """What everybody owns, by owner."""
        holdings: dict[str, list[TopicPartition]] = defaultdict(list)
        for path, place, node in self._places(join_path(CONSUMERS, group, "owners")):
            owner = node.data.decode("utf-8", "replace")
            if owner not in registered:
                is_alive = bool(owner) and node.ephemeral_owner is not None
                self._problems.append(NodeProblem(path=path, what="not_registered" if is_alive else "left_behind"))
                if not is_alive:
                    continue
            holdings[owner].append(place)
        return holdings

    def _offsets(self, group: str) -> Iterator[ObservedOffset]:
        for path, place, node in self._places(join_path(CONSUMERS, group, "offsets")):
            try:
                offset = self._layout.offset(node.data)
            except DecodeError as error:
                self._problems.append(NodeProblem(path=path, what=error.reason))
                continue
            if offset is not None:
                yield ObservedOffset(place.topic, place.partition, offset, max(0, node.modified_ms))

    def _places(self, base: str) -> Iterator[tuple[str, TopicPartition, Node]]:
        """The nodes two levels below, with the partition that each is of."""
        for topic in self._tree.under(base):
            for name in self._tree.under(join_path(base, topic)):
                path = join_path(base, topic, name)
                node = self._tree.nodes.get(path)
                if node is None:
                    continue
                try:
                    yield path, TopicPartition(topic, self._layout.partition(name)), node
                except DecodeError as error:
                    self._problems.append(NodeProblem(path=path, what=error.reason))


def _by_topic(places: Iterable[TopicPartition]) -> tuple[TopicPartitions, ...]:
    partitions: dict[str, list[PartitionId]] = defaultdict(list)
    for place in sorted(places):
        partitions[place.topic].append(place.partition)
    return tuple(TopicPartitions(topic, tuple(several)) for topic, several in partitions.items())


def _count_unowned(members: Sequence[Member], topics: Iterable[SeenTopic]) -> int:
    if any(member.unreadable is not None for member in members):
        return 0
    subscribed = {topic for member in members for topic in member.topics}
    owned = {(each.topic, partition) for m in members for each in m.assigned for partition in each.partitions}
    return sum(
        (seen.topic, partition) not in owned
        for seen in topics
        if seen.topic in subscribed
        for partition in seen.partitions
    )
