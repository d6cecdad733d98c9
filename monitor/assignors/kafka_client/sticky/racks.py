"""Where members and replicas are, as far as the sticky assignors care (KIP-881).

Racks count only if a member is on a rack of some replica, and not every partition is on every rack: else nothing could
be gained. An empty rack of a member is none; of a broker it is one. Source: ``AbstractStickyAssignor.RackInfo``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, Places, partition_of, topic_of
from monitor.model import Member, TopicShape, Value

Homes = frozenset[str]
"""The racks of a partition's replicas."""

NOWHERE: Homes = frozenset()


class Racks(Value):
    """The racks that count; none at all unless they are ``used``."""

    used: bool
    of_member: tuple[str | None, ...]
    """By position in the original's map; None: no rack, at home everywhere."""
    neighbours: dict[str, int]
    """How many members are on each rack, whether racks are used or not."""
    of_topic: tuple[tuple[Homes, ...], ...]
    """By topic index and partition; shorter where nothing more is known."""

    def of_partition(self, place: int) -> Homes:
        """The racks of a partition's replicas."""
        homes, partition = self.of_topic[topic_of(place)] if self.of_topic else (), partition_of(place)
        return homes[partition] if 0 <= partition < len(homes) else NOWHERE

    def fits(self, position: int, place: int) -> bool:
        """Whether racks allow that the member keeps the partition."""
        home = self.of_member[position]
        return home is None or home in self.of_partition(place)

    def least_wanted_first(self, places: Places) -> Places:
        """The places by the number of members on their racks, in their order where that is equal."""
        if not self.neighbours:
            return places
        wanted = {homes: sum(self.neighbours.get(home, 0) for home in homes) for row in self.of_topic for homes in row}
        numbers = np.array([wanted.get(self.of_partition(place), 0) for place in places.tolist()], np.int64)
        return places[np.argsort(numbers, kind="stable")]


def find_racks(members: Sequence[Member], known: KnownTopics, topics: Sequence[TopicShape]) -> Racks:
    """The racks of a group.

    Args:
        members: in the order of the original's map.
        known: the topics that count.
        topics: all topics, with the racks of their replicas.
    """
    homes = tuple(member.rack or None for member in members)
    neighbours = Counter(home for home in homes if home is not None)
    if not neighbours:
        return Racks(used=False, of_member=homes, neighbours={}, of_topic=())
    shapes = {shape.topic: shape for shape in topics}
    of_topic = tuple(_homes(shapes[name]) for name in known.names)
    used = _matter(neighbours.keys(), of_topic, known)
    return Racks(
        used=used,
        of_member=homes if used else (None,) * len(homes),
        neighbours=dict(neighbours),
        of_topic=of_topic,
    )


def _homes(shape: TopicShape) -> tuple[Homes, ...]:
    return tuple(
        frozenset(rack for rack in replicas if rack is not None) for replicas in shape.racks[: shape.partitions]
    )


def _matter(members: Iterable[str], of_topic: Sequence[Sequence[Homes]], known: KnownTopics) -> bool:
    everywhere = NOWHERE.union(*(homes for row in of_topic for homes in row))
    complete = all(len(row) == count for row, count in zip(of_topic, known.counts, strict=True))
    everybody = complete and all(homes == everywhere for row in of_topic for homes in row)
    return not everywhere.isdisjoint(members) and not everybody
