"""What a member that does not answer is presumed to hold: one rule for collectors, tracking and detection.

A member of RocketMQ is asked for what it holds (docs/decisions/0022-rocketmq-members-are-asked.md). While the broker
lists it, nobody else may take its share, so its silence gives nothing up. What it may have lost in a rebalance that it
slept through, another member holds by its own word: so that is left out.

What the member is known by differs: the collector has its last answer, the state of the group has what an earlier run
of the collector wrote, and detection has the share that the strategy of the others gives it.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from monitor.model.members import Member
from monitor.model.values import TopicPartition, TopicPartitions


def answered_holdings(members: Iterable[Member]) -> frozenset[TopicPartition]:
    """The partitions that members hold by their own word: those of all members that answer.

    >>> one = Member(member_id="a", assigned=(TopicPartitions("t", ("b-0",)),))
    >>> silent = Member(member_id="b", assigned=(TopicPartitions("t", ("b-1",)),), answers=False)
    >>> sorted(answered_holdings([one, silent]))
    [TopicPartition(topic='t', partition='b-0')]
    """
    return frozenset(
        TopicPartition(entry.topic, partition)
        for member in members
        if member.answers
        for entry in member.assigned
        for partition in entry.partitions
    )


def presumed_holdings(
    known: Iterable[TopicPartitions], held: AbstractSet[TopicPartition]
) -> tuple[TopicPartitions, ...]:
    """What a silent member is presumed to hold, in the order of ``known``, without topics of which nothing is left.

    Args:
        known: what it held when it was last heard of, or what its strategy gives it.
        held: what others hold by their own word.

    >>> presumed_holdings((TopicPartitions("t", ("b-0", "b-1")),), {TopicPartition("t", "b-1")})
    (TopicPartitions(topic='t', partitions=('b-0',)),)
    """
    left = (
        TopicPartitions(entry.topic, tuple([p for p in entry.partitions if TopicPartition(entry.topic, p) not in held]))
        for entry in known
    )
    return tuple([entry for entry in left if entry.partitions])
