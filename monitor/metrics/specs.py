"""The table of all metrics: every sample that groupwatch exposes belongs to one of these families.

Prefix ``groupwatch_``, base units in the name, ``_total`` on counters only, and the same word for the same label
everywhere. A series exists while its group, topic or partition exists and its value is known; unknown is absent.

A family that is one value of what it describes has it in its row (``value``), and is rendered by that alone. The others
are rendered where their labels are made. The order of the rows is the order in which families are written.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from monitor.detection.rules.retention import lost_records
from monitor.metrics.row_values import (
    accepted_records,
    by_the_machine,
    commits_to_brokers,
    commits_to_zookeeper,
    connect_delay_until_ms,
    connect_tasks,
    consumed_per_s,
    counts_redelivered,
    expectations_value,
    expired_partitions,
    fewest_skipped,
    has_joined,
    has_joined_brokers,
    has_lost_records,
    has_moves,
    has_open_transaction,
    has_pauses,
    has_skips,
    has_tasks,
    idle_members,
    in_bytes,
    in_records,
    is_answered,
    is_connect_cluster,
    is_rebalanced,
    is_redelivered,
    last_answer_ms,
    last_tries,
    max_deliveries,
    most_skipped,
    produced_per_s,
    recording_value,
    records_given_up,
    redelivery_number,
    rejected_records,
    task_imbalance,
    tasks_without_owner,
    unreadable_members,
    waiting_redelivery,
)
from monitor.metrics.spec_types import (
    BY_CLUSTER,
    BY_COLLECTOR,
    BY_GROUP,
    BY_PARTITION,
    ClusterMetric,
    CollectorMetric,
    GroupMetric,
    HistogramMetric,
    LogMetric,
    MetricScope,
    MetricSpec,
    PartitionMetric,
    TopicMetric,
)


def _rows_so_far(prefix: str) -> tuple[MetricSpec, ...]:
    """The rows above the call whose names begin so, in their order."""
    return tuple(row for row in globals().values() if isinstance(row, MetricSpec) and row.name.startswith(prefix))


_NO_LAG: Final = (
    "there is no commit, or the end offset of the partition is unknown; the commit is beyond the end; the commit or "
    "the end went back, until the next polls"
)
_NO_LAGS: Final = (
    "no partition has a known lag; a partition with records has no committed offset; a commit is beyond the end of its "
    "partition; brokers write a commit in a version that groupwatch does not read"
)
_NOT_JOINED: Final = "the group commits without joined members, so its members are unknown"
_NOT_READ: Final = "a member cannot be decoded, or the assignor is unknown"
_NOT_OWNED: Final = f"{_NOT_JOINED}; a member cannot be decoded"
_TASKS: Final = "the group belongs to Kafka Streams, which balances tasks"
_NO_TASKS: Final = "the members of the group have no tasks, or they are unknown"
_NO_MOVES: Final = f"{_NOT_JOINED}; partitions have no single owner (share, streams, broadcasting)"
_BY_THE_LOG: Final = f"{_NO_MOVES}; the group is not read from a log"
_IF_KAFKA: Final = "the group belongs to MetaQ, whose offsets are bytes"
_ONLY_METAQ: Final = "the group does not belong to MetaQ"
_NO_SHARE: Final = "the group is not a share group, or its share state is not read"
_NO_REDELIVERY: Final = "the group is none of RocketMQ; nothing was sent back or given up so far"
_NO_CONNECT: Final = "the group is no Connect cluster"
_NONE: Final = "there are none"
_READY: Final = "the cluster is ready"
_NEVER_JUDGED: Final = "no evaluation has ended"
_NO_PASS: Final = "no poll has ended"

PARTITION_LAG: Final = PartitionMetric(
    "groupwatch_partition_lag",
    "Records between the committed offset and the end of the partition.",
    value=attrgetter("lag"),
    when=in_records,
    absent=f"{_NO_LAG}; {_IF_KAFKA}",
)
PARTITION_LAG_SECONDS: Final = PartitionMetric(
    "groupwatch_partition_lag_seconds",
    "Age of the oldest record after the committed offset.",
    value=attrgetter("lag_ms"),
    absent="the age is unknown: the commit is older than the history of end offsets",
)
PARTITION_COMMITTED_OFFSET: Final = PartitionMetric(
    "groupwatch_partition_committed_offset",
    "Committed offset: the next record that the group will consume.",
    value=attrgetter("committed"),
    absent="there is no commit",
)
PARTITION_END_OFFSET: Final = LogMetric(
    "groupwatch_partition_end_offset",
    "Offset after the newest record of the partition.",
    value=attrgetter("end"),
    absent="no collector has seen the partition; the job is not the first shard",
)
GROUP_LAG: Final = GroupMetric(
    "groupwatch_group_lag",
    "Lag of the group in records, summed over partitions.",
    value=attrgetter("lag"),
    when=in_records,
    absent=f"{_NO_LAGS}; {_IF_KAFKA}",
)
GROUP_LAG_SECONDS: Final = GroupMetric(
    "groupwatch_group_lag_seconds",
    "Age of the oldest record that the group has not committed, over all partitions.",
    value=attrgetter("lag_ms"),
    absent="no partition with lag has a known age; a partition with records has no committed offset; a commit is "
    "beyond the end of its partition; brokers write a commit in a version that groupwatch does not read",
)
GROUP_LAG_SINCE: Final = GroupMetric(
    "groupwatch_group_lag_since_timestamp_seconds",
    "Estimated time at which the oldest record was written that the group has not committed.",
    value=attrgetter("lag_since_ms"),
    absent="no record is unread; no partition with lag has a known age",
)
GROUP_STABLE_LAG: Final = GroupMetric(
    "groupwatch_group_stable_lag",
    "Lag of the group up to the last stable offset. Absent while no transaction is open.",
    value=attrgetter("stable_lag"),
    when=has_open_transaction,
    absent=f"no transaction is open; {_NO_LAGS}",
)
GROUP_MEMBERS: Final = GroupMetric(
    "groupwatch_group_members",
    "Members of the group.",
    value=lambda verdict: len(verdict.members),
    when=has_joined,
    absent=_NOT_JOINED,
)
GROUP_IDLE_MEMBERS: Final = GroupMetric(
    "groupwatch_group_idle_members",
    "Members that own no partition.",
    value=idle_members,
    when=has_joined,
    absent=f"{_NOT_JOINED}; {_TASKS}",
)
GROUP_STATE: Final = MetricSpec(
    "groupwatch_group_state",
    "1 for the current state of the group, 0 for the others.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "state"),
)
GROUP_ORPHANED_PARTITIONS: Final = MetricSpec(
    "groupwatch_group_orphaned_partitions",
    "Partitions that the group should consume but no member owns.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "reason"),
    absent=_NOT_OWNED,
)
GROUP_ORPHANED_OLDEST_SECONDS: Final = MetricSpec(
    "groupwatch_group_orphaned_oldest_seconds",
    "Longest time for which a partition has had no owner.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=_NONE,
)
GROUP_CONNECT_TASKS: Final = GroupMetric(
    "groupwatch_group_connect_tasks",
    "Connectors and tasks that the workers of the Connect cluster run.",
    value=connect_tasks,
    when=is_connect_cluster,
    absent=_NO_CONNECT,
)
GROUP_CONNECT_IDLE_TASKS: Final = MetricSpec(
    "groupwatch_group_connect_idle_tasks",
    "Connectors and tasks that no worker of the Connect cluster runs.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "reason"),
    absent=f"{_NO_CONNECT}; a worker cannot be decoded",
)
GROUP_CONNECT_DELAY_UNTIL: Final = GroupMetric(
    "groupwatch_group_connect_delay_until_timestamp_seconds",
    "When the Connect cluster stops waiting for a worker that is gone (scheduled.rebalance.max.delay.ms).",
    value=connect_delay_until_ms,
    when=is_connect_cluster,
    absent=f"{_NO_CONNECT}; it does not wait",
)
GROUP_UNATTENDED_SECONDS: Final = MetricSpec(
    "groupwatch_group_unattended_seconds",
    "Time since a group without members has had unread records.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=(
        "the group has members or no unread records; another client commits for it; partitions have no single "
        "owner (broadcasting, POP)"
    ),
)
GROUP_DEAD_MEMBERS: Final = MetricSpec(
    "groupwatch_group_dead_members",
    "Members that do not commit although their partitions have lag and other members commit.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=_NOT_OWNED,
)
GROUP_UNREADABLE_MEMBERS: Final = GroupMetric(
    "groupwatch_group_unreadable_members",
    "Members whose subscription or assignment groupwatch cannot decode. Absent if there are none.",
    value=unreadable_members,
    when=has_joined,
    absent=_NONE,
)
GROUP_DOUBLE_OWNED_PARTITIONS: Final = MetricSpec(
    "groupwatch_group_double_owned_partitions",
    "Partitions that more than one member owns.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=_NOT_OWNED,
)
GROUP_DRIFTED_PARTITIONS: Final = MetricSpec(
    "groupwatch_group_drifted_partitions",
    "Partitions whose owner differs from the assignor's result for the replayed or the current inputs.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind"),
    absent=_NOT_READ,
)
GROUP_DRIFT_OLDEST_SECONDS: Final = MetricSpec(
    "groupwatch_group_drift_oldest_seconds",
    "Time since owners began to differ from the assignor's result.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind"),
    absent="there is no drift",
)
GROUP_IMBALANCE_RATIO: Final = GroupMetric(
    "groupwatch_group_imbalance_ratio",
    "Partitions of the largest member divided by its partitions in the most even assignment.",
    value=attrgetter("imbalance_ratio"),
    when=has_joined,
    absent=f"there are no members or no partitions; a member cannot be decoded; {_TASKS}",
)
GROUP_REBALANCES_TOTAL: Final = GroupMetric(
    "groupwatch_group_rebalances_total",
    "Completed generations (KIP-848: epochs) since the group was first seen.",
    value=attrgetter("rebalances"),
    when=has_joined,
    absent=_NOT_JOINED,
)
GROUP_STATUS: Final = MetricSpec(
    "groupwatch_group_status",
    "1 for the status of the group by Burrow's rules, 0 for the others. Absent while no lag is known or the "
    "brokers take no commits, unless commits went back.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "status"),
    absent=f"{_NO_LAGS}; there is lag, and the brokers take no commits of the group, or did not until a moment ago",
)
GROUP_CONSUMED_RECORDS_PER_SECOND: Final = GroupMetric(
    "groupwatch_group_consumed_records_per_second",
    "Rate of committed records over the last minutes, on partitions with lag. Absent without lag, or if the "
    "rate is known for less than nine tenths of it.",
    value=consumed_per_s,
    when=in_records,
    absent=f"there is no lag, or the rate is unknown; {_IF_KAFKA}",
)
GROUP_PRODUCED_RECORDS_PER_SECOND: Final = GroupMetric(
    "groupwatch_group_produced_records_per_second",
    "Rate of produced records on partitions with lag, over the same minutes.",
    value=produced_per_s,
    when=in_records,
    absent=f"there is no lag, or the rate is unknown; {_IF_KAFKA}",
)
GROUP_CATCH_UP_SECONDS: Final = GroupMetric(
    "groupwatch_group_catch_up_seconds",
    "Estimated time until no partition of the group has lag, each at its own rate. 0 without lag. Absent if unknown or "
    "never.",
    value=attrgetter("catch_up_ms"),
    absent="a lag is unknown; the rates are known for less than nine tenths of the lag; a partition with lag is not "
    "consumed faster than produced",
)
GROUP_LOST_RECORDS: Final = GroupMetric(
    "groupwatch_group_lost_records",
    "Upper bound of records that retention removed before the group committed them.",
    value=attrgetter("lost"),
    when=has_lost_records,
    absent=f"{_NONE}; {_IF_KAFKA}",
)
GROUP_SKIPPED_AT_LEAST: Final = GroupMetric(
    "groupwatch_group_skipped_records_at_least",
    "Lower bound of records that commits of the last hour passed and the group did not read.",
    value=fewest_skipped,
    when=has_skips,
    absent=_NONE,
)
GROUP_SKIPPED_AT_MOST: Final = GroupMetric(
    "groupwatch_group_skipped_records_at_most",
    "Upper bound of records that commits of the last hour passed and the group did not read.",
    value=most_skipped,
    when=has_skips,
    absent=_NONE,
)
GROUP_RETENTION_RATIO: Final = GroupMetric(
    "groupwatch_group_retention_ratio",
    "Largest lag of a trimmed partition as a share of its retained records. At 1, the next removal loses records.",
    value=lambda verdict: verdict.kept_waiting or None,
    absent="no partition with lag was ever trimmed",
)
PARTITION_LOST_RECORDS: Final = PartitionMetric(
    "groupwatch_partition_lost_records",
    "Upper bound of records that retention removed before the group committed them. Absent if there are none.",
    value=lambda row: lost_records(row) or None,
    when=has_lost_records,
    absent=f"{_NONE}; {_IF_KAFKA}",
)
GROUP_REBALANCING: Final = GroupMetric(
    "groupwatch_group_rebalancing",
    "1 while a rebalance is known to be in progress, else 0. Classic groups: as sampled by the collector.",
    value=lambda verdict: int(verdict.rebalancing_since_ms is not None),
    when=is_rebalanced,
    absent=f"{_NOT_JOINED}; members assign partitions themselves",
)
GROUP_REBALANCE_SECONDS_TOTAL: Final = GroupMetric(
    "groupwatch_group_rebalance_seconds_total",
    "Lower bound of the duration of all rebalances since the group was first seen.",
    value=attrgetter("rebalance_ms"),
    when=is_rebalanced,
    absent=f"{_NOT_JOINED}; members assign partitions themselves",
)
GROUP_MOVED_PARTITIONS_TOTAL: Final = GroupMetric(
    "groupwatch_group_moved_partitions_total",
    "Partitions that changed owner in a rebalance.",
    value=attrgetter("moved_partitions"),
    when=has_moves,
    absent=_NO_MOVES,
)
GROUP_AVOIDABLE_MOVES_TOTAL: Final = GroupMetric(
    "groupwatch_group_avoidable_moves_total",
    "Moved partitions that the stickiest balanced assignment would not have moved.",
    value=attrgetter("avoidable_moves"),
    when=has_moves,
    absent=_NO_MOVES,
)
GROUP_REDELIVERED_RECORDS_TOTAL: Final = GroupMetric(
    "groupwatch_group_redelivered_records_total",
    "Records delivered again because committed offsets moved back.",
    value=attrgetter("redelivered_records"),
    when=counts_redelivered,
    absent="the group is a share group or belongs to MetaQ",
)
GROUP_REBALANCE_PAUSE_SECONDS_TOTAL: Final = GroupMetric(
    "groupwatch_group_rebalance_pause_seconds_total",
    "Lower bound of partition-seconds during which a rebalance stopped consumption of partitions with lag.",
    value=attrgetter("pause_ms"),
    when=has_pauses,
    absent=_BY_THE_LOG,
)
GROUP_REBALANCE_BURST_RECORDS_TOTAL: Final = GroupMetric(
    "groupwatch_group_rebalance_burst_records_total",
    "Records covered by the first commits after those pauses.",
    value=attrgetter("burst_records"),
    when=has_pauses,
    absent=_BY_THE_LOG,
)
GROUP_SHARE_WAITING_REDELIVERY: Final = GroupMetric(
    "groupwatch_group_share_waiting_redelivery_records",
    "Records of a share group that were delivered and are available again.",
    value=waiting_redelivery,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_MAX_DELIVERIES: Final = GroupMetric(
    "groupwatch_group_share_max_deliveries",
    "Largest delivery count of these records.",
    value=max_deliveries,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_LAST_TRY: Final = GroupMetric(
    "groupwatch_group_share_last_try_records",
    "Records of a share group that it gives up if the next delivery fails.",
    value=last_tries,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_ACCEPTED_TOTAL: Final = GroupMetric(
    "groupwatch_group_share_accepted_records_total",
    "Records that members of a share group accepted, since the group was first seen.",
    value=accepted_records,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_REJECTED_TOTAL: Final = GroupMetric(
    "groupwatch_group_share_rejected_records_total",
    "Records archived before the delivery limit: rejected, of transactions, or removed by compaction.",
    value=rejected_records,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_GIVEN_UP_TOTAL: Final = GroupMetric(
    "groupwatch_group_share_given_up_records_total",
    "Records that a share group gave up at the delivery limit, since the group was first seen.",
    value=records_given_up,
    when=is_answered,
    absent=_NO_SHARE,
)
GROUP_SHARE_LAST_ANSWER: Final = GroupMetric(
    "groupwatch_group_share_last_acknowledgment_timestamp_seconds",
    "Time of the newest acknowledgment in a share group, or of the newest expired lock.",
    value=last_answer_ms,
    when=is_answered,
    absent=f"{_NO_SHARE}; no record was ever acknowledged",
)
GROUP_SENT_BACK_TOTAL: Final = GroupMetric(
    "groupwatch_group_sent_back_records_total",
    "Records that came into the retry topics of a RocketMQ group, each once for every attempt.",
    value=redelivery_number("sent_back"),
    when=is_redelivered,
    absent=_NO_REDELIVERY,
)
GROUP_RETRY_WAITING: Final = GroupMetric(
    "groupwatch_group_retry_waiting_records",
    "Records in the retry topics of a RocketMQ group that it has not consumed.",
    value=redelivery_number("waiting"),
    when=is_redelivered,
    absent=_NO_REDELIVERY,
)
GROUP_RETRY_WAITING_SINCE: Final = GroupMetric(
    "groupwatch_group_retry_waiting_since_timestamp_seconds",
    "A time at which one of these records waited already.",
    value=redelivery_number("waiting_since_ms"),
    when=is_redelivered,
    absent=f"{_NO_REDELIVERY}; none waits",
)
GROUP_DEAD_LETTERS_TOTAL: Final = GroupMetric(
    "groupwatch_group_dead_letter_records_total",
    "Records that came into the dead-letter topic of a RocketMQ group.",
    value=redelivery_number("given_up"),
    when=is_redelivered,
    absent=_NO_REDELIVERY,
)
GROUP_DEAD_LETTERS: Final = GroupMetric(
    "groupwatch_group_kept_dead_letter_records",
    "Records that are still in the dead-letter topic of a RocketMQ group.",
    value=redelivery_number("dead_letters"),
    when=is_redelivered,
    absent=_NO_REDELIVERY,
)
GROUP_IN_FLIGHT: Final = GroupMetric(
    "groupwatch_group_in_flight_records",
    "Records that members of a RocketMQ group took by POP and have not acknowledged.",
    value=redelivery_number("in_flight"),
    when=is_redelivered,
    absent="no member reports them: it does not read by POP, or uses RocketMQ's proxy",
)
GROUP_UNREADABLE: Final = GroupMetric(
    "groupwatch_group_unreadable_records",
    "Records that a RocketMQ group has not consumed, in queues of its topics that may not be read.",
    value=attrgetter("unreadable_records"),
    when=attrgetter("unreadable_records"),
    absent=_NONE,
)
GROUP_INFO: Final = MetricSpec(
    "groupwatch_group_info",
    "1, with the kind of the group and its source: log, admin, system or checkpoint.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind", "source"),
)
PARTITION_LAG_BYTES: Final = PartitionMetric(
    "groupwatch_partition_lag_bytes",
    "Bytes between the committed offset and the end of the partition. MetaQ only: its offsets are bytes.",
    value=attrgetter("lag"),
    when=in_bytes,
    absent=f"{_NO_LAG}; {_ONLY_METAQ}",
)
GROUP_LAG_BYTES: Final = GroupMetric(
    "groupwatch_group_lag_bytes",
    "Lag of a MetaQ group in bytes, summed over partitions.",
    value=attrgetter("lag"),
    when=in_bytes,
    absent=f"{_NO_LAGS}; {_ONLY_METAQ}",
)
GROUP_CONSUMED_BYTES_PER_SECOND: Final = GroupMetric(
    "groupwatch_group_consumed_bytes_per_second",
    f"Same as {GROUP_CONSUMED_RECORDS_PER_SECOND.name}, for MetaQ, in bytes.",
    value=consumed_per_s,
    when=in_bytes,
    absent=f"as for records; {_ONLY_METAQ}",
)
GROUP_PRODUCED_BYTES_PER_SECOND: Final = GroupMetric(
    "groupwatch_group_produced_bytes_per_second",
    f"Same as {GROUP_PRODUCED_RECORDS_PER_SECOND.name}, for MetaQ, in bytes.",
    value=produced_per_s,
    when=in_bytes,
    absent=f"as for records; {_ONLY_METAQ}",
)
GROUP_FINDINGS: Final = MetricSpec(
    "groupwatch_group_findings",
    "Open findings by kind and reason (docs/findings.md). Absent if there are none.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind", "reason"),
    absent=_NONE,
)
GROUP_FINDING_OLDEST_SECONDS: Final = MetricSpec(
    "groupwatch_group_finding_oldest_seconds",
    "Time since the oldest of these findings became true.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind", "reason"),
    absent=_NONE,
)
GROUP_FINDING_SINCE: Final = MetricSpec(
    "groupwatch_group_finding_since_timestamp_seconds",
    "When the oldest of these findings became true.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "kind", "reason"),
    absent=_NONE,
)
GROUP_EXPECTATION_INFO: Final = MetricSpec(
    "groupwatch_group_expectation_info",
    "1, with the team of the group, and whether its expectations are met (yes, no, unknown).",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "team", "met"),
    absent="no entry of the file of expectations is about the group, or there is no file",
)
_NO_SCALE: Final = "no entry [[scale]] is for the group"
_NO_WANTED: Final = f"{_NO_SCALE}; the number is unknown"
GROUP_WANTED_MEMBERS: Final = MetricSpec(
    "groupwatch_group_wanted_members",
    "Members that the group needs to read all that waits within the target of its entry [[scale]].",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=_NO_WANTED,
)
GROUP_WANTED_REPLICAS: Final = MetricSpec(
    "groupwatch_group_wanted_replicas",
    "Replicas that have so many members.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=_NO_WANTED,
)
GROUP_DRAIN_SECONDS: Final = MetricSpec(
    "groupwatch_group_drain_seconds",
    "Time that the present members need to read all that waits, and what comes in meanwhile.",
    scope=MetricScope.GROUP,
    labels=BY_GROUP,
    absent=f"{_NO_SCALE}; how fast members read, or what comes in, is unknown; they never catch up",
)
GROUP_SCALE_HOLD: Final = MetricSpec(
    "groupwatch_group_scale_hold",
    "1 while the number of members is to stay as it is, with the reason.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "reason"),
    absent=f"{_NO_SCALE}; nothing holds the number",
)
GROUP_FAILING_PARTITIONS: Final = MetricSpec(
    "groupwatch_group_failing_partitions",
    "Partitions with the Burrow status stop, stall or rewind. Absent if there are none.",
    scope=MetricScope.GROUP,
    labels=(*BY_GROUP, "status"),
    absent=_NONE,
)
GROUP_LAG_AT_LEAST_SECONDS: Final = GroupMetric(
    "groupwatch_group_lag_at_least_seconds",
    "Lower bound of the age of the oldest unread record, also beyond the remembered history of end offsets.",
    value=attrgetter("lag_at_least_ms"),
    absent="no age is known; retention removed the unread records",
)
GROUP_COMMITS_BLOCKED_SECONDS: Final = GroupMetric(
    "groupwatch_group_commits_blocked_seconds",
    "Time for which the brokers may have taken no commits of the group: its partition of `__consumer_offsets` takes no "
    "records. Its lag may have grown by that alone.",
    value=lambda verdict: (
        None if verdict.blocked_since_ms is None else max(0, verdict.evaluated_ms - verdict.blocked_since_ms)
    ),
    absent="the brokers take its commits",
)
GROUP_LAG_AT_LEAST: Final = GroupMetric(
    "groupwatch_group_lag_at_least",
    "Lower bound of the lag in records, where partitions with records have no committed offset: the sum of the others.",
    value=attrgetter("lag_at_least"),
    when=in_records,
    absent=(
        "the lag is known; a commit is beyond the end of its partition; "
        f"brokers write a commit in a version that groupwatch does not read; {_IF_KAFKA}"
    ),
)
GROUP_UNCOMMITTED_PARTITIONS: Final = GroupMetric(
    "groupwatch_group_uncommitted_partitions",
    "Partitions with records in which the group has no committed offset. Absent if there are none.",
    value=lambda verdict: verdict.uncommitted_partitions or None,
    absent=_NONE,
)
GROUP_UNCOMMITTED_RECORDS: Final = GroupMetric(
    "groupwatch_group_uncommitted_records",
    "Upper bound of the records in these partitions: what the lag may be more than its lower bound.",
    value=lambda verdict: verdict.uncommitted_records or None,
    when=in_records,
    absent=f"{_NONE}; {_IF_KAFKA}",
)
GROUP_OFFSETS_EXPIRE: Final = GroupMetric(
    "groupwatch_group_offsets_expire_timestamp_seconds",
    "When the brokers delete the first committed offset of the group, if it commits nothing there before.",
    value=attrgetter("offsets_expire_ms"),
    absent=(
        "members subscribe to all committed topics; the brokers do not return offsets.retention.minutes; the group is "
        "not read from a log"
    ),
)
GROUP_EXPIRED_PARTITIONS: Final = GroupMetric(
    "groupwatch_group_expired_partitions",
    "Partitions whose committed offsets expired within seven days, without a commit since. Absent if there are none.",
    value=expired_partitions,
    absent=_NONE,
)
GROUP_TASKS: Final = GroupMetric(
    "groupwatch_group_tasks",
    "Tasks of the group that there should be (Kafka Streams).",
    value=lambda verdict: len(verdict.tasks),
    when=has_tasks,
    absent=_NO_TASKS,
)
GROUP_ORPHANED_TASKS: Final = GroupMetric(
    "groupwatch_group_orphaned_tasks",
    "Tasks of the group that no member runs.",
    value=tasks_without_owner,
    when=has_tasks,
    absent=_NO_TASKS,
)
GROUP_TASK_IMBALANCE_RATIO: Final = GroupMetric(
    "groupwatch_group_task_imbalance_ratio",
    "Active tasks of the busiest application instance, divided by what its threads must have at least. "
    "1 or less is as even as possible.",
    value=task_imbalance,
    when=has_tasks,
    absent=f"{_NO_TASKS}; tasks are on their way, or a rebalance is announced that moves them",
)
TOPIC_LAG: Final = TopicMetric(
    "groupwatch_topic_lag",
    "Lag of the group in the topic, in records. Exposed with detail topic, instead of partitions.",
    value=attrgetter("lag"),
    when=in_records,
    absent=f"the detail is not topic; {_NO_LAGS}; {_IF_KAFKA}",
)
TOPIC_LAG_SECONDS: Final = TopicMetric(
    "groupwatch_topic_lag_seconds",
    "Age of the oldest uncommitted record of the topic. Exposed with detail topic.",
    value=attrgetter("lag_ms"),
    absent="the detail is not topic; no partition with lag has a known age",
)
TOPIC_LAG_BYTES: Final = TopicMetric(
    "groupwatch_topic_lag_bytes",
    "Lag of a MetaQ group in the topic, in bytes. Exposed with detail topic.",
    value=attrgetter("lag"),
    when=in_bytes,
    absent=f"the detail is not topic; {_NO_LAGS}; {_ONLY_METAQ}",
)
TOPIC_INCOMING_SKEW_RATIO: Final = MetricSpec(
    "groupwatch_topic_incoming_skew_ratio",
    "Rate of the busiest partition over the mean of all partitions, of what comes into the topic. 1 is even.",
    scope=MetricScope.TOPIC,
    labels=("cluster", "topic"),
    absent="nothing comes in; the rate of a partition is unknown, as in its first minute; the job is not the first "
    "shard",
)
TOPIC_TRUNCATED_RECORDS: Final = MetricSpec(
    "groupwatch_topic_truncated_records_total",
    "Records by which ends of the topic's partitions went back (unclean leader election, restored log), at least.",
    scope=MetricScope.TOPIC,
    labels=("cluster", "topic"),
    absent="the topic has no id (Kafka before 2.8, RocketMQ, MetaQ); the detail is group; the job is not the first "
    "shard",
)
PARTITION_LAST_COMMIT: Final = MetricSpec(
    "groupwatch_partition_last_commit_timestamp_seconds",
    "Time of the newest commit, by the broker's clock. Exposed if metrics.commit_times is set.",
    scope=MetricScope.PARTITION,
    labels=BY_PARTITION,
    absent="metrics.commit_times is not set; there is no commit; the group is not read from a log",
)
PARTITION_COMMITS: Final = MetricSpec(
    "groupwatch_partition_commits_total",
    "Commits that were read from the log. Exposed if metrics.commit_times is set.",
    scope=MetricScope.PARTITION,
    labels=BY_PARTITION,
    absent="metrics.commit_times is not set; there is no commit; the group is not read from a log",
)
CONNECT_WORKER_TASKS: Final = MetricSpec(
    "groupwatch_connect_worker_tasks",
    "Tasks that a worker of a Connect cluster runs, without connectors. Exposed if metrics.member_info is set.",
    scope=MetricScope.MEMBER,
    labels=(*BY_GROUP, "member_id", "url"),
    absent=f"metrics.member_info is not set; {_NO_CONNECT}",
)
MEMBER_INFO: Final = MetricSpec(
    "groupwatch_member_info",
    "1, with the identity of a group member. Exposed if metrics.member_info is set.",
    scope=MetricScope.MEMBER,
    labels=(*BY_GROUP, "member_id", "client_id", "host", "instance_id"),
    absent="metrics.member_info is not set",
)
MEMBER_LAG: Final = MetricSpec(
    "groupwatch_member_lag",
    "Lag of a member in records, summed over the partitions that it owns. Exposed if metrics.member_info is set.",
    scope=MetricScope.MEMBER,
    labels=(*BY_GROUP, "member_id", "client_id", "host"),
    absent=f"metrics.member_info is not set; no partition of the member has a known lag; {_NO_MOVES}; {_IF_KAFKA}",
)
MEMBER_TASKS: Final = MetricSpec(
    "groupwatch_member_tasks",
    "Tasks of a member by role: active or standby. Exposed if metrics.member_info is set.",
    scope=MetricScope.MEMBER,
    labels=(*BY_GROUP, "member_id", "client_id", "host", "role"),
    absent="metrics.member_info is not set; the members of the group have no tasks",
)
PARTITION_OWNER_INFO: Final = MetricSpec(
    "groupwatch_partition_owner_info",
    "1, with the member that owns the partition, one series for each owner. Exposed if metrics.owner_info is set.",
    scope=MetricScope.PARTITION,
    labels=(*BY_PARTITION, "member_id", "client_id", "host"),
    absent="metrics.owner_info is not set; the partition has no owner",
)
PARTITION_EXPECTED_OWNER_INFO: Final = MetricSpec(
    "groupwatch_partition_expected_owner_info",
    "1, with the expected owner of the partition, if known. Exposed if metrics.owner_info is set.",
    scope=MetricScope.PARTITION,
    labels=(*BY_PARTITION, "member_id", "client_id", "host"),
    absent="metrics.owner_info is not set; the assignor is unknown, or assigns no owner",
)
CLUSTER_GROUPS: Final = MetricSpec(
    "groupwatch_cluster_groups",
    "Groups of the cluster in this state.",
    scope=MetricScope.CLUSTER,
    labels=("cluster", "state"),
)
CLUSTER_LAG: Final = MetricSpec(
    "groupwatch_cluster_lag",
    "Sum of the known lags of all groups of the cluster, in records.",
    scope=MetricScope.CLUSTER,
    labels=BY_CLUSTER,
    absent=f"no group has a known lag; {_IF_KAFKA.replace('group', 'cluster')}",
)
CLUSTER_FINDINGS: Final = MetricSpec(
    "groupwatch_cluster_findings",
    "Open findings of all groups of the cluster. Absent if there are none.",
    scope=MetricScope.CLUSTER,
    labels=("cluster", "kind", "reason"),
    absent=_NONE,
)
CLUSTER_OWN_FINDING_OLDEST_SECONDS: Final = MetricSpec(
    "groupwatch_cluster_own_finding_oldest_seconds",
    "Time since this finding of the cluster itself became true. Findings that follow from it are not counted as "
    "findings of groups.",
    scope=MetricScope.CLUSTER,
    labels=("cluster", "kind", "reason"),
    absent=_NONE,
)
CLUSTER_OWN_FINDING_GROUPS: Final = MetricSpec(
    "groupwatch_cluster_own_finding_groups",
    "Groups that this finding of the cluster itself concerns.",
    scope=MetricScope.CLUSTER,
    labels=("cluster", "kind", "reason"),
    absent=_NONE,
)
CLUSTER_UNREADABLE_GROUPS: Final = MetricSpec(
    "groupwatch_cluster_unreadable_groups",
    "Groups whose members or offsets are unknown: the brokers write a version that this groupwatch does not read.",
    scope=MetricScope.CLUSTER,
    labels=BY_CLUSTER,
    absent=_NONE,
)
CLUSTER_UNEVALUATED_GROUPS: Final = MetricSpec(
    "groupwatch_cluster_unevaluated_groups",
    "Groups that show an earlier evaluation: their partition of __consumer_offsets cannot be read, or their evaluation "
    "failed.",
    scope=MetricScope.CLUSTER,
    labels=BY_CLUSTER,
    absent=_NONE,
)
CLIENT_LIBRARY_MEMBERS: Final = MetricSpec(
    "groupwatch_client_library_members",
    "Members of the cluster's Kafka groups that use this client library. The label names several if each of them fits.",
    scope=MetricScope.CLUSTER,
    labels=("cluster", "library"),
    absent="no group of Kafka clients has a member",
)
UP: Final = ClusterMetric(
    "groupwatch_up",
    "1 while the cluster can be read, else 0. It is 0 from a start until something has been read.",
    value=lambda cluster: int(cluster.is_up),
)
READY: Final = ClusterMetric(
    "groupwatch_ready",
    "1 once the backlog at start has been read, else 0. Before that, groups may be of the last run.",
    value=lambda cluster: int(cluster.ready),
)
WARM_UP_TOTAL_RECORDS: Final = ClusterMetric(
    "groupwatch_warm_up_total_records",
    "Records (offsets) of the backlog at start. Absent once the cluster is ready.",
    value=lambda cluster: cluster.warm_up.total if cluster.warm_up else None,
    absent=_READY,
)
WARM_UP_REMAINING_RECORDS: Final = ClusterMetric(
    "groupwatch_warm_up_remaining_records",
    "Records (offsets) of the backlog that are not read yet. Absent once the cluster is ready.",
    value=lambda cluster: cluster.warm_up.remaining if cluster.warm_up else None,
    absent=_READY,
)
WARM_UP_REMAINING_SECONDS: Final = ClusterMetric(
    "groupwatch_warm_up_remaining_seconds",
    "Estimated time until the backlog has been read, at the rate of the last batches. Absent once ready.",
    value=lambda cluster: cluster.warm_up.left_ms if cluster.warm_up else None,
    absent=f"{_READY}; the rate is not known yet",
)
LAST_EVALUATION_TIMESTAMP_SECONDS: Final = ClusterMetric(
    "groupwatch_last_evaluation_timestamp_seconds",
    "Unix time of the last evaluation of the cluster's groups.",
    value=lambda cluster: by_the_machine(cluster, cluster.evaluated_ms),
    absent=_NEVER_JUDGED,
)
BATCH_DURATION_SECONDS: Final = ClusterMetric(
    "groupwatch_batch_duration_seconds",
    "Deprecated: see groupwatch_micro_batch_seconds. Duration of the newest batch.",
    value=attrgetter("batch_duration_ms"),
    absent="no batch has ended",
)
INPUT_LAG_RECORDS: Final = ClusterMetric(
    "groupwatch_input_lag_records",
    "Records of the offsets topic or events topic that groupwatch has not read yet.",
    value=attrgetter("input_lag"),
    absent="no batch has ended",
)
DECODE_ERRORS_TOTAL: Final = MetricSpec(
    "groupwatch_decode_errors_total",
    "Records that could not be decoded.",
    scope=MetricScope.SELF,
    labels=("cluster", "source", "reason"),
    absent=_NONE,
)
EVALUATION_ERRORS_TOTAL: Final = ClusterMetric(
    "groupwatch_evaluation_errors_total",
    "Group evaluations that failed.",
    value=attrgetter("evaluation_errors"),
)
CATALOG_TIMESTAMP_SECONDS: Final = ClusterMetric(
    "groupwatch_catalog_timestamp_seconds",
    "Unix time at which the newest complete poll of the topics started.",
    value=lambda cluster: by_the_machine(cluster, cluster.catalog_ms),
    absent="no poll of the topics is known",
)
FINDINGS_UP: Final = ClusterMetric(
    "groupwatch_findings_up",
    "1 while findings can be written to their topic, else 0. Absent without a findings topic.",
    value=lambda cluster: int(cluster.findings_problem is None) if cluster.tells_findings else None,
    absent="no findings topic is configured",
)
EXPECTATIONS_UP: Final = ClusterMetric(
    "groupwatch_expectations_up",
    "1 while the file of expectations can be used, else 0: the expectations that were read before are used then.",
    value=expectations_value,
    absent="there is no file of expectations, or no batch has ended",
)
RECORDING_UP: Final = ClusterMetric(
    "groupwatch_recording_up",
    "1 while the recording can be written, else 0. Absent without one.",
    value=recording_value(lambda recording: int(recording.problem is None)),
    absent="nothing is recorded",
)
RECORDED_TIMESTAMP_SECONDS: Final = ClusterMetric(
    "groupwatch_recorded_timestamp_seconds",
    "Unix time before which everything that was logged is recorded.",
    value=recording_value(attrgetter("recorded_ms")),
    absent="nothing is recorded, or this job has not read the logs to their ends yet",
)
RECORDING_EVALUATED_TIMESTAMP_SECONDS: Final = ClusterMetric(
    "groupwatch_recording_evaluated_timestamp_seconds",
    "Unix time until which the tables for SQL have all rows.",
    value=recording_value(attrgetter("evaluated_ms")),
    absent="nothing is recorded, or not known yet after a start",
)
RECORDING_FAILED_GROUPS: Final = ClusterMetric(
    "groupwatch_recording_failed_groups",
    "Groups without rows in the newest ten minutes of the tables for SQL, because their evaluation failed.",
    value=recording_value(attrgetter("failed_groups")),
    absent="nothing is recorded",
)
RECORDING_UNREAD_ROWS: Final = ClusterMetric(
    "groupwatch_recording_unread_rows",
    "Rows of recorded events that the newest states lack, because they cannot be read.",
    value=recording_value(attrgetter("unread_rows")),
    absent="nothing is recorded",
)
BUILD_INFO: Final = MetricSpec(
    "groupwatch_build_info",
    "1, with the version of groupwatch.",
    scope=MetricScope.SELF,
    labels=("version",),
)
SHARD_INFO: Final = MetricSpec(
    "groupwatch_shard_info",
    "1, with the job's shard number and the number of shards.",
    scope=MetricScope.SELF,
    labels=("shard", "of"),
)
SHARDS: Final = MetricSpec(
    "groupwatch_shards",
    "Configured number of shards for the groups of the cluster, 1 without shards. The label has the job's own shard.",
    scope=MetricScope.SELF,
    labels=("cluster", "shard", "of"),
)
COLLECTOR_UP: Final = CollectorMetric(
    "groupwatch_collector_up",
    "1 if the newest poll of the collector was complete, else 0.",
    value=lambda health: int(health.problem is None) if health.pass_ms is not None else None,
    absent=_NO_PASS,
)
COLLECTOR_LAST_SUCCESS_TIMESTAMP_SECONDS: Final = CollectorMetric(
    "groupwatch_collector_last_success_timestamp_seconds",
    "Unix time at which the collector last wrote a complete poll.",
    value=attrgetter("last_success_ms"),
    absent="no poll was complete",
)
COLLECTOR_PASSES_TOTAL: Final = MetricSpec(
    "groupwatch_collector_passes_total",
    "Polls of the collector: complete, incomplete (a response is missing) or failed.",
    scope=MetricScope.SELF,
    labels=(*BY_COLLECTOR, "result"),
)
COLLECTOR_PASS_DURATION_SECONDS: Final = CollectorMetric(
    "groupwatch_collector_pass_duration_seconds",
    "Deprecated: see groupwatch_collector_pass_seconds. Duration of the newest poll.",
    value=attrgetter("pass_ms"),
    absent=_NO_PASS,
)
SERIES_LEFT_OUT: Final = MetricSpec(
    "groupwatch_series_left_out",
    "Series of a detail (partition, topic or group) that metrics.max_series left out. Absent without that setting.",
    scope=MetricScope.SELF,
    labels=("cluster", "detail"),
    absent="metrics.max_series is not set",
)

METRICS: Final = _rows_so_far("groupwatch_")
"""All families of groupwatch's own names whose text is prepared."""

SCALE_FAMILIES: Final = frozenset(
    [each.name for each in (GROUP_WANTED_MEMBERS, GROUP_WANTED_REPLICAS, GROUP_DRAIN_SECONDS, GROUP_SCALE_HOLD)]
)
"""What autoscalers act on: absent as soon as it is not of now."""

_BY_CONSUMERGROUP: Final = ("consumergroup", "topic", "partition")

KAFKA_CONSUMERGROUP_CURRENT_OFFSET: Final = PartitionMetric(
    "kafka_consumergroup_current_offset",
    "Committed offset, under kafka_exporter's name.",
    labels=_BY_CONSUMERGROUP,
    value=attrgetter("committed"),
    when=commits_to_brokers,
    absent="there is no commit",
)
KAFKA_CONSUMERGROUP_CURRENT_OFFSET_SUM: Final = MetricSpec(
    "kafka_consumergroup_current_offset_sum",
    "Sum of the committed offsets of a topic, under kafka_exporter's name.",
    scope=MetricScope.TOPIC,
    labels=("consumergroup", "topic"),
    absent="there is no commit",
)
KAFKA_CONSUMERGROUP_LAG: Final = PartitionMetric(
    "kafka_consumergroup_lag",
    "Lag of a partition in records, under kafka_exporter's name.",
    labels=_BY_CONSUMERGROUP,
    value=attrgetter("lag"),
    when=commits_to_brokers,
    absent=_NO_LAG,
)
KAFKA_CONSUMERGROUP_LAG_SUM: Final = MetricSpec(
    "kafka_consumergroup_lag_sum",
    "Lag of a topic in records, under kafka_exporter's name.",
    scope=MetricScope.TOPIC,
    labels=("consumergroup", "topic"),
    absent=_NO_LAG,
)
KAFKA_CONSUMERGROUP_MEMBERS: Final = GroupMetric(
    "kafka_consumergroup_members",
    "Members of a group, under kafka_exporter's name.",
    labels=("consumergroup",),
    value=lambda verdict: len(verdict.members),
    when=has_joined_brokers,
    absent=_NOT_JOINED,
)
KAFKA_CONSUMERGROUPZOOKEEPER_LAG_ZOOKEEPER: Final = PartitionMetric(
    "kafka_consumergroupzookeeper_lag_zookeeper",
    "Lag of a group with offsets in ZooKeeper, in records, under kafka_exporter's name.",
    labels=_BY_CONSUMERGROUP,
    value=attrgetter("lag"),
    when=commits_to_zookeeper,
    absent=_NO_LAG,
)
KAFKA_TOPIC_PARTITIONS: Final = MetricSpec(
    "kafka_topic_partitions",
    "Partitions of a topic, under kafka_exporter's name.",
    scope=MetricScope.TOPIC,
    labels=("topic",),
)
KAFKA_TOPIC_PARTITION_CURRENT_OFFSET: Final = LogMetric(
    "kafka_topic_partition_current_offset",
    "Offset after the newest record of a partition, under kafka_exporter's name.",
    labels=("topic", "partition"),
    value=attrgetter("end"),
    absent="no collector has seen it",
)
KAFKA_TOPIC_PARTITION_OLDEST_OFFSET: Final = LogMetric(
    "kafka_topic_partition_oldest_offset",
    "Offset of the oldest record of a partition, under kafka_exporter's name.",
    labels=("topic", "partition"),
    value=attrgetter("earliest"),
    absent="no collector has seen it",
)

KAFKA_EXPORTER: Final = _rows_so_far("kafka_")
"""Given as well where metrics.compat names kafka_exporter; with the label ``cluster`` only of several clusters."""

FAMILIES: Final = {spec.name: spec for spec in (*METRICS, *KAFKA_EXPORTER)}
"""All families by name, in the order in which they are written."""

_WORK_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Seconds: from micro-batches of a quiet cluster to what holds everything up."""

MICRO_BATCH_SECONDS: Final = HistogramMetric(
    "groupwatch_micro_batch_seconds",
    "Durations of completed micro-batches.",
    labels=BY_CLUSTER,
    buckets=_WORK_S,
    absent="no batch has ended",
)
SCRAPE_SECONDS: Final = HistogramMetric(
    "groupwatch_scrape_seconds",
    "Durations of scrapes, from the request to the last byte written to the connection.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0),
)
COLLECTOR_PASS_SECONDS: Final = HistogramMetric(
    "groupwatch_collector_pass_seconds",
    "Durations of the collector's polls, whatever their result.",
    labels=BY_COLLECTOR,
    buckets=_WORK_S,
    absent=_NO_PASS,
)
OTLP_PUSH_SECONDS: Final = HistogramMetric(
    "groupwatch_otlp_push_seconds",
    "Durations of pushes to the OpenTelemetry collector, by result: success or failure.",
    labels=("result",),
    buckets=(0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
    absent="nothing was pushed",
)
WEBHOOK_DELIVERY_SECONDS: Final = HistogramMetric(
    "groupwatch_webhook_delivery_seconds",
    "Durations of attempts to deliver a finding to the webhook, by result: delivered, failed (tried again), rejected.",
    labels=(*BY_CLUSTER, "result"),
    buckets=(0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0),
    absent="nothing was sent",
)

WEBHOOK_SKIPPED_RECORDS_TOTAL: Final = MetricSpec(
    "groupwatch_webhook_skipped_records_total",
    "Records of the findings topic that are not sent to the webhook, by reason: foreign (of another cluster), forged "
    "(groupwatch cannot have written it), unreadable.",
    scope=MetricScope.CLUSTER,
    labels=(*BY_CLUSTER, "reason"),
    absent="there is no webhook",
)
EXPECTATION_SECONDS_TOTAL: Final = MetricSpec(
    "groupwatch_expectation_seconds_total",
    "Seconds for which an entry of the file of expectations was met, by met: yes, no, unknown. They add up to the time "
    "since it is counted, across restarts; time that is not measured is unknown.",
    scope=MetricScope.CLUSTER,
    labels=(*BY_CLUSTER, "expectation", "met"),
    absent="there is no file of expectations",
)
COUNTERS: Final = (WEBHOOK_SKIPPED_RECORDS_TOTAL, EXPECTATION_SECONDS_TOTAL)
"""What the process counts of itself without durations, written for each scrape (monitor.metrics.process_metrics)."""

_NO_JVM: Final = "there is no JVM, as in `groupwatch collect`, or no `/proc`"

JVM_OPEN_FDS: Final = MetricSpec(
    "groupwatch_jvm_open_fds", "Open file descriptors of the driver's JVM, Spark's.", absent=_NO_JVM
)
JVM_MAX_FDS: Final = MetricSpec(
    "groupwatch_jvm_max_fds",
    "File descriptors that the driver's JVM may have open.",
    absent=f"{_NO_JVM}, or they are not limited",
)
JVM_THREADS: Final = MetricSpec("groupwatch_jvm_threads", "Threads of the driver's JVM, Spark's.", absent=_NO_JVM)

OF_THE_JVM: Final = (JVM_OPEN_FDS, JVM_MAX_FDS, JVM_THREADS)
"""What the system says of the driver's JVM, read for each scrape (monitor.metrics.jvm_process)."""

HISTOGRAMS: Final = (
    MICRO_BATCH_SECONDS,
    SCRAPE_SECONDS,
    COLLECTOR_PASS_SECONDS,
    OTLP_PUSH_SECONDS,
    WEBHOOK_DELIVERY_SECONDS,
)
"""What the process counts of itself, written for each scrape (monitor.metrics.process_metrics)."""
