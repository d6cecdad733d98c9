"""Which brokers that are away concern a group, and which of its partitions it cannot read without a leader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from math import inf
from typing import Final

from monitor.model import KINDS, Catalog, GroupState, GroupSummary, PartitionId, PartitionVerdict
from monitor.model.brokers import BrokerAway, LeaderlessPartitions
from monitor.protocol.kafka.group_metadata import group_partition

UNSEEN_MS: Final = 120_000
"""For so long, what a poll saw of the brokers counts as true, also if polls are frequent: some may fail."""

UNSEEN_POLLS: Final = 3
"""So many polls must be missing."""

MAX_UNSEEN_MS: Final = 3_600_000
"""After so long it is unknown in any case: the interval of polls is not known well after an outage of the collector."""


def unseen_since_ms(catalog: Catalog, now_ms: int) -> int | None:
    """When a poll last saw the brokers, if that is too long ago to know how they are now (ms); None: it is known."""
    health = catalog.brokers
    if health is None or not health.seen_ms:
        return None
    limit_ms = min(max(UNSEEN_MS, UNSEEN_POLLS * health.interval_ms), MAX_UNSEEN_MS)
    return health.seen_ms if now_ms - health.seen_ms > limit_ms else None


def missed_brokers(group: GroupState, catalog: Catalog) -> tuple[int, ...]:
    """The ids of brokers that are away and were the group's coordinator, or led partitions that it has committed."""
    if catalog.brokers is None or not catalog.brokers.away:
        return ()
    committed: defaultdict[str, set[PartitionId]] = defaultdict(set)
    for offset in group.offsets:
        committed[offset.topic].add(offset.partition)
    away = [each.broker for each in catalog.brokers.away]
    return tuple([each.broker for each in away if was_coordinator(each, group, catalog) or has_led(each, committed)])


def was_coordinator(broker: BrokerAway, group: GroupState | GroupSummary, catalog: Catalog) -> bool:
    """Whether it led the partition of the offsets topic in which the group is: exactly that is the coordinator."""
    health = catalog.offsets_topic
    partitions = catalog.log_partitions or (0 if health is None else health.partitions)
    if not partitions or not KINDS[group.kind].commits_to_log:
        return False
    return group_partition(group.group, partitions) in broker.log_partitions


def has_led(broker: BrokerAway, places: Mapping[str, AbstractSet[PartitionId]]) -> bool:
    """Whether it led any of these partitions, by topic."""
    return any(not places.get(led.topic, frozenset()).isdisjoint(led.partitions) for led in broker.topics)


def topics_without_leader(rows: Iterable[PartitionVerdict], catalog: Catalog) -> tuple[str, ...]:
    """The topics of a group, sorted, of which a partition that concerns it has no leader now."""
    if catalog.brokers is None or not catalog.brokers.leaderless:
        return ()
    return tuple(sorted({row.topic for row in rows if readable_since_ms(catalog, row.topic, row.partition) == inf}))


def leaderless_periods(catalog: Catalog, topic: str, partition: PartitionId) -> list[LeaderlessPartitions]:
    """The times in which a partition had no leader, as far as they are known, oldest first."""
    if catalog.brokers is None or not catalog.brokers.leaderless:
        return []
    found = [each for each in catalog.brokers.leaderless.get(topic, ()) if partition in each.partitions]
    return sorted(found, key=lambda each: each.since_ms)


def readable_since_ms(catalog: Catalog, topic: str, partition: PartitionId) -> float:
    """Since when a partition has a leader again; inf: it has none, 0: none was missed lately."""
    found = leaderless_periods(catalog, topic, partition)
    if not found:
        return 0
    return inf if found[-1].ended_ms is None else found[-1].ended_ms
