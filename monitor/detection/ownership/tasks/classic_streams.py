"""The tasks of a classic group of Kafka Streams, as its leader assigned them.

Owners are not replayed: ``HighAvailabilityTaskAssignor`` depends on settings that no record has. The tasks that do not
run follow from the partitions without an owner, see monitor.detection.rules.orphaned.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from monitor.detection.ownership.catalog_view import count_now
from monitor.detection.ownership.tasks.task_view import TaskView, view_threads
from monitor.kinds.classic_streams import (
    ClassicTasks,
    assignment_error,
    classic_tasks,
    expects_probing,
    is_half_done,
    known_tasks,
    task_by_partition,
    task_name,
    task_order,
)
from monitor.kinds.processes import MemberLoad
from monitor.model import Catalog, GroupState, Member, StreamsTask, TaskVerdict, TopicPartition


def view_classic_streams(group: GroupState, catalog: Catalog) -> TaskView:
    """The tasks of the group. Balance is judged once the assignment is final, if every process is known."""
    told = [classic_tasks(member) for member in group.members]
    loads = [MemberLoad(each.member_id, each.process_id, len(each.active), len(each.standby)) for each in told]
    tasks = _tasks(group.members, told, _counts(group.members, catalog))
    return view_threads(tasks, loads, is_settled=_is_final(group.members))


def _is_final(members: tuple[Member, ...]) -> bool:
    return not (is_half_done(members) or expects_probing(members) or assignment_error(members))


def _counts(members: Iterable[Member], catalog: Catalog) -> dict[str, int]:
    topics = {topic for member in members for topic in member.topics if topic in catalog.topics}
    return {topic: count_now(catalog.topics[topic]) for topic in topics}


def _tasks(members: tuple[Member, ...], told: Iterable[ClassicTasks], counts: dict[str, int]) -> Iterator[TaskVerdict]:
    owners: dict[StreamsTask, list[str]] = defaultdict(list)
    standbys: dict[StreamsTask, list[str]] = defaultdict(list)
    reads: dict[StreamsTask, set[TopicPartition]] = defaultdict(set)
    for each in told:
        for task in each.active:
            owners[task].append(each.member_id)
        for task in each.standby:
            standbys[task].append(each.member_id)
    for member in members:
        for place, task in task_by_partition(member):
            reads[task].add(place)
    wanted = known_tasks(members, counts)
    for task in sorted({*wanted, *owners, *standbys}, key=task_order):
        awaited = (TopicPartition(topic, task.partition) for topic in wanted.get(task, ()))
        yield TaskVerdict(
            task=task_name(task),
            part=f"{task.topology}__{task.subtopology}" if task.topology else str(task.subtopology),
            number=task.partition,
            owners=tuple(sorted(owners.get(task, ()))),
            standbys=tuple(sorted(standbys.get(task, ()))),
            reads=tuple(sorted(reads.get(task) or awaited)),
        )
