"""Queues of RocketMQ's topics that may not be read: no client is given them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import ROCKETMQ
from monitor.findings.observation import Observation
from monitor.findings.rocketmq import UnreadableQueues
from monitor.model import MOST, FindingKind, TopicPartition


def find_unreadable_queues(facts: Facts) -> Iterable[Observation]:
    """Those with records that the group has not consumed, since the first poll that found one of them."""
    state = facts.group.rocketmq
    if state is None or not state.unreadable or not facts.group.members:
        return
    queues = state.unreadable
    yield Observation(
        kind=FindingKind.LAG,
        reason="unreadable",
        since_ms=facts.not_later_than_now(min(each.since_ms for each in queues)),
        evidence=UnreadableQueues(min(MOST, sum(each.unread for each in queues)), queues[0]),
        partitions=tuple(sorted(TopicPartition(each.topic, each.partition) for each in queues)),
    )


RULES: Final = (Rule(find_unreadable_queues, of_owners=False, kinds=ROCKETMQ),)
