"""A group's assignment if something about it were different.

The result is the assignor's for the members as they would join now, with the partitions that they remember. Only the
rules of ``monitor.assignors`` compute it; the result lists its assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from monitor.assignors import AssignorError
from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.balance import BalanceSide, balance_side
from monitor.detection.ownership.catalog_view import count_now
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.tasks.inputs import partitions_of as read_partitions
from monitor.detection.ownership.tasks.task_places import Holders, task_holders
from monitor.explain.self_assigned_simulation import own_roster, partitions_of, shared, strategy_for
from monitor.explain.simulation import Roster, choose_assignor, roster_of
from monitor.explain.task_changes import TaskMove, TaskSets, task_moves, tasks_by_member
from monitor.explain.task_simulation import assigned_tasks, require_task_assignor, task_roster
from monitor.kinds.streams import TASK_ASSIGNOR
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown, shown_group, who
from monitor.model import (
    KINDS,
    Member,
    MemberAssignment,
    PartitionId,
    TopicPartition,
    TopicPartitions,
    Value,
)

MOST_MEMBERS: Final = 10_000
MOST_PARTITIONS: Final = 1_000_000
"""Larger groups are not simulated: a typing error must not take hours."""


class PartitionCount(Value):
    """How many partitions a topic is to have."""

    topic: str
    partitions: int


class Change(Value):
    """The supposed changes. What is not named stays; without any change, it is a rebalance now.

    The members ``without`` leave first, then ``members`` is how many there are to be. ``leader`` is the member that
    assigns, by the assignor of its client library (its id, instance id or client id).
    """

    assignor: str | None = None
    leader: str | None = None
    members: int | None = None
    without: tuple[str, ...] = ()
    partitions: tuple[PartitionCount, ...] = ()


class MemberChange(Value):
    """A member before and after. Partitions are sorted.

    Of a streams group the partitions are those that its active tasks consume.
    """

    member_id: str
    before: tuple[TopicPartitions, ...] = ()
    """The partitions that it owns."""
    after: tuple[TopicPartitions, ...] = ()
    """The partitions that it would own."""
    partitions_before: int = 0
    """Number of partitions that it owns."""
    partitions_after: int = 0
    """Number of partitions that it would own."""
    joins: bool = False
    """Whether it is new."""
    leaves: bool = False
    """Whether it would leave."""
    idle: bool = False
    """Whether it would own no partition; of a streams group, whether it would have no task."""
    tasks_before: TaskSets | None = None
    """Streams groups: its tasks; absent: it is new, or the group is another one."""
    tasks_after: TaskSets | None = None
    """Streams groups: the tasks that it would have; absent: it would leave."""
    client_id: str = ""
    """Its client id; absent: unknown, or it is new."""
    host: str = ""
    """The host that it connects from; absent: unknown, or it is new."""


class Move(Value):
    """A partition that gets another owner."""

    topic: str
    partition: PartitionId
    before: tuple[str, ...] = ()
    """The ids of its owners; absent: none."""
    after: tuple[str, ...] = ()
    """The ids of its owners after the change; absent: none."""


class WhatIf(Value):
    """The answer. ``orphans`` are of topics subscribed before."""

    cluster: str
    group: str
    evaluated_ms: int
    assignor: str
    """The simulated assignor."""
    assignor_before: str | None
    """The group's assignor."""
    members: tuple[MemberChange, ...]
    """The members before and after."""
    moves: tuple[Move, ...]
    """The partitions that get a different owner."""
    balance_before: BalanceSide | None
    """The balance; null: no partition has an owner, or the group has tasks."""
    balance_after: BalanceSide | None
    """The balance after the change; null as above."""
    idle: tuple[str, ...] = ()
    """The ids of the members that would own no partition."""
    orphans: tuple[TopicPartition, ...] = ()
    """The partitions that would have no owner."""
    assumptions: tuple[str, ...] = ()
    """The assumptions, in sentences."""
    task_moves: tuple[TaskMove, ...] | None = None
    """Streams groups: the tasks that get a different member; absent: it is another group."""


def what_if(inputs: GroupInputs, change: Change) -> WhatIf:
    """The assignment of the group if this were so, beside the one that it has.

    Raises:
        QuestionError: the change names what there is not, or the group's assignment cannot be computed.
    """
    if KINDS[inputs.group.kind].is_self_assigned:
        return _what_if_shared(inputs, change)
    if KINDS[inputs.group.kind].broker_assigns_tasks:
        return _what_if_tasks(inputs, change)
    before = roster_of(inputs)
    members, assumptions = _members(before, change)
    counts = _changed_counts(before, change)
    leader = None if change.leader is None else _find_member(before, change.leader)
    assignor = choose_assignor(before, change.assignor, leader)
    try:
        answer = assignor.assign(members, before.shapes(counts))
    except AssignorError as error:
        raise QuestionError(f"The assignor {assignor.name} fails for this group: {shown(str(error))}.") from error
    owners_after = owners_by_partition(answer)
    return WhatIf(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        assignor=assignor.name,
        assignor_before=before.dialect.name if before.dialect is not None else before.group.protocol,
        members=tuple(_member_changes(before, members, answer)),
        moves=tuple(_moves(before.owners, owners_after)),
        balance_before=balance_side(before.group.members, before.owners),
        balance_after=balance_side(members, owners_after),
        idle=tuple(sorted(given.member_id for given in answer if not given.topics)),
        orphans=tuple(_orphans(counts, owners_after)),
        assumptions=(*before.assumptions, *assumptions, *assignor.assumptions(before)),
    )


def _what_if_shared(inputs: GroupInputs, change: Change) -> WhatIf:
    """As :func:`what_if`, where each member works out its own share."""
    if change.leader is not None:
        raise QuestionError("The group has no leader: each member computes its own share.")
    if change.partitions:
        raise QuestionError(
            "groupwatch cannot simulate more partitions for this group: each partition is on a broker, and the request "
            "does not name one."
        )
    before = own_roster(inputs)
    strategy = strategy_for(before, change.assignor)
    members, assumptions = _members(before, change)
    answer = shared(before, members, strategy)
    owners_after = owners_by_partition(answer)
    every = (TopicPartition(topic, each) for topic, own in partitions_of(before).items() for each in own)
    return WhatIf(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        assignor=strategy or before.group.protocol or "",
        assignor_before=before.group.protocol,
        members=tuple(_member_changes(before, members, answer)),
        moves=tuple(_moves(before.owners, owners_after)),
        balance_before=balance_side(before.group.members, before.owners),
        balance_after=balance_side(members, owners_after),
        idle=tuple(sorted(given.member_id for given in answer if not given.topics)),
        orphans=tuple(place for place in every if place not in owners_after),
        assumptions=(*before.assumptions, *assumptions),
    )


def _what_if_tasks(inputs: GroupInputs, change: Change) -> WhatIf:
    """As :func:`what_if`, of a streams group, whose coordinator assigns tasks."""
    require_task_assignor(change.assignor, change.leader)
    prepared = task_roster(inputs)
    before = prepared.roster
    members, assumptions = _members(before, change)
    counts = _changed_counts(before, change)
    given, remarks = assigned_tasks(prepared, members, counts)
    answer = [
        MemberAssignment(each.member_id, read_partitions(prepared.topology, each.active, counts)) for each in given
    ]
    after = task_holders(given)
    return WhatIf(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        assignor=TASK_ASSIGNOR,
        assignor_before=TASK_ASSIGNOR,
        members=tuple(_with_tasks(_member_changes(before, members, answer), prepared.holders, after)),
        moves=tuple(_moves(before.owners, owners_by_partition(answer))),
        balance_before=None,
        balance_after=None,
        idle=tuple(sorted(each.member_id for each in given if not each.active and not each.standby)),
        assumptions=(*prepared.assumptions, *assumptions, *remarks),
        task_moves=tuple(task_moves(prepared.holders, after)),
    )


def _with_tasks(changes: Iterable[MemberChange], before: Holders, after: Holders) -> Iterator[MemberChange]:
    had, has = tasks_by_member(before), tasks_by_member(after)
    for change in changes:
        own = has.get(change.member_id, TaskSets())
        yield replace(
            change,
            tasks_before=None if change.joins else had.get(change.member_id, TaskSets()),
            tasks_after=None if change.leaves else own,
            idle=not change.leaves and own == TaskSets(),
        )


# --- the members ------------------------------------------------------------------------------------------------------


def _members(roster: Roster, change: Change) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    leaving = {_find_member(roster, name).member_id for name in change.without}
    staying = tuple(member for member in roster.members if member.member_id not in leaving)
    assumptions: tuple[str, ...] = ()
    if change.members is not None:
        staying, assumptions = _resized(roster, staying, change.members)
    if not staying:
        raise QuestionError(
            f"Group {shown_group(roster.group.group)} would have no members: nothing would be assigned."
        )
    return staying, assumptions


def _find_member(roster: Roster, name: str) -> Member:
    """The member with this id, else this instance id, client id or host, or both of these as answers show them.

    Only one may have it.
    """
    for matches in _NAMES:
        found = [member for member in roster.members if matches(member, name)]
        if len(found) == 1:
            return found[0]
        if found:
            ids = listed([_member_text(member) for member in found])
            raise QuestionError(f"{len(found)} members match {shown(name)}; use a member id: {ids}.")
    known = listed([_member_text(member) for member in roster.members])
    raise QuestionError(f"The group has no member {shown(name)}; its members are {known}.")


_NAMES: Final[tuple[Callable[[Member, str], bool], ...]] = (
    lambda member, name: member.member_id == name,
    lambda member, name: member.instance_id == name,
    lambda member, name: member.client_id == name,
    lambda member, name: bool(member.host) and member.host.removeprefix("/") == name.removeprefix("/"),
    lambda member, name: who(member) == name,
)
"""What a member is named by, in the order in which it counts."""


def _member_text(member: Member) -> str:
    """The id of a member, with its client and host."""
    person = who(member)
    return member.member_id if person == member.member_id else f"{member.member_id} ({person})"


def _resized(roster: Roster, members: tuple[Member, ...], count: int) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    if not 1 <= count <= MOST_MEMBERS:
        raise QuestionError(f"groupwatch simulates 1 to {MOST_MEMBERS:,} members, not {count}.")
    if count <= len(members):
        return _reduced(roster, members, count)
    topics = roster.usual_topics()
    taken = {member.member_id for member in members}
    free = (name for number in range(1, MOST_MEMBERS * 2) if (name := f"new-{number}") not in taken)
    joining = tuple(Member(member_id=next(free), topics=topics, client_id="new") for _ in range(count - len(members)))
    names = listed([member.member_id for member in joining])
    is_streams = KINDS[roster.group.kind].broker_assigns_tasks
    assumptions = (
        f"New members ({names}) are application instances of their own, with one thread each."
        if is_streams
        else f"New members ({names}) subscribe to {listed(topics)} and have no rack and no instance id.",
        "The order of new members depends on ids that they do not have yet; the simulation uses these names.",
    )
    return (*members, *joining), assumptions


def _reduced(roster: Roster, members: tuple[Member, ...], count: int) -> tuple[tuple[Member, ...], tuple[str, ...]]:
    """The last in the assignors' order leave: dynamic members before static ones."""
    leaving = {member.member_id for member in in_assignment_order(members)[count:]}
    if not leaving:
        return members, ()
    assumption = f"The members that leave are the last in the assignors' order ({listed(sorted(leaving))})."
    return tuple(member for member in members if member.member_id not in leaving), (assumption,)


# --- the topics -------------------------------------------------------------------------------------------------------


def _changed_counts(roster: Roster, change: Change) -> dict[str, int]:
    """The partitions of each topic after the change."""
    counts = roster.counts | _wanted_counts(roster, change.partitions)
    if sum(counts.values()) > MOST_PARTITIONS:
        raise QuestionError(f"groupwatch simulates at most {MOST_PARTITIONS:,} partitions.")
    return counts


def _wanted_counts(roster: Roster, wanted: Sequence[PartitionCount]) -> dict[str, int]:
    subscribed = sorted({topic for member in roster.members for topic in member.topics})
    for entry in wanted:
        if entry.topic not in subscribed:
            known = listed(subscribed)
            raise QuestionError(f"No member subscribes to {shown(entry.topic)}; the group's topics are {known}.")
        state = roster.catalog.topics.get(entry.topic)
        now = count_now(state) if state else 0
        if entry.partitions < max(now, 1):
            has = f"{shown(entry.topic)} has {counted(now, 'partition')}"
            raise QuestionError(f"{has}; Kafka cannot change that to {entry.partitions}: a topic can only grow.")
    return {entry.topic: entry.partitions for entry in wanted}


def _orphans(counts: Mapping[str, int], owners: Owners) -> Iterator[TopicPartition]:
    for topic in sorted(counts):
        for partition in range(counts[topic]):
            place = TopicPartition(topic, partition)
            if place not in owners:
                yield place


# --- before and after -------------------------------------------------------------------------------------------------


def _member_changes(
    roster: Roster, members: Sequence[Member], given: Sequence[MemberAssignment]
) -> Iterator[MemberChange]:
    after = {each.member_id: each.topics for each in given}
    before = {member.member_id: member.assigned for member in roster.members}
    people = {member.member_id: member for member in (*roster.members, *members)}
    for member_id, member in people.items():
        had, has = _sorted(before.get(member_id, ())), _sorted(after.get(member_id, ()))
        yield MemberChange(
            member_id=member_id,
            before=had,
            after=has,
            partitions_before=_size(had),
            partitions_after=_size(has),
            joins=member_id not in before,
            leaves=member_id not in after,
            idle=member_id in after and not has,
            client_id=member.client_id if member_id in before else "",
            host=member.host if member_id in before else "",
        )


def _sorted(topics: Sequence[TopicPartitions]) -> tuple[TopicPartitions, ...]:
    return tuple(sorted(TopicPartitions(each.topic, tuple(sorted(each.partitions))) for each in topics))


def _size(topics: Sequence[TopicPartitions]) -> int:
    return sum(len(each.partitions) for each in topics)


def _moves(before: Owners, after: Owners) -> Iterator[Move]:
    for place in sorted(before.keys() | after.keys()):
        had, has = before.get(place, ()), after.get(place, ())
        if had != has:
            yield Move(topic=place.topic, partition=place.partition, before=had, after=has)
