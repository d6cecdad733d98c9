"""What a row of the table of metrics is: a family, what it describes, and where its value comes from."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final, Generic, TypeVar

import msgspec

from monitor.model import ClusterSnapshot, CollectorHealth, GroupVerdict, PartitionState, PartitionVerdict, TopicLag
from monitor.model.cluster_label import CLUSTER_LABEL

Described = TypeVar("Described")
"""What the values of a family are read from."""

BY_CLUSTER: Final = (CLUSTER_LABEL,)
BY_COLLECTOR: Final = ("cluster", "collector", "name")
BY_GROUP: Final = ("cluster", "group")
BY_TOPIC: Final = ("cluster", "group", "topic")
BY_PARTITION: Final = ("cluster", "group", "topic", "partition")


class MetricKind(StrEnum):
    """The type of a family, as the exposition format spells it."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


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


Condition = Callable[[GroupVerdict], bool]
"""Of which groups a family is given at all."""


def of_every_group(_: GroupVerdict) -> bool:
    """Always."""
    return True


class MetricSpec(msgspec.Struct, frozen=True):
    """One metric family. ``labels`` stand in the order in which they are written; ``help`` is one line.

    ``absent`` says when there is no series of something that exists; empty: there always is one.
    """

    name: str
    help: str
    scope: MetricScope = MetricScope.SELF
    labels: tuple[str, ...] = ()
    absent: str = ""

    @property
    def kind(self) -> MetricKind:
        """Counters are the families whose names say so."""
        return MetricKind.COUNTER if self.name.endswith("_total") else MetricKind.GAUGE


class ValueMetric(MetricSpec, Generic[Described], frozen=True, kw_only=True):
    """A family with one value of each thing that it describes.

    ``value`` reads it: in ms where the unit of the family is seconds. None: it is not known, and there is no series.
    """

    value: Callable[[Described], float | None]


class VerdictMetric(ValueMetric[Described], Generic[Described], frozen=True, kw_only=True):
    """A value of a group or of a part of it, given of those groups of which ``when`` is true."""

    when: Condition = of_every_group


class GroupMetric(VerdictMetric[GroupVerdict], frozen=True, kw_only=True):
    """A value of a group."""

    scope: MetricScope = MetricScope.GROUP
    labels: tuple[str, ...] = BY_GROUP


class TopicMetric(VerdictMetric[TopicLag], frozen=True, kw_only=True):
    """A value of a topic of a group."""

    scope: MetricScope = MetricScope.TOPIC
    labels: tuple[str, ...] = BY_TOPIC


class PartitionMetric(VerdictMetric[PartitionVerdict], frozen=True, kw_only=True):
    """A value of a partition of a group. It is whole: written as it is, or in seconds from ms."""

    scope: MetricScope = MetricScope.PARTITION
    labels: tuple[str, ...] = BY_PARTITION


class LogMetric(ValueMetric[PartitionState], frozen=True, kw_only=True):
    """A value of a partition, whoever reads it. It is whole."""

    scope: MetricScope = MetricScope.PARTITION
    labels: tuple[str, ...] = ("cluster", "topic", "partition")


class ClusterMetric(ValueMetric[ClusterSnapshot], frozen=True, kw_only=True):
    """What groupwatch says of itself, of a cluster."""

    labels: tuple[str, ...] = BY_CLUSTER


class CollectorMetric(ValueMetric[CollectorHealth], frozen=True, kw_only=True):
    """What groupwatch says of a collector."""

    labels: tuple[str, ...] = BY_COLLECTOR


class HistogramMetric(MetricSpec, frozen=True, kw_only=True):
    """How long something took, counted by prometheus_client. ``buckets`` are upper bounds, in seconds."""

    buckets: tuple[float, ...]

    @property
    def kind(self) -> MetricKind:
        """A histogram."""
        return MetricKind.HISTOGRAM


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

    >>> unit_of(MetricSpec("groupwatch_group_rebalance_seconds_total", "How long.")).value
    'seconds'
    """
    name = spec.name.removesuffix("_total")
    return next((unit for end, unit in _UNITS if name.endswith(end)), Unit.COUNT)
