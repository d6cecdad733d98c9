"""Members that own more than the subscriptions make necessary, and members that own nothing.

Only owned partitions are counted: a topic that grew shows as orphans, and must not also show as an imbalance that
nobody could remove without them.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.detection.messages.findings import idle as idle_sentence
from monitor.detection.messages.findings import imbalance as imbalance_sentence
from monitor.detection.ownership.context import Facts
from monitor.model import Finding, FindingKind


def find_imbalance(facts: Facts) -> Iterable[Finding]:
    """The largest member has at least ``imbalance_ratio`` times what the largest would need to have.

    Not while partitions are on their way: who has the most now may have as much as all are to have, and that these are
    nobody's yet is told.
    """
    balance = facts.balance
    if facts.expectation.pending:
        return
    if balance is not None and balance.largest > balance.optimum and balance.ratio >= facts.settings.imbalance_ratio:
        yield Finding(
            kind=FindingKind.IMBALANCE,
            reason="partitions",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            sentence=imbalance_sentence(balance, facts.group),
            members=(balance.member_id,),
        )


def find_idle_members(facts: Facts) -> Iterable[Finding]:
    """Members that own nothing although a topic that they subscribe exists."""
    idle = tuple(sorted(member.member_id for member in facts.members if member.idle))
    if idle:
        yield Finding(
            kind=FindingKind.IDLE_MEMBERS,
            reason="no_partitions",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            sentence=idle_sentence(idle, facts.group, _subscribed_partitions(facts)),
            members=idle,
        )


def _subscribed_partitions(facts: Facts) -> int | None:
    if not facts.ownership.complete:
        return None
    return sum(place.topic in facts.ownership.subscribed for place in facts.known)
