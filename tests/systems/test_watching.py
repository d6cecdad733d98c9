"""The harness itself: what it says was found, and when, is so. Readings by hand, no server."""

from __future__ import annotations

from monitor.collectors.snapshot import SourceSnapshot
from monitor.model import (
    FindingKind,
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartitions,
)
from tests.systems.watching import CLUSTER, Judged


def reading(at_ms: int, owners: dict[str, tuple[int, ...]], end: int = 100) -> SourceSnapshot:
    """A group of Kafka's high-level consumers that read all but one record of the topic t, of two partitions."""
    members = tuple(
        Member(member_id=name, client_id=name[:-2], topics=("t",), assigned=(TopicPartitions("t", held),))
        for name, held in owners.items()
    )
    group = GroupObserved(
        cluster=CLUSTER,
        group="g",
        kind=GroupKind.ZOOKEEPER,
        source=Source.SYSTEM,
        pass_ms=at_ms,
        observed_ms=at_ms,
        members=members,
        offsets=tuple(ObservedOffset("t", number, end - 1) for number in (0, 1)),
    )
    topic = TopicObserved(
        cluster=CLUSTER,
        topic="t",
        pass_ms=at_ms,
        observed_ms=at_ms,
        partitions=tuple(PartitionObserved(partition=number, earliest=0, end=end) for number in (0, 1)),
    )
    return SourceSnapshot(source=Source.SYSTEM, topics=(topic,), groups=(group,))


def test_a_finding_is_kept_with_when_it_opened_and_closed():
    judged = Judged()
    for second, owners in enumerate([{"a-0": (0, 1)}, {"a-0": (0, 1), "b-0": (1,)}, {"a-0": (0,), "b-0": (1,)}]):
        at_ms = 1_000_000_000 + second * 120_000  # a finding that awaits a rebalance opens as well
        judged.take(reading(at_ms, owners), at_ms, at_ms)
        judged.take(reading(at_ms + 60_000, owners), at_ms + 60_000, at_ms + 60_000)
    (double,) = [each for each in judged.found if each.kind is FindingKind.DOUBLE_OWNED]
    assert double.partitions == {"t 1"}
    assert double.closed_ms == 1_000_240_000


def test_a_group_that_a_complete_reading_no_longer_has_is_forgotten():
    judged = Judged()
    judged.take(reading(1_000_000_000, {"a-0": (0, 1)}), 1_000_000_000, 1_000_000_000)
    assert set(judged.verdicts) == {"g"}
    judged.take(SourceSnapshot(source=Source.SYSTEM, complete=False), 1_000_001_000, 1_000_001_000)
    assert set(judged.verdicts) == {"g"}
    judged.take(SourceSnapshot(source=Source.SYSTEM), 1_000_002_000, 1_000_002_000)
    assert judged.verdicts == {}
