"""The tasks of a group, as far as they need neither its offsets nor the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.kinds.processes import IdleThreads, MemberLoad, idle_threads, process_balance, process_loads
from monitor.model import ConnectVerdict, ProcessLoad, TaskVerdict, Value
from monitor.model.evidence import TaskBalance


class MemberTaskCounts(Value):
    """How many tasks a member runs, and the process that it is a thread of."""

    process: str
    active: int
    standby: int = 0


class TaskView(Value):
    """The tasks of a group. ``tasks`` are sorted, and lack the reason why one does not run where time decides that.

    ``members`` has a row for each member, by its id. ``balance`` and ``idle`` are None where they are not judged, too.
    ``connect`` is of a Connect cluster.
    """

    tasks: tuple[TaskVerdict, ...]
    members: dict[str, MemberTaskCounts]
    processes: tuple[ProcessLoad, ...]
    balance: TaskBalance | None = None
    idle: IdleThreads | None = None
    connect: ConnectVerdict | None = None


def view_threads(tasks: Iterable[TaskVerdict], loads: Sequence[MemberLoad], *, is_settled: bool) -> TaskView:
    """The tasks of Kafka Streams, whose members are threads of processes.

    Args:
        tasks: sorted.
        loads: of each member.
        is_settled: whether the assignment is final. Balance is judged then, if every process is known.
    """
    processes = process_loads(loads)
    is_judged = is_settled and all(load.process for load in loads)
    return TaskView(
        tasks=tuple(tasks),
        members={each.member_id: MemberTaskCounts(each.process, each.active, each.standby) for each in loads},
        processes=processes,
        balance=process_balance(processes) if is_judged else None,
        idle=idle_threads(loads) if is_judged else None,
    )
