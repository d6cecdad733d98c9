"""The broker's ``range`` assignor (``RangeAssignor`` of kafka-group-coordinator 4.3 and 4.4; KIP-848).

Properties:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. Each subscriber of a topic gets a run of it; the first ones get one more if it does not come out even.
3. Topics with equally many partitions and the same subscribers are co-partitioned.
4. The result depends on what is in the input, not on its order, and not on what members had.

Steps: line the members up (static ones first, by instance id; then the others, by member id); cut each topic into one
run for each of its subscribers.

If the coordinator says that all members subscribe to the same topics, the first member's subscription counts for all.

>>> members = [Member(member_id=name, topics=("t",)) for name in ("C1", "C0")]
>>> topics = [TopicShape(topic="t", partitions=3, topic_id="AAAAAAAAAAEAAAAAAAAAAQ")]
>>> for member in BrokerRangeAssignor().assign(members, topics).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C1 [(2,)]
C0 [(0, 1)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import ClassVar

from monitor.assignors.anomalies import quirks_of
from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.group import BrokerGroup, SubscriptionType, collect, form_group
from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.model import Assignment, Member, TopicPartitions, TopicShape, Value


class BrokerRangeAssignor(Value):
    """Gives each subscriber of a topic a run of its partitions. See the module for the rule."""

    name: ClassVar[str] = "range"

    def assign(
        self,
        members: Sequence[Member],
        topics: Sequence[TopicShape],
        *,
        subscription_type: SubscriptionType | None = None,
    ) -> Assignment:
        """See ``Assignor.assign``.

        Args:
            members: ``assigned`` plays no part.
            topics: with their ids.
            subscription_type: what the coordinator says; None: found out from the subscriptions.

        Raises:
            AssignorError: a member subscribes to a topic whose metadata has gone.
        """
        group = form_group(in_assignment_order(members), topics, subscription_type)
        answer = collect(group, _cut_in_runs(group), members)
        if not _can_be_odd(group):
            return answer
        return Assignment(members=answer.members, quirks=quirks_of(answer, members, topics))


def _cut_in_runs(group: BrokerGroup) -> list[list[TopicPartitions]]:
    given: list[list[TopicPartitions]] = [[] for _ in group.member_ids]
    runs_of = cache(_runs)  # most topics have as many partitions and subscribers as others
    for topic, subscribers in sorted(_subscribers(group).items()):
        count, name = group.topics[topic].partitions, group.topics[topic].name
        if count is None:
            raise AssignorError("PartitionAssignorException", "Member is subscribed to a non-existent topic")
        for member, run in zip(subscribers, runs_of(count, len(subscribers)), strict=False):
            given[member].append(TopicPartitions(name, run))
    return given


def _runs(count: int, subscribers: int) -> list[tuple[int, ...]]:
    """The runs of the first subscribers; those who are not in it get nothing."""
    share, extras = divmod(count, subscribers)
    starts = [place * share + min(place, extras) for place in range(min(subscribers, count) + 1)]
    return [tuple(range(start, stop)) for start, stop in pairwise(starts)]


def _subscribers(group: BrokerGroup) -> Mapping[int, Sequence[int]]:
    numbers = range(len(group.member_ids))
    if group.subscription_type is SubscriptionType.HOMOGENEOUS:
        return dict.fromkeys(group.asked[0], numbers) if group.asked else {}
    subscribers: dict[int, list[int]] = defaultdict(list)
    for member in numbers:
        for topic in group.asked[member]:
            subscribers[topic].append(member)
    return subscribers


def _can_be_odd(group: BrokerGroup) -> bool:
    """Whether subscriptions are not as equal as the coordinator says."""
    return group.subscription_type is SubscriptionType.HOMOGENEOUS and len(set(map(frozenset, group.asked))) > 1
