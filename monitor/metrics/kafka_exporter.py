"""The same lags by the names of danielqsj/kafka_exporter, for dashboards and alerts made for that.

Names and labels are its own (its kafka_exporter.go), values are ours: what is not known is absent, where that exporter
gives -1. What it tells of brokers and replicas is not known here: docs/metrics.md lists it.
"""

from __future__ import annotations

from typing import Final

from monitor.detection.lag.lag import total
from monitor.metrics.exposition_format import Samples, labels
from monitor.metrics.series_filter import Detail, SeriesRules
from monitor.model import GroupKind, GroupVerdict, PartitionVerdict, Phase, TopicState

_BY_COMMITS: Final = frozenset({GroupKind.CLASSIC, GroupKind.CONSUMER, GroupKind.STREAMS})
"""Groups of Kafka that commit offsets to its brokers; those in ZooKeeper have a family of their own."""


def add_as_kafka_exporter(samples: Samples, verdict: GroupVerdict, rules: SeriesRules) -> None:
    """What kafka_exporter would tell of the group: nothing of share groups, and of other systems than Kafka."""
    own = labels(consumergroup=verdict.group)
    pairs = f"{labels(cluster=verdict.cluster)},{own}" if rules.kafka_exporter_cluster else own
    if verdict.kind == GroupKind.ZOOKEEPER:
        for row in rules.shown_partitions(verdict):
            samples.add("kafka_consumergroupzookeeper_lag_zookeeper", _place(pairs, row), row.lag)
    if verdict.kind not in _BY_COMMITS:
        return
    if verdict.state is not Phase.OFFSETS_ONLY:
        samples.add("kafka_consumergroup_members", pairs, len(verdict.members))
    for row in rules.shown_partitions(verdict):
        samples.add("kafka_consumergroup_current_offset", _place(pairs, row), row.committed)
        samples.add("kafka_consumergroup_lag", _place(pairs, row), row.lag)
    _add_sums(samples, pairs, verdict, rules)


def _add_sums(samples: Samples, pairs: str, verdict: GroupVerdict, rules: SeriesRules) -> None:
    of_topic: dict[str, list[PartitionVerdict]] = {}
    for row in verdict.partitions:
        if row.committed is not None:
            of_topic.setdefault(row.topic, []).append(row)
    for topic, rows in of_topic.items():
        if rules.of_topic(verdict.cluster, verdict.group, topic) in (Detail.TOPIC, Detail.PARTITION):
            own = f"{pairs},{labels(topic=topic)}"
            samples.add("kafka_consumergroup_current_offset_sum", own, total(row.committed for row in rows))
            samples.add("kafka_consumergroup_lag_sum", own, total(row.lag for row in rows))


def add_topic_as_kafka_exporter(samples: Samples, topic: TopicState, rules: SeriesRules) -> None:
    """What it would tell of a topic of Kafka, whoever reads it."""
    detail = rules.of_topic(topic.cluster, None, topic.topic)
    own = labels(topic=topic.topic)
    pairs = f"{labels(cluster=topic.cluster)},{own}" if rules.kafka_exporter_cluster else own
    if detail in (Detail.TOPIC, Detail.PARTITION):
        samples.add("kafka_topic_partitions", pairs, len(topic.partitions))
    if detail is Detail.PARTITION:
        for state in topic.partitions:
            place = f'{pairs},partition="{state.partition}"'
            samples.add("kafka_topic_partition_current_offset", place, state.end)
            samples.add("kafka_topic_partition_oldest_offset", place, state.earliest)


def _place(pairs: str, row: PartitionVerdict) -> str:
    return f'{pairs},{labels(topic=row.topic)},partition="{row.partition}"'
