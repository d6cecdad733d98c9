"""The kinds of findings, as pages name them."""

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
    FindingKind.RETENTION: "Retention",
    FindingKind.ABANDONED: "Abandoned",
    FindingKind.REBALANCE: "Rebalance",
    FindingKind.POISON: "Poison",
    FindingKind.UNREADABLE_MEMBERS: "Unreadable members",
    FindingKind.CONFIG_BEHIND: "Configuration behind",
}
