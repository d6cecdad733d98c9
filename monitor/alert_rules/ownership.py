"""Alerts about owners: none, two at once, another than the assignor's, or one that does not commit."""

from __future__ import annotations

from monitor.alert_rules.rule import (
    AGE,
    CLUSTER,
    COUNT,
    GROUP,
    WAITING,
    WHICH,
    AlertRule,
    Pace,
    looked_up,
    row_rule,
    series,
)
from monitor.findings import alerts
from monitor.metrics import specs


def ownership_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """By age: metadata refreshes, rebalances and handovers leave partitions without an owner, as intended."""
    return (*_owners(pace), *_members(pace), *_shared_by_themselves(pace))


def _owners(pace: Pace) -> tuple[AlertRule, ...]:
    drifted = series(specs.GROUP_DRIFT_OLDEST_SECONDS, kind=alerts.DRIFTED.reasons)
    return (
        row_rule(
            alerts.PARTITION_ORPHANED,
            pace,
            summary=(
                f"{WHICH} has had a partition without an owner for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # partitions now', specs.GROUP_ORPHANED_PARTITIONS, 'reason')})"
            ),
            description=(
                f"No member of group {GROUP} of cluster {CLUSTER} consumes these partitions, although the group has "
                "members. New partitions get an owner once the client library of the group leader notices them: "
                "most do within 5 minutes by default, some only after a restart."
            ),
        ),
        row_rule(
            alerts.TOPOLOGY_NOT_READY,
            pace,
            summary=f"{WHICH} has been unable to run its topology for {AGE}",
            description=(
                f"The topology of the Kafka Streams application {GROUP} of cluster {CLUSTER} needs a topic that does "
                "not exist or has a wrong number of partitions. The coordinator assigns no tasks."
            ),
        ),
        row_rule(
            alerts.DOUBLE_OWNED,
            pace,
            summary=(
                f"{WHICH} has had a partition with two owners for {AGE}"
                f"{looked_up(' (# partitions now)', specs.GROUP_DOUBLE_OWNED_PARTITIONS)}"
            ),
            description=(
                f"One generation of group {GROUP} of cluster {CLUSTER} assigns a partition to two members. Its records "
                "are processed twice, and each member's commits overwrite those of the other."
            ),
        ),
        row_rule(
            alerts.DRIFTED,
            pace,
            expr=f"{drifted} > {pace.age_s(alerts.DRIFTED)}",
            summary=(
                f"{WHICH} has deviated from its assignor's assignment for {AGE} ({{{{ $labels.kind }}}}"
                f"{looked_up(', # partitions now', specs.GROUP_DRIFTED_PARTITIONS, 'kind')})"
            ),
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has other owners than its assignor computes for the inputs of its "
                "generation (replayed, target), or for the current members and topics (current). Or a member has not "
                "revoked partitions that have another target owner (pending)."
            ),
        ),
        row_rule(
            alerts.UNEVEN,
            pace,
            summary=f"{WHICH} has been imbalanced for {AGE} ({{{{ $labels.kind }}}}: {{{{ $labels.reason }}}})",
            description=(
                f"One member of group {GROUP} of cluster {CLUSTER} has far more partitions, tasks or lag than in an "
                "optimal assignment, or members have nothing to do."
            ),
        ),
        row_rule(
            alerts.TOO_MUCH_FOR_ONE,
            pace,
            summary=f"{WHICH} has had a partition with too many records for one member for {AGE}",
            description=(
                f"More records come into a partition of group {GROUP} of cluster {CLUSTER} than one member reads. Its "
                "lag grows, and more members do not help."
            ),
        ),
    )


def _members(pace: Pace) -> tuple[AlertRule, ...]:
    return (
        row_rule(
            alerts.MEMBER_DEAD,
            pace,
            expr=f"{series(specs.GROUP_DEAD_MEMBERS)} > 0",
            summary=f"{COUNT} members of {WHICH} own partitions and do not commit",
            description=(
                f"A member of group {GROUP} of cluster {CLUSTER} does not commit, although its partitions have lag and "
                "other members are committing. While it is in the group, no other member gets its partitions."
            ),
        ),
        row_rule(
            alerts.WITHOUT_MEMBERS,
            pace,
            summary=f"{WHICH} has had lag and no members for {AGE}{WAITING}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has no members, and producers have written records since its last "
                "activity. The alert does not fire for a group that is shut down while its topics receive no records."
            ),
        ),
        row_rule(
            alerts.TOPIC_ABANDONED,
            pace,
            summary=f"{WHICH} has had committed offsets of a topic without a subscribed member for {AGE}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} has members, and it has lag in a topic that it no longer "
                "consumes. The offsets expire by themselves, after 7 days by default."
            ),
        ),
        row_rule(
            alerts.MEMBERS_UNREADABLE,
            pace,
            summary=(
                f"groupwatch has been unable to decode members of {WHICH} for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # members now', specs.GROUP_UNREADABLE_MEMBERS)})"
            ),
            description=(
                f"groupwatch cannot decode a subscription or an assignment of members of group {GROUP} of cluster "
                f"{CLUSTER}. It may not detect partitions without an owner, drift, and imbalance of the group."
            ),
        ),
        row_rule(
            alerts.NOTHING_TO_READ,
            pace,
            summary=f"Members of {WHICH} have had nothing to read for {AGE}",
            description=(
                f"All topics to which members of group {GROUP} of cluster {CLUSTER} subscribe do not exist, or may not "
                "be seen."
            ),
        ),
    )


def _shared_by_themselves(pace: Pace) -> tuple[AlertRule, ...]:
    """RocketMQ's members each compute their own share of the queues, and must use the same strategy."""
    return (
        row_rule(
            alerts.DUPLICATE_CLIENT_ID,
            pace,
            summary=f"Clients of {WHICH} have had the same client id for {AGE}",
            description=(
                f"RocketMQ identifies consumers by client id, so these clients of group {GROUP} of cluster {CLUSTER} "
                "consume the same queues. Some queues have no consumer."
            ),
        ),
        row_rule(
            alerts.MIXED_STRATEGY,
            pace,
            summary=(
                f"Members of {WHICH} have used different queue allocation strategies for {AGE} ({{{{ $labels.kind }}}})"
            ),
            description=(
                f"Queues of group {GROUP} of cluster {CLUSTER} (RocketMQ) are in the shares of two members or of none. "
                "They are consumed twice or not at all."
            ),
        ),
        row_rule(
            alerts.MIXED_SUBSCRIPTION,
            pace,
            summary=f"Members of {WHICH} have subscribed to different topics for {AGE}",
            description=(
                f"Queues of group {GROUP} of cluster {CLUSTER} (RocketMQ) are in the share of a member that does not "
                "subscribe to their topic. No member consumes them."
            ),
        ),
        row_rule(
            alerts.MIXED_EXPRESSIONS,
            pace,
            summary=f"{WHICH} has lost records for {AGE}: its members filter a topic by different expressions",
            description=(
                f"Members of group {GROUP} of cluster {CLUSTER} (RocketMQ) subscribe to a topic with different tags or "
                "expressions. Records that not all of them select are passed over, without lag."
            ),
        ),
        row_rule(
            alerts.QUEUES_UNREADABLE,
            pace,
            summary=f"{WHICH} has had records in queues that may not be read for {AGE}",
            description=(
                f"Topics of group {GROUP} of cluster {CLUSTER} (RocketMQ) have fewer read queues than write queues, or "
                "no permission to be read. No member is given these queues, and the lag does not show their records."
            ),
        ),
    )
