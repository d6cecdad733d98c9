"""Partitions that two members hold at once.

Clients of RocketMQ that were given the same id are a case of their own: each takes the other for itself, and both read
the same queues, while the broker keeps one entry for the id, so that the group looks as if it had one member.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts, Owners
from monitor.detection.ownership.self_assigned.duplicate_ids import duplicates_of
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import ROCKETMQ
from monitor.findings.double_owned import DoubleOwned, DuplicateClientIds
from monitor.findings.observation import Observation
from monitor.model import FindingKind, Phase, Sharing, TopicPartition


def find_double_owned(facts: Facts) -> Iterable[Observation]:
    """Partitions that two members hold in the same generation: both read them, every record is processed twice.

    The members of a share group are meant to (KIP-932), as are those of a RocketMQ group that broadcasts, and those
    that an assignor gives a copy (monitor.detection.ownership.copies).
    """
    if not facts.traits.has_owners or facts.group.sharing is not Sharing.EXCLUSIVE:
        return
    ownership = facts.ownership
    double = {p: owners for p, owners in ownership.owners.items() if len(owners) > 1 and p not in ownership.shared}
    if double:
        by_strategy = {place: owners for place, owners in double.items() if _is_by_strategy(facts, place)}
        for is_mixed, own in ((True, by_strategy), (False, {p: o for p, o in double.items() if p not in by_strategy})):
            if own:
                yield _double_owned(facts, own, is_mixed)


def _is_by_strategy(facts: Facts, place: TopicPartition) -> bool:
    """Whether several members take it because each shares partitions out by another strategy (RocketMQ)."""
    return facts.expectation.fit is not None and len(facts.expectation.replayed.get(place, ())) > 1


def _double_owned(facts: Facts, double: Owners, is_mixed: bool) -> Observation:
    partitions = tuple(sorted(double))
    return Observation(
        kind=FindingKind.DOUBLE_OWNED,
        reason="mixed_strategy" if is_mixed else "same_generation",
        since_ms=facts.not_later_than_now(facts.group.generation_ms),
        evidence=DoubleOwned(owners=double[partitions[0]], is_mixed=is_mixed),
        partitions=partitions,
        members=tuple(sorted({owner for owners in double.values() for owner in owners})),
    )


def find_duplicate_clients(facts: Facts) -> Iterable[Observation]:
    """Several connections with the id of one member, for longer than a broker keeps those of a client that vanished."""
    group = facts.group
    if not facts.traits.may_repeat_ids or group.phase is not Phase.STABLE:
        return
    twice = duplicates_of(group)
    if not twice or not facts.has_come(group.generation_ms + facts.settings.connection_expiry_ms):
        return
    owners = facts.ownership.owners.items()
    partitions = tuple(sorted(p for p, own in owners if p in facts.known and not frozenset(own).isdisjoint(twice)))
    yield Observation(
        kind=FindingKind.DOUBLE_OWNED,
        reason="duplicate_client_id",
        since_ms=facts.not_later_than_now(group.generation_ms),
        evidence=DuplicateClientIds(),
        partitions=partitions,
        members=twice,
    )


RULES: Final = (
    Rule(find_double_owned, of_owners=True),
    Rule(find_duplicate_clients, of_owners=False, kinds=ROCKETMQ),
)
