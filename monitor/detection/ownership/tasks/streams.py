"""The tasks of a streams group of the broker (KIP-1071): who runs each of those that its topology asks for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from monitor.detection.ownership.tasks.inputs import partition_counts
from monitor.detection.ownership.tasks.task_view import TaskView, view_threads
from monitor.kinds.processes import MemberLoad
from monitor.kinds.streams import MemberTasks, TaskId, expected_tasks, member_tasks, topics_by_subtopology
from monitor.model import Catalog, GroupState, Phase, TaskVerdict, TopicPartition, Topology


def view_streams(group: GroupState, topology: Topology, catalog: Catalog) -> TaskView:
    """The tasks of the group. Balance is judged once every member runs what the broker has chosen for it."""
    members = [member_tasks(member) for member in group.members]
    loads = [
        MemberLoad(each.member_id, each.process_id, len(each.running.active), len(each.running.standby))
        for each in members
    ]
    tasks = _tasks(members, topology, partition_counts(topology, catalog))
    return view_threads(tasks, loads, is_settled=group.phase is Phase.STABLE)


def _tasks(members: list[MemberTasks], topology: Topology, counts: Mapping[str, int]) -> Iterator[TaskVerdict]:
    """Those that there should be, and those that a member runs although they should not be."""
    owners: dict[TaskId, list[str]] = defaultdict(list)
    standbys: dict[TaskId, list[str]] = defaultdict(list)
    for member in members:
        for task in member.running.active:
            owners[task].append(member.member_id)
        for task in (*member.running.standby, *member.running.warmup):
            standbys[task].append(member.member_id)
    inputs = topics_by_subtopology(topology, counts)
    for task in sorted({*expected_tasks(topology, counts), *owners, *standbys}):
        yield TaskVerdict(
            task=str(task),
            part=task.subtopology,
            number=task.partition,
            owners=tuple(sorted(owners.get(task, ()))),
            standbys=tuple(sorted(standbys.get(task, ()))),
            reads=tuple(
                TopicPartition(topic, task.partition)
                for topic in inputs.get(task.subtopology, ())
                if task.partition < counts[topic]
            ),
        )
