"""What can be said of a group's tasks without its offsets and without the time."""

from __future__ import annotations

from monitor.kinds.processes import IdleThreads
from monitor.model import ConnectVerdict, ProcessLoad, TaskVerdict, Value
from monitor.model.evidence import TaskBalance


class MemberTaskCounts(Value):
    """How many tasks a member runs, and the process that it is a thread of."""

    process: str
    active: int
    standby: int = 0


class TaskView(Value):
    """The tasks of a group. ``tasks`` are sorted, and lack why nobody runs them where time decides that.

    ``members`` has a row for each member, by its id. ``balance`` and ``idle`` are None where they are not judged, too.
    ``connect`` is of a Connect cluster.
    """

    tasks: tuple[TaskVerdict, ...]
    members: dict[str, MemberTaskCounts]
    processes: tuple[ProcessLoad, ...]
    balance: TaskBalance | None = None
    idle: IdleThreads | None = None
    connect: ConnectVerdict | None = None
