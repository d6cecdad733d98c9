"""The same lags by the names of danielqsj/kafka_exporter, for dashboards and alerts made for that.

Names and labels are its own (its kafka_exporter.go), values are ours: what is not known is absent, where that exporter
gives -1. What it tells of brokers and replicas is not known here: docs/metrics.md lists it.
"""

from __future__ import annotations

from typing import Final

from monitor.detection.lag.lag import total
from monitor.metrics import specs
from monitor.metrics.exposition_format import Samples, labels
from monitor.metrics.row_values import commits_to_brokers
from monitor.metrics.series_filter import Detail, SeriesRules
from monitor.metrics.specs import KAFKA_EXPORTER
from monitor.metrics.value_samples import ValueFamilies
from monitor.model import GroupVerdict, PartitionVerdict, TopicState

_ITS: Final = ValueFamilies(KAFKA_EXPORTER)


def add_as_kafka_exporter(samples: Samples, verdict: GroupVerdict, rules: SeriesRules) -> None:
    """What kafka_exporter would tell of the group: nothing of share groups, and of other systems than Kafka."""
    own = labels(consumergroup=verdict.group)
    pairs = f"{labels(**{rules.cluster_label: verdict.cluster})},{own}" if rules.kafka_exporter_cluster else own
    _ITS.add_group(samples, pairs, verdict)
    _ITS.add_partitions(samples, pairs, verdict, rules.shown_partitions(verdict))
    if commits_to_brokers(verdict):
        _add_sums(samples, pairs, verdict, rules)


def _add_sums(samples: Samples, pairs: str, verdict: GroupVerdict, rules: SeriesRules) -> None:
    of_topic: dict[str, list[PartitionVerdict]] = {}
    for row in verdict.partitions:
        if row.committed is not None:
            of_topic.setdefault(row.topic, []).append(row)
    for topic, rows in of_topic.items():
        if rules.of_topic(verdict.cluster, verdict.group, topic) in (Detail.TOPIC, Detail.PARTITION):
            own = f"{pairs},{labels(topic=topic)}"
            samples.add(specs.KAFKA_CONSUMERGROUP_CURRENT_OFFSET_SUM, own, total(row.committed for row in rows))
            samples.add(specs.KAFKA_CONSUMERGROUP_LAG_SUM, own, total(row.lag for row in rows))


def add_topic_as_kafka_exporter(samples: Samples, topic: TopicState, rules: SeriesRules) -> None:
    """What it would tell of a topic of Kafka, whoever reads it."""
    detail = rules.of_topic(topic.cluster, None, topic.topic)
    own = labels(topic=topic.topic)
    pairs = f"{labels(**{rules.cluster_label: topic.cluster})},{own}" if rules.kafka_exporter_cluster else own
    if detail in (Detail.TOPIC, Detail.PARTITION):
        samples.add(specs.KAFKA_TOPIC_PARTITIONS, pairs, len(topic.partitions))
    if detail is Detail.PARTITION:
        _ITS.add_log(samples, pairs, topic.partitions)
