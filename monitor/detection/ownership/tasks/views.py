"""The view of the tasks of a group, by what kind of group it is."""

from __future__ import annotations

from monitor.detection.moment import Moment
from monitor.detection.ownership.tasks.classic_streams import view_classic_streams
from monitor.detection.ownership.tasks.connect import is_connect, tasks_now, view_connect
from monitor.detection.ownership.tasks.task_view import TaskView
from monitor.kinds.classic_streams import is_classic_streams
from monitor.model import Catalog, GroupState, TaskVerdict


def view_tasks(group: GroupState, catalog: Catalog) -> TaskView | None:
    """The tasks of a group; None: it has none.

    Args:
        group: with its topics by name.
        catalog: the topics that exist now. Nothing that moves with their records is read.
    """
    if is_classic_streams(group):
        return view_classic_streams(group, catalog)
    return view_connect(group, catalog) if is_connect(group) else None


def tasks_at(view: TaskView | None, group: GroupState, moment: Moment) -> tuple[TaskVerdict, ...]:
    """The tasks of a view as they are at an instant."""
    if view is None:
        return ()
    return tasks_now(view.tasks, moment) if is_connect(group) else view.tasks
