"""The tasks of a streams group before and after a simulated change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from monitor.detection.ownership.tasks.task_places import Holders
from monitor.model import Value


class TaskSets(Value):
    """The tasks of a member, by name, in order."""

    active: tuple[str, ...] = ()
    """The active tasks, by name."""
    standby: tuple[str, ...] = ()
    """The standby tasks, by name."""


class TaskMove(Value):
    """A task of a streams group that other members get."""

    task: str
    """The task: its subtopology and its number."""
    is_standby: bool = False
    """Whether it is a standby task."""
    before: tuple[str, ...] = ()
    """The ids of the members that have it; absent: none."""
    after: tuple[str, ...] = ()
    """The ids of the members that would have it; absent: none."""


def tasks_by_member(holders: Holders) -> dict[str, TaskSets]:
    """The tasks that each member has; members without any have no entry."""
    active: dict[str, list[str]] = defaultdict(list)
    standby: dict[str, list[str]] = defaultdict(list)
    for place in sorted(holders):
        for member_id in holders[place]:
            (standby if place.is_standby else active)[member_id].append(str(place.task))
    return {
        member_id: TaskSets(tuple(active.get(member_id, ())), tuple(standby.get(member_id, ())))
        for member_id in active.keys() | standby.keys()
    }


def task_moves(before: Holders, after: Holders) -> Iterator[TaskMove]:
    """The tasks whose members differ, in order."""
    for place in sorted(before.keys() | after.keys()):
        had, has = before.get(place, ()), after.get(place, ())
        if had != has:
            yield TaskMove(str(place.task), place.is_standby, had, has)
