"""Topics that ``range`` shares out alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from monitor.assignors.kafka_client.subscribed_topics import SubscribedTopic
from monitor.model import TopicShape, Value


class Batch(Value):
    """The topics with the same subscribers (ranks, ascending) and equally many partitions; at least one of each."""

    subscribers: tuple[int, ...]
    partitions: int
    shapes: tuple[TopicShape, ...]


def form_batches(topics: Iterable[SubscribedTopic]) -> list[Batch]:
    """Put every topic into its batch.

    >>> shapes = [TopicShape(topic=name, partitions=count) for name, count in [("a", 2), ("b", 3), ("c", 2)]]
    >>> batches = form_batches(SubscribedTopic(shape=shape, subscribers=(0,)) for shape in shapes)
    >>> [[shape.topic for shape in batch.shapes] for batch in batches]
    [['a', 'c'], ['b']]
    """
    alike: dict[tuple[tuple[int, ...], int], list[TopicShape]] = defaultdict(list)
    for topic in topics:
        alike[topic.subscribers, topic.shape.partitions].append(topic.shape)
    return [Batch(subscribers=who, partitions=count, shapes=tuple(shapes)) for (who, count), shapes in alike.items()]
