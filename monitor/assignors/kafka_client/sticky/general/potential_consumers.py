"""Who may be given what, where members subscribe to different topics.

In the modules of the general case a *rank* is the position of a member in Java's string order of the member ids, from
0, and a topic is named by its index among the known topics.
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.java.order import string_key
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics
from monitor.model import Value


class Roster(Value):
    """The members by rank, and the topics in the order in which their partitions are handed out.

    A topic that a member names twice is there twice, in ``asked`` as in ``subscribers``: the original counts it twice.
    """

    member_ids: tuple[str, ...]
    """The members, in the order of the original's map."""
    position: tuple[int, ...]
    """The member's position in the original's map, by rank."""
    asked: tuple[tuple[int, ...], ...]
    """The known topics that the member subscribes to, by rank."""
    most: tuple[int, ...]
    """How many partitions the member can have at most, as the original counts them, by rank."""
    subscribers: tuple[tuple[int, ...], ...]
    """The ranks of those who subscribe to a topic, by topic, in the order of the original's map."""
    line: tuple[int, ...]
    """The topics, those with the fewest subscribers first; equal ones by name."""

    def is_contested(self, topic: int) -> bool:
        """Whether the topic has two subscribers or more, so that its partitions can move."""
        return len(self.subscribers[topic]) >= 2


def form_roster(member_ids: Sequence[str], subscriptions: Sequence[tuple[str, ...]], known: KnownTopics) -> Roster:
    """Rank the members and line the topics up.

    Args:
        member_ids: in the order of the original's map.
        subscriptions: what each of them subscribes to.
        known: the topics that have partitions.
    """
    position = sorted(range(len(member_ids)), key=lambda member: string_key(member_ids[member]))
    asked_by_position = _known_subscriptions(subscriptions, known)
    asked = tuple(asked_by_position[member] for member in position)
    subscribers = _subscribers(asked_by_position, position, len(known.names))
    return Roster(
        member_ids=tuple(member_ids),
        position=tuple(position),
        asked=asked,
        most=tuple(_most(topics, known.counts) for topics in asked),
        subscribers=subscribers,
        line=tuple(sorted(range(len(known.names)), key=lambda topic: len(subscribers[topic]))),
    )


def _known_subscriptions(subscriptions: Sequence[tuple[str, ...]], known: KnownTopics) -> list[tuple[int, ...]]:
    found: dict[tuple[str, ...], tuple[int, ...]] = {}  # many members share a subscription
    for topics in subscriptions:
        if topics not in found:
            found[topics] = tuple(known.index[topic] for topic in topics if topic in known.index)
    return [found[topics] for topics in subscriptions]


def _subscribers(asked: Sequence[tuple[int, ...]], position: Sequence[int], topics: int) -> tuple[tuple[int, ...], ...]:
    rank = {member: rank for rank, member in enumerate(position)}
    subscribers: list[list[int]] = [[] for _ in range(topics)]
    for member, mine in enumerate(asked):
        for topic in mine:
            subscribers[topic].append(rank[member])
    return tuple(map(tuple, subscribers))


def _most(topics: Sequence[int], counts: Sequence[int]) -> int:
    # The original compares lengths only: who names one topic twice and leaves one out seems to ask for everything.
    return sum(counts) if len(topics) == len(counts) else sum(counts[topic] for topic in topics)
