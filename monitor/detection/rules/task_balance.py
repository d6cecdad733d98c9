"""Application instances of Kafka Streams with more tasks than others by thread, and threads without any.

Only where that is judged: nothing is on its way, and no rebalance is announced that evens it out
(monitor.detection.ownership.tasks).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.streams import ThreadsWithoutTask, UnevenTasks
from monitor.model import FindingKind


def find_uneven_tasks(facts: Facts) -> Iterable[Observation]:
    """The instance with most active tasks has more than its threads must have, and at least ``imbalance_ratio`` times.

    It must be a whole task more than the threads of the instance need to have.
    """
    balance = facts.task_view.balance if facts.task_view is not None else None
    if balance is not None and balance.ratio > 1 and balance.ratio >= facts.settings.imbalance_ratio:
        yield Observation(
            kind=FindingKind.IMBALANCE,
            reason="tasks",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=UnevenTasks(balance),
            members=balance.members,
        )


def find_threads_without_task(facts: Facts) -> Iterable[Observation]:
    """Threads that have neither an active nor a standby task, while another one has two active ones."""
    idle = facts.task_view.idle if facts.task_view is not None else None
    if idle is not None:
        yield Observation(
            kind=FindingKind.IDLE_MEMBERS,
            reason="no_tasks",
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=ThreadsWithoutTask(idle.busiest, idle.active),
            members=idle.members,
        )


RULES: Final = (
    Rule(find_uneven_tasks, of_owners=True, needs_tasks=True),
    Rule(find_threads_without_task, of_owners=True, needs_tasks=True),
)
