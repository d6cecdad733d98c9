"""The attributes of points by OpenTelemetry's semantic conventions for messaging, from the labels of /metrics. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from monitor.push.families import Family, HistogramPoint, Labels, NumberPoint

NAMES: Final[Mapping[str, str]] = {
    "group": "messaging.consumer.group.name",
    "consumergroup": "messaging.consumer.group.name",
    "topic": "messaging.destination.name",
    "partition": "messaging.destination.partition.id",
    "client_id": "messaging.client.id",
}
"""The labels that the conventions have names for; ``consumergroup`` is kafka_exporter's."""

SYSTEM: Final = "messaging.system"
KAFKA: Final = "kafka"


class Convention(NamedTuple):
    """How the attributes of points are named.

    ``systems`` has the messaging system of each cluster that is no Kafka cluster, by the value of the label
    ``cluster_label``. With ``keeps_labels``, the labels stay beside the names of the conventions.
    """

    systems: Mapping[str, str]
    cluster_label: str
    keeps_labels: bool


def with_conventions(families: Iterable[Family], convention: Convention) -> Iterator[Family]:
    """The families with the attributes that the conventions name, and the system of points that have such a name."""
    for family in families:
        yield family._replace(points=[_renamed_point(point, convention) for point in family.points])


def attributes(labels: Labels, convention: Convention) -> Labels:
    """The attributes of one point.

    >>> rocketmq = Convention({"rq": "rocketmq"}, "cluster", keeps_labels=False)
    >>> attributes({"cluster": "rq", "group": "pay", "topic": "t"}, rocketmq) == {
    ...     "cluster": "rq",
    ...     "messaging.consumer.group.name": "pay",
    ...     "messaging.destination.name": "t",
    ...     "messaging.system": "rocketmq",
    ... }
    True
    >>> attributes({"cluster": "main", "version": "1"}, rocketmq)
    {'cluster': 'main', 'version': '1'}
    """
    if not NAMES.keys() & labels.keys():
        return labels
    kept = labels if convention.keeps_labels else {name: text for name, text in labels.items() if name not in NAMES}
    named = {NAMES[name]: text for name, text in labels.items() if name in NAMES}
    return {**kept, **named, SYSTEM: convention.systems.get(labels.get(convention.cluster_label, ""), KAFKA)}


def _renamed_point(point: NumberPoint | HistogramPoint, convention: Convention) -> NumberPoint | HistogramPoint:
    return point._replace(labels=attributes(point.labels, convention))
