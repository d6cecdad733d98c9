"""What is wrong with a cluster as a whole: of that, many groups suffer at once, and none of them is to blame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from monitor.detection.brokers import has_led, unseen_since_ms, was_coordinator
from monitor.detection.offsets_topic import fault_of
from monitor.findings.cluster import (
    BrokersAway,
    ClusterObservation,
    Grew,
    NoSuchGroups,
    NotVisible,
    NotWritable,
    UnknownVersions,
    WithoutLeader,
    cluster_findings_of,
)
from monitor.model import Catalog, GroupSummary, GrownLog, Value
from monitor.model.cluster_findings import ClusterFinding, ClusterFindingKind
from monitor.model.findings import Severity

TOLD_MS: Final = 86_400_000
"""The growth of the offsets topic is reported for so long. By then, groups that are in use have committed again."""

AWAY_MS: Final = 120_000
"""A broker that restarts is mostly back sooner."""

DELETED_MS: Final = 60_000
"""So long after a topic was last seen, the brokers have deleted its committed offsets if it was deleted."""


class AbsentGroups(Value):
    """Entries of a file of expectations that no group matches though one should exist: their ``groups``, and teams."""

    entries: tuple[tuple[str, str | None], ...]
    since_ms: int
    severity: Severity


def cluster_findings(
    catalog: Catalog,
    groups: Sequence[GroupSummary],
    grown: GrownLog | None,
    now_ms: int,
    absent: AbsentGroups | None = None,
) -> tuple[ClusterFinding, ...]:
    """The findings of a cluster, worst first.

    Args:
        catalog: what collectors know of it.
        groups: all its groups.
        grown: what the newest growth of the offsets topic did to them; None: it has not grown.
        now_ms: the instant, in milliseconds since the epoch.
        absent: the groups that should exist and do not; None: there is none.
    """
    rules = (
        _not_writable(catalog, groups),
        _grew(grown, now_ms),
        _without_leader(catalog, groups, now_ms),
        _not_visible(catalog, groups, now_ms),
        _unknown_versions(groups),
        _away(catalog, groups, now_ms),
        _absent(absent),
    )
    return cluster_findings_of(found for rule in rules for found in rule)


def findings_over(catalog: Catalog, group: GroupSummary, now_ms: int) -> tuple[ClusterFinding, ...]:
    """The findings of the cluster that concern a group, with that group alone, worst first.

    What a growth of the offsets topic did is not among them: to know that, all groups are compared.
    """
    health, fault = catalog.offsets_topic, fault_of(group, catalog)
    if health is not None:
        faults = {} if fault is None else {fault.partition: fault}
        catalog = replace(catalog, offsets_topic=replace(health, faults=faults))
    rules = (
        _not_writable(catalog, [group]),
        _without_leader(catalog, [group], now_ms),
        _not_visible(catalog, [group], now_ms),
        _unknown_versions([group]),
        _away(catalog, [group], now_ms),
    )
    return cluster_findings_of(replace(found, group=group.group) for rule in rules for found in rule if found.groups)


def _grew(grown: GrownLog | None, now_ms: int) -> Iterator[ClusterObservation]:
    """The offsets topic has more partitions, and brokers no longer find the committed offsets of groups."""
    if grown is not None and grown.lost and now_ms - grown.grown_ms <= TOLD_MS:
        kind = ClusterFindingKind.OFFSETS_TOPIC
        yield ClusterObservation(kind, "grew", grown.grown_ms, Grew(grown), groups=len(grown.lost))


def _absent(absent: AbsentGroups | None) -> Iterator[ClusterObservation]:
    """Groups that a team expects do not exist."""
    if absent is not None:
        kind, evidence = ClusterFindingKind.EXPECTED_GROUPS, NoSuchGroups(absent.entries)
        yield ClusterObservation(kind, absent.severity.value, absent.since_ms, evidence, groups=0)


def _without_leader(catalog: Catalog, groups: Sequence[GroupSummary], now_ms: int) -> Iterator[ClusterObservation]:
    """Partitions of topics that concern groups have no leader."""
    health = catalog.brokers
    concerned = [each.topics_without_leader for each in groups if each.topics_without_leader]
    if health is None or not concerned:
        return
    places = {topic: health.without_leader(topic) for topic in sorted(set().union(*concerned))}
    led = [each.broker for each in health.away if has_led(each.broker, places)]
    since_ms = [each.since_ms for topic in places for each in health.leaderless.get(topic, ()) if each.ended_ms is None]
    evidence = WithoutLeader(places, tuple([each.broker for each in led]), unseen_since_ms(catalog, now_ms))
    kind, first_ms = ClusterFindingKind.TOPICS, min(since_ms, default=catalog.pass_ms)
    yield ClusterObservation(kind, "no_leader", first_ms, evidence, groups=len(concerned))


def _away(catalog: Catalog, groups: Sequence[GroupSummary], now_ms: int) -> Iterator[ClusterObservation]:
    """Brokers are missing that led partitions. One that led none was drained, or has only copies.

    Only polls that saw the brokers count for the time that one is away.
    """
    health = catalog.brokers
    if health is None:
        return
    seen_ms = min(catalog.pass_ms, health.seen_ms or catalog.pass_ms)
    away = [each for each in health.away if seen_ms - each.since_ms >= AWAY_MS and each.broker.led_anything]
    if not away:
        return
    ids = {each.broker.broker for each in away}
    coordinated = sum(any(was_coordinator(each.broker, group, catalog) for each in away) for group in groups)
    led = [topic for each in away for topic in each.broker.topics]
    evidence = BrokersAway(
        brokers=tuple(sorted(ids)),
        partitions=sum(len(each.partitions) for each in led),
        topics=tuple(sorted({each.topic for each in led})),
        coordinated=coordinated,
        seen_ms=max(each.before_ms for each in away),
        unseen_since_ms=unseen_since_ms(catalog, now_ms),
        led_ms=min([each.broker.led_ms for each in away if each.broker.led_ms is not None], default=None),
    )
    concerned = sum(not ids.isdisjoint(each.missed_brokers) for each in groups)
    first_ms = min(each.since_ms for each in away)
    yield ClusterObservation(ClusterFindingKind.BROKERS, "away", first_ms, evidence, groups=concerned)


def _not_visible(catalog: Catalog, groups: Sequence[GroupSummary], now_ms: int) -> Iterator[ClusterObservation]:
    """Topics are no longer seen, while groups still have their committed offsets."""
    since_ms = {name: state.observed_ms for name, state in catalog.hidden.items()}
    hidden = {name for name, seen_ms in since_ms.items() if now_ms - seen_ms >= DELETED_MS}
    concerned = [own for each in groups if (own := hidden.intersection(each.hidden_topics))] if hidden else []
    if concerned:
        topics = tuple(sorted(set().union(*concerned)))
        kind, first_ms = ClusterFindingKind.TOPICS, min(since_ms[name] for name in topics)
        yield ClusterObservation(kind, "not_visible", first_ms, NotVisible(topics), groups=len(concerned))


def _unknown_versions(groups: Sequence[GroupSummary]) -> Iterator[ClusterObservation]:
    """The brokers write records of groups in a version that cannot be read."""
    concerned = tuple([each.unknown_versions for each in groups if each.unknown_versions])
    if concerned:
        since_ms = min(each.since_ms for own in concerned for each in own)
        kind, evidence = ClusterFindingKind.RECORDS, UnknownVersions(concerned)
        yield ClusterObservation(kind, "unknown_version", since_ms, evidence, groups=len(concerned))


def _not_writable(catalog: Catalog, groups: Sequence[GroupSummary]) -> Iterator[ClusterObservation]:
    """Partitions of the offsets topic that take no records, by the reason."""
    health = catalog.offsets_topic
    lasting = () if health is None else health.lasting()
    if health is None or not lasting:
        return
    concerned = Counter([_place_of(each, catalog) for each in groups])
    by_reason = sorted(lasting, key=lambda each: each.reason)
    for reason, of_reason in groupby(by_reason, key=lambda each: each.reason):
        own = list(of_reason)
        worst = min(own, key=lambda each: each.in_sync - each.needed)
        yield ClusterObservation(
            kind=ClusterFindingKind.OFFSETS_TOPIC,
            reason=reason,
            since_ms=min(each.since_ms for each in own),
            evidence=NotWritable(health.partitions, worst.in_sync, worst.needed),
            groups=sum(concerned[each.partition] for each in own),
            partitions=tuple(sorted(each.partition for each in own)),
        )


def _place_of(group: GroupSummary, catalog: Catalog) -> int | None:
    """The partition with a fault that has the commits of a group; None: it has none."""
    fault = fault_of(group, catalog)
    return None if fault is None else fault.partition
