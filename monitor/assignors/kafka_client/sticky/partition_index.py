"""One number for one partition.

A *place* is ``(topic index << 32) + partition``, where the topics that have partitions and subscribers are numbered in
Java's string order. The order of places is therefore the order by topic and number. The partition may be negative or
beyond the topic's last one, since members can claim whatever they like.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.java.text import string_hash, string_key
from monitor.model import Member, TopicPartitions, TopicShape, Value

Places = NDArray[np.int64]

_HALF = 1 << 31


def topic_of(place: int) -> int:
    """The index of the topic.

    >>> topic_of((3 << 32) + 7), topic_of((3 << 32) - 1)
    (3, 3)
    """
    return (place + _HALF) >> 32


def partition_of(place: int) -> int:
    """The number of the partition.

    >>> partition_of((3 << 32) + 7), partition_of((3 << 32) - 1)
    (7, -1)
    """
    return ((place + _HALF) & 0xFFFF_FFFF) - _HALF


def topics_of(places: Places) -> Places:
    """``topic_of`` for many places."""
    return (places + _HALF) >> 32


def partitions_of(places: Places) -> Places:
    """``partition_of`` for many places."""
    return ((places + _HALF) & 0xFFFF_FFFF) - _HALF


class KnownTopics(Value):
    """The topics that have partitions and a subscriber, in Java's string order."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    index: dict[str, int]

    def hash_of(self, topic: int) -> int:
        """Java's hash code of the topic's name."""
        return string_hash(self.names[topic])

    def places(self, topic: int) -> range:
        """All partitions of the topic."""
        return range(topic << 32, (topic << 32) + self.counts[topic])

    def exists(self, place: int) -> bool:
        """Whether the topic has this partition."""
        return 0 <= partition_of(place) < self.counts[topic_of(place)]

    def all_places(self) -> Places:
        """All partitions of all topics, ascending."""
        parts = [np.arange(count, dtype=np.int64) + (topic << 32) for topic, count in enumerate(self.counts)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def named(self, places: Places) -> tuple[TopicPartitions, ...]:
        """The places by topic, topics in order, the partitions of each in the order given."""
        if not places.size:
            return ()
        indexes = topics_of(places)
        if (np.diff(indexes) < 0).any():
            order = np.argsort(indexes, kind="stable")
            places, indexes = places[order], indexes[order]
        starts = np.flatnonzero(np.diff(indexes, prepend=-1)).tolist()
        partitions = (places - (indexes << 32)).tolist()
        topics = indexes[starts].tolist()
        stops = [*starts[1:], len(partitions)]
        names = self.names
        return tuple(
            [
                TopicPartitions(names[topic], tuple(partitions[start:stop]))
                for topic, start, stop in zip(topics, starts, stops, strict=True)
            ]
        )


def known_topics(members: Iterable[Member], topics: Sequence[TopicShape]) -> KnownTopics:
    """The topics an assignor has to do with."""
    subscriptions = {member.topics for member in members}
    wanted = {topic for subscription in subscriptions for topic in subscription}
    counts = {shape.topic: shape.partitions for shape in topics if shape.partitions > 0 and shape.topic in wanted}
    names = sorted(counts, key=string_key)
    return KnownTopics(
        names=tuple(names),
        counts=tuple(counts[name] for name in names),
        index={name: number for number, name in enumerate(names)},
    )
