"""The tasks of Kafka Streams in words, by subtopology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from monitor.detection.ownership.tasks.target_check import TargetResult, UncheckedReason
from monitor.explain.statements import About, Judged, Statement
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown
from monitor.model import TaskVerdict

MOST_PARTS: Final = 50
"""Of more subtopologies only the number is told."""


_RESULTS: Final[Mapping[TargetResult, str]] = {
    TargetResult.EQUAL: "The targets of epoch {epoch} are what it computes from the previous tasks of the members.",
    TargetResult.TIE: (
        "The targets of epoch {epoch} are what it computes from the previous tasks of the members, up to a tie."
    ),
    TargetResult.DIFFERENT: "The targets of epoch {epoch} are not what it computes.",
    TargetResult.UNKNOWN: (
        "groupwatch could not recompute the targets of epoch {epoch}. It checks only that every task has one member, "
        "and no member more than its share."
    ),
}

_TIE: Final = "The result depends on the order in which members joined, if their ids share a bucket of a hash map."

_REASONS: Final[Mapping[UncheckedReason, str]] = {
    UncheckedReason.NOT_READY: "The topology is not ready, so there are no tasks.",
    UncheckedReason.ASSIGNING: "The coordinator has not assigned tasks for the newest epoch yet.",
    UncheckedReason.INPUT: (
        "The previous tasks of the members are not known. They are known from the next epoch on, if groupwatch reads "
        "the group from the log."
    ),
    UncheckedReason.TASKS: "The targets do not contain every task exactly once: the topics may have changed since.",
    UncheckedReason.ORDERS: "The result depends on the order in which members joined, and too many are possible.",
    UncheckedReason.STATE: (
        "From Kafka 4.4 on, the result depends on the state that members report, which is in no record."
    ),
}


def task_assignor_sentence(known: Judged) -> str:
    """The assignor of a streams group, and whether its result is what the coordinator chose."""
    head = f"The coordinator assigns tasks with {shown(known.group.protocol or 'none')}, its only task assignor."
    check = known.view.expectation.target_check
    return head if check is None else f"{head} {_RESULTS[check.result].format(epoch=known.group.target_epoch or 0)}"


def unchecked_reasons(known: Judged) -> Iterator[str]:
    """Why the targets of a streams group may be others, or are not checked; nothing of other groups."""
    check = known.view.expectation.target_check
    if check is not None and check.result is TargetResult.TIE:
        yield _TIE
    if check is not None and check.reason is not None:
        yield _REASONS[check.reason]


def tasks_told(known: Judged) -> Iterator[Statement]:
    """How many tasks there are and run, and which nobody runs; nothing of a group without tasks."""
    tasks = known.verdict.tasks
    parts: dict[str, list[TaskVerdict]] = defaultdict(list)
    for task in tasks:
        parts[task.part].append(task)
    lines = [_part_line(part, own) for part, own in list(parts.items())[:MOST_PARTS]]
    if len(parts) > MOST_PARTS:
        lines.append(f"and {len(parts) - MOST_PARTS} more subtopologies")
    if tasks:
        running = sum(bool(task.owners) for task in tasks)
        sentence = f"{counted(len(tasks), 'task')}, {running} of them running."
        yield Statement(about=About.MEMBERS, sentence=sentence, evidence=tuple(lines))


def _part_line(part: str, tasks: Sequence[TaskVerdict]) -> str:
    topics = sorted({place.topic for task in tasks for place in task.reads})
    idle = [task.task for task in tasks if not task.owners]
    standbys = sum(len(task.standbys) for task in tasks)
    reads = f", which consume {listed(topics)}" if topics else ""
    copies = f"; {counted(standbys, 'standby task')}" if standbys else ""
    rest = f"; not running: {listed(idle)}" if idle else ""
    return f"subtopology {shown(part)}: {counted(len(tasks), 'task')}{reads}{copies}{rest}"
