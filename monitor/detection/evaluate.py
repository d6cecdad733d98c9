"""The verdict on one group: read the facts once, judge every partition and member, then walk the ladder of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from monitor.detection.drift import find_current_drift, find_replayed_drift
from monitor.detection.expectation import expect
from monitor.detection.facts import Expectation, Facts, Owners, Ownership
from monitor.detection.imbalance import balance_of, find_idle_members, find_imbalance
from monitor.detection.lag import find_behind, find_not_committing, lag_ms, lag_records
from monitor.detection.modern_groups import expect_targets, named
from monitor.detection.orphans import find_orphaned, orphans_of
from monitor.detection.ownership import find_double_owned, read_ownership
from monitor.detection.settings import DetectionSettings
from monitor.detection.topics import partition_of
from monitor.model import (
    Catalog,
    CommittedOffset,
    Finding,
    GroupKind,
    GroupState,
    GroupVerdict,
    Member,
    MemberVerdict,
    OrphanReason,
    PartitionState,
    PartitionVerdict,
    Phase,
    TopicPartition,
)

Rule = Callable[[Facts], Iterable[Finding]]

LADDER: Final[tuple[Rule, ...]] = (
    find_double_owned,  # records are processed twice and commits overwrite each other: data is wrong, not only late
    find_orphaned,  # nobody reads: the lag grows until somebody acts, and retention may lose records
    find_not_committing,  # somebody should read and makes no progress: the same harm, but the cause may pass
    find_behind,  # progress, but too slow: late, nothing is lost yet
    find_replayed_drift,  # everything is read, by an owner we cannot explain: a hint at mixed clients, before harm
    find_current_drift,  # everything that was assigned is read; the next rebalance puts it right
    find_imbalance,  # works as assigned, only slower than it could
    find_idle_members,  # costs money and no time; with more members than partitions it is often intended
)
"""All rules, worst first. A verdict has its findings in this order."""


def evaluate(group: GroupState, catalog: Catalog, now_ms: int, settings: DetectionSettings) -> GroupVerdict:
    """All that can be said of a group at an instant. Pure: equal arguments give equal verdicts.

    Args:
        group: the group's state, of the same cluster as the catalog.
        catalog: the topics that exist now. Subscribed or assigned topics that it lacks count as not existing.
        now_ms: the instant, in milliseconds since the epoch. A finding never begins later.
        settings: the thresholds.
    """
    group = named(group, catalog)
    facts = _facts(group, catalog, now_ms, settings)
    lags = [row.lag for row in facts.partitions if row.lag is not None]
    ages = [row.lag_ms for row in facts.partitions if row.lag_ms is not None]
    return GroupVerdict(
        cluster=group.cluster,
        group=group.group,
        kind=group.kind,
        state=group.phase,
        evaluated_ms=now_ms,
        assignor=group.protocol,
        expectation=facts.expectation.kind,
        generation=group.generation,
        generation_ms=group.generation_ms,
        members=facts.members,
        partitions=facts.partitions,
        findings=tuple(finding for rule in LADDER for finding in rule(facts)),
        lag=sum(lags) if lags else None,
        lag_ms=max(ages, default=None),
        imbalance_ratio=facts.balance.ratio if facts.balance else None,
        rebalances=group.rebalances,
    )


def _facts(group: GroupState, catalog: Catalog, now_ms: int, settings: DetectionSettings) -> Facts:
    ownership = read_ownership(group)
    committed = {TopicPartition(offset.topic, offset.partition): offset for offset in group.offsets}
    known = _known(catalog, ownership, committed)
    judge_by = expect_targets if group.kind is GroupKind.CONSUMER else expect
    expectation = judge_by(group, catalog, ownership)
    orphans = orphans_of(group, catalog, ownership, expectation, known)
    places = sorted(known.keys() | ownership.owners.keys() | committed.keys())
    judge = _Judge(ownership.owners, expectation, orphans, now_ms)
    return Facts(
        group=group,
        catalog=catalog,
        now_ms=now_ms,
        settings=settings,
        ownership=ownership,
        expectation=expectation,
        known=known,
        committed=committed,
        partitions=tuple(judge.partition(place, known.get(place), committed.get(place)) for place in places),
        members=_members(group, catalog, ownership, expectation),
        balance=balance_of(group.members, ownership) if group.phase is Phase.STABLE else None,
    )


def _known(
    catalog: Catalog, ownership: Ownership, committed: Mapping[TopicPartition, CommittedOffset]
) -> dict[TopicPartition, PartitionState]:
    known: dict[TopicPartition, PartitionState] = {}
    for topic in ownership.subscribed & catalog.topics.keys():
        for partition in catalog.topics[topic].partitions:
            known[TopicPartition(topic, partition.partition)] = partition
    for places in (ownership.owners, committed):
        for place in places:
            if place.topic not in ownership.subscribed:
                state = partition_of(catalog, place.topic, place.partition)
                if state is not None:
                    known[place] = state
    return known


class _Judge:
    """Makes the row of a partition from what the group as a whole says of it."""

    def __init__(
        self, owners: Owners, expectation: Expectation, orphans: Mapping[TopicPartition, OrphanReason], now_ms: int
    ) -> None:
        self._owners = owners
        self._current = expectation.current
        self._replayed = expectation.replayed
        self._orphans = orphans
        self._now_ms = now_ms

    def partition(
        self, place: TopicPartition, state: PartitionState | None, commit: CommittedOffset | None
    ) -> PartitionVerdict:
        offset = commit.offset if commit else None
        end = state.end if state else None
        return PartitionVerdict(
            topic=place.topic,
            partition=place.partition,
            owners=self._owners.get(place, ()),
            expected=_sole(self._current.get(place)),
            replayed=_sole(self._replayed.get(place)),
            committed=offset,
            earliest=state.earliest if state else None,
            end=end,
            lag=lag_records(offset, end),
            lag_ms=lag_ms(state, offset, self._now_ms) if state and offset is not None else None,
            orphan=self._orphans.get(place),
        )


def _sole(owners: tuple[str, ...] | None) -> str | None:
    return owners[0] if owners else None


def _members(
    group: GroupState, catalog: Catalog, ownership: Ownership, expectation: Expectation
) -> tuple[MemberVerdict, ...]:
    owned = Counter(owner for owners in ownership.owners.values() for owner in owners)
    expected = Counter(owner for owners in expectation.current.values() for owner in owners)
    existing = {topic for topic in ownership.subscribed if topic in catalog.topics}
    known = expectation.kind in ("exact", "target")
    return tuple(
        MemberVerdict(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            topics=member.topics,
            partitions=owned[member.member_id],
            expected_partitions=expected[member.member_id] if known else None,
            epoch=member.reconciliation.epoch if member.reconciliation else None,
            state=member.reconciliation.state if member.reconciliation else None,
            idle=_is_idle(member, owned, expected, existing),
        )
        for member in group.members
    )


def _is_idle(member: Member, owned: Counter[str], expected: Counter[str], existing: set[str]) -> bool:
    """It could read something, and does not: in a KIP-848 group it is not about to get something either."""
    if owned[member.member_id] or member.unreadable is not None or existing.isdisjoint(member.topics):
        return False
    return member.reconciliation is None or not expected[member.member_id]
