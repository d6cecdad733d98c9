"""The rack-aware part of ``range`` (KIP-881): partitions go to members on a rack of their replicas, if it can be done.

Balance comes before racks, and so does co-partitioning: a subscriber never gets more than its share, plus one extra as
long as there are extras left, and the topics of a batch always get the same owners. A member without a rack is at home
on every rack; a partition without known racks is on none.

Steps, for one batch:

1. A batch of several topics: go through the partition numbers. Each goes to the first subscriber, in assignment order,
   that has room and is on a rack of this partition in *every* topic of the batch; if there is none, it waits.
2. A batch of one topic that gains from racks: go through the subscribers in assignment order. Each takes the lowest
   free partitions on its rack, up to its room. A topic that does not gain skips this step.
3. Go through the subscribers again: each takes the lowest free partitions, on any rack, until its room is used up.

Room is the share, plus one while extras are left, minus what the subscriber has: whoever first goes beyond the share
uses up an extra.

Worked example: two topics with partition 1 on rack a, and partition 0 on rack a in one topic but on b in the other.
No member is at home with both, so partition 0 waits; 1 goes to the member on rack a, and 0 to the other.

>>> shapes = (TopicShape(topic="t", partitions=2, racks=(("a",), ("a",))),
...           TopicShape(topic="u", partitions=2, racks=(("b",), ("a",))))
>>> for share in share_by_racks(Batch(subscribers=(0, 1), partitions=2, shapes=shapes), racks=("a", "b")):
...     print(share.rank, share.partitions)
0 (1,)
1 (0,)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from monitor.assignors.kafka_client.allotment import Share
from monitor.assignors.kafka_client.copartitioned import Batch
from monitor.model import TopicShape

Rack = str | None
"""Where a member is; None: not known."""


def gains_from_racks(batch: Batch, racks: Sequence[Rack]) -> bool:
    """Whether racks make a difference for a topic of the batch.

    They do if a subscriber is on a rack of some replica, and not every partition is on every rack that the topic is on.

    Args:
        batch: the topics and their subscribers.
        racks: the rack of each member, by rank.
    """
    homes = {rack for rank in batch.subscribers if (rack := racks[rank]) is not None}
    return bool(homes) and any(_gains(shape, homes) for shape in batch.shapes)


def _gains(shape: TopicShape, homes: set[str]) -> bool:
    by_partition = _replica_racks(shape)
    everywhere = frozenset[str]().union(*by_partition)
    return not homes.isdisjoint(everywhere) and any(racks != everywhere for racks in by_partition)


def share_by_racks(batch: Batch, racks: Sequence[Rack], *, rackless_match: bool = True) -> tuple[Share, ...]:
    """The share of each subscriber that gets any: its partitions ascending. See the module for the rule.

    Args:
        batch: the topics and their subscribers.
        racks: the rack of each member, by rank.
        rackless_match: whether step 1 takes a member without a rack for one that is at home on every rack.
    """
    homes = [racks[rank] for rank in batch.subscribers]
    deal = _Deal(partitions=batch.partitions, subscribers=len(homes))
    if len(batch.shapes) > 1:
        everywhere: tuple[Rack, ...] = (None,) if rackless_match else ()
        _match_partitions(deal, homes, [(*everywhere, *racks) for racks in _common_racks(batch.shapes)])
    elif gains_from_racks(batch, racks):
        _match_subscribers(deal, homes, _replica_racks(batch.shapes[0]))
    deal.take_in_order([deal.free(range(batch.partitions))] * len(homes))
    return tuple(
        Share(rank=rank, partitions=tuple(sorted(taken)))
        for rank, taken in zip(batch.subscribers, deal.taken, strict=True)
        if taken
    )


def _match_partitions(deal: _Deal, homes: Sequence[Rack], by_partition: Iterable[Iterable[Rack]]) -> None:
    waiting: dict[Rack, deque[int]] = defaultdict(deque)
    for subscriber, home in enumerate(homes):
        waiting[home].append(subscriber)
    for partition, racks in enumerate(by_partition):
        queues = [waiting[home] for home in racks if home in waiting]
        first = min((queue[0] for queue in queues if deal.drop_full(queue)), default=None)
        if first is not None:
            deal.give(first, [partition])


def _match_subscribers(deal: _Deal, homes: Sequence[Rack], by_partition: Iterable[frozenset[str]]) -> None:
    local: dict[Rack, list[int]] = defaultdict(list)
    for partition, racks in enumerate(by_partition):
        for home in (None, *racks):
            local[home].append(partition)
    free = {home: deal.free(local[home]) for home in set(homes)}
    deal.take_in_order([free[home] for home in homes])


def _common_racks(shapes: Iterable[TopicShape]) -> list[frozenset[str]]:
    return [frozenset.intersection(*racks) for racks in zip(*map(_replica_racks, shapes), strict=True)]


def _replica_racks(shape: TopicShape) -> list[frozenset[str]]:
    known = [frozenset(rack for rack in racks if rack is not None) for racks in shape.racks[: shape.partitions]]
    return known + [frozenset()] * (shape.partitions - len(known))


class _Deal:
    """Who has taken what so far. Subscribers are numbered from 0 in assignment order.

    A subscriber's room never grows, and a taken partition stays taken; the queues and iterators above rely on it.
    """

    def __init__(self, partitions: int, subscribers: int) -> None:
        self.taken: list[list[int]] = [[] for _ in range(subscribers)]
        self._gone = bytearray(partitions)
        self._share, self._extras = divmod(partitions, subscribers)

    def room(self, subscriber: int) -> int:
        """How many partitions the subscriber may still take."""
        return max(0, self._share + (self._extras > 0) - len(self.taken[subscriber]))

    def free(self, partitions: Iterable[int]) -> Iterator[int]:
        """Those of the partitions that are not taken at the moment when the iterator reaches them."""
        return (partition for partition in partitions if not self._gone[partition])

    def give(self, subscriber: int, partitions: Sequence[int]) -> None:
        """Give free partitions, at least one and not more than there is room for."""
        self.taken[subscriber] += partitions
        self._extras -= len(self.taken[subscriber]) > self._share
        for partition in partitions:
            self._gone[partition] = True

    def drop_full(self, queue: deque[int]) -> bool:
        """Drop subscribers without room from the head of the queue; whether anybody is left."""
        while queue and not self.room(queue[0]):
            queue.popleft()
        return bool(queue)

    def take_in_order(self, offers: Iterable[Iterator[int]]) -> None:
        """Each subscriber in turn takes from its offer what it has room for. Subscribers may share one offer."""
        for subscriber, offer in enumerate(offers):
            taken = list(islice(offer, self.room(subscriber)))
            if taken:
                self.give(subscriber, taken)
