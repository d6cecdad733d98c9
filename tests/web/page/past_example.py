"""A recording in memory, asked as a job asks that in its folder."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import chronicle_of
from monitor.history.recorded import RecordedEvent, RecordedRow, encode_events
from monitor.history.replay import Recording, inputs_at
from monitor.history.report.assemble import group_report
from monitor.history.report.facts import IncidentReport
from monitor.model import (
    AnyEvent,
    Entity,
    Member,
    MembershipStored,
    OffsetCommitted,
    PartitionObserved,
    PassCompleted,
    TopicObserved,
    TopicPartitions,
)
from tests.history.memory import MemoryRecording
from tests.history.test_story import HISTORY, START

NOW_MS: Final = START + 3_600_000
"""An hour after the first events; the recording reaches five minutes."""


class MemoryPast:
    """The past of that recording: group g of cluster c, which loses the owner of partition 1 for half a minute."""

    def __init__(self, recording: Recording = HISTORY) -> None:
        self._recording = recording

    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        return inputs_at(self._recording, cluster, group, at_ms)

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        return chronicle_of(self._recording, cluster, group, since_ms, until_ms)

    def days(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        """No tables here: as if all were evaluated."""
        return self.chronicle(cluster, group, since_ms, until_ms)

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        return group_report(self._recording, cluster, group, since_ms, until_ms)


HOSTILE: Final = '<svg onload="window.__pwned=1">\u202e'
NIGHT_MS: Final = 6 * 3_600_000
NIGHT_NOW_MS: Final = START + NIGHT_MS + 60_000
GROWN: Final = 6
"""Partitions of the topic; the last one has no owner from the second hour on, for half an hour."""


def night() -> MemoryRecording:
    """Six hours of group g, whose topic and members have names that try to be elements.

    Each partition gets 100 records a minute. Every hour there is a rebalance; the third one takes the last partition
    from all members, and the fourth, half an hour later, gives it back.
    """
    shares = [(1, "ab"), (60, "ab"), (120, "a"), (150, "ab"), (180, "ab"), (240, "ab"), (300, "abc")]
    rows = [each for minute in range(361) for each in _poll(minute)]
    rows += [_joined(minute, generation, members) for generation, (minute, members) in enumerate(shares, 1)]
    for minute in range(2, 361):
        owned = GROWN - 1 if 120 <= minute < 150 else GROWN
        rows += [_committed(minute, partition) for partition in range(owned)]
    return MemoryRecording(rows)


def _row(entity: Entity, name: str, minute: int, position: int, event: AnyEvent) -> RecordedRow:
    at_ms = START + minute * 60_000
    return RecordedRow(at_ms + 30_000, entity, name, position, encode_events([RecordedEvent(at_ms, event)]))


def _poll(minute: int) -> list[RecordedRow]:
    at_ms = START + minute * 60_000
    ends = tuple(PartitionObserved(partition=n, earliest=0, end=100 * minute + 100) for n in range(GROWN))
    topic = TopicObserved(cluster="c", topic=HOSTILE, pass_ms=at_ms, observed_ms=at_ms, partitions=ends)
    passed = PassCompleted(cluster="c", pass_ms=at_ms, completed_ms=at_ms, topics=1)
    return [
        _row(Entity.TOPIC, HOSTILE, minute, minute, topic),
        _row(Entity.PASS, "", minute, minute, passed),
    ]


def _joined(minute: int, generation: int, names: str) -> RecordedRow:
    partitions = GROWN - 1 if names == "a" else GROWN
    members = tuple(
        Member(
            member_id=f"{name}{HOSTILE}",
            client_id=f"{name}{HOSTILE}",
            topics=(HOSTILE,),
            assigned=(TopicPartitions(HOSTILE, tuple(range(partitions))[place :: len(names)]),),
        )
        for place, name in enumerate(names)
    )
    at_ms = START + minute * 60_000
    stored = MembershipStored(
        "g", generation, "consumer", "roundrobin", members[0].member_id, stored_ms=at_ms, members=members
    )
    return _row(Entity.GROUP, "g", minute, 100 * minute, stored)


def _committed(minute: int, partition: int) -> RecordedRow:
    event = OffsetCommitted("g", HOSTILE, partition, 100 * minute + 50, START + minute * 60_000)
    return _row(Entity.GROUP, "g", minute, 100 * minute + 1 + partition, event)
