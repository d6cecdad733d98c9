"""Which members subscribe to which of the existing topics.

In this module and in those that use it a *rank* is the place of a member in assignment order, from 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from monitor.assignors.java.order import string_key
from monitor.model import Member, TopicShape, Value


class SubscribedTopic(Value):
    """An existing topic with at least one partition and at least one subscriber (ranks, ascending)."""

    shape: TopicShape
    subscribers: tuple[int, ...]


def subscribed_topics(ordered: Sequence[Member], topics: Sequence[TopicShape]) -> list[SubscribedTopic]:
    """The topics to assign, in Java's string order. Topics without partitions count as topics that do not exist.

    Members with equal subscriptions are handled as one, since most groups have a single subscription: the cost is then
    members plus topics, and topics with the same subscribers share one tuple.

    >>> ordered = [Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t", "gone", "t"))]
    >>> [entry.subscribers for entry in subscribed_topics(ordered, [TopicShape(topic="t", partitions=3)])]
    [(0, 1)]
    """
    existing = {shape.topic: shape for shape in topics if shape.partitions > 0}
    crowds: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for rank, member in enumerate(ordered):
        crowds[member.topics].append(rank)
    crowds_by_topic = _crowds_by_topic(list(crowds), existing)
    merged = _Merged(list(crowds.values()))
    return [
        SubscribedTopic(shape=existing[topic], subscribers=merged[tuple(crowds_by_topic[topic])])
        for topic in sorted(crowds_by_topic, key=string_key)
    ]


def _crowds_by_topic(subscriptions: list[tuple[str, ...]], existing: dict[str, TopicShape]) -> dict[str, list[int]]:
    crowds: dict[str, list[int]] = defaultdict(list)
    for crowd, topics in enumerate(subscriptions):
        for topic in existing.keys() & set(topics):
            crowds[topic].append(crowd)
    return crowds


class _Merged(dict[tuple[int, ...], tuple[int, ...]]):
    """The ranks in some crowds, ascending; each combination of crowds is merged once."""

    def __init__(self, crowds: list[list[int]]) -> None:
        super().__init__()
        self._crowds = crowds

    def __missing__(self, key: tuple[int, ...]) -> tuple[int, ...]:
        self[key] = ranks = tuple(sorted(chain.from_iterable(self._crowds[crowd] for crowd in key)))
        return ranks
