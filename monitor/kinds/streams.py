"""Streams groups of the broker (KIP-1071): the expected tasks, the members that run them, and idle tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from monitor.model import (
    GroupState,
    IdPartitions,
    Member,
    Phase,
    Reconciliation,
    SpareTasks,
    Subtopology,
    Topology,
    Value,
)
from monitor.model.patterns import NamePattern, PatternError

TASK_ASSIGNOR: Final = "sticky"
"""The only one that brokers have (``StickyTaskAssignor``)."""


class TaskId(msgspec.Struct, frozen=True, order=True, gc=False):
    """A task: a subtopology's share of the partitions of this number.

    >>> str(TaskId("1", 2))
    '1_2'
    """

    subtopology: str
    partition: int

    def __str__(self) -> str:
        """As Kafka shows it."""
        return f"{self.subtopology}_{self.partition}"


class TaskSets(Value):
    """The tasks of a member, each sort sorted."""

    active: tuple[TaskId, ...] = ()
    standby: tuple[TaskId, ...] = ()
    warmup: tuple[TaskId, ...] = ()


class MemberTasks(Value):
    """What a member runs, what of it it has to give back, and what it is to run (None: not chosen yet).

    ``running`` includes ``revoking``: until the member says that it has given a task back, it runs it.
    """

    member_id: str
    process_id: str
    running: TaskSets
    revoking: TaskSets
    target: TaskSets | None = None


class IdleTaskReason(StrEnum):
    """Why no member runs a task."""

    NOT_READY = "not_ready"
    """The topology needs a topic that is not there, or has another number of partitions."""
    ASSIGNING = "assigning"
    """The broker has yet to choose who is to run it."""
    PENDING = "pending"
    """Its next member waits for another one to revoke it, or does not know of it yet."""
    NO_MEMBERS = "no_members"
    UNASSIGNED = "unassigned"
    """It is no member's target."""


class IdleTask(Value):
    """A task that no member runs as an active task; ``target`` is the member that is to run it."""

    task: TaskId
    reason: IdleTaskReason
    target: str | None = None


def topology_of(group: GroupState) -> Topology | None:
    """The topology of a streams group; None: it is not known, or the group is of another kind."""
    return group.streams.topology if group.streams is not None else None


def member_tasks(member: Member) -> MemberTasks:
    """The tasks of a member of a streams group."""
    now = member.reconciliation or Reconciliation()
    assigned, revoking = _task_sets(now.assigned, now.spare), _task_sets(now.revoking, now.spare_revoking)
    return MemberTasks(
        member_id=member.member_id,
        process_id=member.streams_client.process_id if member.streams_client else "",
        running=TaskSets(
            active=tuple(sorted((*assigned.active, *revoking.active))),
            standby=tuple(sorted((*assigned.standby, *revoking.standby))),
            warmup=tuple(sorted((*assigned.warmup, *revoking.warmup))),
        ),
        revoking=revoking,
        target=None if now.target is None else _task_sets(now.target, now.spare_target),
    )


def task_counts(topology: Topology, partitions: Mapping[str, int]) -> dict[str, int]:
    """How many tasks each subtopology has: as many as the largest of the topics that it reads has partitions.

    A subtopology of which no topic is there has none. Source: ``InternalTopicManager.computeNumberOfTasks``.

    Args:
        topology: the group's.
        partitions: the numbers of partitions of the topics that there are.

    >>> part = Subtopology(subtopology_id="0", source_topics=("orders",), repartition_sources=("by-repartition",))
    >>> task_counts(Topology(epoch=0, subtopologies=(part,)), {"orders": 3, "by-repartition": 5})
    {'0': 5}
    """
    inputs = topics_by_subtopology(topology, partitions)
    return {part: max((partitions[topic] for topic in topics), default=0) for part, topics in inputs.items()}


def expected_tasks(topology: Topology, partitions: Mapping[str, int]) -> tuple[TaskId, ...]:
    """The active tasks that there should be, sorted by subtopology and number."""
    counts = task_counts(topology, partitions)
    return tuple(TaskId(part, number) for part in sorted(counts) for number in range(counts[part]))


def topics_by_subtopology(topology: Topology, topics: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Those of the topics that the tasks of each subtopology read, sorted."""
    return {part.subtopology_id: read_topics(part, topics) for part in topology.subtopologies}


def read_topics(part: Subtopology, topics: Collection[str]) -> tuple[str, ...]:
    """Those of the topics that a subtopology's tasks read, sorted."""
    named = {topic for topic in (*part.source_topics, *part.repartition_sources) if topic in topics}
    return tuple(sorted(named.union(*(_matching(regex, topics) for regex in part.source_regexes))))


def missing_topics(topology: Topology, topics: Iterable[str]) -> tuple[str, ...]:
    """The topics that the topology needs and that are not there, sorted: sources, and those the broker makes itself."""
    return tuple(sorted(needed_topics(topology) - frozenset(topics)))


def source_topics(topology: Topology) -> frozenset[str]:
    """The source topics that the topology names. The broker does not create them."""
    return frozenset(topic for part in topology.subtopologies for topic in part.source_topics)


def needed_topics(topology: Topology) -> frozenset[str]:
    """The topics that the topology names and that have to be there."""
    return frozenset(
        topic
        for part in topology.subtopologies
        for topic in (*part.source_topics, *part.repartition_sources, *part.changelogs)
    )


def uneven_topics(topology: Topology, partitions: Mapping[str, int]) -> Iterator[tuple[tuple[str, int], ...]]:
    """Topics that must have equally many partitions, and have not: of each such set the topics with their numbers.

    >>> part = Subtopology(subtopology_id="0", copartitioned=(("orders", "prices"),))
    >>> list(uneven_topics(Topology(epoch=0, subtopologies=(part,)), {"orders": 3, "prices": 5}))
    [(('orders', 3), ('prices', 5))]
    """
    for part in topology.subtopologies:
        for topics in part.copartitioned:
            known = tuple((topic, partitions[topic]) for topic in topics if topic in partitions)
            if len({count for _, count in known}) > 1:
                yield known


def task_inputs(topology: Topology, task: TaskId, partitions: Mapping[str, int]) -> tuple[str, ...]:
    """The topics of which the task reads the partition of its number, sorted."""
    part = next((each for each in topology.subtopologies if each.subtopology_id == task.subtopology), None)
    if part is None:
        return ()
    return tuple(topic for topic in read_topics(part, partitions) if task.partition < partitions[topic])


def task_owners(members: Iterable[Member]) -> dict[TaskId, tuple[str, ...]]:
    """The members that run each task as its active one; those that have yet to give it back included."""
    owners: dict[TaskId, tuple[str, ...]] = {}
    for member in members:
        for task in member_tasks(member).running.active:
            owners[task] = (*owners.get(task, ()), member.member_id)
    return owners


def idle_tasks(group: GroupState, partitions: Mapping[str, int]) -> tuple[IdleTask, ...]:
    """The tasks that no member runs, each with the reason; empty if the topology is not known.

    Args:
        group: a streams group.
        partitions: the numbers of partitions of the topics that there are.
    """
    topology = topology_of(group)
    if topology is None:
        return ()
    owners = task_owners(group.members)
    targets = _targets(group.members)
    return tuple(
        IdleTask(task=task, reason=_reason(group, targets.get(task)), target=targets.get(task))
        for task in expected_tasks(topology, partitions)
        if task not in owners
    )


_WITHOUT_TARGETS: Final = {Phase.NOT_READY: IdleTaskReason.NOT_READY, Phase.ASSIGNING: IdleTaskReason.ASSIGNING}


def _reason(group: GroupState, target: str | None) -> IdleTaskReason:
    if not group.members:
        return IdleTaskReason.NO_MEMBERS
    if group.phase in _WITHOUT_TARGETS:
        return _WITHOUT_TARGETS[group.phase]
    return IdleTaskReason.UNASSIGNED if target is None else IdleTaskReason.PENDING


def _targets(members: Iterable[Member]) -> dict[TaskId, str]:
    """The member that is to run each task."""
    aims = ((member.member_id, member_tasks(member).target) for member in members)
    return {task: member_id for member_id, aim in aims if aim is not None for task in aim.active}


def _task_sets(active: Iterable[IdPartitions], spare: SpareTasks | None) -> TaskSets:
    spare = spare or SpareTasks()
    return TaskSets(active=_tasks(active), standby=_tasks(spare.standby), warmup=_tasks(spare.warmup))


def _tasks(entries: Iterable[IdPartitions]) -> tuple[TaskId, ...]:
    return tuple(sorted(TaskId(entry.id, number) for entry in entries for number in entry.partitions))


def _matching(regex: str, topics: Iterable[str]) -> frozenset[str]:
    try:
        pattern = NamePattern(regex)
    except PatternError:
        return frozenset()
    return frozenset(topic for topic in topics if pattern.matches(topic))
