"""Cases for the broker's assignors as JSON writes them, and answers in the form of the golden vectors.

A case is an object: ``subscription_type``, ``topics`` {name: {"id": Uuid, "partitions": number, -1 if the metadata has
gone}}, ``members`` in the order in which the coordinator's map is filled (``id``, ``topics``, ``instance``,
``assigned`` {topic: [partition]}), and for share groups ``assignable`` {topic: [partition]}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, ValidationError

from monitor.assignors.java.order import hash_map_order
from monitor.assignors.java.uuid import parse_uuid
from monitor.assignors.kafka_broker.group import BrokerGroup, SubscriptionType, form_group
from monitor.assignors.kafka_broker.range_broker import BrokerRangeAssignor
from monitor.assignors.kafka_broker.share_simple import simple
from monitor.assignors.kafka_broker.uniform import uniform
from monitor.model import Member, TopicPartitions, TopicShape, Value, numbers

_Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_Count = Annotated[int, Meta(ge=-1, le=2**31 - 1)]
_Numbers = dict[str, tuple[_Natural, ...]]


class CaseTopic(Value):
    """A topic of the cluster."""

    id: str
    partitions: _Count


class CaseMember(Value):
    """A member and what it has."""

    id: str
    topics: tuple[str, ...]
    instance: str | None = None
    assigned: _Numbers = msgspec.field(default_factory=dict)


class Case(Value):
    """A group as the coordinator sees it."""

    topics: dict[str, CaseTopic]
    members: tuple[CaseMember, ...]
    subscription_type: SubscriptionType | None = None
    assignable: _Numbers | None = None


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What the assignor gives: ``{"assignment": {member: {topic: [partition, ...]}}}``.

    A member is absent if the original computes nothing at all, and a topic can have no partitions, as it is there.

    >>> topics = {"t": {"id": "AAAAAAAAAAEAAAAAAAAAAQ", "partitions": 2}}
    >>> answer("kafka.server.uniform", {"topics": topics, "members": [{"id": "C0", "topics": ["t"]}]})
    {'assignment': {'C0': {'t': [0, 1]}}}

    Raises:
        ValidationError: the object is not a case, or there is no such assignor.
        AssignorError: the original throws for this case.
    """
    case = read_case(case_input)
    members, topics = members_of(case), topics_of(case)
    match assignor:
        case "kafka.server.range":
            given = BrokerRangeAssignor().assign(members, topics, subscription_type=case.subscription_type)
            return {"assignment": {m.member_id: _plain(m.topics) for m in given.members}}
        case "kafka.server.uniform":
            group = _group(case)
            return {"assignment": _by_name(group, uniform(group))}
        case "kafka.server.share-simple":
            group = _group(case)
            return {"assignment": _by_name(group, simple(group, assignable_of(case)))}
        case _:
            raise ValidationError(f"No such assignor of Kafka's broker: {assignor[:100]!r}")


def read_case(case_input: object) -> Case:
    """The case, checked.

    Raises:
        ValidationError: the object has another shape, two members have one id or two topics one Uuid.
    """
    case = msgspec.convert(case_input, Case)
    if len({member.id for member in case.members}) < len(case.members):
        raise ValidationError("Two members have the same id - at `$.members`")
    try:
        uuids = {parse_uuid(topic.id) for topic in case.topics.values()}
    except ValueError as error:
        raise ValidationError(f"{error} - at `$.topics`") from None
    if len(uuids) < len(case.topics):
        raise ValidationError("Two topics have the same id - at `$.topics`")
    return case


def members_of(case: Case) -> list[Member]:
    """The members in the order of the case."""
    return [
        Member(
            member_id=entry.id,
            topics=entry.topics,
            instance_id=entry.instance,
            assigned=tuple(TopicPartitions(topic, numbers) for topic, numbers in entry.assigned.items()),
        )
        for entry in case.members
    ]


def topics_of(case: Case) -> list[TopicShape]:
    """The topics in the order of the case."""
    return [
        TopicShape(topic=name, partitions=topic.partitions, topic_id=topic.id) for name, topic in case.topics.items()
    ]


def assignable_of(case: Case) -> tuple[TopicPartitions, ...] | None:
    """The partitions that may be assigned; None: all."""
    if case.assignable is None:
        return None
    return tuple(TopicPartitions(topic, numbers) for topic, numbers in case.assignable.items())


def _group(case: Case) -> BrokerGroup:
    by_id = {member.member_id: member for member in members_of(case)}
    ordered = [by_id[member_id] for member_id in hash_map_order(by_id)]
    return form_group(ordered, topics_of(case), case.subscription_type)


def _by_name(
    group: BrokerGroup, given: Iterable[Mapping[int, Iterable[int]]] | None
) -> dict[str, dict[str, list[int]]]:
    return {
        member_id: {group.topics[topic].name: sorted(numbers) for topic, numbers in taken.items()}
        for member_id, taken in zip(group.member_ids, given or (), strict=given is not None)
    }


def _plain(topics: Iterable[TopicPartitions]) -> dict[str, list[int]]:
    return {entry.topic: list(numbers(entry.partitions)) for entry in topics}
