"""Who has which task of a streams group, as its active or as a standby one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from monitor.assignors.kafka_broker.sticky_task import MemberTasks
from monitor.kinds.streams import TaskId
from monitor.model import Member, Reconciliation


class TaskPlace(msgspec.Struct, frozen=True, order=True, gc=False):
    """A task, as the active one or as a standby task."""

    task: TaskId
    is_standby: bool = False


Holders = dict[TaskPlace, tuple[str, ...]]
"""The members that have each task, sorted by id."""


def task_holders(assignment: Iterable[MemberTasks]) -> Holders:
    """Who has each task.

    >>> from monitor.model import IdPartitions
    >>> task_holders([MemberTasks("m", active=(IdPartitions("0", (1,)),))])
    {TaskPlace(task=TaskId(subtopology='0', partition=1), is_standby=False): ('m',)}
    """
    found: dict[TaskPlace, list[str]] = defaultdict(list)
    for member in assignment:
        for entries, is_standby in ((member.active, False), (member.standby, True)):
            for entry in entries:
                for number in entry.partitions:
                    found[TaskPlace(TaskId(entry.id, number), is_standby)].append(member.member_id)
    return {place: tuple(sorted(members)) for place, members in found.items()}


def target_tasks(member: Member) -> MemberTasks:
    """What the broker has chosen for a member; nothing where it has yet to choose."""
    now = member.reconciliation or Reconciliation()
    return MemberTasks(member.member_id, now.target or (), now.spare_target.standby if now.spare_target else ())
