"""How the tasks of Kafka Streams are spread over the instances of an application, whatever its protocol.

An instance is a process, and its members are its threads. Tasks are balanced over processes, by their threads
(KIP-441): a thread may have two active tasks beside one with standby tasks only. Where a standby task may be is
restricted: not in the process of its active task. So only active tasks show whether a group is uneven.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil

from monitor.model import ProcessLoad, Value
from monitor.model.evidence import TaskBalance


class MemberLoad(Value):
    """How many tasks a thread has."""

    member_id: str
    process: str
    active: int = 0
    standby: int = 0


class IdleThreads(Value):
    """Threads without any task, while another one has at least two active ones."""

    members: tuple[str, ...]
    busiest: str
    active: int


def process_loads(members: Iterable[MemberLoad]) -> tuple[ProcessLoad, ...]:
    """What each process runs, sorted by its id.

    >>> [load] = process_loads([MemberLoad("a", "p", 2, 1), MemberLoad("b", "p", 0, 1)])
    >>> load.process, load.members, load.active, load.standby
    ('p', ('a', 'b'), 2, 2)
    """
    threads: dict[str, list[MemberLoad]] = defaultdict(list)
    for member in members:
        threads[member.process].append(member)
    return tuple(
        ProcessLoad(
            process=process,
            members=tuple(each.member_id for each in own),
            active=sum(each.active for each in own),
            standby=sum(each.standby for each in own),
        )
        for process, own in sorted(threads.items())
    )


def process_balance(loads: Sequence[ProcessLoad]) -> TaskBalance | None:
    """The process with most active tasks by thread; None: there are no active tasks.

    >>> process_balance([ProcessLoad("p", ("a",), active=5), ProcessLoad("q", ("b", "c"), active=2)])
    TaskBalance(process='p', members=('a',), tasks=5, fair=3)
    """
    tasks, threads = sum(load.active for load in loads), sum(len(load.members) for load in loads)
    if not tasks:
        return None
    largest = min(loads, key=lambda load: (-load.active / len(load.members), load.process))
    fair = ceil(tasks / threads)
    return TaskBalance(process=largest.process, members=largest.members, tasks=largest.active, fair=fair)


def idle_threads(members: Sequence[MemberLoad]) -> IdleThreads | None:
    """The threads without a task that could run one of another thread; None: there are none.

    >>> idle_threads([MemberLoad("a", "p", 2), MemberLoad("b", "q"), MemberLoad("c", "q", standby=1)])
    IdleThreads(members=('b',), busiest='a', active=2)
    >>> idle_threads([MemberLoad("a", "p", 1), MemberLoad("b", "q")]) is None
    True
    """
    idle = tuple(sorted(each.member_id for each in members if not each.active and not each.standby))
    busiest = max(members, key=lambda each: (each.active, each.member_id), default=None)
    if not idle or busiest is None or busiest.active <= 1:
        return None
    return IdleThreads(members=idle, busiest=busiest.member_id, active=busiest.active)
