"""Members that own more than the subscriptions make necessary, and members that own nothing.

Only owned partitions are counted: a topic that grew shows as orphans, and must not also show as an imbalance that
nobody could remove without them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.balance import IdleMembers, Imbalance
from monitor.findings.observation import Observation
from monitor.model import FindingKind


def find_imbalance(facts: Facts) -> Iterable[Observation]:
    """The largest member has at least ``imbalance_ratio`` times what the largest would need to have.

    Not while partitions are on their way: who has the most now may have as much as all are to have, and that these are
    nobody's yet is told.
    """
    balance = facts.balance
    if facts.expectation.pending:
        return
    if balance is not None and balance.largest > balance.optimum and balance.ratio >= facts.settings.imbalance_ratio:
        yield Observation(
            kind=FindingKind.IMBALANCE,
            reason="partitions",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=Imbalance(balance),
            members=(balance.member_id,),
        )


def find_idle_members(facts: Facts) -> Iterable[Observation]:
    """Members that own nothing although a topic that they subscribe exists."""
    idle = tuple(sorted(member.member_id for member in facts.members if member.idle))
    if idle:
        yield Observation(
            kind=FindingKind.IDLE_MEMBERS,
            reason="no_partitions",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=IdleMembers(_subscribed_partitions(facts)),
            members=idle,
        )


def _subscribed_partitions(facts: Facts) -> int | None:
    if not facts.ownership.complete:
        return None
    return sum(place.topic in facts.ownership.subscribed for place in facts.known)


RULES: Final = (
    Rule(find_imbalance, of_owners=True),
    Rule(find_idle_members, of_owners=True),
)
