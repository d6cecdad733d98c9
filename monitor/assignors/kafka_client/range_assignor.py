"""Kafka's client-side ``range`` assignor (``RangeAssignor`` of kafka-clients 4.4.0, racks as of KIP-881).

Words: a topic's *share* is its partitions divided by its subscribers, rounded down; the *extras* are the remainder.
A *batch* is the topics with the same subscribers and equally many partitions.

Properties, in this order:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. Each subscriber of a topic gets the share, and as many of them as there are extras get one more.
3. Topics of a batch are co-partitioned: partition 7 of one and partition 7 of the other have the same owner.
4. Where racks are used, as many partitions as the steps below reach have a replica on their owner's rack.
5. The result depends on what is in the input, not on its order.

Steps:

1. Put the members in assignment order (``member_order``) and form the batches.
2. Racks are used for the whole group as soon as one topic gains from them (``rack_matching.gains_from_racks``).
3. Without racks: cut each batch into one run of partitions for each subscriber; the first ones get the extras.
4. With racks: match racks first, then give out the rest in order (``rack_matching``).

Worked example: t0 has two subscribers, so C0 and C1 get a share of one and C0 the extra; t1 has one subscriber.

>>> members = [Member(member_id="C1", topics=("t0", "t1")), Member(member_id="C0", topics=("t0",))]
>>> topics = [TopicShape(topic="t0", partitions=3), TopicShape(topic="t1", partitions=2)]
>>> for member in RangeAssignor().assign(members, topics).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C1 [('t0', (2,)), ('t1', (0, 1))]
C0 [('t0', (0, 1))]

With racks, the members change places where that brings them to their replicas:

>>> members = [Member(member_id=name, topics=("t",), rack=rack) for name, rack in [("C0", "b"), ("C1", "a")]]
>>> topics = [TopicShape(topic="t", partitions=2, racks=(("a",), ("b",)))]
>>> for member in RangeAssignor().assign(members, topics).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('t', (1,))]
C1 [('t', (0,))]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from monitor.assignors.kafka_client.allotment import Share, SharedTopic, collect
from monitor.assignors.kafka_client.copartitioned import Batch, form_batches
from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.assignors.kafka_client.rack_matching import gains_from_racks, share_by_racks
from monitor.assignors.kafka_client.subscribed_topics import subscribed_topics
from monitor.model import Assignment, Member, TopicShape


class RangeAssignor:
    """Gives each subscriber of a topic a run of its partitions. See the module for the rule."""

    name: Final = "range"

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """See ``Assignor.assign``. This assignor never fails."""
        ordered = in_assignment_order(members)
        batches = form_batches(subscribed_topics(ordered, topics))
        racks = tuple(member.rack or None for member in ordered)  # an empty rack is no rack
        return collect(members, ordered, _share_out(batches, racks))


def _share_out(batches: Sequence[Batch], racks: Sequence[str | None]) -> Iterator[SharedTopic]:
    rack_aware = any(racks) and any(gains_from_racks(batch, racks) for batch in batches)
    for batch in batches:
        shares = share_by_racks(batch, racks) if rack_aware else cut_in_runs(batch.partitions, batch.subscribers)
        yield from (SharedTopic(topic=shape.topic, shares=shares) for shape in batch.shapes)


def cut_in_runs(partitions: int, subscribers: Sequence[int]) -> tuple[Share, ...]:
    """One run of a topic's partitions for each subscriber (rank); the first ones get the extras.

    >>> [share.partitions for share in cut_in_runs(5, (0, 1))]
    [(0, 1, 2), (3, 4)]
    """
    return tuple(_runs(partitions, subscribers))


def _runs(partitions: int, subscribers: Sequence[int]) -> Iterator[Share]:
    share, extras = divmod(partitions, len(subscribers))
    start = 0
    for place, rank in enumerate(subscribers[:partitions]):
        stop = start + share + (place < extras)
        yield Share(rank=rank, partitions=tuple(range(start, stop)))
        start = stop
