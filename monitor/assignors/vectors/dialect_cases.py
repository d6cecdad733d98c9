"""Cases for the assignors of other client libraries: as those of the client's assignors, with a leader.

A case is an object as for ``kafka_client_cases``, and has a ``leader`` (a member's id) where the library's strategy
depends on it: KafkaJS and @platformatic/kafka. Beside its answer, such an assignor says whether it could have given an
assignment. Some assignors are checked only, and have no answer of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta, ValidationError

from monitor.assignors.dialects import DIALECTS, DialectRow, Exactness, Group, ReplayedDialect, UnknownLeaderError
from monitor.assignors.vectors import kafka_client_cases as kafka_client
from monitor.model import Assignment, MemberAssignment, TopicPartitions, Value
from monitor.model.evidence import Refusal, RefusalReason

FAMILIES: Final = tuple(DIALECTS)
CHECKED_FAMILIES: Final = tuple(name for name, row in DIALECTS.items() if row.exactness is Exactness.CHECKED)
"""Those that have no answer of their own."""

_Natural = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class DialectCase(kafka_client.Case):
    """A group as its leader sees it."""

    leader: str | None = None


class GivenAnswer(Value):
    """An assignment to check, in the form of the golden vectors' answers."""

    assignment: dict[str, dict[str, tuple[_Natural, ...]]]


def read_group(case_input: object) -> Group:
    """The group of a case.

    Raises:
        ValidationError: the object has another shape, or two members have one id.
    """
    case = kafka_client.check_members(msgspec.convert(case_input, DialectCase))
    members, topics = tuple(kafka_client.members_of(case)), tuple(kafka_client.topics_of(case))
    return Group(members=members, topics=topics, leader=case.leader)


def answer(assignor: str, case_input: object) -> dict[str, object]:
    """What the assignor gives, as ``kafka_client_cases.answer``.

    >>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
    >>> answer("kafka-go.range", {"topics": {"t": 3}, "members": members})
    {'assignment': {'C0': {'t': [0]}, 'C1': {'t': [1, 2]}}}

    Raises:
        ValidationError: the object is not a case, there is no such family, or it is checked only.
        AssignorError: the original fails for this case.
    """
    return {"assignment": kafka_client.plain(assign(assignor, case_input))}


def assign(assignor: str, case_input: object) -> Assignment:
    """As ``answer``, as a value."""
    rule, group = _row(assignor).rule, read_group(case_input)
    if not isinstance(rule, ReplayedDialect):
        raise ValidationError(
            f"{assignor} is checked and not replayed: its answers depend on what only its leader knows. To check an "
            'assignment, add it to the line as "given": {"assignment": {member: {topic: [partition, ...]}}}'
        )
    with _leader_in_case():
        return rule.assign(group)


def acceptance(assignor: str, case_input: object, given: object) -> dict[str, object]:
    """Whether the assignor could have given the assignment (``accepted``), and if not, why (``refused``).

    Empty if there is nothing to check: the assignor is none of this module, or ``given`` has no assignment.

    >>> members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
    >>> given = {"assignment": {"C0": {"t": [0]}, "C1": {}}}
    >>> acceptance("kafka-go.rack-affinity", {"topics": {"t": 2}, "members": members}, given)
    {'accepted': False, 'refused': 'Partition 1 of t has no owner.'}

    Raises:
        ValidationError: the object is not a case, or the assignment has another form.
    """
    if assignor not in DIALECTS or not isinstance(given, Mapping) or "assignment" not in given:
        return {}
    with _leader_in_case():
        refusal = _row(assignor).rule.refusal(_read_given(given), read_group(case_input))
    return {"accepted": True} if refusal is None else {"accepted": False, "refused": describe(refusal)}


def has_several_answers(assignor: str, case_input: object) -> bool:
    """Whether orders that the log leaves open change who gets what; False also where that is not found out."""
    rule = _row(assignor).rule
    if not isinstance(rule, ReplayedDialect):
        return False
    with _leader_in_case():
        plain = [kafka_client.plain(possible) for possible in rule.possible_assignments(read_group(case_input))]
    return any(other != plain[0] for other in plain)


def describe(refusal: Refusal) -> str:
    """The refusal as one English sentence.

    >>> from monitor.model import TopicPartition
    >>> describe(Refusal(RefusalReason.ASSIGNED_TWICE, TopicPartition("t", 3), "C0", "C1"))
    'Partition 3 of t belongs to both C0 and C1.'
    """
    partition, other = refusal.partition, refusal.other
    return _SENTENCES[refusal.reason].format(
        place="A partition" if partition is None else f"Partition {partition.partition} of {partition.topic}",
        member=refusal.member or "its next owner",
        other=other or "another member",
        but_should="" if other is None else f", and should belong to {other}",
        failure=refusal.failure,
    )


_SENTENCES: Final[Mapping[RefusalReason, str]] = MappingProxyType(
    {
        RefusalReason.FAILS: "The original fails for this group: {failure}.",
        RefusalReason.UNKNOWN_MEMBER: "{place} belongs to {member}, which is no member of the group.",
        RefusalReason.DOES_NOT_EXIST: "{place} belongs to {member}, and does not exist.",
        RefusalReason.NOT_SUBSCRIBED: "{place} belongs to {member}, which does not subscribe to the topic.",
        RefusalReason.ASSIGNED_TWICE: "{place} belongs to both {member} and {other}.",
        RefusalReason.UNASSIGNED: "{place} has no owner{but_should}.",
        RefusalReason.NOT_ASSIGNABLE: "{place} belongs to {member}, and should have no owner.",
        RefusalReason.OTHER_OWNER: "{place} belongs to {member}{but_should}.",
        RefusalReason.UNEVEN: "{place} can move from {member} to make the group more even: {other} has fewer.",
        RefusalReason.NOT_KEPT: "{place} moved from {other} without need: an assignment as even keeps more.",
        RefusalReason.NOT_WITHHELD: "{place} belongs to {member} already, while {other} still claims it.",
        RefusalReason.RACK: "{place} is not where the rack of its leader would bring it{but_should}.",
    }
)


@contextmanager
def _leader_in_case() -> Iterator[None]:
    """Makes a leader that is no member a fault of the case."""
    try:
        yield
    except UnknownLeaderError as error:
        raise ValidationError(f"{error} - at `$.leader`") from error


def _row(assignor: str) -> DialectRow:
    row = DIALECTS.get(assignor)
    if row is None:
        raise ValidationError(f"No such assignor of another library: {assignor!r}")
    return row


def _read_given(given: object) -> Assignment:
    assignment = msgspec.convert(given, GivenAnswer).assignment
    return Assignment(
        members=tuple(
            MemberAssignment(member_id=name, topics=tuple(TopicPartitions(topic, own) for topic, own in topics.items()))
            for name, topics in assignment.items()
        )
    )
