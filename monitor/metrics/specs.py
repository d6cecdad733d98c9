"""The table of all metrics: every sample that groupwatch exposes belongs to one of these families.

Prefix ``groupwatch_``, base units in the name, ``_total`` on counters only, and the same word for the same label
everywhere. A series exists while its group, topic or partition exists and its value is known; unknown is absent.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class MetricKind(StrEnum):
    """The type of a family, as the exposition format spells it."""

    GAUGE = "gauge"
    COUNTER = "counter"


class MetricScope(StrEnum):
    """What a family describes: a partition, a group, groupwatch itself, a topic, a cluster, or a member."""

    PARTITION = "partition"
    GROUP = "group"
    SELF = "self"
    TOPIC = "topic"
    CLUSTER = "cluster"
    MEMBER = "member"


class Unit(StrEnum):
    """What a sample counts or measures."""

    SECONDS = "seconds"
    BYTES = "bytes"
    RECORDS = "records"
    RATIO = "ratio"
    RECORDS_A_SECOND = "records per second"
    BYTES_A_SECOND = "bytes per second"
    OFFSET = "offset"
    PARTITIONS = "partitions"
    MEMBERS = "members"
    ONE = "1"
    ONE_OR_ZERO = "1 or 0"
    COUNT = "count"


class MetricSpec(msgspec.Struct, frozen=True):
    """One metric family. ``labels`` stand in the order in which they are written; ``help`` is one line."""

    name: str
    scope: MetricScope
    kind: MetricKind
    labels: tuple[str, ...]
    help: str


_PARTITION, _GROUP, _SELF, _TOPIC, _CLUSTER, _MEMBER = MetricScope
_GAUGE, _COUNTER = MetricKind

_BY_CLUSTER: Final = ("cluster",)
_BY_COLLECTOR: Final = ("cluster", "collector", "name")
_BY_GROUP: Final = ("cluster", "group")
_BY_TOPIC: Final = ("cluster", "group", "topic")
_BY_PARTITION: Final = ("cluster", "group", "topic", "partition")

METRICS: Final[tuple[MetricSpec, ...]] = (
    MetricSpec(
        "groupwatch_partition_lag",
        _PARTITION,
        _GAUGE,
        _BY_PARTITION,
        "Records between the committed offset and the end of the partition.",
    ),
    MetricSpec(
        "groupwatch_partition_lag_seconds",
        _PARTITION,
        _GAUGE,
        _BY_PARTITION,
        "Age of the oldest record that the group has not committed.",
    ),
    MetricSpec(
        "groupwatch_partition_committed_offset",
        _PARTITION,
        _GAUGE,
        _BY_PARTITION,
        "Committed offset: the next record that the group will read.",
    ),
    MetricSpec(
        "groupwatch_partition_end_offset",
        _PARTITION,
        _GAUGE,
        ("cluster", "topic", "partition"),
        "Offset after the newest record of the partition.",
    ),
    MetricSpec("groupwatch_group_lag", _GROUP, _GAUGE, _BY_GROUP, "Records that wait for the group, all partitions."),
    MetricSpec(
        "groupwatch_group_lag_seconds",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Age of the oldest record that waits for the group.",
    ),
    MetricSpec(
        "groupwatch_group_stable_lag",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Records that wait for the group and are not behind an open transaction. Absent where none is open.",
    ),
    MetricSpec("groupwatch_group_members", _GROUP, _GAUGE, _BY_GROUP, "Members of the group."),
    MetricSpec("groupwatch_group_idle_members", _GROUP, _GAUGE, _BY_GROUP, "Members that own no partition."),
    MetricSpec(
        "groupwatch_group_state",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "state"),
        "1 for the state that the group is in, 0 for the others.",
    ),
    MetricSpec(
        "groupwatch_group_orphaned_partitions",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "reason"),
        "Partitions that the group should read and no member owns.",
    ),
    MetricSpec(
        "groupwatch_group_orphaned_oldest_seconds",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "How long the partition that is orphaned longest has had no owner.",
    ),
    MetricSpec(
        "groupwatch_group_unattended_seconds",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "How long records have waited in vain for a group without members.",
    ),
    MetricSpec(
        "groupwatch_group_dead_members",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Members that commit nothing, while records wait for them and others go on.",
    ),
    MetricSpec(
        "groupwatch_group_unreadable_members",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Members whose subscription or assignment groupwatch cannot decode. Absent where there is none.",
    ),
    MetricSpec(
        "groupwatch_group_double_owned_partitions",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Partitions that more than one member owns.",
    ),
    MetricSpec(
        "groupwatch_group_drifted_partitions",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "kind"),
        "Partitions whose owner is not the one that the assignor gives, replayed or for the current inputs.",
    ),
    MetricSpec(
        "groupwatch_group_drift_oldest_seconds",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "kind"),
        "How long owners have differed from those that the assignor gives.",
    ),
    MetricSpec(
        "groupwatch_group_imbalance_ratio",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Partitions of the largest member over those it would have in the most even assignment.",
    ),
    MetricSpec(
        "groupwatch_group_rebalances_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Completed generations (KIP-848: epochs) since the group was first seen.",
    ),
    MetricSpec(
        "groupwatch_group_status",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "status"),
        "1 for the status of the group by the rules of Burrow, 0 for the others. Absent while no lag is known.",
    ),
    MetricSpec(
        "groupwatch_group_consumed_records_per_second",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "How fast the group committed the partitions in which records wait, over the last minutes. Absent if none do, "
        "or if it is not known where nine tenths of them wait.",
    ),
    MetricSpec(
        "groupwatch_group_produced_records_per_second",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "How fast the partitions in which records wait for the group were written, over the same minutes.",
    ),
    MetricSpec(
        "groupwatch_group_catch_up_seconds",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "How long the group takes to read what waits, at this pace. Absent if that is not known, or never.",
    ),
    MetricSpec(
        "groupwatch_group_lost_records",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Records, at most, that retention removed before the group committed them.",
    ),
    MetricSpec(
        "groupwatch_group_retention_ratio",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Largest share of what a trimmed partition keeps that waits for the group. At 1, the next removal loses some.",
    ),
    MetricSpec(
        "groupwatch_partition_lost_records",
        _PARTITION,
        _GAUGE,
        _BY_PARTITION,
        "Records, at most, that retention removed before the group committed them. Absent where there are none.",
    ),
    MetricSpec(
        "groupwatch_group_rebalancing",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "1 while a rebalance is known to be under way, else 0. Of classic groups the collector's samples tell it.",
    ),
    MetricSpec(
        "groupwatch_group_rebalance_seconds_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Duration, at least, of all rebalances since the group was first seen.",
    ),
    MetricSpec(
        "groupwatch_group_moved_partitions_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Partitions that had another owner after a rebalance than before it.",
    ),
    MetricSpec(
        "groupwatch_group_avoidable_moves_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Of those, the ones that the stickiest balanced assignment would have left where they were.",
    ),
    MetricSpec(
        "groupwatch_group_redelivered_records_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Records by which commits went back, so that they are delivered again.",
    ),
    MetricSpec(
        "groupwatch_group_rebalance_pause_seconds_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Time, at least, for which rebalances left partitions with waiting records unread, summed over partitions.",
    ),
    MetricSpec(
        "groupwatch_group_rebalance_burst_records_total",
        _GROUP,
        _COUNTER,
        _BY_GROUP,
        "Records that the first commits after those pauses covered.",
    ),
    MetricSpec(
        "groupwatch_group_info",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "kind", "source"),
        "1, with the kind of the group and where it is known from: log, admin, system or checkpoint.",
    ),
    MetricSpec(
        "groupwatch_partition_lag_bytes",
        _PARTITION,
        _GAUGE,
        _BY_PARTITION,
        "Bytes between the committed offset and the end of the partition, of MetaQ, whose offsets are bytes.",
    ),
    MetricSpec(
        "groupwatch_group_lag_bytes",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Bytes that wait for the group, all partitions, of MetaQ.",
    ),
    MetricSpec(
        "groupwatch_group_consumed_bytes_per_second",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "As groupwatch_group_consumed_records_per_second, of MetaQ, in bytes.",
    ),
    MetricSpec(
        "groupwatch_group_produced_bytes_per_second",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "As groupwatch_group_produced_records_per_second, of MetaQ, in bytes.",
    ),
    MetricSpec(
        "groupwatch_group_findings",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "kind", "reason"),
        "Open findings of a kind and reason (docs/findings.md). Absent where there are none.",
    ),
    MetricSpec(
        "groupwatch_group_finding_oldest_seconds",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "kind", "reason"),
        "How long what the oldest of them says has been true.",
    ),
    MetricSpec(
        "groupwatch_group_failing_partitions",
        _GROUP,
        _GAUGE,
        (*_BY_GROUP, "status"),
        "Partitions that the rules of Burrow call stop, stall or rewind. Absent where there are none.",
    ),
    MetricSpec(
        "groupwatch_group_lag_at_least_seconds",
        _GROUP,
        _GAUGE,
        _BY_GROUP,
        "Age, at least, of the oldest record that waits, also where it is older than what is remembered of the "
        "partition.",
    ),
    MetricSpec(
        "groupwatch_topic_lag",
        _TOPIC,
        _GAUGE,
        _BY_TOPIC,
        "Records that wait for the group in the topic. Given where the detail is topic, in place of the partitions.",
    ),
    MetricSpec(
        "groupwatch_topic_lag_seconds",
        _TOPIC,
        _GAUGE,
        _BY_TOPIC,
        "Age of the oldest record that waits for the group in the topic, likewise.",
    ),
    MetricSpec(
        "groupwatch_topic_lag_bytes",
        _TOPIC,
        _GAUGE,
        _BY_TOPIC,
        "Bytes that wait for the group in the topic, likewise, of MetaQ.",
    ),
    MetricSpec(
        "groupwatch_member_info",
        _MEMBER,
        _GAUGE,
        (*_BY_GROUP, "member_id", "client_id", "host", "instance_id"),
        "1, with who a member of the group is. Given if metrics.member_info is set.",
    ),
    MetricSpec(
        "groupwatch_partition_owner_info",
        _PARTITION,
        _GAUGE,
        (*_BY_PARTITION, "member_id", "client_id", "host"),
        "1, with the member that owns the partition; for each of several. Given if metrics.owner_info is set.",
    ),
    MetricSpec(
        "groupwatch_partition_expected_owner_info",
        _PARTITION,
        _GAUGE,
        (*_BY_PARTITION, "member_id", "client_id", "host"),
        "1, with the member that the assignor gives the partition, where that is known. Given likewise.",
    ),
    MetricSpec(
        "groupwatch_cluster_groups",
        _CLUSTER,
        _GAUGE,
        ("cluster", "state"),
        "Groups of the cluster that are in the state.",
    ),
    MetricSpec(
        "groupwatch_cluster_lag",
        _CLUSTER,
        _GAUGE,
        _BY_CLUSTER,
        "Records that wait for all groups of the cluster, as far as that is known.",
    ),
    MetricSpec(
        "groupwatch_cluster_findings",
        _CLUSTER,
        _GAUGE,
        ("cluster", "kind", "reason"),
        "Open findings of all groups of the cluster. Absent where there are none.",
    ),
    MetricSpec("groupwatch_up", _SELF, _GAUGE, _BY_CLUSTER, "1 while the cluster can be read, else 0."),
    MetricSpec(
        "groupwatch_ready",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "1 when the backlog that was seen at start has been read, else 0. Groups are exposed from then on.",
    ),
    MetricSpec(
        "groupwatch_warm_up_total_records",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "Records (offsets) of the backlog that was seen at start. Absent once the cluster is ready.",
    ),
    MetricSpec(
        "groupwatch_warm_up_remaining_records",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "Records (offsets) of that backlog that have still to be read. Absent once the cluster is ready.",
    ),
    MetricSpec(
        "groupwatch_warm_up_remaining_seconds",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "Estimated time until that backlog has been read, at the pace of the last batches. Absent once ready.",
    ),
    MetricSpec(
        "groupwatch_last_evaluation_timestamp_seconds",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "When the groups of the cluster were last judged, in Unix time.",
    ),
    MetricSpec(
        "groupwatch_batch_duration_seconds", _SELF, _GAUGE, _BY_CLUSTER, "Duration of the newest completed batch."
    ),
    MetricSpec(
        "groupwatch_input_lag_records",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "Records that tell of groups (of the offsets log, or of the events topic) which groupwatch has still to read.",
    ),
    MetricSpec(
        "groupwatch_decode_errors_total",
        _SELF,
        _COUNTER,
        ("cluster", "source", "reason"),
        "Records that could not be read.",
    ),
    MetricSpec("groupwatch_evaluation_errors_total", _SELF, _COUNTER, _BY_CLUSTER, "Groups that could not be judged."),
    MetricSpec(
        "groupwatch_catalog_timestamp_seconds",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "When the collector began the newest complete pass over the topics, in Unix time.",
    ),
    MetricSpec(
        "groupwatch_findings_up",
        _SELF,
        _GAUGE,
        _BY_CLUSTER,
        "1 while findings can be written to their topic, else 0. Absent if there is to be none.",
    ),
    MetricSpec("groupwatch_build_info", _SELF, _GAUGE, ("version",), "1, with the version of groupwatch."),
    MetricSpec(
        "groupwatch_shard_info",
        _SELF,
        _GAUGE,
        ("shard", "of"),
        "1, with the job's share of the groups: the number of its shard, and how many there are.",
    ),
    MetricSpec(
        "groupwatch_shards",
        _SELF,
        _GAUGE,
        ("cluster", "shard", "of"),
        "How many shards there should be that share the groups of the cluster, 1 if one job has them all; with the "
        "number of the job's own shard.",
    ),
    MetricSpec(
        "groupwatch_collector_up",
        _SELF,
        _GAUGE,
        _BY_COLLECTOR,
        "1 if the newest pass of the collector was complete, else 0.",
    ),
    MetricSpec(
        "groupwatch_collector_last_success_timestamp_seconds",
        _SELF,
        _GAUGE,
        _BY_COLLECTOR,
        "When the collector last wrote a complete pass, in Unix time.",
    ),
    MetricSpec(
        "groupwatch_collector_passes_total",
        _SELF,
        _COUNTER,
        (*_BY_COLLECTOR, "result"),
        "Passes of the collector: complete, incomplete (something did not answer) or failed.",
    ),
    MetricSpec(
        "groupwatch_collector_pass_duration_seconds",
        _SELF,
        _GAUGE,
        _BY_COLLECTOR,
        "Duration of the newest pass of the collector.",
    ),
    MetricSpec(
        "groupwatch_series_left_out",
        _SELF,
        _GAUGE,
        ("cluster", "detail"),
        "Series of a detail (partition, topic or group) that metrics.max_series left out. Absent without that.",
    ),
)

_BY_CONSUMERGROUP: Final = ("consumergroup", "topic", "partition")

KAFKA_EXPORTER: Final[tuple[MetricSpec, ...]] = (
    MetricSpec(
        "kafka_consumergroup_current_offset",
        _PARTITION,
        _GAUGE,
        _BY_CONSUMERGROUP,
        "Committed offset, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_consumergroup_current_offset_sum",
        _TOPIC,
        _GAUGE,
        ("consumergroup", "topic"),
        "Sum of the committed offsets of a topic, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_consumergroup_lag",
        _PARTITION,
        _GAUGE,
        _BY_CONSUMERGROUP,
        "Records that wait, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_consumergroup_lag_sum",
        _TOPIC,
        _GAUGE,
        ("consumergroup", "topic"),
        "Records that wait in a topic, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_consumergroup_members",
        _GROUP,
        _GAUGE,
        ("consumergroup",),
        "Members of a group, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_consumergroupzookeeper_lag_zookeeper",
        _PARTITION,
        _GAUGE,
        _BY_CONSUMERGROUP,
        "Records that wait for a group that keeps its offsets in ZooKeeper, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_topic_partitions",
        _TOPIC,
        _GAUGE,
        ("topic",),
        "Partitions of a topic, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_topic_partition_current_offset",
        _PARTITION,
        _GAUGE,
        ("topic", "partition"),
        "Offset after the newest record of a partition, by the name of kafka_exporter.",
    ),
    MetricSpec(
        "kafka_topic_partition_oldest_offset",
        _PARTITION,
        _GAUGE,
        ("topic", "partition"),
        "Offset of the oldest record of a partition, by the name of kafka_exporter.",
    ),
)
"""Given as well where metrics.compat names kafka_exporter; with the label ``cluster`` only of several clusters."""

FAMILIES: Final = {spec.name: spec for spec in (*METRICS, *KAFKA_EXPORTER)}
"""All families by name, in the order in which they are written."""

_UNITS: Final = (
    ("_records_per_second", Unit.RECORDS_A_SECOND),
    ("_bytes_per_second", Unit.BYTES_A_SECOND),
    ("_seconds", Unit.SECONDS),
    ("_bytes", Unit.BYTES),
    ("_records", Unit.RECORDS),
    ("_lag", Unit.RECORDS),
    ("_ratio", Unit.RATIO),
    ("_offset", Unit.OFFSET),
    ("_offset_sum", Unit.OFFSET),
    ("_lag_sum", Unit.RECORDS),
    ("_lag_zookeeper", Unit.RECORDS),
    ("_partitions", Unit.PARTITIONS),
    ("_moves", Unit.PARTITIONS),
    ("_members", Unit.MEMBERS),
    ("_info", Unit.ONE),
    *((end, Unit.ONE_OR_ZERO) for end in ("_up", "_ready", "_state", "_status", "_rebalancing")),
)


def unit_of(spec: MetricSpec) -> Unit:
    """The unit that the name of a family ends with (``_total`` apart); what ends with none is a plain count.

    >>> unit_of(FAMILIES["groupwatch_group_rebalance_seconds_total"]).value
    'seconds'
    """
    name = spec.name.removesuffix("_total")
    return next((unit for end, unit in _UNITS if name.endswith(end)), Unit.COUNT)
