"""Whether the broker's targets of a streams group are the answer of its task assignor."""

from __future__ import annotations

from enum import StrEnum

from monitor.assignors.kafka_broker.sticky_task import MemberTasks
from monitor.model import Value


class TargetResult(StrEnum):
    """What the assignor gives, against what the broker chose."""

    EQUAL = "equal"
    TIE = "tie"
    """The same, if the coordinator's map of members iterates in another order, which depends on when they joined."""
    DIFFERENT = "different"
    UNKNOWN = "unknown"


class UncheckedReason(StrEnum):
    """Why it is not known whether the targets are the assignor's."""

    NOT_READY = "not_ready"
    """There are no tasks as long as topics of the topology are missing."""
    ASSIGNING = "assigning"
    """The broker has yet to choose, or the log has yet to tell all of it."""
    INPUT = "input"
    """What the members had before is not known: the log was compacted, or a broker described the group."""
    TASKS = "tasks"
    """The targets have not each task once, and there may be other tasks by now than the broker knew."""
    ORDERS = "orders"
    """The members may come in more orders than are tried."""
    STATE = "state"
    """From Kafka 4.4 on, the assignor asks members that report how far they have the state of a task."""


class TargetCheck(Value):
    """The result. ``reason`` is of an unknown one; ``given`` is what the assignor gives, of a different one."""

    result: TargetResult
    reason: UncheckedReason | None = None
    given: tuple[MemberTasks, ...] = ()


def unknown_result(reason: UncheckedReason) -> TargetCheck:
    """A check that could not be made."""
    return TargetCheck(TargetResult.UNKNOWN, reason)
