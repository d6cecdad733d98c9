"""The groups of the assignors' benchmark, by one recipe for the originals (tests/oracle/Benchmark.java) and for us.

Topics are ``topic-0000`` and so on, members ``consumer-00000`` and so on; no racks, no instance ids. Either everybody
subscribes to all topics, or member i to the half of them that begins with topic i. *fresh*: nobody owns anything.
*leave*: everybody owns what *fresh* gave it, in generation 1, and every tenth member has gone.
"""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass
from typing import Final

import msgspec

from monitor.assignors.assignor import Assignor
from monitor.assignors.kafka_broker.range_broker import BrokerRangeAssignor
from monitor.assignors.kafka_broker.uniform import UniformAssignor
from monitor.assignors.kafka_client.range_assignor import RangeAssignor
from monitor.assignors.kafka_client.roundrobin import RoundRobinAssignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.model import Assignment, Member, TopicPartitions, TopicShape

_LEAST_BITS_STEP: Final = 0x9E3779B97F4A7C15
_WORD: Final = 1 << 64


@dataclass(frozen=True)
class Input:
    """How many topics, partitions of each topic, and members; and whether they subscribe to half of the topics."""

    topics: int
    partitions: int
    members: int
    half: bool


INPUTS: Final = {
    "a": Input(topics=100, partitions=100, members=200, half=False),
    "b": Input(topics=1000, partitions=1000, members=2000, half=False),
    "c": Input(topics=40, partitions=50, members=100, half=True),
    "d": Input(topics=40, partitions=500, members=1000, half=True),
}


_ASSIGNORS: Final[dict[str, Assignor]] = {
    "kafka.range": RangeAssignor(),
    "kafka.roundrobin": RoundRobinAssignor(),
    "kafka.sticky": StickyAssignor(),
    "kafka.cooperative-sticky": CooperativeStickyAssignor(),
    "kafka.server.range": BrokerRangeAssignor(),
    "kafka.server.uniform": UniformAssignor(),
}


def assignor_of(family: str) -> Assignor:
    return _ASSIGNORS[family]


def topics_of(chosen: Input) -> list[TopicShape]:
    return [
        TopicShape(topic=f"topic-{number:04}", partitions=chosen.partitions, topic_id=_topic_id(number))
        for number in range(chosen.topics)
    ]


def fresh_members(chosen: Input) -> list[Member]:
    names = [f"topic-{number:04}" for number in range(chosen.topics)]
    everything = tuple(names)
    half = chosen.topics // 2
    return [
        Member(
            member_id=f"consumer-{number:05}",
            topics=tuple(names[(number + i) % chosen.topics] for i in range(half)) if chosen.half else everything,
        )
        for number in range(chosen.members)
    ]


def members_left(family: str, members: list[Member], fresh: Assignment) -> list[Member]:
    """Nine tenths of the members, each with what it owns where its family has it."""
    owned = {given.member_id: given.topics for given in fresh.members}
    return [
        msgspec.structs.replace(member, **_owning(family, owned[member.member_id]))
        for number, member in enumerate(members)
        if number % 10 != 0
    ]


def crc32(assignment: Assignment) -> str:
    """Of the lines ``member topic p,p,p``, sorted by member, topic and number; who has nothing has no line."""
    checksum = 0
    for given in sorted(assignment.members, key=lambda given: given.member_id):
        lines = [
            f"{given.member_id} {of.topic} {','.join(map(str, sorted(of.partitions)))}\n"
            for of in sorted(given.topics, key=lambda of: of.topic)
            if of.partitions
        ]
        checksum = zlib.crc32("".join(lines).encode(), checksum)
    return f"{checksum:08x}"


def _owning(family: str, owned: tuple[TopicPartitions, ...]) -> dict[str, object]:
    match family:
        case "kafka.sticky":
            return {"user_data": _user_data(owned), "generation": 1}
        case "kafka.cooperative-sticky":
            return {"owned": owned, "generation": 1, "user_data": struct.pack(">i", 1)}
        case _:
            return {"assigned": owned}


def _user_data(owned: tuple[TopicPartitions, ...]) -> bytes:
    parts = [struct.pack(">i", len(owned))]
    for of in owned:
        name = of.topic.encode()
        count = len(of.partitions)
        parts.append(struct.pack(f">h{len(name)}si{count}i", len(name), name, count, *of.partitions))
    return b"".join(parts) + struct.pack(">i", 1)


def _topic_id(number: int) -> str:
    """As ``Uuid.toString`` writes it."""
    most, least = number + 1, (number + 1) * _LEAST_BITS_STEP % _WORD
    return base64.urlsafe_b64encode(struct.pack(">QQ", most, least)).decode().rstrip("=")
