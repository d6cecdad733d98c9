"""Alerts about what is wrong with a cluster itself: one for all of its groups that suffer from it."""

from __future__ import annotations

from monitor.alert_rules.rule import BY_CLUSTER, CLUSTER, AlertRule, series
from monitor.metrics import specs
from monitor.metrics.promql import shard_shares
from monitor.model.findings import Severity

BY = f"{BY_CLUSTER}, kind, reason"

_CONCERNED = shard_shares(
    f"{series(specs.CLUSTER_OWN_FINDING_GROUPS)}{{cluster=%q,exported_cluster=%q,kind=%q,reason=%q}}",
    (),
    ("cluster", "exported_cluster"),
)

CONCERNED = (
    f"{{{{ range query (printf `sum({_CONCERNED})` $labels.cluster $labels.exported_cluster "
    "$labels.kind $labels.reason) }}, "
    "{{ .Value | humanize }} groups{{ end }}"
)
"""A template: how many groups the finding concerns. Each shard counts its own, and its replicas count the same ones."""


def rules_about_clusters_themselves() -> tuple[AlertRule, ...]:
    """They keep their pace in the demo, whose cluster has one broker."""
    return (
        AlertRule(
            name="GroupwatchOffsetsTopicNotWritable",
            severity=Severity.CRITICAL,
            expr=cluster_finding_age("offsets_topic", "no_leader|not_enough_replicas"),
            hold_s=120,
            summary=f"Groups of {CLUSTER} can neither commit nor rebalance ({{{{ $labels.reason }}}}{CONCERNED})",
            description=(
                f"Partitions of __consumer_offsets of cluster {CLUSTER} have no leader, or fewer in-sync replicas than "
                "min.insync.replicas. Commits fail, and after a restart records are redelivered. groupwatch accuses no "
                "owner of that meanwhile."
            ),
        ),
        AlertRule(
            name="GroupwatchOffsetsTopicGrew",
            severity=Severity.CRITICAL,
            expr=cluster_finding_age("offsets_topic", "grew"),
            hold_s=60,
            summary=f"Groups of {CLUSTER} lost their committed offsets{CONCERNED}",
            description=(
                f"__consumer_offsets of cluster {CLUSTER} has more partitions, and brokers look for these groups in "
                "others than before. Their consumers start where auto.offset.reset says."
            ),
        ),
        AlertRule(
            name="GroupwatchTopicsWithoutLeader",
            severity=Severity.CRITICAL,
            expr=cluster_finding_age("topics", "no_leader"),
            hold_s=120,
            summary=f"Groups of {CLUSTER} cannot read partitions that have no leader{CONCERNED}",
            description=(
                f"All in-sync replicas of partitions of cluster {CLUSTER} are away, so these can be neither read nor "
                "written. groupwatch accuses no owner of that meanwhile."
            ),
        ),
        AlertRule(
            name="GroupwatchTopicsNotVisible",
            severity=Severity.WARNING,
            expr=cluster_finding_age("topics", "not_visible"),
            hold_s=300,
            summary=f"groupwatch no longer sees topics of {CLUSTER} that groups have committed{CONCERNED}",
            description=(
                f"The user of groupwatch lost the permission DESCRIBE on topics of cluster {CLUSTER}, or they were "
                "deleted and the committed offsets were not. Findings about these topics are as of then, and new ones "
                "cannot be found."
            ),
        ),
        AlertRule(
            name="GroupwatchBrokerAway",
            severity=Severity.INFO,
            expr=cluster_finding_age("brokers", "away"),
            hold_s=180,
            summary=f"A broker of {CLUSTER} has been away for minutes{CONCERNED}",
            description=(
                f"Cluster {CLUSTER} no longer lists a broker that has replicas. It was the coordinator of these "
                "groups, or led partitions that they have committed. Others lead these now, or there is an alert about "
                "that."
            ),
        ),
    )


def cluster_finding_age(kind: str, reason: str) -> str:
    """Whether there is such a finding: of several shards each says so."""
    return f"max by ({BY}) ({series(specs.CLUSTER_OWN_FINDING_OLDEST_SECONDS, kind=kind, reason=reason)}) >= 0"
