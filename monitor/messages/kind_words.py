"""The kinds of findings, as pages and reports name them."""

from __future__ import annotations

from typing import Final

from monitor.model import FindingKind
from monitor.model.cluster_findings import ClusterFindingKind

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
    FindingKind.CAPACITY: "Capacity",
    FindingKind.EXPECTATION: "Not as expected",
}

CLUSTER_KIND_WORDS: Final = {
    ClusterFindingKind.OFFSETS_TOPIC: "Cluster, offsets topic",
    ClusterFindingKind.TOPICS: "Cluster, topics",
    ClusterFindingKind.RECORDS: "Cluster, records",
    ClusterFindingKind.BROKERS: "Cluster, brokers",
    ClusterFindingKind.EXPECTED_GROUPS: "Cluster, expected groups",
}
"""Those of a cluster itself, beside findings of a group."""

_WORDS: Final = {kind.value: words for kind, words in (*KIND_WORDS.items(), *CLUSTER_KIND_WORDS.items())}


def finding_words(name: str) -> str:
    """A finding, by its kind and reason, in words.

    >>> finding_words("orphaned/grew"), finding_words("offsets_topic/no_leader"), finding_words("of/tomorrow")
    ('Orphaned: grew', 'Cluster, offsets topic: no leader', 'of: tomorrow')
    """
    kind, _, reason = name.partition("/")
    return f"{_WORDS.get(kind, kind)}: {reason.replace('_', ' ')}"
