"""What the command can say about a case beside its answer, whichever system the case belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from monitor.assignors.anomalies import quirks_of, quirks_of_queues
from monitor.assignors.assignor import Assignor
from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker import BrokerRangeAssignor, ShareSimpleAssignor, UniformAssignor
from monitor.assignors.kafka_zookeeper.threads import threads_of
from monitor.assignors.order_sensitivity import order_sensitive
from monitor.assignors.vectors import dialect_cases as dialects
from monitor.assignors.vectors import kafka_broker_cases as kafka_broker
from monitor.assignors.vectors import kafka_client_cases as kafka_client
from monitor.assignors.vectors import kafka_zookeeper_cases as kafka_zookeeper
from monitor.assignors.vectors.case_line import CaseLine
from monitor.model import Assignment, Member, MemberAssignment, Quirk, TopicPartitions, TopicShape, Value

Answer = Mapping[str, object]
"""An answer in the form of the golden vectors."""
Queue = tuple[str | int, ...] | str
"""A queue of RocketMQ or a partition of MetaQ."""


def is_order_sensitive(case: CaseLine) -> bool:
    """See ``order_sensitive``, or ``has_several_answers`` for assignors of other libraries.

    False where the original has no map of members.

    The case is one that has an answer or an error.
    """
    if case.assignor in dialects.FAMILIES:
        return dialects.has_several_answers(case.assignor, case.input)
    if case.assignor.startswith("kafka.server."):
        seen = kafka_broker.read_case(case.input)
        return order_sensitive(_told(case.assignor, seen), kafka_broker.members_of(seen), kafka_broker.topics_of(seen))
    if case.assignor.startswith("kafka."):
        group = kafka_client.read_case(case.input)
        assignor = kafka_client.assignor_of(case.assignor, group)
        return order_sensitive(assignor, kafka_client.members_of(group), kafka_client.topics_of(group))
    return False


def quirks_of_answer(case: CaseLine, answer: Answer) -> list[Quirk]:
    """What is odd about the answer of this case; nothing can be about Java's orders."""
    if case.assignor in dialects.FAMILIES:
        group = dialects.read_group(case.input)
        return list(quirks_of(dialects.assign(case.assignor, case.input), group.members, group.topics))
    if case.assignor.startswith("kafka.server."):
        return _quirks_of_broker(case, answer)
    if case.assignor.startswith("kafka."):
        # Computed again: only the strategy knows which partitions wait for their owner to let go.
        return list(kafka_client.assign(case.assignor, case.input).quirks)
    if case.assignor.startswith("kafka08."):
        return _quirks_of_threads(msgspec.convert(case.input, kafka_zookeeper.Case), answer)
    if case.assignor.startswith(("rocketmq.", "metaq.")):
        return _quirks_of_queues(msgspec.convert(case.input, _QueueCase), answer)
    return []


@dataclass(frozen=True)
class _Told:
    """An assignor of the broker, with what the coordinator passes to it beside the group."""

    assignor: UniformAssignor | ShareSimpleAssignor
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.assignor.name

    def assign(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        return self.assignor.assign(members, topics, **self.settings)

    def assign_in_order(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        return self.assignor.assign_in_order(members, topics, **self.settings)


def _told(assignor: str, case: kafka_broker.Case) -> Assignor:
    settings = {"subscription_type": case.subscription_type}
    match assignor:
        case "kafka.server.uniform":
            return _Told(UniformAssignor(), settings)
        case "kafka.server.share-simple":
            return _Told(ShareSimpleAssignor(), {**settings, "assignable": kafka_broker.assignable_of(case)})
        case _:
            return BrokerRangeAssignor()


class _BrokerAnswer(Value):
    assignment: dict[str, dict[str, tuple[int, ...]]]


def _quirks_of_broker(case: CaseLine, answer: Answer) -> list[Quirk]:
    group = kafka_broker.read_case(case.input)
    given = msgspec.convert(answer, _BrokerAnswer).assignment
    assignment = Assignment(
        members=tuple(
            MemberAssignment(member_id=name, topics=tuple(TopicPartitions(topic, taken[topic]) for topic in taken))
            for name, taken in given.items()
        )
    )
    shared = case.assignor == "kafka.server.share-simple"
    members, topics = kafka_broker.members_of(group), kafka_broker.topics_of(group)
    return list(quirks_of(assignment, members, topics, shared=shared, assignable=kafka_broker.assignable_of(group)))


class _ThreadAnswer(Value):
    assignment: dict[str, dict[str, dict[str, tuple[int, ...]]]]


def _quirks_of_threads(case: kafka_zookeeper.Case, answer: Answer) -> list[Quirk]:
    """The quirks in partitions with a subscriber; none if the subscriptions' expressions cannot be read."""
    group = kafka_zookeeper.group_of(case)
    try:
        asked = threads_of(group).by_topic
    except AssignorError:
        return []
    wanted = [(shape.topic, number) for shape in group.topics if shape.topic in asked for number in shape.partitions]
    taken = msgspec.convert(answer, _ThreadAnswer).assignment
    given = {
        consumer: [(topic, number) for topics in threads.values() for topic in topics for number in topics[topic]]
        for consumer, threads in taken.items()
    }
    return list(quirks_of_queues(given, wanted))


class _QueueCase(Value):
    """What RocketMQ's and MetaQ's cases have in common, under two names each."""

    ask: tuple[str, ...]
    cids: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    queues: tuple[Queue, ...] = ()
    partitions: tuple[Queue, ...] = ()


class _QueueAnswer(Value):
    assignment: dict[str, tuple[Queue, ...] | None]


def _quirks_of_queues(case: _QueueCase, answer: Answer) -> list[Quirk]:
    """Strangers in ``ask`` are not looked at. Whether a queue has an owner is known if ``ask`` has all members."""
    taken = msgspec.convert(answer, _QueueAnswer).assignment
    members = set(case.cids or case.consumers)
    found = quirks_of_queues({name: taken.get(name) or () for name in members}, case.queues or case.partitions)
    everybody = bool(members) and members <= set(case.ask)
    return [quirk for quirk in found if everybody or quirk is not Quirk.UNASSIGNED]
