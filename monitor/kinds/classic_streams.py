"""Classic groups of Kafka Streams (protocol ``stream``): which member runs which task, and idle tasks.

The leader assigns tasks to each member, beside the partitions that they read. The topology itself is not in the log:
what a subtopology reads is known from the tasks of it that are assigned. A cooperative rebalance is several
generations, and the assignments of each show whether another one follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from monitor.model import GroupState, Member, StreamsTask, TopicPartition, Value

VERSION_PROBING: Final = 2
"""The error by which members have to join again, with an older version of their subscription (AssignorError)."""

_TELLS_WHAT_FOLLOWS: Final = 7
"""The version of the assignment that does first (Kafka 2.6)."""


class ClassicTasks(Value):
    """The tasks that the leader assigned to a member. ``process_id`` "": it is not known."""

    member_id: str
    process_id: str
    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()


class IdleClassicReason(StrEnum):
    """Why no member runs a task of a classic group."""

    PENDING = "pending"
    """The generation is half done: the next one follows at once, and gives the task to its new member."""
    ERROR = "error"
    """The leader assigned nothing: a topic is missing, or its assignor failed."""
    UNASSIGNED = "unassigned"


class IdleClassicTask(Value):
    """A task that is assigned to no member."""

    task: StreamsTask
    reason: IdleClassicReason


def classic_tasks(member: Member) -> ClassicTasks:
    """The tasks of a member, each sort sorted; none if its assignment could not be read."""
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


def task_name(task: StreamsTask) -> str:
    """The task as Kafka Streams shows it.

    >>> task_name(StreamsTask(1, 2)), task_name(StreamsTask(1, 2, "orders"))
    ('1_2', 'orders__1_2')
    """
    name = f"{task.subtopology}_{task.partition}"
    return name if task.topology is None else f"{task.topology}__{name}"


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
    """Whether another generation follows at once by the assignments: it hands over what is idle now."""
    told = [member.streams for member in members if member.streams is not None]
    return any(each.next_rebalance_ms == 0 or each.error == VERSION_PROBING for each in told)


def expects_probing(members: Iterable[Member]) -> bool:
    """Whether the leader assigns again later, as standby tasks have to catch up first: it is uneven on purpose."""
    return any(member.streams is not None and member.streams.next_rebalance_ms for member in members)


def tells_what_follows(members: Iterable[Member]) -> bool:
    """Whether the assignment of every member shows if another generation follows."""
    return all(each.streams is not None and each.streams.version >= _TELLS_WHAT_FOLLOWS for each in members)


def assignment_error(members: Iterable[Member]) -> int:
    """Why the leader assigned nothing, by its number (``AssignorError``); 0: there is no error."""
    return max((each.streams.error for each in members if each.streams is not None), default=0)


def known_tasks(members: Iterable[Member], partitions: Mapping[str, int]) -> dict[StreamsTask, tuple[str, ...]]:
    """The tasks that there should be of the known subtopologies, each with the topics that it reads, sorted.

    A subtopology has as many tasks as the largest of its topics has partitions. Of one without any task nothing is
    known; its topics are in :func:`topics_without_task`.

    Args:
        members: those of the group.
        partitions: the numbers of partitions of the topics that there are.
    """
    return {
        StreamsTask(subtopology, number, topology or None): tuple(
            topic for topic in topics if number < partitions.get(topic, 0)
        )
        for (topology, subtopology), topics in topics_by_subtopology(members).items()
        for number in range(max(partitions.get(topic, 0) for topic in topics))
    }


def idle_classic_tasks(group: GroupState, partitions: Mapping[str, int]) -> tuple[IdleClassicTask, ...]:
    """The tasks of known subtopologies that are assigned to no member, with the reason.

    Args:
        group: a classic Kafka Streams group.
        partitions: the numbers of partitions of the topics that there are.
    """
    active = {task for member in group.members if member.streams for task in member.streams.active}
    reason = _reason(group)
    wanted = known_tasks(group.members, partitions)
    return tuple(IdleClassicTask(task=task, reason=reason) for task in wanted if task not in active)


def topics_without_task(group: GroupState) -> tuple[str, ...]:
    """The topics that members subscribe to and of which no task reads any partition, sorted."""
    read = {topic for topics in topics_by_subtopology(group.members).values() for topic in topics}
    return tuple(sorted({topic for member in group.members for topic in member.topics} - read))


def _reason(group: GroupState) -> IdleClassicReason:
    if is_half_done(group.members):
        return IdleClassicReason.PENDING
    return IdleClassicReason.ERROR if assignment_error(group.members) else IdleClassicReason.UNASSIGNED
