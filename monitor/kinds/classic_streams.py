"""Classic groups of Kafka Streams (protocol ``stream``): who runs which task, and the tasks that nobody runs.

The leader tells each member its tasks, beside the partitions that they read. The topology itself is not in the log:
what a subtopology reads is known from the tasks of it that are assigned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from monitor.model import GroupState, Member, StreamsTask, TopicPartition, Value

VERSION_PROBING = 2
"""The error with which members are told to join again, with an older version of their subscription (AssignorError)."""


class ClassicTasks(Value):
    """What a member was told to run, by its leader. ``process_id`` "": it is not known."""

    member_id: str
    process_id: str
    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()


class IdleClassicReason(StrEnum):
    """Why nobody runs a task of a classic group."""

    PENDING = "pending"
    """The generation is half done: the next one follows at once, and gives the task to its new member."""
    ERROR = "error"
    """The leader assigned nothing: a topic is missing, or its assignor failed."""
    UNASSIGNED = "unassigned"


class IdleClassicTask(Value):
    """A task that nobody was told to run."""

    task: StreamsTask
    reason: IdleClassicReason


class ProcessLoad(Value):
    """What an application instance runs: its members are its threads."""

    process_id: str
    members: tuple[str, ...]
    active: int = 0
    standby: int = 0


def classic_tasks(member: Member) -> ClassicTasks:
    """The tasks of a member, each sort sorted; none where what its leader told it could not be read."""
    told = member.streams
    return ClassicTasks(
        member_id=member.member_id,
        process_id=member.streams_client.process_id if member.streams_client else "",
        active=tuple(sorted(told.active, key=task_order)) if told else (),
        standby=tuple(sorted(told.standby, key=task_order)) if told else (),
    )


def task_order(task: StreamsTask) -> tuple[str, int, int]:
    """A sort key: by the topology that few applications name, then by number."""
    return task.topology or "", task.subtopology, task.partition


def task_by_partition(member: Member) -> Iterator[tuple[TopicPartition, StreamsTask]]:
    """The partitions that a member reads, each with its task: they belong together one by one, in their order.

    Nothing if they are not equally many, as of a member whose assignment is not that of Streams.
    """
    partitions = [TopicPartition(entry.topic, number) for entry in member.assigned for number in entry.partitions]
    tasks = member.streams.active if member.streams is not None else ()
    if len(partitions) == len(tasks):
        yield from zip(partitions, tasks, strict=True)


def topics_by_subtopology(members: Iterable[Member]) -> dict[tuple[str, int], tuple[str, ...]]:
    """The topics that each subtopology reads, sorted, by the topology's name ("": it has none) and its number."""
    topics: dict[tuple[str, int], set[str]] = defaultdict(set)
    for member in members:
        for place, task in task_by_partition(member):
            topics[task.topology or "", task.subtopology].add(place.topic)
    return {key: tuple(sorted(found)) for key, found in sorted(topics.items())}


def is_half_done(members: Iterable[Member]) -> bool:
    """Whether the leader told members that another generation follows at once: what nobody has, it hands over."""
    told = [member.streams for member in members if member.streams is not None]
    return any(each.next_rebalance_ms == 0 or each.error == VERSION_PROBING for each in told)


def idle_classic_tasks(group: GroupState, partitions: Mapping[str, int]) -> tuple[IdleClassicTask, ...]:
    """The tasks of known subtopologies that nobody was told to run, with the reason.

    A subtopology has as many tasks as the largest of its topics has partitions. Of one without any task nothing is
    known; its topics are in :func:`topics_without_task`.

    Args:
        group: a classic Kafka Streams group.
        partitions: the numbers of partitions of the topics that there are.
    """
    active = {task for member in group.members if member.streams for task in member.streams.active}
    reason = _reason(group)
    return tuple(
        IdleClassicTask(task=task, reason=reason)
        for (topology, subtopology), topics in topics_by_subtopology(group.members).items()
        for number in range(max(partitions.get(topic, 0) for topic in topics))
        if (task := StreamsTask(subtopology, number, topology or None)) not in active
    )


def topics_without_task(group: GroupState) -> tuple[str, ...]:
    """The topics that members subscribe to and of which no task reads any partition, sorted."""
    read = {topic for topics in topics_by_subtopology(group.members).values() for topic in topics}
    return tuple(sorted({topic for member in group.members for topic in member.topics} - read))


def process_loads(members: Iterable[Member]) -> tuple[ProcessLoad, ...]:
    """What each process runs; tasks are balanced over processes, by their threads, not over members (KIP-441)."""
    loads: dict[str, ProcessLoad] = {}
    for member in members:
        tasks = classic_tasks(member)
        known = loads.get(tasks.process_id, ProcessLoad(tasks.process_id, ()))
        loads[tasks.process_id] = ProcessLoad(
            tasks.process_id,
            (*known.members, member.member_id),
            known.active + len(tasks.active),
            known.standby + len(tasks.standby),
        )
    return tuple(loads[process] for process in sorted(loads))


def _reason(group: GroupState) -> IdleClassicReason:
    if is_half_done(group.members):
        return IdleClassicReason.PENDING
    has_error = any(member.streams is not None and member.streams.error for member in group.members)
    return IdleClassicReason.ERROR if has_error else IdleClassicReason.UNASSIGNED
