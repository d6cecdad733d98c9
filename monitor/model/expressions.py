"""Clients of one RocketMQ group that subscribe to a topic with different expressions.

A broker keeps one subscription of a group, that of the newest heartbeat (``ConsumerGroupInfo.updateSubscription``), and
filters by it what it returns to each client of the group. Each client then filters once more by its own expression. A
record that is left out either way is passed: the offset of its queue advances.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from monitor.model.members import Member

ALL_RECORDS: Final = "*"
"""How RocketMQ writes the expression that selects all records (``SubscriptionData.SUB_ALL``)."""


def differing_expressions(members: Iterable[Member]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Of the topics to which clients subscribe with different expressions: the clients by expression.

    Only clients that answer count: one that hangs sends no heartbeat, and reads nothing.

    >>> from monitor.model.members import TopicExpression
    >>> one = Member(member_id="a", topics=("t",), expressions=(TopicExpression("t", "tag1"),))
    >>> differing_expressions([one, Member(member_id="b", topics=("t",), expressions=())])
    {'t': {'*': ('b',), 'tag1': ('a',)}}
    >>> differing_expressions([one, Member(member_id="b", topics=("t",))])
    {}
    """
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for member in members:
        if not member.answers or member.expressions is None:
            continue
        own = {each.topic: each.expression for each in member.expressions}
        for topic in member.topics:
            found[topic][own.get(topic, ALL_RECORDS)].append(member.member_id)
    return {
        topic: {text: tuple(names) for text, names in sorted(by_text.items())}
        for topic, by_text in sorted(found.items())
        if len(by_text) > 1
    }
