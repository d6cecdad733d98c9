"""The kinds of findings, as pages and reports name them."""

from __future__ import annotations

from typing import Final

from monitor.model import FindingKind

KIND_WORDS: Final = {
    FindingKind.ORPHANED: "Orphaned",
    FindingKind.UNATTENDED: "Unattended",
    FindingKind.DEAD_MEMBER: "Dead member",
    FindingKind.DOUBLE_OWNED: "Double owned",
    FindingKind.DRIFT: "Drift",
    FindingKind.IMBALANCE: "Imbalance",
    FindingKind.IDLE_MEMBERS: "Idle members",
    FindingKind.LAG: "Lag",
    FindingKind.UNCOMMITTED: "Uncommitted",
    FindingKind.RETENTION: "Retention",
    FindingKind.SKIPPED: "Skipped records",
    FindingKind.OFFSETS: "Expiring offsets",
    FindingKind.ABANDONED: "Abandoned",
    FindingKind.REBALANCE: "Rebalance",
    FindingKind.TRANSACTIONS: "Transactions",
    FindingKind.POISON: "Poison",
    FindingKind.UNREADABLE_MEMBERS: "Unreadable members",
    FindingKind.SUBSCRIPTION: "Subscription",
    FindingKind.CONFIG_BEHIND: "Configuration behind",
}


def finding_words(name: str) -> str:
    """A finding, by its kind and reason, in words.

    >>> finding_words("orphaned/grew"), finding_words("of/tomorrow")
    ('Orphaned: grew', 'of: tomorrow')
    """
    kind, _, reason = name.partition("/")
    known = KIND_WORDS[FindingKind(kind)] if kind in list(FindingKind) else kind
    return f"{known}: {reason.replace('_', ' ')}"
