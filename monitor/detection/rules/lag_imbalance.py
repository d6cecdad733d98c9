"""One member has most of the lag of its group: because of keys, because of the assignment, or because it is slow.

An assignor counts partitions, and partitions are not alike. Whether another assignment could help follows from the
records that come in: the most loaded member of any assignment has at least the busiest partition, and at least the
average. If the member has about that much, no assignment is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.current import held_since_ms
from monitor.detection.rules.open_transaction import is_held_back
from monitor.detection.rules.rule import Rule
from monitor.findings.balance import LagImbalance
from monitor.findings.observation import Observation
from monitor.messages.units import as_offsets
from monitor.model import (
    MOST,
    FindingKind,
    MemberVerdict,
    PartitionState,
    PartitionVerdict,
    TopicPartition,
    Value,
)
from monitor.model.evidence import Skew

UNAVOIDABLE: Final = 1.25
"""Up to so many times the least that the most loaded member must have, an assignment is as good as it gets."""

Weights = dict[TopicPartition, float]
"""What comes in (records per second), or what waits (records), by partition."""


class LagShare(Value):
    """What makes a lag one member's, each question for itself.

    ``shared``: others own partitions, too. ``enough``: ``skew_records`` wait for the member, those behind
    an open transaction not counted. ``most``: its share of the lag is at least halfway from its share of the partitions
    to all. ``old``: the oldest record has waited for ``skew_ms``, or for longer than is known. ``held``: the member has
    had its partitions for as long, so that the lag is not its predecessor's.
    """

    shared: bool
    enough: bool
    most: bool
    old: bool
    held: bool

    @property
    def is_skewed(self) -> bool:
        """The member is to be told."""
        return self.shared and self.enough and self.most and self.old and self.held


def members_with_lag(
    members: tuple[MemberVerdict, ...], waiting: Iterable[PartitionVerdict]
) -> tuple[MemberVerdict, ...]:
    """The members, each with the records that wait in its partitions, MOST at most."""
    lags: dict[str, int] = {}
    for row in waiting:
        for owner in row.owners:
            lags[owner] = lags.get(owner, 0) + (row.lag or 0)
    return tuple([replace(m, lag=min(MOST, lags[m.member_id])) if m.member_id in lags else m for m in members])


def find_lag_imbalance(facts: Facts) -> Iterable[Observation]:
    """Most of the lag of the group is one member's, and has been for a while."""
    if not facts.waiting or not facts.ownership.complete:
        return
    least = max(as_offsets(facts.settings.skew_records, facts.group.kind), 1)
    if max([each.lag for each in facts.members]) < least:
        return  # nearly every group
    member = max(facts.members, key=lambda each: (each.lag, each.member_id))
    if not lag_share(facts, member).is_skewed:
        return
    weights = _weights(facts)
    own = {place: weight for place, weight in weights.items() if member.member_id in facts.ownership.owners[place]}
    hottest, cause = min(own, key=lambda place: (-own[place], place)), cause_of(own, weights, facts.members, member)
    if cause is Skew.ASSIGNMENT and facts.task_view is not None:
        return  # partitions of one task stay together, and no other assignor can be chosen
    since_ms = facts.not_later_than_now(_held_since_ms(facts, member))
    yield Observation(
        kind=FindingKind.IMBALANCE,
        reason="lag",
        since_ms=since_ms,
        evidence=LagImbalance(skew=cause, hottest=hottest, owned=member.partitions),
        partitions=(hottest,) if cause is Skew.KEYS else (),
        members=(member.member_id,),
    )


def lag_share(facts: Facts, member: MemberVerdict) -> LagShare:
    """How much of the group's lag is the member's."""
    settings, lag, fair = facts.settings, sum(each.lag for each in facts.members), _fair(facts.members, member)
    held_back = [row.lag or 0 for row in facts.waiting if is_held_back(row) and member.member_id in row.owners]
    return LagShare(
        shared=fair < 1,
        enough=member.lag - sum(held_back) >= as_offsets(settings.skew_records, facts.group.kind),
        most=2 * member.lag >= (1 + fair) * lag,
        old=any(_has_waited(facts, row) for row in facts.waiting if member.member_id in row.owners),
        held=facts.has_come(_held_since_ms(facts, member) + settings.skew_ms),
    )


def _has_waited(facts: Facts, row: PartitionVerdict) -> bool:
    """Whether its oldest record has waited for ``skew_ms``; where the history does not show it, as long as that is."""
    if row.lag_ms is not None:
        return facts.has_come(facts.now_ms - row.lag_ms + facts.settings.skew_ms)
    ends = facts.known[TopicPartition(row.topic, row.partition)].ends
    return facts.has_come((ends[0].at_ms if ends else facts.now_ms) + facts.settings.skew_ms)


def cause_of(
    own: Mapping[TopicPartition, float],
    weights: Mapping[TopicPartition, float],
    members: Sequence[MemberVerdict],
    member: MemberVerdict,
) -> Skew:
    """Why. ``own`` are the weights of the member's partitions, ``weights`` those of all."""
    load, total, fair = sum(own.values()), sum(weights.values()), _fair(members, member)
    if load < (fair + (1 - fair) / 4) * total:
        return Skew.MEMBER
    least = max(*weights.values(), total / len(members))
    return Skew.KEYS if load <= UNAVOIDABLE * least else Skew.ASSIGNMENT


def _held_since_ms(facts: Facts, verdict: MemberVerdict) -> int:
    (member,) = [each for each in facts.group.members if each.member_id == verdict.member_id]
    return held_since_ms(facts.group, member)


def _fair(members: Sequence[MemberVerdict], member: MemberVerdict) -> float:
    """The member's share of the partitions, from 0 to 1."""
    return member.partitions / max(sum(each.partitions for each in members), 1)


def _weights(facts: Facts) -> Weights:
    """How busy the owned partitions are: by what comes in; if nothing does, by what waits."""
    rates = {place: _rate(facts.known[place]) for place in facts.ownership.owners if place in facts.known}
    if any(rates.values()):
        return rates
    waiting = {TopicPartition(row.topic, row.partition): float(row.lag or 0) for row in facts.waiting}
    return {place: waiting.get(place, 0.0) for place in rates}


def _rate(partition: PartitionState) -> float:
    """Records per second that came in, over the kept history of ends; 0 if that is too short."""
    if len(partition.ends) < 2 or partition.ends[-1].at_ms <= partition.ends[0].at_ms:
        return 0.0
    first, last = partition.ends[0], partition.ends[-1]
    return max(0.0, 1000 * (last.offset - first.offset) / (last.at_ms - first.at_ms))


RULES: Final = (Rule(find_lag_imbalance, of_owners=False, needs_lag=True),)
