"""The partitions and members of a group as numbers, in the order in which KIP-54's algorithm compares them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.structure import subscribers_by_topic
from monitor.model import TopicPartition, Value, number


class PlaceTable(Value):
    """A *place* is a partition of a topic with a subscriber: its number by topic, then partition, from 0.

    A *rank* is the number of a member by member id. Topics are numbered by name. All names are compared by code points.

    Attributes:
        members: the ids of the members, by rank.
        topics: the names of the topics.
        starts: the first place of each topic, and behind the last one the number of all places.
        topic_of: the topic of each place.
        subscribers: the ranks of those who subscribe to each topic, ascending.
        asked: the topics that each member subscribes to, by rank.
        ranks: the rank of each member.
        numbers: the number of each topic.
    """

    members: tuple[str, ...]
    topics: tuple[str, ...]
    starts: tuple[int, ...]
    topic_of: tuple[int, ...]
    subscribers: tuple[tuple[int, ...], ...]
    asked: tuple[frozenset[int], ...]
    ranks: dict[str, int]
    numbers: dict[str, int]

    def places(self, topic: int) -> range:
        """All places of a topic."""
        return range(self.starts[topic], self.starts[topic + 1])

    def is_contested(self, place: int) -> bool:
        """Whether two members or more subscribe to the topic, so that its partitions can move."""
        return len(self.subscribers[self.topic_of[place]]) >= 2

    def find(self, partitions: Iterable[TopicPartition]) -> list[int]:
        """The places of those partitions that are some, in the order given."""
        found = []
        for partition in partitions:
            topic = self.numbers.get(partition.topic)
            if topic is not None and (place := self.starts[topic] + number(partition.partition)) in self.places(topic):
                found.append(place)
        return found

    def partition(self, place: int) -> TopicPartition:
        """The partition that the place is."""
        topic = self.topic_of[place]
        return TopicPartition(self.topics[topic], place - self.starts[topic])


def form_place_table(group: Group) -> PlaceTable:
    """Number what takes part in a group."""
    counts, subscribers = group.partition_counts(), subscribers_by_topic(group)
    members, topics = tuple(sorted(group.member_ids())), tuple(sorted(subscribers))
    ranks = {member: rank for rank, member in enumerate(members)}
    readers = tuple(tuple(sorted(ranks[name] for name in subscribers[topic])) for topic in topics)
    asked: list[set[int]] = [set() for _ in members]
    for topic, subscribed in enumerate(readers):
        for rank in subscribed:
            asked[rank].add(topic)
    return PlaceTable(
        members=members,
        topics=topics,
        starts=_running_sums([counts[topic] for topic in topics]),
        topic_of=tuple(topic for topic, name in enumerate(topics) for _ in range(counts[name])),
        subscribers=readers,
        asked=tuple(map(frozenset, asked)),
        ranks=ranks,
        numbers={name: topic for topic, name in enumerate(topics)},
    )


def _running_sums(counts: Sequence[int]) -> tuple[int, ...]:
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    return tuple(sums)
