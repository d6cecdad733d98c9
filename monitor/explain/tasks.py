"""The tasks of Kafka Streams in words, by subtopology."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from monitor.explain.statements import About, Judged, Statement
from monitor.messages.formatting import counted
from monitor.messages.names import listed, shown
from monitor.model import TaskVerdict

MOST_PARTS: Final = 50
"""Of more subtopologies only the number is told."""


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
