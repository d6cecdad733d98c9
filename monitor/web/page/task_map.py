"""The tasks of a group of Kafka Streams on its page: by subtopology, which member runs each, and why one does not run.

Those of Connect are in monitor.web.page.connect.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

from monitor.findings.table import spec_of
from monitor.messages.formatting import age
from monitor.messages.names import shown
from monitor.model import FindingKind, GroupVerdict, OrphanReason, TaskVerdict, Value
from monitor.web.page.member_labels import Holder, Holders

MOST_TASKS: Final = 500
"""A page with more is slow to look at: of a larger group only the tasks that do not run are listed."""

_NO_FINDING: Final = {OrphanReason.NO_MEMBERS: "group is empty", OrphanReason.UNSUBSCRIBED: "not subscribed"}


class TaskLine(Value):
    """A task. ``why`` is the reason if it does not run, "" if it runs or none is known; ``since`` is an age."""

    task: str
    reads: str
    owners: tuple[Holder, ...]
    standbys: tuple[Holder, ...]
    why: str = ""
    since: str = ""


class TaskPart(Value):
    """A subtopology. ``idle`` of its ``count`` tasks run nowhere; ``lines`` are the listed ones."""

    part: str
    count: int
    idle: int
    lines: tuple[TaskLine, ...]


def task_map(verdict: GroupVerdict, holders: Holders) -> tuple[TaskPart, ...]:
    """The tasks by subtopology, in their order."""
    is_small = len(verdict.tasks) <= MOST_TASKS
    parts = [(part, list(own)) for part, own in groupby(verdict.tasks, lambda task: task.part)]
    return tuple(
        TaskPart(
            part=part,
            count=len(own),
            idle=sum(not task.owners for task in own),
            lines=tuple([_line(task, verdict, holders) for task in own if is_small or not task.owners][:MOST_TASKS]),
        )
        for part, own in parts
    )


def _line(task: TaskVerdict, verdict: GroupVerdict, holders: Holders) -> TaskLine:
    return TaskLine(
        task=task.task,
        reads=", ".join(f"{shown(place.topic)} {place.partition}" for place in task.reads),
        owners=tuple(holders[member] for member in task.owners),
        standbys=tuple(holders[member] for member in task.standbys),
        why=_why(task.orphan) if task.orphan is not None else "",
        since=age(max(0, verdict.evaluated_ms - task.since_ms)) if task.since_ms is not None else "",
    )


def _why(reason: OrphanReason) -> str:
    if reason in _NO_FINDING:
        return _NO_FINDING[reason]
    return (spec_of(FindingKind.ORPHANED, reason).mark or reason.value).removeprefix("no owner: ")
