"""Alerts about who reads what: nobody, two at once, not whom the assignor chose, or somebody who does nothing."""

from __future__ import annotations

from dashboards.alerts.rule import (
    AGE,
    CLUSTER,
    COUNT,
    GROUP,
    WAITING,
    AlertRule,
    Pace,
    finding_age,
    looked_up,
    series,
    severity_of,
)
from monitor.metrics import specs


def ownership_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """By age: metadata refreshes (5 min), rebalances and handovers leave partitions without an owner, and are meant."""
    return (*_owners(pace), *_members(pace), *_shared_by_themselves(pace))


def _owners(pace: Pace) -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchPartitionOrphaned",
            severity=severity_of("orphaned", "!mixed_strategy|mixed_subscription"),
            expr=f"{finding_age('orphaned', '!mixed_strategy|mixed_subscription')} > {pace.seconds(600)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"{GROUP} has had a partition without owner for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # partitions now', specs.GROUP_ORPHANED_PARTITIONS, 'reason')})"
            ),
            description=(
                f"Nobody reads them, and their records wait. Group {GROUP} of cluster {CLUSTER} has members; new "
                "partitions wait for a metadata refresh, which comes within 5 minutes."
            ),
        ),
        AlertRule(
            name="GroupwatchPartitionDoubleOwned",
            severity=severity_of("double_owned", "same_generation"),
            expr=f"{finding_age('double_owned', 'same_generation')} > {pace.seconds(300)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"{GROUP} has had a partition with two owners for {AGE}"
                f"{looked_up(' (# partitions now)', specs.GROUP_DOUBLE_OWNED_PARTITIONS)}"
            ),
            description=(
                f"In group {GROUP} of cluster {CLUSTER} one generation gives a partition to two members: its records "
                "are processed twice, and the commits of one undo those of the other."
            ),
        ),
        AlertRule(
            name="GroupwatchAssignmentDrifted",
            severity=severity_of("drift", "!tie"),
            expr=f"{series(specs.GROUP_DRIFT_OLDEST_SECONDS, kind='!tie')} > {pace.seconds(900)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"{GROUP} has not been assigned as its assignor gives it for {AGE} ({{{{ $labels.kind }}}}"
                f"{looked_up(', # partitions now', specs.GROUP_DRIFTED_PARTITIONS, 'kind')})"
            ),
            description=(
                f"Owners in group {GROUP} of cluster {CLUSTER} are not those that the inputs of its generation give "
                "(replayed, target), or not those for the members and topics of now (current), or a member does not "
                "give back what another is to have (pending)."
            ),
        ),
        AlertRule(
            name="GroupwatchAssignmentUneven",
            severity=severity_of("imbalance|idle_members", "partitions|lag|no_partitions"),
            expr=f"{finding_age('imbalance|idle_members', 'partitions|lag|no_partitions')} > {pace.seconds(3600)}",
            hold_s=pace.seconds(300),
            keep_s=pace.seconds(300),
            summary=f"{GROUP} has been uneven for {AGE} ({{{{ $labels.kind }}}}: {{{{ $labels.reason }}}})",
            description=(
                f"In group {GROUP} of cluster {CLUSTER} one member has far more partitions or waiting records than the "
                "best assignment would give it, or members own nothing."
            ),
        ),
    )


def _members(pace: Pace) -> tuple[AlertRule, ...]:
    return (
        AlertRule(
            name="GroupwatchMemberDead",
            severity=severity_of("dead_member", ".+"),
            expr=f"{series(specs.GROUP_DEAD_MEMBERS)} > 0",
            hold_s=pace.seconds(300),
            keep_s=pace.seconds(300),
            summary=f"{COUNT} members of {GROUP} own partitions and do nothing",
            description=(
                f"In group {GROUP} of cluster {CLUSTER} a member commits nothing, while records wait in its partitions "
                "and other members go on. As long as it is listed, nobody else gets its partitions."
            ),
        ),
        AlertRule(
            name="GroupwatchGroupWithoutMembers",
            severity=severity_of("unattended", ".+"),
            expr=f"{series(specs.GROUP_UNATTENDED_SECONDS)} > {pace.seconds(900)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(f"{GROUP} has no members, and records have waited in vain for {AGE}{WAITING}"),
            description=(
                f"Nobody reads for group {GROUP} of cluster {CLUSTER}, and records came after its last sign of life. "
                "A group that is switched off while nothing is written for it is not told."
            ),
        ),
        AlertRule(
            name="GroupwatchTopicAbandoned",
            severity=severity_of("abandoned", "unsubscribed"),
            expr=f"{finding_age('abandoned', 'unsubscribed')} > {pace.seconds(3600)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=f"{GROUP} has committed offsets of a topic that no member has subscribed to for {AGE}",
            description=(
                f"Group {GROUP} of cluster {CLUSTER} lives, and records wait in a topic that it read once and reads no "
                "more. The offsets expire by themselves, after 7 days by default."
            ),
        ),
        AlertRule(
            name="GroupwatchMembersUnreadable",
            severity=severity_of("unreadable_members", "assignment|subscription"),
            expr=f"{finding_age('unreadable_members', 'assignment|subscription')} > {pace.seconds(900)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"groupwatch has not been able to decode members of {GROUP} for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # members now', specs.GROUP_UNREADABLE_MEMBERS)})"
            ),
            description=(
                f"A subscription or an assignment of members of group {GROUP} of cluster {CLUSTER} cannot be decoded. "
                "Partitions without an owner, drift and imbalance of the group may not be found."
            ),
        ),
    )


def _shared_by_themselves(pace: Pace) -> tuple[AlertRule, ...]:
    """RocketMQ's members share queues out each for itself, and have to agree on how."""
    return (
        AlertRule(
            name="GroupwatchDuplicateClientId",
            severity=severity_of("double_owned", "duplicate_client_id"),
            expr=f"{finding_age('double_owned', 'duplicate_client_id')} > {pace.seconds(300)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=f"Clients of {GROUP} have had the same client id for {AGE}",
            description=(
                f"In group {GROUP} of cluster {CLUSTER} (RocketMQ) each of them takes the others for itself: they read "
                "the same queues, and some queues are read by nobody."
            ),
        ),
        AlertRule(
            name="GroupwatchMixedStrategy",
            severity=severity_of("double_owned|orphaned", "mixed_strategy"),
            expr=f"{finding_age('double_owned|orphaned', 'mixed_strategy')} > {pace.seconds(300)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"Members of {GROUP} have shared queues out by different strategies for {AGE} ({{{{ $labels.kind }}}})"
            ),
            description=(
                f"In group {GROUP} of cluster {CLUSTER} (RocketMQ) queues are in the shares of two members or of none: "
                "they are read twice or not at all."
            ),
        ),
        AlertRule(
            name="GroupwatchMixedSubscription",
            severity=severity_of("orphaned", "mixed_subscription"),
            expr=f"{finding_age('orphaned', 'mixed_subscription')} > {pace.seconds(300)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=f"Members of {GROUP} have subscribed to different topics for {AGE}",
            description=(
                f"In group {GROUP} of cluster {CLUSTER} (RocketMQ) queues are in the share of a member that does not "
                "subscribe to their topic: nobody reads them."
            ),
        ),
    )
