"""From the shares of topics to the assignment of members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.assignors.java.order import string_key
from monitor.model import Assignment, Member, MemberAssignment, TopicPartitions, Value


class Share(Value, gc=False):  # a million of them, and none can be part of a cycle
    """The partitions of one topic that go to the member with this rank; at least one."""

    rank: int
    partitions: tuple[int, ...]


class SharedTopic(Value):
    """How one topic is shared out."""

    topic: str
    shares: tuple[Share, ...]


def collect(members: Sequence[Member], ordered: Sequence[Member], shared: Iterable[SharedTopic]) -> Assignment:
    """The assignment of every member, in the order of ``members``; its topics are in Java's string order.

    Args:
        members: the members as the caller gave them.
        ordered: the same members in assignment order, to which the ranks refer.
        shared: each topic once, in any order.
    """
    given: list[list[TopicPartitions]] = [[] for _ in ordered]
    for topic in sorted(shared, key=lambda topic: string_key(topic.topic)):
        for share in topic.shares:
            given[share.rank].append(TopicPartitions(topic.topic, share.partitions))
    by_id = {member.member_id: tuple(topics) for member, topics in zip(ordered, given, strict=True)}
    ids = dict.fromkeys(member.member_id for member in members)
    return Assignment(members=tuple(MemberAssignment(member_id=name, topics=by_id[name]) for name in ids))
