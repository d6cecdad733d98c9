"""The partitions that the tasks of a streams group read, by its topology and the topics that there are (KIP-1071)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.detection.ownership.catalog_view import count_now
from monitor.kinds.streams import read_topics, topics_by_subtopology
from monitor.model import Catalog, IdPartitions, TopicPartitions, Topology


def partition_counts(topology: Topology, catalog: Catalog) -> dict[str, int]:
    """The numbers of partitions of the topics that the topology reads, as far as they exist."""
    return {
        topic: count_now(catalog.topics[topic])
        for topics in topics_by_subtopology(topology, catalog.topics).values()
        for topic in topics
    }


def subscribed_topics(topology: Topology, counts: Mapping[str, int]) -> tuple[str, ...]:
    """The topics that the topology reads, sorted; those that it names and that do not exist included.

    ``counts`` are the numbers of partitions of those that exist.
    """
    named = {topic for part in topology.subtopologies for topic in (*part.source_topics, *part.repartition_sources)}
    return tuple(sorted(named.union(counts)))


def partitions_of(
    topology: Topology, tasks: Iterable[IdPartitions], counts: Mapping[str, int]
) -> tuple[TopicPartitions, ...]:
    """What the tasks read, by topic: of each topic of their subtopology the partitions of their numbers.

    Args:
        topology: the group's.
        tasks: by subtopology.
        counts: the numbers of partitions of the topics that there are.

    >>> from monitor.model import Subtopology
    >>> part = Subtopology("0", source_topics=("orders", "payments"))
    >>> topology = Topology(epoch=0, subtopologies=(part,))
    >>> partitions_of(topology, [IdPartitions("0", (0, 2))], {"orders": 3, "payments": 1})
    (TopicPartitions(topic='orders', partitions=(0, 2)), TopicPartitions(topic='payments', partitions=(0,)))
    """
    parts = {part.subtopology_id: part for part in topology.subtopologies}
    read = (
        TopicPartitions(topic, own)
        for entry in tasks
        if entry.id in parts
        for topic in read_topics(parts[entry.id], counts)
        if (own := tuple(number for number in entry.partitions if number < counts[topic]))
    )
    return tuple(read)
