"""The broker's targets of a streams group against what its ``StickyTaskAssignor`` gives (KIP-1071).

What it gives depends on what members had before, which the log has only for a while
(monitor.tracking.kip848.assignor_input). If that is not known, the assignor is replayed only if the targets break one
of its invariants. Every task is in the target of one member. No member has more active tasks than their number by the
number of members, rounded up.

How many tasks there were is read in the targets, which have every task: the topics may have grown since.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.sticky_task import MemberTasks, StickyTaskAssignor, SubtopologyTasks, TaskMember
from monitor.detection.ownership.targets import is_chosen
from monitor.detection.ownership.tasks.inputs import partition_counts
from monitor.detection.ownership.tasks.replay import Question, check_answer
from monitor.detection.ownership.tasks.target_check import TargetCheck, TargetResult, UncheckedReason, unknown_result
from monitor.detection.ownership.tasks.task_places import target_tasks
from monitor.kinds.streams import task_counts, topology_of
from monitor.model import (
    AssignorInput,
    Catalog,
    FormerTasks,
    GroupState,
    IdPartitions,
    Member,
    Phase,
    Topology,
)

Numbers = Mapping[str, int]
"""How many tasks each subtopology has."""


def check_targets(group: GroupState, catalog: Catalog) -> TargetCheck | None:
    """Whether the targets are the assignor's; None: the group has no members, or no topology that is known."""
    topology = topology_of(group)
    if topology is None or not group.members:
        return None
    if group.phase is Phase.NOT_READY:
        return unknown_result(UncheckedReason.NOT_READY)
    if not is_chosen(group):
        return unknown_result(UncheckedReason.ASSIGNING)
    return _broken_bounds(group, topology, catalog) or _check(group, topology)


def _broken_bounds(group: GroupState, topology: Topology, catalog: Catalog) -> TargetCheck | None:
    """What is wrong with the targets, whatever members had before; None: nothing, or topics may have come or gone."""
    if catalog.pass_ms <= group.generation_ms:
        return None
    expected = task_counts(topology, partition_counts(topology, catalog))
    if _may_be_given(group.members, expected):
        return None
    return TargetCheck(TargetResult.DIFFERENT, given=assign_again(group, topology, expected))


def _check(group: GroupState, topology: Topology) -> TargetCheck:
    numbers = assigned_numbers(group.members, topology)
    if numbers is None:
        return unknown_result(UncheckedReason.TASKS)
    question = _question(group, topology, numbers)
    if question is None:
        return unknown_result(UncheckedReason.INPUT)
    return check_answer(question, {member.member_id: target_tasks(member) for member in group.members})


def assigned_numbers(members: Iterable[Member], topology: Topology) -> dict[str, int] | None:
    """How many tasks each subtopology has by the members' targets; None: these have not each of them once, or none."""
    own = [entry for member in members for entry in target_tasks(member).active]
    found: dict[str, list[int]] = {part.subtopology_id: [] for part in topology.subtopologies}
    for entry in own:
        if entry.id not in found:
            return None
        found[entry.id] += entry.partitions
    is_whole = all(sorted(numbers) == list(range(len(numbers))) for numbers in found.values())
    return {part: len(numbers) for part, numbers in found.items()} if own and is_whole else None


def assign_again(group: GroupState, topology: Topology, numbers: Numbers) -> tuple[MemberTasks, ...]:
    """What the assignor gives to members that have their present targets; nothing if it fails."""
    known = group.streams
    replicas = (known.standby_replicas if known else None) or 0
    try:
        return StickyTaskAssignor().assign(
            [as_task_member(m) for m in group.members], parts(topology, numbers), replicas
        )
    except AssignorError:
        return ()


def as_task_member(member: Member, former: FormerTasks | None = None) -> TaskMember:
    """The member as the assignor receives it, with its target or, if given, other tasks."""
    had = former or target_tasks(member)
    process = member.streams_client.process_id if member.streams_client else ""
    return TaskMember(member.member_id, process, had.active, had.standby)


def parts(topology: Topology, numbers: Numbers) -> tuple[SubtopologyTasks, ...]:
    """The subtopologies as the assignor receives them."""
    return tuple(
        SubtopologyTasks(part.subtopology_id, numbers[part.subtopology_id], is_stateful=bool(part.changelogs))
        for part in topology.subtopologies
    )


def _question(group: GroupState, topology: Topology, numbers: Numbers) -> Question | None:
    """What the assignor received; None: not all of it is known."""
    before, replicas = group.assignor_input, group.streams.standby_replicas if group.streams else None
    has_processes = all(member.streams_client and member.streams_client.process_id for member in group.members)
    if before is None or before.is_open or not before.is_complete or replicas is None or not has_processes:
        return None
    targets, held = _former(before)
    return Question(
        by_targets=tuple(as_task_member(m, targets.get(m.member_id)) for m in group.members),
        by_held=tuple(as_task_member(m, held.get(m.member_id)) for m in group.members),
        subtopologies=parts(topology, numbers),
        standby_replicas=replicas,
    )


def _former(before: AssignorInput) -> tuple[dict[str, FormerTasks], dict[str, FormerTasks]]:
    """The targets before and what members ran, by member, where that is not the target of now."""
    targets = {former.member_id: former for former in before.targets}
    return targets, targets | {former.member_id: former for former in before.held}


def _may_be_given(members: tuple[Member, ...], numbers: Numbers) -> bool:
    targets = [_ids(target_tasks(member).active) for member in members]
    given = Counter(task for own in targets for task in own)
    wanted = {(part, number) for part, count in numbers.items() for number in range(count)}
    if given.keys() != wanted:
        return True  # the broker knows topics otherwise than the catalog does, or has yet to notice
    share = -(-len(wanted) // len(members))
    return max(given.values(), default=0) <= 1 and max(map(len, targets), default=0) <= share


def _ids(entries: Iterable[IdPartitions]) -> list[tuple[str, int]]:
    return [(entry.id, number) for entry in entries for number in entry.partitions]
