"""The view of the tasks of a group, by what kind of group it is."""

from __future__ import annotations

from monitor.detection.ownership.tasks.classic_streams import view_classic_streams
from monitor.detection.ownership.tasks.connect import view_connect
from monitor.detection.ownership.tasks.streams import view_streams
from monitor.detection.ownership.tasks.task_view import TaskView
from monitor.kinds.streams import topology_of
from monitor.model import Catalog, GroupState, traits_of


def view_tasks(group: GroupState, catalog: Catalog) -> TaskView | None:
    """The tasks of a group; None: it has none.

    Args:
        group: with its topics by name.
        catalog: the topics that exist now. Nothing that moves with their records is read.
    """
    traits = traits_of(group)
    if traits.leader_assigns_tasks:
        return view_classic_streams(group, catalog)
    if traits.runs_connectors:
        return view_connect(group, catalog)
    topology = topology_of(group)
    return None if topology is None else view_streams(group, topology, catalog)
