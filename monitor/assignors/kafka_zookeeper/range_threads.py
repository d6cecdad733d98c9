"""``range`` over consumer threads (``kafka.consumer.RangeAssignor`` of Kafka 0.8.2.2 and 0.10.2.2).

Properties:

1. Every existing partition of a topic that has threads has exactly one owner, which is a thread of this topic.
2. The threads of a topic share it evenly: their shares differ by at most one.
3. The result depends on what is in the input, not on its order.

Steps, for each topic: sort its partitions by number and its threads by id, as text; divide, rounded down; as many of
the first threads as there are partitions left over take one more; cut runs. It is the place in the sorted list that
counts, so gaps between the numbers do not matter.

>>> registrations = tuple(
...     Registration(consumer=name, pattern=Pattern.STATIC, subscription={"t": 2}) for name in ("C1", "C2")
... )
>>> group = ZooKeeperGroup(registrations=registrations, topics=(ZooKeeperTopic(topic="t", partitions=(0, 1, 2, 3, 7)),))
>>> for share in RangeThreads().allocate(group):
...     print([(thread.thread, thread.topics[0].partitions) for thread in share.threads])
[('C1-0', (0, 1)), ('C1-1', (2,))]
[('C2-0', (3,)), ('C2-1', (7,))]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_zookeeper.group import (
    ConsumerShare,
    Pattern,
    Registration,
    ZooKeeperGroup,
    ZooKeeperTopic,
)
from monitor.assignors.kafka_zookeeper.shares import Taken, all_failing, by_consumer
from monitor.assignors.kafka_zookeeper.threads import threads_of
from monitor.model import Value

__all__ = ["Pattern", "RangeThreads", "Registration", "ZooKeeperTopic"]


class RangeThreads(Value):
    """Gives each thread of a topic a run of its partitions. See the module for the rule."""

    name: ClassVar[str] = "range"

    def allocate(self, group: ZooKeeperGroup) -> tuple[ConsumerShare, ...]:
        """What every consumer takes, in the order of the group."""
        try:
            return by_consumer(group, _cut_in_runs(group))
        except AssignorError as error:
            return all_failing(group, str(error))


def _cut_in_runs(group: ZooKeeperGroup) -> Iterator[Taken]:
    existing = {shape.topic: sorted(set(shape.partitions)) for shape in group.topics}
    for topic, threads in threads_of(group).by_topic.items():
        partitions = existing.get(topic, [])
        share, more = divmod(len(partitions), len(threads))
        for place, thread in enumerate(threads[: len(partitions)]):
            start = place * share + min(place, more)
            run = tuple(partitions[start : start + share + (place < more)])
            yield Taken(thread=thread, topic=topic, partitions=run)
