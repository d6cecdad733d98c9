"""What the answer to a what-if says in words, wherever it is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from monitor.detection.ownership.balance import BalanceSide
from monitor.explain.task_changes import TaskMove, TaskSets
from monitor.explain.what_if import MemberChange, WhatIf
from monitor.messages.formatting import counted
from monitor.messages.names import listed, places, ranges, shown, who
from monitor.model import MemberVerdict, TopicPartitions

SHOWN_TOPICS: Final = 10
"""So many topics of a member are written out."""


MOST_TASKS: Final = 20
"""So many tasks of a member are written out."""

NO_NAMES: Final[Mapping[str, str]] = {}
"""Members have no other name than their id."""


def moving(answer: WhatIf) -> str:
    """How many partitions get a different owner, or how many tasks a different member; a list of them follows."""
    if answer.task_moves is not None:
        return _moving_tasks(answer.task_moves)
    moves = len(answer.moves)
    if not moves:
        return "No partition gets a different owner."
    return f"{counted(moves, 'partition')} {'gets' if moves == 1 else 'get'} a different owner:"


def consequences(answer: WhatIf) -> tuple[str, ...]:
    """The balance, the members without a partition, and the partitions without an owner."""
    in_tasks = answer.task_moves is not None
    sentences = [_busiest(answer.members) if in_tasks else _balance(answer)]
    if answer.idle:
        names = member_names(answer.members)
        idle = listed([names.get(each, each) for each in answer.idle])
        sentences.append(f"Members without a {'task' if in_tasks else 'partition'}: {idle}.")
    if answer.orphans:
        sentences.append(f"{places(answer.orphans)} would have no owner.")
    return tuple(sentences)


def member_names(members: Sequence[MemberChange]) -> dict[str, str]:
    """The members as a person looks for them, by id: client and host, with the id where several have the same.

    >>> member_names([MemberChange("m-1", client_id="app", host="/h"), MemberChange("new-1")])
    {'m-1': 'app at /h', 'new-1': 'new-1'}
    """
    alike = Counter((each.client_id, each.host) for each in members)
    return {
        each.member_id: who(
            MemberVerdict(each.member_id, client_id=each.client_id, host=each.host),
            alike=alike[each.client_id, each.host] > 1,
        )
        for each in members
    }


def mark(member: MemberChange) -> str:
    """What happens to a member, in a word; "" if nothing does."""
    return "joins" if member.joins else "leaves" if member.leaves else "idle" if member.idle else ""


def task_move(move: TaskMove, names: Mapping[str, str] = NO_NAMES) -> str:
    """What happens to one task of a streams group. ``names`` are those of members, by id.

    >>> task_move(TaskMove("1_2", before=("a",), after=("b",)))
    'Task 1_2 moves from a to b.'
    >>> task_move(TaskMove("1_2", is_standby=True, before=("a",), after=("a", "b")))
    'Standby task 1_2 starts on b.'
    """
    task = f"{'Standby task' if move.is_standby else 'Task'} {shown(move.task)}"
    gone = listed([names.get(each, each) for each in move.before if each not in move.after])
    new = listed([names.get(each, each) for each in move.after if each not in move.before])
    if gone and new:
        return f"{task} moves from {gone} to {new}."
    return f"{task} starts on {new}." if new else f"{task} stops on {gone}."


def held_before(member: MemberChange) -> str:
    """What a member has now."""
    return held(member.before) if member.tasks_before is None else _held_tasks(member.tasks_before)


def held_after(member: MemberChange) -> str:
    """What a member would have."""
    return held(member.after) if member.tasks_after is None else _held_tasks(member.tasks_after)


def sizes(member: MemberChange) -> tuple[int, int]:
    """How many partitions a member has before and after; of a streams group, how many active tasks."""
    if member.tasks_before is None and member.tasks_after is None:
        return member.partitions_before, member.partitions_after
    return _active(member.tasks_before), _active(member.tasks_after)


def held(topics: Sequence[TopicPartitions]) -> str:
    """What a member has, topic by topic."""
    head = "; ".join(f"{shown(each.topic)} {ranges(each.partitions)}" for each in topics[:SHOWN_TOPICS])
    more = len(topics) - SHOWN_TOPICS
    return f"{head} and {counted(more, 'more topic')}" if more > 0 else head


def _held_tasks(tasks: TaskSets) -> str:
    standby = f"standby {_some(tasks.standby)}" if tasks.standby else ""
    return "; ".join(part for part in (_some(tasks.active), standby) if part)


def _some(tasks: Sequence[str]) -> str:
    more = len(tasks) - MOST_TASKS
    head = ", ".join(shown(task) for task in tasks[:MOST_TASKS])
    return f"{head} and {more} more" if more > 0 else head


def _active(tasks: TaskSets | None) -> int:
    return 0 if tasks is None else len(tasks.active)


def _moving_tasks(moves: Sequence[TaskMove]) -> str:
    standby = sum(move.is_standby for move in moves)
    active = len(moves) - standby
    counts = [counted(active, "task")] if active else []
    counts += [counted(standby, "standby task")] if standby else []
    if not counts:
        return "No task gets a different member."
    return f"{' and '.join(counts)} {'gets' if len(moves) == 1 else 'get'} a different member:"


def _busiest(members: Sequence[MemberChange]) -> str:
    before, after = (max(each) for each in zip(*map(sizes, members), strict=True))
    if before == after:
        return f"At most {counted(before, 'active task')} per member, before and after."
    return f"At most {counted(before, 'active task')} per member before, {after} after."


def _balance(answer: WhatIf) -> str:
    before, after = _evenness(answer.balance_before), _evenness(answer.balance_after)
    return f"Balance: {before}." if before == after else f"Balance before: {before}; after: {after}."


def _evenness(side: BalanceSide | None) -> str:
    if side is None:
        return "no partition has an owner"
    return f"at most {counted(side.largest, 'partition')} per member, optimum {side.optimum} (ratio {side.ratio:.2f})"
