"""Recordings of incidents, made by hand: everything happens at a known second of 2026-11-22 02:14:00 UTC.

Topic t has a record per second and partition: its end is 100 at second 0. It is polled every ten seconds. Members
commit every five seconds, up to the end. Those of classic groups have a session timeout of 10 s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.model import (
    Entity,
    GroupDeleted,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    PartitionObserved,
    PassCompleted,
    TopicObserved,
    TopicPartitions,
)
from monitor.model.brokers import BrokersSeen
from monitor.model.offsets_topic import OffsetsTopicSeen
from tests.history.memory import MemoryRecording

START: Final = 1_795_313_640_000
"""2026-11-22 02:14:00 UTC."""

HOSTS: Final = {"a": "/10.0.0.1", "b": "/10.0.0.2", "c": "/10.0.0.3"}


def ms(second: float) -> int:
    """A second as an instant."""
    return START + round(second * 1_000)


def end(second: int) -> int:
    """Where each partition ends."""
    return 100 + second


class Made:
    """A recording of groups of one cluster, "c"."""

    def __init__(self, length_s: int, topic: str = "t") -> None:
        self.length_s = length_s
        self.topic = topic
        self._rows: list[RecordedRow] = []

    def _add(self, entity: Entity, name: str, at_ms: int, event: object) -> None:
        recorded_ms = START + ((at_ms - START) // 60_000 + 1) * 60_000
        events = encode_events([RecordedEvent(at_ms, event)])  # type: ignore[arg-type] # one of them
        self._rows.append(RecordedRow(recorded_ms, entity, name, len(self._rows), events))

    def poll(
        self,
        partitions: Callable[[int], int] = lambda _: 2,
        earliest: Callable[[int], int] = lambda _: 0,
        ends: Callable[[int, int], int] = lambda second, _: end(second),
        offsets_topic: Callable[[int], OffsetsTopicSeen | None] = lambda _: None,
        brokers: Callable[[int], BrokersSeen | None] = lambda _: None,
    ) -> None:
        """The topic every ten seconds: how many partitions it has, where they begin, and end, by the second."""
        for second in range(0, self.length_s + 1, 10):
            at_ms = ms(second)
            seen = tuple(
                PartitionObserved(partition=n, earliest=earliest(second), end=ends(second, n))
                for n in range(partitions(second))
            )
            topic = TopicObserved("c", self.topic, pass_ms=at_ms, observed_ms=at_ms, partitions=seen, topic_id="T")
            self._add(Entity.TOPIC, self.topic, at_ms, topic)
            of_log, of_brokers = offsets_topic(second), brokers(second)
            ended = PassCompleted("c", at_ms, at_ms, topics=1, offsets_topic=of_log, brokers=of_brokers)
            self._add(Entity.PASS, "", at_ms, ended)

    def assign(
        self, second: float, generation: int, shares: Mapping[str, Sequence[int]], group: str = "g", **fields: object
    ) -> None:
        """A generation of a classic group. A member is named "a", or "a-2" when it is back; its client id is "a"."""
        members = tuple(self._member(name, own, fields) for name, own in shares.items())
        protocol, leader = ("range", next(iter(shares))) if shares else (None, None)
        stored = MembershipStored(
            group, generation, "consumer", protocol, leader, stored_ms=ms(second), members=members
        )
        self._add(Entity.GROUP, group, ms(second), stored)

    def _member(self, name: str, own: Sequence[int], fields: Mapping[str, object]) -> Member:
        client_id = name.partition("-")[0]
        known = {
            "member_id": name,
            "client_id": client_id,
            "host": HOSTS.get(client_id, "/10.0.0.9"),
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 300_000,
        }
        assigned = (TopicPartitions(self.topic, tuple(own)),) if own else ()
        return Member(**{**known, "topics": (self.topic,), "assigned": assigned, **fields})  # type: ignore[arg-type]

    def commit(self, second: float, partition: int, offset: int | None = None, group: str = "g") -> None:
        """A commit, by default of the end of that second."""
        offset = end(int(second)) if offset is None else offset
        event = OffsetCommitted(group, self.topic, partition, offset, ms(second))
        self._add(Entity.GROUP, group, ms(second), event)

    def commits(self, seconds: range, *partitions: int, group: str = "g") -> None:
        """Commits in these partitions, each of the end of its second."""
        for second in seconds:
            for partition in partitions:
                self.commit(second, partition, group=group)

    def delete(self, second: float, group: str = "g") -> None:
        """The group is deleted, with the offsets of two partitions."""
        for partition in range(2):
            self.delete_offset(second, partition, group)
        self._add(Entity.GROUP, group, ms(second), GroupDeleted(group, ms(second)))

    def delete_offset(self, second: float, partition: int, group: str = "g") -> None:
        """The committed offset of a partition is deleted."""
        self._add(Entity.GROUP, group, ms(second), OffsetDeleted(group, self.topic, partition))

    def recording(self) -> MemoryRecording:
        """All of it. A group's rows come in the order of their times."""
        return MemoryRecording(sorted(self._rows, key=lambda row: row.recorded_ms))


def killed(**fields: object) -> Made:
    """b is killed at second 62; its last commit was at 60. It is missed at 72, and a has both partitions."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]}, **fields)
    made.commits(range(10, 75, 5), 0)
    made.commits(range(10, 61, 5), 1)
    made.assign(72, 2, {"a": [0, 1]}, **fields)
    made.commits(range(75, 201, 5), 0, 1)
    return made


def hung() -> Made:
    """b commits nothing from 60 to 150, and stays in the group."""
    made = Made(200)
    made.poll()
    made.assign(5, 1, {"a": [0], "b": [1]})
    made.commits(range(10, 201, 5), 0)
    made.commits(range(10, 61, 5), 1)
    made.commits(range(150, 201, 5), 1)
    return made
