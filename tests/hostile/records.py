"""What a stranger with the right to write could put into the two logs: mutated, extreme and forged records."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from monitor.protocol.kafka.group_metadata import group_partition
from tests.chaos.load import EVENTS_TOPIC, HOSTILE_PARTITION, LOG_PARTITIONS
from tests.protocol.fuzz import mutated_records

LOG: Final = "__consumer_offsets"
DAY_MS: Final = 86_400_000
MUTATED: Final = 2_000
"""So many mutated records are made at once; they come again in another order."""

OWN: Final = ("extreme-", "group-")
"""What the names of the strangers' groups begin with that nothing deletes; captures have records that do."""
EXTREMES: Final = (2**63 - 1, 2**62, 0)
"""Offsets at the end of their type; one below 0 says that nothing is committed, and a group may go by it."""
TIMES_MS: Final = (-(2**63), -5, 2**63 - 1, 2**62)
GENERATIONS: Final = (-(2**31), -1, 2**31 - 1)
NAMES: Final = ("", ".", "../../x", "a\nb\r\nup 0", 'a",evil="1"} 99 #\\', "\u202egnp", "\x1b[2J", "L" * 32_000)


class Hostile(NamedTuple):
    """A record, and where it goes."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None


class Stranger:
    """Makes records of chance, to hurt healthy ``groups`` and their ``topic``, which has so many ``partitions``."""

    def __init__(self, seed: int, cluster: str, groups: Sequence[str], topic: str, partitions: int) -> None:
        self._chance = random.Random(seed)
        self._mutated = list(mutated_records(MUTATED, seed))
        self._cluster, self._groups, self._topic, self._partitions = cluster, groups, topic, partitions
        self._made = 0

    def records(self, now_ms: int) -> Iterator[Hostile]:
        """Some more: two that are mutated, and one of each other kind."""
        for _ in range(2):
            yield Hostile(LOG, HOSTILE_PARTITION, *self._chance.choice(self._mutated))
        yield self._extreme_commit(now_ms)
        yield self._commit_of_nothing(now_ms)
        yield self._extreme_group(now_ms)
        yield Hostile(EVENTS_TOPIC, 0, None, self._chance.choice(JUNK))
        yield Hostile(EVENTS_TOPIC, 0, None, json.dumps(self._forged(now_ms)).encode())
        self._made += 1

    def _extreme_commit(self, now_ms: int) -> Hostile:
        """Numbers at the ends of their types, in groups of the stranger's own."""
        group = f"extreme-{self._made % 20}"
        partition = self._chance.choice((0, 1, 2, -1, 2**31 - 1))
        time_ms = self._chance.choice((now_ms, *TIMES_MS))
        return in_log(commit_key(group, self._topic, partition), commit(self._chance.choice(EXTREMES), time_ms), group)

    def _commit_of_nothing(self, now_ms: int) -> Hostile:
        """A negative offset for a healthy group, in a partition that its topic does not have.

        In one of its own it would be what the group has committed (`offsets/invalid`), whoever wrote it.
        """
        group = self._chance.choice(self._groups)
        key = commit_key(group, self._topic, self._partitions + self._chance.randrange(3))
        return in_log(key, commit(self._chance.choice((-1, -2, -(2**63))), now_ms), group)

    def _extreme_group(self, now_ms: int) -> Hostile:
        group = f"group-{self._made % 20}-{self._chance.choice(NAMES)}"[:32_000]
        value = generation(
            self._chance.choice((1, *GENERATIONS)), self._chance.choice((now_ms, *TIMES_MS)), self._chance.choice(NAMES)
        )
        return in_log(struct.pack(">h", 2) + text(group), value, group)

    def _forged(self, now_ms: int) -> object:
        """An event that cannot be true. One of now, with numbers that could be, is not to be told from a true one."""
        ahead_ms = self._chance.choice((now_ms + DAY_MS, now_ms + 10 * 60_000, 2**53, 2**62))
        completed = {"event": "passcompleted", "cluster": self._cluster}
        observed = {"event": "topicobserved", "cluster": self._cluster, "topic": self._topic}
        listed = {"event": "groupslisted", "cluster": self._cluster, "source": "admin"}
        of_now = {"pass_ms": now_ms, "observed_ms": now_ms}
        return self._chance.choice(
            (
                completed | {"pass_ms": ahead_ms, "completed_ms": ahead_ms, "topics": 0},
                completed | {"pass_ms": now_ms, "completed_ms": ahead_ms, "topics": 0},
                observed | {"pass_ms": ahead_ms, "observed_ms": ahead_ms, "partitions": []},
                observed | of_now | {"partitions": [ends(number, 0, 2**62 + 2**61) for number in range(3)]},
                observed | of_now | {"partitions": [ends(number, -5, -7) for number in range(3)]},
                observed | of_now | {"partitions": [ends(number, 0, 1) for number in (-1, 2**40)]},
                listed | {"pass_ms": ahead_ms, "completed_ms": ahead_ms, "groups": []},
                self._forged_group(ahead_ms),
            )
        )

    def _forged_group(self, at_ms: int) -> object:
        group = self._chance.choice(self._groups)
        told = {"event": "groupobserved", "cluster": self._cluster, "group": group}
        return told | {"kind": "kafka-classic", "source": "log", "pass_ms": at_ms, "observed_ms": at_ms}


def ends(partition: int, earliest: int, end: int) -> object:
    return {"partition": partition, "earliest": earliest, "end": end}


JUNK: Final = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"\xff\xfe",
    b"[" * 10_000,
    b'{"event":"nope"}',
    b'{"event":"passcompleted"}',
    b'{"event":"passcompleted","cluster":"c","pass_ms":1e400,"completed_ms":1,"topics":1}',
    b'{"event":"passcompleted","cluster":"c","pass_ms":123456789012345678901234567890,"completed_ms":1,"topics":1}',
)


def in_log(key: bytes, value: bytes, group: str) -> Hostile:
    """Where the coordinator of the group would write it."""
    return Hostile(LOG, group_partition(group, LOG_PARTITIONS), key, value)


def text(value: str) -> bytes:
    """As Kafka writes it: its length (int16), and UTF-8."""
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def commit_key(group: str, topic: str, partition: int) -> bytes:
    """Version 1 of OffsetCommitKey."""
    return struct.pack(">h", 1) + text(group) + text(topic) + struct.pack(">i", partition)


def commit(offset: int, time_ms: int) -> bytes:
    """Version 3 of OffsetCommitValue, of no leader epoch and without metadata."""
    return struct.pack(">hqi", 3, offset, -1) + text("") + struct.pack(">q", time_ms)


def generation(number: int, time_ms: int, name: str) -> bytes:
    """Version 3 of GroupMetadataValue, with one member, all of whose names are the same, and that owns nothing."""
    member = text(name) + struct.pack(">h", -1) + text(name) + text(name) + struct.pack(">iiii", 300_000, 45_000, 0, 0)
    head = struct.pack(">h", 3) + text("consumer") + struct.pack(">i", number) + text("range") + text(name)
    return head + struct.pack(">qi", time_ms, 1) + member
