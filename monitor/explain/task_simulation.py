"""A streams group prepared for a simulated assignment of tasks, and the tasks that its members would have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.sticky_task import MemberTasks, StickyTaskAssignor, TaskMember
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.catalog_view import count_now
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.kip848 import named, with_targets
from monitor.detection.ownership.tasks.inputs import partition_counts
from monitor.detection.ownership.tasks.targets import as_task_member, parts
from monitor.detection.ownership.tasks.task_places import Holders, target_tasks, task_holders
from monitor.explain.simulation import Roster
from monitor.kinds.streams import TASK_ASSIGNOR, read_topics, task_counts, topology_of, uneven_topics
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown, shown_group
from monitor.model import Catalog, Member, MemberAssignment, Phase, StreamsClient, Subtopology, Topology, Value


class TaskRoster(Value):
    """A streams group as its coordinator would assign tasks now. ``roster`` has the partitions that tasks consume.

    ``holders`` are the members that the coordinator has chosen for each task. ``counts`` are the numbers of partitions
    of the topics that the topology reads.
    """

    roster: Roster
    topology: Topology
    replicas: int
    counts: Mapping[str, int]
    holders: Holders
    assumptions: tuple[str, ...] = ()


def task_roster(inputs: GroupInputs) -> TaskRoster:
    """The group ready to be assigned again.

    Raises:
        QuestionError: it has no members, or the coordinator cannot assign tasks to them.
    """
    topology = topology_of(inputs.group)
    if topology is None or not inputs.group.members or inputs.group.phase is Phase.NOT_READY:
        raise QuestionError(_why_not(inputs, topology))
    group = named(inputs.group, inputs.catalog)
    members = with_targets(group, inputs.catalog)
    holders = task_holders(map(target_tasks, group.members))
    replicas, assumed = _replicas(inputs, holders)
    counts = partition_counts(topology, inputs.catalog)
    owners = owners_by_partition(MemberAssignment(member_id=each.member_id, topics=each.assigned) for each in members)
    return TaskRoster(
        roster=Roster(replace(group, members=members), inputs.catalog, members, owners, counts, ()),
        topology=topology,
        replicas=replicas,
        counts=counts,
        holders=holders,
        assumptions=(*_target_assumptions(members), *assumed),
    )


def require_task_assignor(name: str | None, leader: str | None) -> None:
    """Accept the questions that a coordinator of streams groups leaves open.

    Raises:
        QuestionError: another assignor is wanted, or a leader.
    """
    if name is not None and name != TASK_ASSIGNOR:
        raise QuestionError(
            f"The coordinator of a streams group has one task assignor, {TASK_ASSIGNOR}; groupwatch cannot simulate "
            f"{shown(name)}."
        )
    if leader is not None:
        raise QuestionError("A streams group has no leader: its coordinator assigns the tasks.")


def assigned_tasks(
    before: TaskRoster, members: Sequence[Member], counts: Mapping[str, int]
) -> tuple[tuple[MemberTasks, ...], tuple[str, ...]]:
    """The tasks of these members, and what has to be said of the result. New members are processes of their own.

    Raises:
        QuestionError: the topology would not be ready with so many partitions.
    """
    grown = tuple(_grown_parts(before, counts))
    _require_ready(before, counts, grown)
    asked = [_as_asked(member) for member in members]
    answers = [_answer(before, asked, counts, before_4_4=is_older) for is_older in (True, False)]
    return answers[0], (*_releases(*map(task_holders, answers)), *_repartition_topics(grown), *_state_reports(before))


def _as_asked(member: Member) -> TaskMember:
    if member.streams_client is None or not member.streams_client.process_id:
        member = replace(member, streams_client=StreamsClient(process_id=member.member_id))
    return as_task_member(member)


def _answer(
    before: TaskRoster, members: Sequence[TaskMember], counts: Mapping[str, int], *, before_4_4: bool
) -> tuple[MemberTasks, ...]:
    wanted = parts(before.topology, task_counts(before.topology, counts))
    try:
        return StickyTaskAssignor(before_4_4=before_4_4).assign(members, wanted, before.replicas)
    except AssignorError as error:
        raise QuestionError(f"The assignor {TASK_ASSIGNOR} fails for this group: {shown(str(error))}.") from error


def _why_not(inputs: GroupInputs, topology: Topology | None) -> str:
    name = shown_group(inputs.group.group)
    if not inputs.group.members:
        return f"Group {name} has no members (it is {inputs.group.phase.value}), so there is nothing to assign."
    if topology is None:
        return f"The topology of group {name} is not known, so its tasks cannot be simulated."
    return f"The topology of group {name} is not ready, so its coordinator assigns no tasks."


def _replicas(inputs: GroupInputs, holders: Holders) -> tuple[int, tuple[str, ...]]:
    """How many standby tasks a task with state has: as configured, or else at most, with the assumption."""
    known = inputs.group.streams.standby_replicas if inputs.group.streams is not None else None
    if known is not None:
        return known, ()
    most = max((len(members) for place, members in holders.items() if place.is_standby), default=0)
    return most, (f"Each task with state has {counted(most, 'standby task')}: the configured number is not known.",)


def _target_assumptions(members: Sequence[Member]) -> Iterator[str]:
    yield "The tasks before are the coordinator's target assignment, whether members have reached it or not."
    if any(member.reconciliation is None or member.reconciliation.target is None for member in members):
        yield "Some members have no target assignment yet, so they have no tasks before."


# --- topics that grow -------------------------------------------------------------------------------------------------


def _grown_parts(before: TaskRoster, counts: Mapping[str, int]) -> Iterator[tuple[Subtopology, int, int]]:
    """The subtopologies that would have another number of tasks, with both numbers."""
    now, then = (task_counts(before.topology, each) for each in (before.counts, counts))
    for part in before.topology.subtopologies:
        had, has = now[part.subtopology_id], then[part.subtopology_id]
        if had != has:
            yield part, had, has


def _require_ready(
    before: TaskRoster, counts: Mapping[str, int], grown: Sequence[tuple[Subtopology, int, int]]
) -> None:
    """Refuse numbers of partitions with which the coordinator assigns no tasks (``InternalTopicManager``)."""
    for topics in uneven_topics(before.topology, counts):
        sizes = ", ".join(f"{shown(topic)} {count}" for topic, count in topics)
        raise QuestionError(
            f"The topology would not be ready: these topics must have the same number of partitions: {sizes}."
        )
    for part, _, has in grown:
        for changelog in part.changelogs:
            count = _count(before.roster.catalog, changelog)
            if count is not None and count != has:
                raise QuestionError(
                    f"The topology would not be ready: the changelog topic {shown(changelog)} has "
                    f"{counted(count, 'partition')}, and subtopology {shown(part.subtopology_id)} would have "
                    f"{counted(has, 'task')}."
                )


def _count(catalog: Catalog, topic: str) -> int | None:
    state = catalog.topics.get(topic)
    return None if state is None else count_now(state)


def _repartition_topics(grown: Sequence[tuple[Subtopology, int, int]]) -> Iterator[str]:
    sinks = sorted({topic for part, _, _ in grown for topic in part.repartition_sinks})
    if sinks:
        yield (
            f"The repartition topics {listed(sinks)} keep their number of partitions. If the application derives it "
            "from the source topics, the topology would not be ready."
        )


# --- what another release does ----------------------------------------------------------------------------------------


def _releases(older: Holders, newer: Holders) -> Iterator[str]:
    differing = {place.task for place in older.keys() | newer.keys() if older.get(place) != newer.get(place)}
    if differing:
        yield (
            "The brokers run Kafka 4.3 or older. Kafka 4.4 resolves some ties differently and would assign "
            f"{counted(len(differing), 'task')} to other members."
        )


def _state_reports(before: TaskRoster) -> Iterator[str]:
    has_state = any(part.changelogs and read_topics(part, before.counts) for part in before.topology.subtopologies)
    if has_state:
        yield "No member reports the state of a task that it does not have; Kafka 4.4 would prefer such members."
