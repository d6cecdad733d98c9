"""What Prometheus sees, and what it is to tell at which minute: cases for promtool, the minutes worked out by hand.

Values are in promtool's notation: ``0+60x20`` are 0, 60, ... 1200 at the minutes 0 to 20; ``1x20`` is 1 at these;
``_x5`` is nothing for 5 minutes; ``stale`` is the end of a series, which Prometheus notes at the next scrape.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.dashboards.outage_trace import EVERY_S, recorded

ONLY = "c"
"""The cluster of all cases, but for those about two."""

GROUP = {"cluster": ONLY, "group": "orders"}

AWKWARD = 'a"b\\c{{ .Value }}"} or vector(1) #'
AWKWARD_QUOTED = '"a\\"b\\\\c{{ .Value }}\\"} or vector(1) #"'
"""A name, and the same as a text in PromQL."""

Series = dict[str, str]


@dataclass(frozen=True)
class Case:
    """An alert is silent at the minute before ``fires``, is there until the one before ``gone``, and no other fires.

    ``labels`` are those of the alert besides its name and severity; ``also`` are the other alerts that fire meanwhile;
    ``interval`` is that of the values.
    """

    alert: str
    severity: str
    given: Series
    fires: int
    gone: int
    summary: str
    labels: dict[str, str] = field(default_factory=lambda: GROUP)
    also: tuple[str, ...] = ()
    interval: str = "1m"

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return self.gone


@dataclass(frozen=True)
class Silence:
    """No alert fires at any of these minutes, looked at every ``interval``."""

    name: str
    given: Series
    minutes: int
    interval: str = "1m"


def of(name: str, /, **labels: str) -> str:
    """A series, of the group unless other labels are given for it."""
    written = ", ".join(f'{label}="{value}"' for label, value in (GROUP | labels).items())
    return f"groupwatch_{name}{{{written}}}"


def at(name: str, /, **labels: str) -> str:
    """A series of groupwatch itself."""
    written = ", ".join(f'{label}="{value}"' for label, value in ({"cluster": "c"} | labels).items())
    return f"groupwatch_{name}{{{written}}}"


def of_the_jvm(open_fds: str) -> Series:
    """The file descriptors of a JVM that may have 20,000."""
    of_instance = '{instance="a:1", job="groupwatch"}'
    return {f"groupwatch_jvm_open_fds{of_instance}": open_fds, f"groupwatch_jvm_max_fds{of_instance}": "20000x120"}


def of_cluster(reason: str, shard: str = "2", groups: str = "7x20 stale", kind: str = "offsets_topic") -> Series:
    """A finding of the cluster itself from minute 0 until minute 21, as both replicas of a shard say it."""
    found: Series = {}
    for instance in (f"groupwatch-{shard}", f"replica-{shard}"):
        own = {"kind": kind, "reason": reason, "instance": instance}
        found |= {
            at("cluster_own_finding_oldest_seconds", **own): AGES,
            at("cluster_own_finding_groups", **own): groups,
        }
        found[at("shards", instance=instance, shard=shard, of="2")] = "2x120"
    return found


UP = {at("up"): "1x120"}

AGES = "0+60x20 stale"
"""Something begins at minute 0, is 60 s old at minute 1, and has ended at minute 21."""

HOUR = "0+60x70 stale"
"""As AGES, ended at minute 71."""


def shard(number: int, of: int, values: str, instance: str = "", cluster: str = "c") -> Series:
    """A shard of those that share the groups of a cluster; its values are how many there are, while it is scraped."""
    place = {"cluster": cluster, "job": "groupwatch", "instance": instance or f"groupwatch-{number}"}
    return {at("shards", **place, shard=str(number), of=str(of)): values}


def aged(kind: str, reason: str, values: str = AGES) -> Series:
    """A finding that grows old."""
    return UP | {of("group_finding_oldest_seconds", kind=kind, reason=reason): values}


def lag(values: str = "5000x120") -> Series:
    return {of("group_lag"): values}


def collector(name: str, values: str) -> Series:
    return UP | {at(name, collector="kafka", name="main"): values}


EMPTY = {
    of("group_state", state="empty"): "1x120",
    of("group_orphaned_partitions", reason="no_members"): "3x120",
}
"""A group of consumers that has no members, and offsets of three partitions."""

EVERY_TEN_MINUTES = {
    of("group_consumed_records_per_second"): " ".join(["9x4 0x4"] * 12),
    of("group_unattended_seconds"): " ".join(["stale 30+60x8"] * 12),
}
"""What is told of a group for which somebody commits so often, whose pace is that of five minutes."""

STREAMS = {
    of("group_state", state="empty"): "1x120",
    of("group_info", kind="kafka-streams", source="log"): "1x120",
    of("group_consumed_records_per_second"): "0x120",
}
"""A group of Kafka Streams (KIP-1071) that has none. Of what has no owner nothing is told there."""

GREW, TWO, SHARE = {"reason": "grew"}, {"reason": "same_generation"}, {"reason": "mixed_strategy"}

CASES = (
    # Older than 60 s at minute 2, held for one.
    Case(
        "GroupwatchConnectTasksNotRunning",
        "critical",
        aged("orphaned", "not_assigned") | {of("group_connect_idle_tasks", reason="not_assigned"): "3x120"},
        fires=3,
        gone=26,
        summary="No worker of orders of c has run some connectors or tasks for 3m 0s (not_assigned, 3 now)",
        labels=GROUP | {"kind": "orphaned", "reason": "not_assigned"},
    ),
    # From its first minute on.
    Case(
        "GroupwatchConnectTasksRunTwice",
        "warning",
        aged("double_owned", "run_twice", "_x5 540+60x9 stale"),
        fires=5,
        gone=20,
        summary="Two workers of orders of c ran the same connectors or tasks 9m 0s ago",
        labels=GROUP | {"kind": "double_owned", "reason": "run_twice"},
    ),
    Case(
        "GroupwatchConnectConfigsBehind",
        "warning",
        aged("config_behind", "config_offset"),
        fires=3,
        gone=26,
        summary="Workers of orders of c have been behind on its configurations for 3m 0s",
        labels=GROUP | {"kind": "config_behind", "reason": "config_offset"},
    ),
    # Older than 3,600 s at minute 61, held for five.
    Case(
        "GroupwatchConnectWorkersUneven",
        "info",
        aged("imbalance", "workers", HOUR),
        fires=66,
        gone=76,
        summary="Workers of orders of c have had uneven numbers of connectors or tasks for 1h 6m 0s",
        labels=GROUP | {"kind": "imbalance", "reason": "workers"},
    ),
    # Older than 600 s at minute 11, held for one until 12. It ends at 21 and is kept until 26.
    Case(
        "GroupwatchPartitionOrphaned",
        "critical",
        aged("orphaned", "grew") | {of("group_orphaned_partitions", **GREW): "3x120"},
        fires=12,
        gone=26,
        summary="orders of c has had a partition without an owner for 12m 0s (grew, 3 partitions now)",
        labels=GROUP | {"kind": "orphaned"} | GREW,
    ),
    # Older than 60 s at minute 2, held for one.
    Case(
        "GroupwatchTopologyNotReady",
        "critical",
        aged("orphaned", "not_ready"),
        fires=3,
        gone=26,
        summary="orders of c has been unable to run its topology for 3m 0s",
        labels=GROUP | {"kind": "orphaned", "reason": "not_ready"},
    ),
    # Older than 300 s at minute 6.
    Case(
        "GroupwatchPartitionDoubleOwned",
        "critical",
        aged("double_owned", "same_generation") | {of("group_double_owned_partitions"): "2x120"},
        fires=7,
        gone=26,
        summary="orders of c has had a partition with two owners for 7m 0s (2 partitions now)",
        labels=GROUP | {"kind": "double_owned"} | TWO,
    ),
    # Older than 900 s at minute 16.
    Case(
        "GroupwatchAssignmentDrifted",
        "warning",
        UP
        | {of("group_drift_oldest_seconds", kind="current"): AGES}
        | {of("group_drifted_partitions", kind="current"): "4x120"},
        fires=17,
        gone=26,
        summary="orders of c has deviated from its assignor's assignment for 17m 0s (current, 4 partitions now)",
        labels=GROUP | {"kind": "current"},
    ),
    # Older than 3600 s at minute 61, held for five until 66. It ends at 71.
    Case(
        "GroupwatchAssignmentUneven",
        "info",
        aged("imbalance", "lag", HOUR),
        fires=66,
        gone=76,
        summary="orders of c has been imbalanced for 1h 6m 0s (imbalance: lag)",
        labels=GROUP | {"kind": "imbalance", "reason": "lag"},
    ),
    # Older than 600 s at minute 11, held for one.
    Case(
        "GroupwatchPartitionTooBusy",
        "info",
        aged("capacity", "one_partition"),
        fires=12,
        gone=26,
        summary="orders of c has had a partition with too many records for one member for 12m 0s",
        labels=GROUP | {"kind": "capacity", "reason": "one_partition"},
    ),
    # There from minute 0 to 10.
    Case(
        "GroupwatchMemberDead",
        "critical",
        UP | {of("group_dead_members"): "1x10 0x60"},
        fires=5,
        gone=16,
        summary="1 members of orders of c own partitions and do not commit",
    ),
    Case(
        "GroupwatchGroupWithoutMembers",
        "critical",
        aged("unattended", "no_members")
        | lag()
        | {of("group_unattended_seconds"): AGES, of("group_state", state="empty"): "1x120"},
        fires=17,
        gone=26,
        summary="orders of c has had lag and no members for 17m 0s, 5k records",
        labels=GROUP | {"kind": "unattended", "reason": "no_members"},
    ),
    Case(
        "GroupwatchTopicAbandoned",
        "info",
        aged("abandoned", "unsubscribed", HOUR),
        fires=62,
        gone=76,
        summary="orders of c has had committed offsets of a topic without a subscribed member for 1h 2m 0s",
        labels=GROUP | {"kind": "abandoned", "reason": "unsubscribed"},
    ),
    Case(
        "GroupwatchDuplicateClientId",
        "critical",
        aged("double_owned", "duplicate_client_id"),
        fires=7,
        gone=26,
        summary="Clients of orders of c have had the same client id for 7m 0s",
        labels=GROUP | {"kind": "double_owned", "reason": "duplicate_client_id"},
    ),
    Case(
        "GroupwatchMixedStrategy",
        "critical",
        aged("orphaned", "mixed_strategy"),
        fires=7,
        gone=26,
        summary="Members of orders of c have used different queue allocation strategies for 7m 0s (orphaned)",
        labels=GROUP | {"kind": "orphaned"} | SHARE,
    ),
    # Older than 900 s at minute 16.
    Case(
        "GroupwatchMembersUnreadable",
        "warning",
        aged("unreadable_members", "subscription") | {of("group_unreadable_members"): "2x120"},
        fires=17,
        gone=26,
        summary="groupwatch has been unable to decode members of orders of c for 17m 0s (subscription, 2 members now)",
        labels=GROUP | {"kind": "unreadable_members", "reason": "subscription"},
    ),
    Case(
        "GroupwatchMixedSubscription",
        "critical",
        aged("orphaned", "mixed_subscription"),
        fires=7,
        gone=26,
        summary="Members of orders of c have subscribed to different topics for 7m 0s",
        labels=GROUP | {"kind": "orphaned", "reason": "mixed_subscription"},
    ),
    Case(
        "GroupwatchMixedExpressions",
        "critical",
        aged("subscription", "mixed_expressions"),
        fires=1,
        gone=26,
        summary="orders of c has lost records for 1m 0s: its members filter a topic by different expressions",
        labels=GROUP | {"kind": "subscription", "reason": "mixed_expressions"},
    ),
    Case(
        "GroupwatchQueuesUnreadable",
        "critical",
        aged("lag", "unreadable"),
        fires=7,
        gone=26,
        summary="orders of c has had records in queues that may not be read for 7m 0s",
        labels=GROUP | {"kind": "lag", "reason": "unreadable"},
    ),
    # Older than 600 s at minute 11, held for five.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP | lag() | {of("group_lag_at_least_seconds"): AGES},
        fires=16,
        gone=26,
        summary="orders of c is 16m 0s behind, 5k records",
    ),
    # Older than 3600 s at minute 61.
    Case(
        "GroupwatchLagVeryOld",
        "critical",
        UP | {of("group_lag_bytes"): "2048x120", of("group_lag_at_least_seconds"): HOUR},
        fires=66,
        gone=76,
        summary="orders of c is 1h 6m 0s behind, 2kibytes",
        also=("GroupwatchLagOld",),
    ),
    # More than 10,000 from minute 0 to 40, held for thirty.
    Case(
        "GroupwatchLagWithoutAge",
        "warning",
        UP | lag("20000x40 0x60"),
        fires=30,
        gone=46,
        summary="orders of c has a lag of 20k records of unknown age",
    ),
    Case(
        "GroupwatchLagOverLimit",
        "warning",
        aged("lag", "behind") | lag() | {of("group_lag_at_least_seconds"): "5x120"},
        fires=7,
        gone=26,
        summary="orders of c has exceeded its lag limit for 7m 0s, 5k records",
        labels=GROUP | {"kind": "lag", "reason": "behind"},
    ),
    Case(
        "GroupwatchPartitionStopped",
        "warning",
        aged("lag", "not_committing") | lag(),
        fires=7,
        gone=26,
        summary="orders of c has not committed partitions with lag for 7m 0s, 5k records",
        labels=GROUP | {"kind": "lag", "reason": "not_committing"},
    ),
    Case(
        "GroupwatchRecordStopsConsumers",
        "critical",
        aged("lag", "stuck_record"),
        fires=1,
        gone=26,
        summary="Consumers of orders of c have left at the same record for 1m 0s",
        labels=GROUP | {"kind": "lag", "reason": "stuck_record"},
    ),
    Case(
        "GroupwatchPartitionNeverCommitted",
        "warning",
        aged("uncommitted", "never"),
        fires=7,
        gone=26,
        summary="orders of c has never committed partitions with new records for 7m 0s",
        labels=GROUP | {"kind": "uncommitted", "reason": "never"},
    ),
    Case(
        "GroupwatchUncommittedUnattended",
        "warning",
        aged("uncommitted", "unattended"),
        fires=17,
        gone=26,
        summary="orders of c has had new records in uncommitted partitions and no members for 17m 0s",
        labels=GROUP | {"kind": "uncommitted", "reason": "unattended"},
    ),
    Case(
        "GroupwatchOffsetsExpire",
        "warning",
        aged("offsets", "expire"),
        fires=1,
        gone=26,
        summary="orders of c is about to lose committed offsets with lag: they expire",
        labels=GROUP | {"kind": "offsets", "reason": "expire"},
    ),
    Case(
        "GroupwatchOffsetsExpired",
        "warning",
        aged("offsets", "expired"),
        fires=1,
        gone=26,
        summary="orders of c has lost committed offsets with lag: they expired 1m 0s ago",
        labels=GROUP | {"kind": "offsets", "reason": "expired"},
    ),
    Case(
        "GroupwatchOffsetsInvalid",
        "warning",
        aged("offsets", "invalid"),
        fires=1,
        gone=26,
        summary="orders of c committed offsets below 0 1m 0s ago: to Kafka, nothing is committed there",
        labels=GROUP | {"kind": "offsets", "reason": "invalid"},
    ),
    # Three at minute 6: the increase is seen for ten minutes, and the alert is kept for five more.
    Case(
        "GroupwatchRecordsGivenUp",
        "critical",
        {of("group_share_given_up_records_total"): "0x5 3x60"}
        | UP
        | {of("group_finding_oldest_seconds", kind="poison", reason="given_up"): "_x5 0+60x60"},
        fires=6,
        gone=21,
        summary="orders of c has given up records after too many failed deliveries",
    ),
    Case(
        "GroupwatchRecordsOnLastDelivery",
        "warning",
        aged("poison", "last_try"),
        fires=7,
        gone=26,
        summary="orders of c has had records before their last delivery for 7m 0s",
        labels=GROUP | {"kind": "poison", "reason": "last_try"},
    ),
    Case(
        "GroupwatchDeadLetters",
        "critical",
        aged("poison", "dead_letters"),
        fires=1,
        gone=26,
        summary="orders of c gave up records within the last hour: they are in its dead-letter topic",
        labels=GROUP | {"kind": "poison", "reason": "dead_letters"},
    ),
    Case(
        "GroupwatchRecordsSentBack",
        "warning",
        aged("poison", "sent_back"),
        fires=7,
        gone=26,
        summary="orders of c has sent back most of what it consumes for 7m 0s",
        labels=GROUP | {"kind": "poison", "reason": "sent_back"},
    ),
    Case(
        "GroupwatchShareGroupStalled",
        "warning",
        aged("lag", "stalled") | lag(),
        fires=12,
        gone=26,
        summary="orders of c has had lag without an acknowledgment for 12m 0s, 5k records",
        labels=GROUP | {"kind": "lag", "reason": "stalled"},
    ),
    # There from minute 0 to 20, held for ten.
    Case(
        "GroupwatchPartitionStalled",
        "warning",
        UP | {of("group_failing_partitions", status="stall"): "2x20 stale"},
        fires=10,
        gone=26,
        summary="orders of c commits without progress in 2 partitions",
        labels=GROUP | {"status": "stall"},
    ),
    # There from minute 0 to 40, held for thirty.
    Case(
        "GroupwatchPartitionSilent",
        "info",
        UP | {of("group_failing_partitions", status="stop"): "2x40 stale"},
        fires=30,
        gone=46,
        summary="orders of c is stopped in 2 partitions according to Burrow's rules",
        labels=GROUP | {"status": "stop"},
    ),
    # There at minute 5 only, and told at once; kept for fifteen from 6.
    Case(
        "GroupwatchOffsetsRewound",
        "warning",
        UP | {of("group_failing_partitions", status="rewind"): "_x5 2 stale"},
        fires=5,
        gone=21,
        summary="orders of c moved back to earlier offsets in 2 partitions",
        labels=GROUP | {"status": "rewind"},
    ),
    Case(
        "GroupwatchTransactionOpen",
        "warning",
        aged("lag", "open_transaction"),
        fires=12,
        gone=26,
        summary="orders of c has been blocked by an open transaction for 12m 0s",
        labels=GROUP | {"kind": "lag", "reason": "open_transaction"},
    ),
    Case(
        "GroupwatchTransactionsUncommitted",
        "critical",
        aged("transactions", "uncommitted"),
        fires=7,
        gone=26,
        summary="orders of c has tried to commit in transactions for 7m 0s, and none was committed",
        labels=GROUP | {"kind": "transactions", "reason": "uncommitted"},
    ),
    Case(
        "GroupwatchOffsetsPending",
        "critical",
        aged("transactions", "pending_offsets"),
        fires=4,
        gone=26,
        summary="orders of c has had offsets in an open transaction for 4m 0s",
        labels=GROUP | {"kind": "transactions", "reason": "pending_offsets"},
    ),
    Case(
        "GroupwatchOffsetsOfFormerTopic",
        "warning",
        aged("lag", "former_log"),
        fires=12,
        gone=26,
        summary="orders of c has offsets from before its topic was deleted and recreated 12m 0s ago",
        labels=GROUP | {"kind": "lag", "reason": "former_log"},
    ),
    Case(
        "GroupwatchOffsetsBeyondEnd",
        "critical",
        aged("lag", "beyond_end"),
        fires=4,
        gone=26,
        summary="orders of c has committed offsets beyond the end of the log for 4m 0s",
        labels=GROUP | {"kind": "lag", "reason": "beyond_end"},
    ),
    # Found from minute 0 to 20, held for two.
    Case(
        "GroupwatchRetentionClose",
        "critical",
        UP
        | {of("group_retention_ratio"): "0.95x120"}
        | {of("group_findings", kind="retention", reason="close_to_loss"): "1x20 stale"},
        fires=2,
        gone=26,
        summary="orders of c is about to lose records: its lag is 95% of a log",
    ),
    # Told as soon as it is found, held for one.
    Case(
        "GroupwatchRecordsLost",
        "critical",
        aged("retention", "records_lost") | {of("group_lost_records"): "30x120"},
        fires=1,
        gone=26,
        summary="orders of c has lost records, the first 1m 0s ago, 30 at most",
        labels=GROUP | {"kind": "retention", "reason": "records_lost"},
    ),
    # Told as soon as it is found, held for one.
    Case(
        "GroupwatchRecordsOvertaken",
        "critical",
        aged("skipped", "retention") | {of("group_skipped_records_at_least"): "30x120"},
        fires=1,
        gone=26,
        summary="Retention overtook orders of c 1m 0s ago: at least 30 records were not read",
        labels=GROUP | {"kind": "skipped", "reason": "retention"},
    ),
    Case(
        "GroupwatchRecordsPerhapsSkipped",
        "info",
        aged("skipped", "perhaps") | {of("group_skipped_records_at_most"): "300x120"},
        fires=1,
        gone=26,
        summary="orders of c read many records at once 1m 0s ago, or skipped them: 300 at most",
        labels=GROUP | {"kind": "skipped", "reason": "perhaps"},
    ),
    # The scrapes have 17 rebalances within 9 of the ten minutes before 16. Extrapolated, that is 18.9. A storm by the
    # settings from 15 to 25.
    Case(
        "GroupwatchRebalanceStorm",
        "warning",
        UP
        | {of("group_rebalances_total"): "0+2x5 _ 15+2x3 22+2x109"}
        | {of("group_findings", kind="rebalance", reason="storm"): "_x15 1x10 stale"},
        fires=16,
        gone=31,
        summary="orders of c rebalances repeatedly: 19 times in 10m",
        labels=GROUP | {"kind": "rebalance", "reason": "storm"},
    ),
    # Older than 240 s at minute 5; the finding begins a minute after the rebalance.
    Case(
        "GroupwatchRebalanceLong",
        "warning",
        aged("rebalance", "long"),
        fires=6,
        gone=26,
        summary="orders of c has exceeded the time limit of a rebalance for 6m 0s",
        labels=GROUP | {"kind": "rebalance", "reason": "long"},
    ),
    Case(
        "GroupwatchNothingToRead",
        "warning",
        aged("subscription", "nothing_to_read"),
        fires=7,
        gone=26,
        summary="Members of orders of c have had nothing to read for 7m 0s",
        labels=GROUP | {"kind": "subscription", "reason": "nothing_to_read"},
    ),
    Case(
        "GroupwatchStaticMemberReplaced",
        "warning",
        aged("rebalance", "static_replacements"),
        fires=1,
        gone=26,
        summary="Static members of orders of c have been replaced repeatedly for 1m 0s",
        labels=GROUP | {"kind": "rebalance", "reason": "static_replacements"},
    ),
    Case(
        "GroupwatchDifferentSubscriptions",
        "warning",
        aged("rebalance", "different_subscriptions"),
        fires=1,
        gone=26,
        summary="Members of orders of c have rebalanced for those of other topics for 1m 0s",
        labels=GROUP | {"kind": "rebalance", "reason": "different_subscriptions"},
    ),
    # There until minute 3 and from 14 on; kept for one.
    Case(
        "GroupwatchDown",
        "critical",
        {at("up"): "1x3 stale _x9 1x60"},
        fires=9,
        gone=15,
        summary="Prometheus scrapes no groupwatch",
        labels={},
    ),
    # The second of three shards has its last sample at minute 70 and the next at 90: none in five minutes from 76 on,
    # held for five. Neither a replica of a shard nor other deployments, one of them for all groups, make up for it.
    Case(
        "GroupwatchShardAway",
        "critical",
        UP
        | shard(1, 3, "3x120")
        | shard(1, 3, "3x120", instance="groupwatch-1-again")
        | shard(2, 3, "3x70 stale _x18 3x30")
        | shard(3, 3, "3x120")
        | shard(1, 1, "1x120", instance="alone")
        | shard(1, 3, "3x120", cluster="d", instance="d-1")
        | shard(2, 3, "3x120", cluster="d", instance="d-2")
        | shard(3, 3, "3x120", cluster="d", instance="d-3"),
        fires=81,
        gone=95,
        summary="1 of 3 shards of c are missing",
        labels={"cluster": "c", "of": "3"},
    ),
    # One of three is there at minute 0, for the first time; the others come at 51, later than in half an hour and five.
    Case(
        "GroupwatchShardAway",
        "critical",
        UP | shard(2, 3, "3x120") | shard(1, 3, "_x50 3x70") | shard(3, 3, "_x50 3x70"),
        fires=35,
        gone=55,
        summary="2 of 3 shards of c are missing",
        labels={"cluster": "c", "of": "3"},
    ),
    # What was one job is to be two from minute 70 on, and the second comes at 120, later than in half an hour and five.
    Case(
        "GroupwatchShardAway",
        "critical",
        UP | shard(1, 1, "1x69 stale") | shard(1, 2, "_x70 2x120") | shard(2, 2, "_x120 2x70"),
        fires=105,
        gone=125,
        summary="1 of 2 shards of c are missing",
        labels={"cluster": "c", "of": "2"},
    ),
    Case(
        "GroupwatchClusterUnread",
        "critical",
        {at("up"): "0x10 1x120"},
        fires=5,
        gone=16,
        summary="groupwatch cannot read c",
        labels={"cluster": "c"},
    ),
    # A real outage: the broker was killed 105 s after the first scrape, and was back at 600 s. groupwatch_up is 0 from
    # 120 s on, so from minute 2. Nothing was judged since 105 s: that is more than 300 s at minute 7, held for one.
    # Both have ended at minute 10, and are kept until 15.
    Case(
        "GroupwatchClusterUnread",
        "critical",
        recorded(),
        fires=7,
        gone=15,
        summary="groupwatch cannot read c",
        labels={"cluster": "c"},
        also=("GroupwatchEvaluationOld",),
        interval=f"{EVERY_S}s",
    ),
    Case(
        "GroupwatchNotReady",
        "critical",
        UP | {at("ready"): "0x20 1x60"},
        fires=15,
        gone=26,
        summary="groupwatch does not evaluate the groups of c yet",
        labels={"cluster": "c"},
    ),
    # Judged at minute 0 and from 11 on: older than 300 s at 6, held for one.
    Case(
        "GroupwatchEvaluationOld",
        "critical",
        UP | {at("ready"): "1x120", at("last_evaluation_timestamp_seconds"): "0x10 660+60x60"},
        fires=7,
        gone=16,
        summary="The groups of c have not been evaluated for 7m 0s",
        labels={"cluster": "c"},
    ),
    # Read at minute 0 and from 21 on.
    Case(
        "GroupwatchCatalogOld",
        "warning",
        UP | {at("catalog_timestamp_seconds"): "0x20 1260+60x60"},
        fires=12,
        gone=26,
        summary="The topics of c were last read 12m 0s ago",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchInputLag",
        "warning",
        UP | {at("ready"): "1x120", at("input_lag_records"): "200000x20 0x60"},
        fires=15,
        gone=26,
        summary="groupwatch has 200k records of c to read",
        labels={"cluster": "c"},
    ),
    # The first errors ever, at minute 20, are new for fifteen minutes, and the alert is kept for as long.
    Case(
        "GroupwatchDecodeErrors",
        "warning",
        UP | {at("ready"): "1x120", at("decode_errors_total", source="offsets", reason="truncated"): "_x20 3x80"},
        fires=20,
        gone=50,
        summary="3 records of c cannot be decoded (offsets: truncated)",
        labels={"cluster": "c", "source": "offsets", "reason": "truncated"},
    ),
    # The first errors ever, soon after the start: told once the job has been ready for sixteen minutes, until 19.
    Case(
        "GroupwatchDecodeErrors",
        "warning",
        UP | {at("ready"): "1x120", at("decode_errors_total", source="offsets", reason="truncated"): "_x5 3x95"},
        fires=16,
        gone=35,
        summary="3 records of c cannot be decoded (offsets: truncated)",
        labels={"cluster": "c", "source": "offsets", "reason": "truncated"},
    ),
    # The first errors ever, of an hour and a half in which it was away: ready before is enough.
    Case(
        "GroupwatchDecodeErrors",
        "warning",
        {
            at("up"): "1x20 stale _x59 1x60",
            at("ready"): "1x20 stale _x59 0x2 1x60",
            at("decode_errors_total", source="offsets", reason="truncated"): "_x82 3x60",
        },
        fires=82,
        gone=112,
        summary="3 records of c cannot be decoded (offsets: truncated)",
        labels={"cluster": "c", "source": "offsets", "reason": "truncated"},
        also=("GroupwatchDown",),
    ),
    # Away from minute 11 to 30, ready at 34. What it had not read by then is there at 32, and told until 45: fifteen
    # minutes before 46 it was not ready.
    Case(
        "GroupwatchDecodeErrors",
        "warning",
        {
            at("up"): "1x10 stale _x19 1x80",
            at("ready"): "1x10 stale _x19 0x2 1x80",
            at("decode_errors_total", source="offsets", reason="truncated"): "5x10 stale _x20 500x80",
        },
        fires=32,
        gone=61,
        summary="495 records of c cannot be decoded (offsets: truncated)",
        labels={"cluster": "c", "source": "offsets", "reason": "truncated"},
        also=("GroupwatchDown",),
    ),
    # One more at minute 21. Fifteen minutes before 35 there was one less, fifteen before 36 not.
    Case(
        "GroupwatchDecodeErrors",
        "warning",
        UP | {at("decode_errors_total", source="offsets", reason="truncated"): "1x20 2x80"},
        fires=21,
        gone=51,
        summary="1 records of c cannot be decoded (offsets: truncated)",
        labels={"cluster": "c", "source": "offsets", "reason": "truncated"},
    ),
    Case(
        "GroupwatchEvaluationErrors",
        "warning",
        UP | {at("evaluation_errors_total"): "0x20 2x80"},
        fires=21,
        gone=51,
        summary="Groups of c could not be evaluated, 2 times in 15 minutes",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchFindingsNotWritten",
        "warning",
        UP | {at("findings_up"): "0x20 1x60"},
        fires=10,
        gone=26,
        summary="groupwatch cannot write findings of c to the findings topic",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchExpectationsNotRead",
        "warning",
        UP | {at("expectations_up"): "0x20 1x60"},
        fires=10,
        gone=26,
        summary="groupwatch cannot read the expectations of c any more",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchExpectationCritical",
        "critical",
        aged("expectation", "critical"),
        fires=7,
        gone=26,
        summary="orders of c has not been as expected for 7m 0s",
        labels=GROUP | {"kind": "expectation", "reason": "critical"},
    ),
    Case(
        "GroupwatchExpectation",
        "warning",
        aged("expectation", "warning") | {of("group_expectation_info", team="checkout", met="no"): "1x60"},
        fires=7,
        gone=26,
        summary="orders of c has not been as expected for 7m 0s",
        labels=GROUP | {"kind": "expectation", "reason": "warning", "team": "checkout"},
    ),
    Case(
        "GroupwatchExpectationInfo",
        "info",
        aged("expectation", "info"),
        fires=7,
        gone=26,
        summary="orders of c has not been as expected for 7m 0s",
        labels=GROUP | {"kind": "expectation", "reason": "info"},
    ),
    *[
        Case(
            name,
            severity,
            UP | of_cluster(severity, groups="0x20 stale", kind="expected_groups"),
            fires=5,
            gone=26,
            summary="Expected groups of c do not exist",
            labels={"cluster": "c", "kind": "expected_groups", "reason": severity},
        )
        for name, severity in (
            ("GroupwatchExpectedGroupsCritical", "critical"),
            ("GroupwatchExpectedGroups", "warning"),
            ("GroupwatchExpectedGroupsInfo", "info"),
        )
    ],
    Case(
        "GroupwatchNotRecording",
        "warning",
        UP | {at("recording_up"): "0x20 1x60"},
        fires=10,
        gone=26,
        summary="groupwatch cannot write the recording of c",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchRecordingOld",
        "warning",
        dict.fromkeys(UP, "1x240") | {at("recorded_timestamp_seconds"): "0x160 9600+60x60"},
        fires=131,
        gone=166,
        summary="The recording of c ends 2h 11m 0s ago",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchOffsetsTopicNotWritable",
        "critical",
        UP | of_cluster("not_enough_replicas", shard="1", groups="5x20 stale") | of_cluster("not_enough_replicas"),
        fires=2,
        gone=26,
        summary="Groups of c can neither commit nor rebalance (not_enough_replicas, 12 groups)",
        labels={"cluster": "c", "kind": "offsets_topic", "reason": "not_enough_replicas"},
    ),
    # Nobody can read the groups of partitions without a leader, so they are not evaluated: that is one alert.
    Case(
        "GroupwatchOffsetsTopicNotWritable",
        "critical",
        UP | of_cluster("no_leader") | {at("cluster_unevaluated_groups", instance="groupwatch-2"): "7x20 stale"},
        fires=2,
        gone=26,
        summary="Groups of c can neither commit nor rebalance (no_leader, 7 groups)",
        labels={"cluster": "c", "kind": "offsets_topic", "reason": "no_leader"},
    ),
    Case(
        "GroupwatchGroupsNotEvaluated",
        "critical",
        UP | of_cluster("no_leader") | {at("cluster_unevaluated_groups", instance="groupwatch-2"): "8x20 stale"},
        fires=5,
        gone=26,
        summary="8 groups of c are not evaluated",
        labels={"cluster": "c", "instance": "groupwatch-2"},
        also=("GroupwatchOffsetsTopicNotWritable",),
    ),
    Case(
        "GroupwatchOffsetsTopicGrew",
        "critical",
        UP | of_cluster("grew"),
        fires=1,
        gone=26,
        summary="Groups of c lost their committed offsets, 7 groups",
        labels={"cluster": "c", "kind": "offsets_topic", "reason": "grew"},
    ),
    Case(
        "GroupwatchTopicsWithoutLeader",
        "critical",
        UP | of_cluster("no_leader", kind="topics"),
        fires=2,
        gone=26,
        summary="Groups of c cannot read partitions that have no leader, 7 groups",
        labels={"cluster": "c", "kind": "topics", "reason": "no_leader"},
    ),
    Case(
        "GroupwatchBrokerAway",
        "info",
        UP | of_cluster("away", kind="brokers"),
        fires=3,
        gone=26,
        summary="A broker of c has been away for minutes, 7 groups",
        labels={"cluster": "c", "kind": "brokers", "reason": "away"},
    ),
    Case(
        "GroupwatchTopicsNotVisible",
        "warning",
        UP | of_cluster("not_visible", kind="topics"),
        fires=5,
        gone=26,
        summary="groupwatch no longer sees topics of c that groups have committed, 7 groups",
        labels={"cluster": "c", "kind": "topics", "reason": "not_visible"},
    ),
    Case(
        "GroupwatchGroupsNotEvaluated",
        "critical",
        UP | {at("cluster_unevaluated_groups"): "7x20 stale"},
        fires=5,
        gone=26,
        summary="7 groups of c are not evaluated",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchGroupsUnreadable",
        "warning",
        UP | {at("cluster_unreadable_groups"): "7x20 stale"},
        fires=15,
        gone=26,
        summary="groupwatch cannot read the members or offsets of 7 groups of c",
        labels={"cluster": "c"},
    ),
    Case(
        "GroupwatchFileDescriptors",
        "warning",
        UP | of_the_jvm("16001x20 15999x60"),
        fires=5,
        gone=26,
        summary="groupwatch has 80.01% of its file descriptors open",
        labels={"instance": "a:1", "job": "groupwatch"},
    ),
    Case(
        "GroupwatchGroupsLeftOut",
        "warning",
        UP | {at("series_left_out", detail="group"): "120x20 0x60", at("series_left_out", detail="topic"): "5x120"},
        fires=15,
        gone=26,
        summary="120 series of groups of c exceed the cap",
        labels={"cluster": "c", "detail": "group"},
    ),
    Case(
        "GroupwatchCollectorFailing",
        "warning",
        collector("collector_up", "0x20 1x60"),
        fires=10,
        gone=26,
        summary="The collector kafka main of c fails or is incomplete",
        labels={"cluster": "c", "collector": "kafka", "name": "main"},
    ),
    # Everything at minute 0 and from 21 on: older than 900 s at 16.
    Case(
        "GroupwatchCollectorOld",
        "warning",
        collector("collector_last_success_timestamp_seconds", "0x20 1260+60x60"),
        fires=17,
        gone=26,
        summary="The last complete pass of the collector kafka main of c was 17m 0s ago",
        labels={"cluster": "c", "collector": "kafka", "name": "main"},
    ),
    # A group whose name means something in labels, in queries and in templates: what is looked up of it is its own.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP
        | {f'groupwatch_group_lag{{cluster="c", group={AWKWARD_QUOTED}}}': "7x120"}
        | {f'groupwatch_group_lag_at_least_seconds{{cluster="c", group={AWKWARD_QUOTED}}}': AGES},
        fires=16,
        gone=26,
        summary=f"{AWKWARD} of c is 16m 0s behind, 7 records",
        labels={"cluster": "c", "group": AWKWARD},
    ),
    # A job that is restarted: an hour's orphan is told from minute 1 on, through 3 minutes in which nothing is there.
    Case(
        "GroupwatchPartitionOrphaned",
        "critical",
        {
            at("up"): "1x9 stale _x2 1x60",
            of("group_finding_oldest_seconds", kind="orphaned", **GREW): "3600+60x9 stale _x2 4380+60x20 stale",
        },
        fires=1,
        gone=39,
        summary="orders of c has had a partition without an owner for 1h 1m 0s (grew)",
        labels=GROUP | {"kind": "orphaned"} | GREW,
    ),
    # A group without members: all that it causes is one alert, though what waits was nine minutes old when they left.
    Case(
        "GroupwatchGroupWithoutMembers",
        "critical",
        UP
        | EMPTY
        | lag("20000x120")
        | {of("group_lag_at_least_seconds"): "540+60x70 stale", of("group_unattended_seconds"): "_ 60+60x70 stale"}
        | aged("unattended", "no_members", "_ 60+60x70 stale")
        | {
            of("group_consumed_records_per_second"): "40x5 0x120",
            of("group_failing_partitions", status="stop"): "3x120",
        },
        fires=17,
        gone=77,
        summary="orders of c has had lag and no members for 17m 0s, 20k records",
        labels=GROUP | {"kind": "unattended", "reason": "no_members"},
    ),
    # Without members, and of a kind whose members own no partitions, so no alert tells that they are away.
    Case(
        "GroupwatchLagVeryOld",
        "critical",
        UP
        | STREAMS
        | lag()
        | {of("group_lag_at_least_seconds"): HOUR, of("group_failing_partitions", status="stop"): "3x70 stale"},
        fires=66,
        gone=76,
        summary="orders of c is 1h 6m 0s behind, 5k records",
        also=("GroupwatchLagOld", "GroupwatchPartitionSilent"),
    ),
    Case(
        "GroupwatchLagWithoutAge",
        "warning",
        UP | STREAMS | lag("20000x40 0x60"),
        fires=30,
        gone=46,
        summary="orders of c has a lag of 20k records of unknown age",
    ),
    # RocketMQ's broadcasting: the number of partitions without an owner is told, and is 0.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP
        | lag()
        | {of("group_state", state="empty"): "1x120", of("group_orphaned_partitions", reason="no_members"): "0x120"}
        | {of("group_consumed_records_per_second"): "0x120", of("group_lag_at_least_seconds"): AGES},
        fires=16,
        gone=26,
        summary="orders of c is 16m 0s behind, 5k records",
    ),
    # Without members, but somebody commits for it, too slowly.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP
        | EMPTY
        | lag()
        | {of("group_consumed_records_per_second"): "40x120", of("group_lag_at_least_seconds"): AGES},
        fires=16,
        gone=26,
        summary="orders of c is 16m 0s behind, 5k records",
    ),
    # Likewise, once in ten minutes: between two commits it seems that nobody reads.
    Case(
        "GroupwatchLagVeryOld",
        "critical",
        UP | EMPTY | lag() | EVERY_TEN_MINUTES | {of("group_lag_at_least_seconds"): "5400x59 stale"},
        fires=15,
        gone=65,
        summary="orders of c is 1h 30m 0s behind, 5k records",
        also=("GroupwatchLagOld",),
    ),
    # Likewise, always the same offset.
    Case(
        "GroupwatchPartitionStalled",
        "warning",
        UP
        | EMPTY
        | lag()
        | {of("group_consumed_records_per_second"): "0x120", of("group_lag_at_least_seconds"): "0+60x100"}
        | {of("group_failing_partitions", status="stall"): "2x20 stale"},
        fires=10,
        gone=26,
        summary="orders of c commits without progress in 2 partitions",
        labels=GROUP | {"status": "stall"},
    ),
    # Likewise, going back.
    Case(
        "GroupwatchOffsetsRewound",
        "warning",
        UP
        | EMPTY
        | {of("group_consumed_records_per_second"): "40x120"}
        | {of("group_failing_partitions", status="rewind"): "_x5 2 stale"},
        fires=5,
        gone=21,
        summary="orders of c moved back to earlier offsets in 2 partitions",
        labels=GROUP | {"status": "rewind"},
    ),
    # The brokers took no commits until minute 30, and still nobody commits then: held for five from minute 31 on.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP
        | lag()
        | {
            of("group_lag_at_least_seconds"): "0+60x60 stale",
            of("group_commits_blocked_seconds"): "30+60x30 stale",
            of("group_failing_partitions", status="stop"): "3x40 0x60",
        },
        fires=36,
        gone=66,
        summary="orders of c is 36m 0s behind, 5k records",
    ),
    # An older groupwatch says "stall" all the time, but until minute 30 the brokers take no commits.
    Case(
        "GroupwatchPartitionStalled",
        "warning",
        UP
        | {
            of("group_commits_blocked_seconds"): "30+60x30 stale",
            of("group_failing_partitions", status="stall"): "2x50 stale",
        },
        fires=41,
        gone=56,
        summary="orders of c commits without progress in 2 partitions",
        labels=GROUP | {"status": "stall"},
    ),
    # Records that were lost before the brokers ceased to take commits stay lost.
    Case(
        "GroupwatchRecordsLost",
        "critical",
        aged("retention", "records_lost") | {of("group_commits_blocked_seconds"): "_x2 30+60x30 stale"},
        fires=1,
        gone=26,
        summary="orders of c has lost records, the first 1m 0s ago",
        labels=GROUP | {"kind": "retention", "reason": "records_lost"},
    ),
    # It was so before, and goes on when the brokers take no commits from minute 10 on.
    Case(
        "GroupwatchLagOld",
        "warning",
        UP
        | lag()
        | {
            of("group_lag_at_least_seconds"): "1200+60x20 stale",
            of("group_commits_blocked_seconds"): "_x10 30+60x10 stale",
        },
        fires=5,
        gone=26,
        summary="orders of c is 25m 0s behind, 5k records",
    ),
)

ROLLING = {
    # Every 15 s. Of five members one after the other leaves for 45 s, from the fourth sample on: ten rebalances, each
    # of 15 s at most; partitions of those that left are pending for 15 s; what waits meanwhile is 45 s old at most.
    at("up"): "1x160",
    at("ready"): "1x160",
    at("last_evaluation_timestamp_seconds"): "0+15x160",
    at("catalog_timestamp_seconds"): "0+15x160",
    of("group_members"): "5x3 4x2 5 4x2 5 4x2 5 4x2 5 4x2 5x140",
    of("group_rebalances_total"): "7x3 8x2 9 10x2 11 12x2 13 14x2 15 16x2 17x140",
    of("group_rebalancing"): "0x2 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0x140",
    of("group_finding_oldest_seconds", kind="orphaned", reason="pending"): (
        "_x3 15 stale _ 15 stale _ 15 stale _ 15 stale _ 15 stale"
    ),
    of("group_orphaned_oldest_seconds"): "_x3 15 stale _ 15 stale _ 15 stale _ 15 stale _ 15 stale",
    of("group_lag"): "10x3 900 1800 20 900 1800 20 900 1800 20 900 1800 20 900 1800 20 10x140",
    of("group_lag_at_least_seconds"): "1x3 15 30 2 15 30 2 15 30 2 15 30 2 15 30 2 1x140",
    of("group_dead_members"): "0x160",
    of("group_double_owned_partitions"): "0x160",
    of("group_drift_oldest_seconds", kind="current"): "_x3 15 stale _ 15 stale _ 15 stale _ 15 stale _ 15 stale",
}

SILENCES = (
    Silence(
        "the brokers take no commits of a group for over an hour, and then it has caught up",
        UP
        | lag("20000x70 0x40")
        | {
            of("group_lag_at_least_seconds"): "0+60x70 stale",
            of("group_commits_blocked_seconds"): "30+60x70 stale",
            of("group_failing_partitions", status="stop"): "3x70 stale",
            of("group_failing_partitions", status="stall"): "3x70 stale",
            # What retention removed and the group has not committed may have been read: there is no finding of it.
            of("group_lost_records"): "0x20 5000x50 0x40",
            of("group_retention_ratio"): "0.5x20 1x50 0.1x40",
        },
        minutes=100,
    ),
    Silence(
        "the same, and the age of its lag is not known",
        UP | lag("20000x70 0x40") | {of("group_commits_blocked_seconds"): "30+60x70 stale"},
        minutes=100,
    ),
    Silence("a rolling restart of five members", ROLLING, minutes=40, interval="15s"),
    # Gone for 3 minutes, then 4 minutes to read the backlog; healthy groups before and after.
    Silence(
        "a restart of the job",
        {
            at("up"): "1x9 stale _x2 1x60",
            at("ready"): "1x9 stale _x2 0x3 1x60",
            at("last_evaluation_timestamp_seconds"): "0+60x9 stale _x6 1020+60x60",
            at("input_lag_records"): "0x9 stale _x2 3000000x3 0x60",
            of("group_members"): "2x9 stale _x6 2x60",
            of("group_lag"): "10x9 stale _x6 900000 10x60",
            of("group_lag_at_least_seconds"): "1x9 stale _x6 480 1x60",
            at("decode_errors_total", source="offsets", reason="truncated"): "5x9 stale _x6 5x60",
            at("evaluation_errors_total"): "2x9 stale _x2 2x60",
        },
        minutes=60,
    ),
    # Stopped for 8 minutes, then 3 minutes of what was served before, of minute 9.
    Silence(
        "a planned stop, and a restart that serves what was served before it",
        {
            at("up"): "1x9 stale _x4 1x60",
            at("ready"): "1x9 stale _x7 0x3 1x60",
            at("last_evaluation_timestamp_seconds"): "0+60x9 stale _x7 540x3 1260+60x60",
            of("group_members"): "2x9 stale _x7 2x63",
            of("group_lag"): "10x9 stale _x7 10x63",
        },
        minutes=40,
    ),
    Silence(
        "a worker of Connect that is away for longer than the five minutes for which Connect waits",
        aged("orphaned", "delay") | {of("group_connect_idle_tasks", reason="delay"): "3x20 0x100"},
        minutes=30,
    ),
    Silence(
        "an orphan that heals in the ten minutes in which a metadata refresh comes for certain",
        aged("orphaned", "grew", "0+60x10 stale"),
        minutes=30,
    ),
    Silence(
        "a shard that reads its backlog for ten minutes and counts errors in it, beside one that is ready for long",
        {
            at("up", instance="a:9464"): "1x120",
            at("ready", instance="a:9464"): "1x120",
            at("input_lag_records", instance="a:9464"): "7x120",
            at("up", instance="b:9464"): "_x20 1x90",
            at("ready", instance="b:9464"): "_x20 0x14 1x75",
            at("input_lag_records", instance="b:9464"): "_x20 3000000x19 0x70",
            at("decode_errors_total", instance="b:9464", source="offsets", reason="truncated"): "_x20 3x90",
        },
        minutes=100,
    ),
    # Every 15 s. Each is away for 4.5 minutes and the next goes before anybody has seen the one before: for 22 minutes.
    Silence(
        "a rolling restart of a StatefulSet of five shards, one of which is always away",
        {at("up"): "1x240"}
        | shard(5, 5, "5x20 stale _x17 5x200")
        | shard(4, 5, "5x37 stale _x17 5x200")
        | shard(3, 5, "5x54 stale _x17 5x200")
        | shard(2, 5, "5x71 stale _x17 5x200")
        | shard(1, 5, "5x88 stale _x17 5x200"),
        minutes=50,
        interval="15s",
    ),
    Silence(
        "three shards beside a job for all groups, of the same cluster and of another",
        UP
        | shard(1, 3, "3x120")
        | shard(2, 3, "3x120")
        | shard(3, 3, "3x120")
        | shard(1, 1, "1x120", instance="alone")
        | shard(1, 1, "1x120", instance="other", cluster="d"),
        minutes=100,
    ),
    Silence(
        "a shard that starts anew at another address, whose former series is never marked as ended",
        UP
        | shard(1, 2, "2x120")
        | shard(2, 2, "2x60", instance="node-a")
        | shard(2, 2, "_x63 2x60", instance="node-b"),
        minutes=100,
    ),
    Silence(
        "a cluster that is new to six shards, which start one after the other",
        {at("up"): "1x240"}
        | {series: values for n in range(6) for series, values in shard(6 - n, 6, f"_x{4 + 5 * n} 6x200").items()},
        minutes=50,
        interval="15s",
    ),
    # The third is scaled away, then one after the other of the two that are left starts with a backlog to read.
    Silence(
        "three shards that become two in 25 minutes",
        {at("up"): "1x200"}
        | shard(3, 3, "3x80 stale")
        | shard(2, 3, "3x82 stale")
        | shard(2, 2, "_x85 2x120")
        | shard(1, 3, "3x103 stale")
        | shard(1, 2, "_x105 2x100"),
        minutes=190,
    ),
    Silence("lag that is caught up in time", UP | {of("group_lag_at_least_seconds"): "0+60x15 0x60"}, minutes=40),
    Silence(
        "a group that is switched off, and nothing waits but a marker of a transaction in each partition",
        UP
        | EMPTY
        | lag("3x120")
        | {of("group_consumed_records_per_second"): "0x120", of("group_lag_at_least_seconds"): "0+60x100"}
        | {of("group_failing_partitions", status="stop"): "3x120"},
        minutes=100,
    ),
    Silence(
        "a group that is switched off, of which retention has removed all that waited",
        UP | EMPTY | lag("500000x120") | {of("group_consumed_records_per_second"): "0x120"},
        minutes=100,
    ),
    Silence(
        "offsets of a group that is switched off are set back",
        UP | EMPTY | {of("group_failing_partitions", status="rewind"): "_x5 2x115"},
        minutes=100,
    ),
    Silence(
        "offsets of a group are set back, two minutes after its members were switched off",
        UP
        | {
            of("group_state", state="empty"): "0x19 1x100",
            of("group_orphaned_partitions", reason="no_members"): "3x120",
        }
        | {of("group_consumed_records_per_second"): "40x19 30 20 10 5 0x95"}
        | {of("group_failing_partitions", status="rewind"): "_x20 2x90"},
        minutes=100,
    ),
    Silence(
        "offsets of a group of Kafka Streams that is switched off are set back",
        UP | STREAMS | {of("group_failing_partitions", status="rewind"): "_x5 2x115"},
        minutes=100,
    ),
    Silence("much lag that is young", UP | lag("500000x120") | {of("group_lag_at_least_seconds"): "5x120"}, minutes=60),
    Silence(
        "a drift that is a tie, where both answers are right",
        UP | {of("group_drift_oldest_seconds", kind="tie"): "0+60x100"},
        minutes=100,
    ),
    Silence("a start that comes to its end in time", UP | {at("ready"): "0x14 1x60"}, minutes=40),
    Silence(
        "errors of before that a new Prometheus sees for the first time",
        UP | {at("decode_errors_total", source="offsets", reason="truncated"): "7x120"},
        minutes=60,
    ),
    Silence(
        "errors of before that a job brings to another instance, where they come two minutes after it is up",
        {
            at("up", instance="a:9464"): "1x20 stale",
            at("ready", instance="a:9464"): "1x20 stale",
            at("decode_errors_total", instance="a:9464", source="offsets", reason="truncated"): "5x20 stale",
            at("up", instance="b:9464"): "_x22 1x90",
            at("ready", instance="b:9464"): "_x22 0 1x89",
            at("decode_errors_total", instance="b:9464", source="offsets", reason="truncated"): "_x24 5x88",
        },
        minutes=100,
    ),
    Silence(
        "errors of before, of a shard that was away for seven hours",
        {
            at("up", instance="a:9464"): "1x600",
            at("up", instance="b:9464"): "1x20 stale _x419 1x150",
            at("ready", instance="b:9464"): "1x20 stale _x419 0 1x149",
            at("decode_errors_total", instance="b:9464", source="offsets", reason="truncated"): (
                "5x20 stale _x421 5x148"
            ),
        },
        minutes=580,
    ),
    Silence(
        "a job that reads its backlog from the beginning for ten minutes and finds the errors that it knew",
        {
            at("up"): "1x20 stale _ 1x100",
            at("ready"): "1x20 stale _ 0x9 1x90",
            at("decode_errors_total", source="offsets", reason="truncated"): "500x20 stale _x2 3+53x9 480x90",
        },
        minutes=110,
    ),
    Silence("a member that stops for a moment", UP | {of("group_dead_members"): "0x2 1x4 0x60"}, minutes=30),
)
