"""What holds for every assignment of the sound strategies: subscribers own existing partitions, one owner each."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.refusals import owners_by_partition
from monitor.model import Assignment, TopicPartition, Value, number
from monitor.model.evidence import Refusal, RefusalReason

Exceptions = Collection[tuple[TopicPartition, str]]
"""Members (ids) that may own a partition without subscribing to its topic, or though it does not exist."""


class Structure(Value):
    """An assignment with one owner for each partition that has any, beside what could be assigned.

    Attributes:
        owners: the owner of each partition, by member id.
        subscribers: the ids of the subscribers of each existing topic that has any, in the order of the group.
        partitions: all partitions of these topics; topics by name, partitions ascending.
    """

    owners: Mapping[TopicPartition, str]
    subscribers: Mapping[str, tuple[str, ...]]
    partitions: Mapping[str, tuple[TopicPartition, ...]]

    def unassigned(self) -> list[TopicPartition]:
        """The partitions that have a subscriber and no owner."""
        return [place for places in self.partitions.values() for place in places if place not in self.owners]


def read_structure(given: Assignment, group: Group, exceptions: Exceptions = ()) -> Structure | Refusal:
    """The owners of an assignment, or why no sound strategy can have given it.

    Args:
        given: what may have been given.
        group: to whom.
        exceptions: owners that are allowed all the same.
    """
    counts, subscribers = group.partition_counts(), subscribers_by_topic(group)
    members = frozenset(group.member_ids())
    owners: dict[TopicPartition, str] = {}
    for place, names in sorted(owners_by_partition(given).items()):
        owner = names[0]
        if owner not in members:
            return Refusal(RefusalReason.UNKNOWN_MEMBER, place, owner)
        if len(names) > 1:
            return Refusal(RefusalReason.ASSIGNED_TWICE, place, owner, names[1])
        if (place, owner) not in exceptions:
            if not 0 <= number(place.partition) < counts.get(place.topic, 0):
                return Refusal(RefusalReason.DOES_NOT_EXIST, place, owner)
            if owner not in subscribers.get(place.topic, ()):
                return Refusal(RefusalReason.NOT_SUBSCRIBED, place, owner)
        owners[place] = owner
    return Structure(
        owners=owners,
        subscribers={topic: tuple(names) for topic, names in subscribers.items()},
        partitions={
            topic: tuple(TopicPartition(topic, partition) for partition in range(counts[topic]))
            for topic in sorted(subscribers)
        },
    )


def read_full_structure(given: Assignment, group: Group) -> Structure | Refusal:
    """As ``read_structure``, of a strategy that leaves nothing without an owner."""
    structure = read_structure(given, group)
    if isinstance(structure, Structure):
        for place in structure.unassigned():
            return Refusal(RefusalReason.UNASSIGNED, place)
    return structure


def subscribers_by_topic(group: Group) -> dict[str, dict[str, None]]:
    """Who subscribes to each topic that has partitions and that anybody subscribes to, in the order of the group."""
    counts = group.partition_counts()
    found: dict[str, dict[str, None]] = {}
    for member in group.members:
        for topic in member.topics:
            if topic in counts:
                found.setdefault(topic, {})[member.member_id] = None
    return found
