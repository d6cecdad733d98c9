"""Cases for the client's assignors as JSON writes them: a group in, the answer in the form of the golden vectors out.

A case is an object: ``topics`` {topic: number of partitions}, ``members`` in the order in which the coordinator lists
them, optionally ``racks`` {topic: [the racks of each partition's replicas]} and ``instance_max_generation`` (the
highest generation that this assignor object has seen before; -1: it is new). See ``CaseMember`` for a member.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta, ValidationError
from msgspec.structs import replace

from monitor.assignors.assignor import Assignor
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.assignors.registry import System, UnknownAssignor, find
from monitor.model import Assignment, Member, TopicPartitions, TopicShape, Value, numbers

_Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class CaseMember(Value):
    """A member: its id, the topics of its subscription, and what else the subscription may carry.

    ``generation`` and ``owned`` are fields of the subscription; ``user_data`` (base64 in JSON) is what the sticky
    assignor of its former generation left there.
    """

    id: str
    topics: tuple[str, ...]
    instance: str | None = None
    rack: str | None = None
    generation: _Int32 = -1
    owned: dict[str, tuple[_Natural, ...]] = msgspec.field(default_factory=dict)
    user_data: bytes | None = None


class Case(Value):
    """A group as an assignor sees it."""

    topics: dict[str, _Natural]
    members: tuple[CaseMember, ...]
    racks: dict[str, tuple[tuple[str | None, ...], ...]] = msgspec.field(default_factory=dict)
    instance_max_generation: _Int32 = -1


SomeCase = TypeVar("SomeCase", bound=Case)


def read_case(case_input: object) -> Case:
    """The case, checked.

    Raises:
        ValidationError: the object has another shape, or two members have one id.
    """
    return check_members(msgspec.convert(case_input, Case))


def check_members(case: SomeCase) -> SomeCase:
    """The case, if all its members have ids of their own.

    Raises:
        ValidationError: two members have one id.
    """
    if len({member.id for member in case.members}) < len(case.members):
        raise ValidationError("Two members have the same id - at `$.members`")
    return case


def members_of(case: Case) -> list[Member]:
    """The members in the order of the case."""
    return [_member(entry) for entry in case.members]


def topics_of(case: Case) -> list[TopicShape]:
    """The topics in the order of the case."""
    return [
        TopicShape(topic=topic, partitions=partitions, racks=case.racks.get(topic, ()))
        for topic, partitions in case.topics.items()
    ]


def assignor_of(assignor: str, case: Case) -> Assignor:
    """The strategy of this family, as experienced as the case says.

    Raises:
        ValidationError: there is no such family.
    """
    system, _, name = assignor.partition(".")
    found = find(name if system == System.KAFKA_CLIENT else None)
    if isinstance(found, UnknownAssignor):
        raise ValidationError(f"No such assignor of Kafka's clients: {assignor!r}")
    if isinstance(found, StickyAssignor | CooperativeStickyAssignor):
        return replace(found, seen_generation=case.instance_max_generation)
    return found


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What the assignor gives: ``{"assignment": {member: {topic: [partition, ...]}}}``.

    >>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
    >>> answer("kafka.range", {"topics": {"t": 3}, "members": members})
    {'assignment': {'C0': {'t': [0, 1]}, 'C1': {'t': [2]}}}

    Raises:
        ValidationError: the object is not a case, or there is no such family.
        AssignorError: the original throws for this case.
    """
    return {"assignment": plain(assign(assignor, case_input))}


def assign(assignor: str, case_input: object) -> Assignment:
    """As ``answer``, in our own words: with the quirks."""
    case = read_case(case_input)
    return assignor_of(assignor, case).assign(members_of(case), topics_of(case))


def plain(assignment: Assignment) -> dict[str, dict[str, list[int]]]:
    """The assignment as JSON writes it."""
    return {
        member.member_id: {topic.topic: list(numbers(topic.partitions)) for topic in member.topics}
        for member in assignment.members
    }


def _member(entry: CaseMember) -> Member:
    return Member(
        member_id=entry.id,
        topics=entry.topics,
        instance_id=entry.instance,
        rack=entry.rack,
        generation=entry.generation,
        owned=tuple(TopicPartitions(topic, partitions) for topic, partitions in entry.owned.items()),
        user_data=entry.user_data,
    )
