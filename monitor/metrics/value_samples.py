"""The samples of all families that are one value of a group, of a topic or of a partition: their rows say all of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from monitor.metrics.compiled_rows import add_columns, add_values
from monitor.metrics.exposition_format import Samples, escaped
from monitor.metrics.spec_types import (
    Condition,
    GroupMetric,
    LogMetric,
    MetricSpec,
    PartitionMetric,
    TopicMetric,
)
from monitor.metrics.specs import METRICS
from monitor.model import GroupVerdict, PartitionId, PartitionState, PartitionVerdict, TopicLag
from monitor.model.kinds import kinds_with

Metric = TypeVar("Metric", bound=MetricSpec)
OfVerdict = TypeVar("OfVerdict", GroupMetric, TopicMetric, PartitionMetric)

_NAMED_PARTITIONS: Final = kinds_with(lambda traits: traits.text_partitions)


class ValueFamilies:
    """The families of a table that are one value of something, made ready for groups to be rendered by them."""

    def __init__(self, table: Iterable[MetricSpec]) -> None:
        metrics = list(table)
        group, topic, partition = (
            _only(GroupMetric, metrics),
            _only(TopicMetric, metrics),
            _only(PartitionMetric, metrics),
        )
        self._of_group = [(when, add_values(rows)) for when, rows in _by_condition(group)]
        self._of_topic = [(when, add_values(rows)) for when, rows in _by_condition(topic)]
        self._of_partition = [(when, add_columns(rows)) for when, rows in _by_condition(partition)]
        self._of_log = add_columns(_only(LogMetric, metrics))

    def add_group(self, samples: Samples, pairs: str, verdict: GroupVerdict) -> None:
        """What is said of the group as a whole."""
        for when, add in self._of_group:
            if when(verdict):
                add(samples, pairs, verdict)

    def add_topics(self, samples: Samples, pairs: str, verdict: GroupVerdict, topics: Sequence[TopicLag]) -> None:
        """What is said of these topics of the group."""
        chosen = [add for when, add in self._of_topic if when(verdict)]
        for topic in topics:
            own = f'{pairs},topic="{escaped(topic.topic)}"'
            for add in chosen:
                add(samples, own, topic)

    def add_partitions(
        self, samples: Samples, pairs: str, verdict: GroupVerdict, partitions: Sequence[PartitionVerdict]
    ) -> None:
        """What is said of these partitions of the group. The labels of each are written once."""
        rows = _with_labels(pairs, verdict, partitions)
        for when, add in self._of_partition:
            if when(verdict):
                add(samples, rows)

    def add_log(self, samples: Samples, pairs: str, partitions: Sequence[PartitionState]) -> None:
        """What is said of these partitions of a topic, whoever reads it."""
        self._of_log(samples, [(f'{{{pairs},partition="{_escaped(each.partition)}"}} ', each) for each in partitions])


def _escaped(partition: PartitionId) -> PartitionId:
    """A partition as it can stand in a label; a number is one."""
    return partition if isinstance(partition, int) else escaped(partition)


def _with_labels(
    pairs: str, verdict: GroupVerdict, partitions: Sequence[PartitionVerdict]
) -> list[tuple[str, PartitionVerdict]]:
    """The partitions with their labels, in braces, and the space before a value."""
    begins = {topic: f'{{{pairs},topic="{escaped(topic)}",partition="' for topic in {row.topic for row in partitions}}
    if verdict.kind in _NAMED_PARTITIONS:
        return [(f'{begins[row.topic]}{_escaped(row.partition)}"}} ', row) for row in partitions]
    return [(f'{begins[row.topic]}{row.partition}"}} ', row) for row in partitions]


def _only(kind: type[Metric], metrics: Sequence[MetricSpec]) -> list[Metric]:
    return [each for each in metrics if isinstance(each, kind)]


def _by_condition(metrics: Sequence[OfVerdict]) -> list[tuple[Condition, list[OfVerdict]]]:
    """The families that are given of the same groups together, so that each condition is asked for once."""
    conditions = dict.fromkeys(each.when for each in metrics)
    return [(when, [each for each in metrics if each.when is when]) for when in conditions]


OWN: Final = ValueFamilies(METRICS)
"""By groupwatch's own names."""
