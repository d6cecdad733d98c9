"""The task assignor of streams groups: ``StickyTaskAssignor`` of kafka-group-coordinator 4.2 to 4.4 (KIP-1071).

Words: a *process* is an application instance, its members are its threads. A member's *load* is the number of its
tasks, active and standby; that of a process is the average of its members. The *active share* is the number of active
tasks a member, rounded up, and the *share* that of all tasks; whenever a member reaches one of them, it is worked out
again for the others and the tasks that are left.

Properties:

1. Every task has one active member. A task with state has as many standby members as configured, each in another
   process; with too few processes, as many as there are.
2. Active tasks stay with who had them, or go to who had them as standby tasks, as long as the member is below its
   active share; the others go to the least loaded member of the least loaded process.
3. Standby tasks stay with who had them, active or standby, as long as the member is below its share; the others go to
   the least loaded member of the least loaded process that does not have the task.

Ties are decided by the order of Java's hash maps of members and processes, and of its heaps.

Steps:

1. Active tasks, by number and then subtopology: to the previous active member.
2. The rest of them, in the same order: to the previous standby member (see ``_previous_standby``).
3. The rest, by subtopology and then number: to the least loaded.
4. Standby tasks, from the last number and subtopology to the first: to previous members. A task for which there is none
   any more waits, with all standby tasks that it still lacks.
5. What waits, from the last subtopology and number to the first: to the least loaded.

Quirks. A member that took over an active task can lose a standby task that it could keep, since the share counts both.
Before 4.4, whether a previous standby member may get a task depends on the process of the *first* one, whichever is
chosen.

From 4.4 on, what members had is what they run, and no longer their targets. Members that report how far they have the
state of a task are tried after those that had it as a standby task. No record has these reports, and here there are
none.

>>> parts = [SubtopologyTasks(subtopology_id="0", tasks=2, is_stateful=True)]
>>> members = [TaskMember(member_id="m1", process_id="p1"), TaskMember(member_id="m2", process_id="p2")]
>>> for given in StickyTaskAssignor().assign(members, parts, standby_replicas=1):
...     print(given.member_id, given.active, given.standby)
m1 (IdPartitions(id='0', partitions=(0,)),) (IdPartitions(id='0', partitions=(1,)),)
m2 (IdPartitions(id='0', partitions=(1,)),) (IdPartitions(id='0', partitions=(0,)),)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

import msgspec

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.hash import string_hash
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.java.priority_queue import PriorityQueue
from monitor.assignors.java.text import string_key
from monitor.assignors.kafka_broker.java_compute_if_absent import computed_map_order
from monitor.model import IdPartitions, Value


class TaskMember(Value):
    """A member with the tasks that it had: those of its current target, from Kafka 4.4 on those that it runs."""

    member_id: str
    process_id: str
    active: tuple[IdPartitions, ...] = ()
    standby: tuple[IdPartitions, ...] = ()


class SubtopologyTasks(Value):
    """A subtopology: how many tasks it has, and whether they have state."""

    subtopology_id: str
    tasks: int
    is_stateful: bool = False


class MemberTasks(Value):
    """The tasks that a member is to have, by subtopology, sorted."""

    member_id: str
    active: tuple[IdPartitions, ...] = ()
    standby: tuple[IdPartitions, ...] = ()


class StickyTaskAssignor(Value):
    """Gives tasks to the members of a streams group. See the module for the rule.

    ``before_4_4``: that of brokers before Kafka 4.4.
    """

    name: ClassVar[str] = "sticky"

    before_4_4: bool = True

    def assign(
        self, members: Sequence[TaskMember], subtopologies: Iterable[SubtopologyTasks], standby_replicas: int = 0
    ) -> tuple[MemberTasks, ...]:
        """The tasks of every member, in the order of ``members``.

        Args:
            members: distinct.
            subtopologies: those of the group's topology.
            standby_replicas: how many standby tasks a task with state is to have (``num.standby.replicas``).

        Raises:
            AssignorError: there are tasks and no member.
        """
        by_id = {member.member_id: member for member in members}
        ordered = [by_id[member_id] for member_id in hash_map_order(by_id)]
        given = {each.member_id: each for each in self.assign_in_order(ordered, subtopologies, standby_replicas)}
        return tuple(given[member.member_id] for member in members)

    def assign_in_order(
        self, members: Sequence[TaskMember], subtopologies: Iterable[SubtopologyTasks], standby_replicas: int = 0
    ) -> tuple[MemberTasks, ...]:
        """As ``assign``, but the coordinator's map of members iterates in the order of ``members``."""
        parts = list(subtopologies)
        round_ = self._round(members, parts, standby_replicas)
        round_.assign_active(_tasks_of(parts))
        if standby_replicas > 0:
            round_.assign_standby(_tasks_of(part for part in parts if part.is_stateful))
        return tuple(round_.result(member.member_id) for member in members)

    def keep_active(
        self, members: Sequence[TaskMember], subtopologies: Iterable[SubtopologyTasks]
    ) -> tuple[MemberTasks, ...]:
        """The active tasks that stay where they were, of every member: step 1, which every release has alike."""
        parts = list(subtopologies)
        round_ = self._round(members, parts, 0)
        round_.keep_active(_tasks_of(parts))
        return tuple(round_.result(member.member_id) for member in members)

    def _round(self, members: Sequence[TaskMember], parts: Sequence[SubtopologyTasks], standby_replicas: int) -> _Round:
        return (_Round if self.before_4_4 else _NewerRound)(members, parts, standby_replicas)


class _Task(msgspec.Struct, frozen=True, gc=False):
    subtopology: str
    number: int

    def __str__(self) -> str:
        return f"{self.subtopology}_{self.number}"


class _Seat(msgspec.Struct, frozen=True):
    """A member, with the process that it is of."""

    member_id: str
    process: _Process


class _Process:
    """An application instance: its members' loads, and the tasks that they have got."""

    def __init__(self, member_ids: Sequence[str]) -> None:
        self.loads = dict.fromkeys(hash_map_order(member_ids), 0)
        self.tasks: set[_Task] = set()
        self.load = 0.0
        self._given = 0
        self._by_load: PriorityQueue[str] | None = None

    def add(self, member_id: str, task: _Task) -> int:
        """Give a member a task; its load then. The heap of members is out of date after that."""
        self._by_load = None
        return self._add(member_id, task)

    def add_to_least_loaded(self, task: _Task) -> str:
        """Give the task to the least loaded member; who it is. One whose load has changed is put back into the heap."""
        if len(self.loads) == 1:
            (member_id,) = self.loads
            self._add(member_id, task)
            return member_id
        if self._by_load is None:
            self._by_load = PriorityQueue(self.loads, key=self.loads.__getitem__)
        least = self._by_load.poll()
        assert least is not None
        self._add(least, task)
        self._by_load.add(least)
        return least

    def _add(self, member_id: str, task: _Task) -> int:
        self.tasks.add(task)
        self.loads[member_id] += 1
        self._given += 1
        self.load = self._given / len(self.loads)
        return self.loads[member_id]


class _Share:
    """How many tasks each member is to have, of those that are left, for the members that have fewer."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.size = _ceiling(tasks, members)

    def note(self, load: int) -> None:
        """A member has so many tasks now; if that is its share, it is left out with them."""
        if load == self.size:
            self._members -= 1
            self._tasks -= load
            self.size = _ceiling(self._tasks, self._members)


class _Round:
    """One assignment in the making."""

    def __init__(
        self, members: Sequence[TaskMember], subtopologies: Sequence[SubtopologyTasks], standby_replicas: int
    ) -> None:
        active = sum(part.tasks for part in subtopologies)
        standby = sum(part.tasks for part in subtopologies if part.is_stateful) * max(0, standby_replicas)
        self._replicas = standby_replicas
        self._active_share = _Share(active, len(members))
        self._share = _Share(active + standby, len(members))
        self._processes = self._processes_of(members)
        self._previous_active: dict[_Task, _Seat] = {}
        self._previous_standby: dict[_Task, list[_Seat]] = defaultdict(list)
        for member in members:
            seat = _Seat(member.member_id, self._processes[member.process_id])
            self._previous_active.update(dict.fromkeys(_tasks_in(member.active), seat))
            for task in _tasks_in(member.standby):
                self._previous_standby[task].append(seat)
        self._active: dict[str, list[_Task]] = defaultdict(list)
        self._standby: dict[str, list[_Task]] = defaultdict(list)

    def keep_active(self, tasks: Sequence[_Task]) -> list[_Task]:
        """Step 1; the tasks that are left."""
        by_number = sorted(tasks, key=lambda task: (task.number, string_key(task.subtopology)))
        return [task for task in by_number if not self._keep_active(task, self._previous_active.get(task))]

    def assign_active(self, tasks: Sequence[_Task]) -> None:
        """Steps 1 to 3."""
        left = self.keep_active(tasks)
        left = [task for task in left if not self._keep_active(task, self._least_loaded_standby(task))]
        processes = PriorityQueue(self._processes.values(), key=lambda process: process.load)
        for task in sorted(left, key=_by_subtopology):
            process = processes.poll()
            if process is None:
                raise AssignorError("TaskAssignorException", f"No process available to assign active task {task}.")
            member_id = process.add_to_least_loaded(task)
            self._active[member_id].append(task)
            self._note_active(process.loads[member_id])
            processes.add(process)

    def assign_standby(self, tasks: Sequence[_Task]) -> None:
        """Steps 4 and 5."""
        order = sorted(tasks, key=lambda task: (task.number, string_key(task.subtopology)), reverse=True)
        lacking = {task: self._keep_standby(task) for task in order}
        processes = PriorityQueue(self._processes.values(), key=lambda process: process.load)
        for task in sorted(lacking, key=_by_subtopology, reverse=True):
            for _ in range(lacking[task]):
                if not self._assign_to_least_loaded(task, processes):
                    break  # every process has the task: there is no place for more

    def result(self, member_id: str) -> MemberTasks:
        """What a member has got."""
        return MemberTasks(
            member_id=member_id,
            active=_by_id(self._active.get(member_id, ())),
            standby=_by_id(self._standby.get(member_id, ())),
        )

    def _keep_active(self, task: _Task, seat: _Seat | None) -> bool:
        """Whether the member got the task: it is below its active share."""
        if seat is None or seat.process.loads[seat.member_id] >= self._active_share.size:
            return False
        self._active[seat.member_id].append(task)
        self._note_active(seat.process.add(seat.member_id, task))
        return True

    def _keep_standby(self, task: _Task) -> int:
        """Give the task's standby tasks to members that had it; how many are left."""
        for left in range(self._replicas, 0, -1):
            seat = self._previous_active.get(task)
            if seat is None or task in seat.process.tasks or not self._has_room(seat):
                seat = self._least_loaded_standby(task, new=True)
            if seat is None or not self._has_room(seat):
                return left
            self._standby[seat.member_id].append(task)
            self._share.note(seat.process.add(seat.member_id, task))
        return 0

    def _has_room(self, seat: _Seat) -> bool:
        return seat.process.loads[seat.member_id] < self._share.size

    def _least_loaded_standby(self, task: _Task, *, new: bool = False) -> _Seat | None:
        """The first of the members with the task as a standby one such that no later one is below it, in both loads.

        ``new``: only if the process does not have the task yet. The first member's process must not have it either,
        whichever member is chosen: that is the original's behavior.
        """
        seats = self._previous_standby.get(task, ())
        if not seats:
            return None
        chosen = seats[0]
        load, own_load = chosen.process.load, chosen.process.loads[chosen.member_id]
        for seat in seats[1:]:
            other = seat.process.loads[seat.member_id]
            if seat.process.load < load and not (new and task in seat.process.tasks) and other < own_load:
                chosen, load, own_load = seat, seat.process.load, other
        return None if new and task in seats[0].process.tasks else chosen

    def _processes_of(self, members: Sequence[TaskMember]) -> dict[str, _Process]:
        """The processes in the order of a Java map that was created for as many entries as there are members."""
        own = _members_by_process(members)
        return {process_id: _Process(own[process_id]) for process_id in hash_map_order(own, capacity=len(members))}

    def _assign_to_least_loaded(self, task: _Task, processes: PriorityQueue[_Process]) -> bool:
        """Whether a process did not have the task, and got it."""
        polled: list[_Process] = []
        while (process := processes.poll()) is not None:
            polled.append(process)
            if task not in process.tasks:
                member_id = process.add_to_least_loaded(task)
                self._standby[member_id].append(task)
                self._share.note(process.loads[member_id])
                break
        for each in reversed(polled):
            processes.add(each)
        return process is not None

    def _note_active(self, load: int) -> None:
        self._active_share.note(load)
        self._share.note(load)


_NO_LOAD: Final = float("inf")


class _NewerRound(_Round):
    """An assignment of Kafka 4.4."""

    def _least_loaded_standby(self, task: _Task, *, new: bool = False) -> _Seat | None:
        """As that of _Round, but for each member this checks whether its process has the task."""
        chosen, load, own_load = None, _NO_LOAD, _NO_LOAD
        for seat in self._previous_standby.get(task, ()):
            other = seat.process.loads[seat.member_id]
            if not (new and task in seat.process.tasks) and seat.process.load < load and other < own_load:
                chosen, load, own_load = seat, seat.process.load, other
        return chosen

    def _processes_of(self, members: Sequence[TaskMember]) -> dict[str, _Process]:
        """As that of _Round, but the map is filled by ``computeIfAbsent``."""
        own = _members_by_process(members)
        order = computed_map_order([member.process_id for member in members], string_hash, len(members))
        return {process_id: _Process(own[process_id]) for process_id in order}


def _members_by_process(members: Sequence[TaskMember]) -> dict[str, list[str]]:
    own: dict[str, list[str]] = defaultdict(list)
    for member in members:
        own[member.process_id].append(member.member_id)
    return own


def _tasks_of(subtopologies: Iterable[SubtopologyTasks]) -> list[_Task]:
    return [_Task(part.subtopology_id, number) for part in subtopologies for number in range(part.tasks)]


def _tasks_in(entries: Iterable[IdPartitions]) -> list[_Task]:
    return [_Task(entry.id, number) for entry in entries for number in entry.partitions]


def _by_subtopology(task: _Task) -> tuple[bytes, int]:
    return string_key(task.subtopology), task.number


def _by_id(tasks: Iterable[_Task]) -> tuple[IdPartitions, ...]:
    found: dict[str, list[int]] = defaultdict(list)
    for task in tasks:
        found[task.subtopology].append(task.number)
    return tuple(IdPartitions(part, tuple(sorted(found[part]))) for part in sorted(found, key=string_key))


def _ceiling(tasks: int, members: int) -> int:
    return -(-tasks // members) if members else 0
