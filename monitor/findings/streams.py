"""What only an application of Kafka Streams has: its topology, its tasks, and its threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from monitor.findings.clauses import capitalize, have_verb, object_pronoun
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import counted
from monitor.messages.names import LISTED, era, listed, people, places, shown
from monitor.model import FindingKind, GroupState, OrphanReason, Value
from monitor.model.evidence import TaskBalance

ROWS: Final = (
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NO_TASK,
        Rank.MISFIT,
        advice=(
            "Make sure that all instances run the same topology: the leader creates the tasks of its own topology. Its "
            "log shows what failed (StreamsPartitionAssignor). To trigger a rebalance, restart an instance."
        ),
        mark="no owner: no task",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_READY,
        Rank.MISFIT,
        advice=(
            "Create the missing source topics, or give topics that are joined equally many partitions. Then restart "
            "the instances that have stopped: they leave when a source topic is missing (MissingSourceTopicException)."
        ),
        mark="no owner: topology not ready",
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "tasks",
        Rank.UNEVEN,
        advice=(
            "Not urgent while the instance keeps up. The next rebalance moves tasks if it can. If this lasts, compare "
            "the numbers of threads (num.stream.threads), and look for tasks whose state is still being restored."
        ),
    ),
    FindingSpec(
        FindingKind.IDLE_MEMBERS,
        "no_tasks",
        Rank.IDLE,
        advice=(
            "Not urgent: every task is running. If this lasts after the next rebalance, restart the instance of the "
            "idle threads."
        ),
    ),
)


class StreamsReport(Value):
    """What the leader of a classic group of Kafka Streams has told its members of its assignment.

    ``error`` is a number of ``AssignorError``, 0 for none; ``tells_what_follows``: every member knows if another
    generation follows.
    """

    error: int
    tells_what_follows: bool


def streams_reason(
    reason: OrphanReason, report: StreamsReport, group: GroupState, awaited: Sequence[str], *, one: bool
) -> str:
    """Why the leader of a group of Kafka Streams has not assigned a partition to a thread."""
    them, generation = object_pronoun(one=one), era(group)
    if reason is OrphanReason.PENDING:
        names = people(awaited, group) if awaited else ""
        previous = f" {names} owned {them} before." if names else ""
        return (
            f"{capitalize(generation)} is half of a rebalance, and the next generation assigns {them} to a "
            f"thread.{previous}"
        )
    error = _STREAMS_ERRORS.get(report.error)
    if error:
        return (
            f"Kafka Streams did not assign {them} to any thread in {generation}. The group leader reports that {error}."
        )
    complete = ", although that generation completes the rebalance" if report.tells_what_follows else ""
    return f"Kafka Streams did not assign {them} to any thread in {generation}{complete}."


_STREAMS_ERRORS: Final[Mapping[int, str]] = {
    1: "a source topic does not exist (INCOMPLETE_SOURCE_TOPIC_METADATA)",
    3: "the assignment failed (ASSIGNMENT_ERROR)",
    4: "an instance requested a shutdown of all others (SHUTDOWN_REQUESTED)",
}
"""What the numbers mean that an assignment of Kafka Streams bears (``AssignorError`` of kafka-streams 4.3)."""


class NotReady(Evidence):
    """The broker cannot assign the topology of a Kafka Streams application.

    ``missing`` are topics that it needs and that do not exist, sorted. ``uneven`` must have equally many partitions,
    and have these numbers. Both are empty where it is not known what is wrong.
    """

    missing: tuple[str, ...]
    uneven: tuple[tuple[str, int], ...]


@sentence.register
def _not_ready(evidence: NotReady, found: Observation, group: GroupState) -> str:
    head = f"The coordinator cannot assign tasks in {era(group)}."
    if found.partitions:
        head = f"{places(found.partitions)} {have_verb(found.partitions)} no owner. {head}"
    gone = " No instance is left." if not group.members else ""
    if evidence.missing:
        one = len(evidence.missing) == 1
        needs = f"topic{'' if one else 's'} {listed(evidence.missing)}, which {'does' if one else 'do'} not exist"
        return f"{head} The topology needs the {needs}.{gone}"
    if evidence.uneven:
        sizes = ", ".join(f"{shown(topic)} has {count}" for topic, count in evidence.uneven[:LISTED])
        return f"{head} The topology joins topics that must have equally many partitions: {sizes}.{gone}"
    return f"{head} groupwatch does not know the cause. Look into the log of the coordinator.{gone}"


class UnevenTasks(Evidence):
    """``balance`` is that of the processes of an application, or of the workers of a Connect cluster."""

    balance: TaskBalance


@sentence.register
def _uneven_tasks(evidence: UnevenTasks, found: Observation, group: GroupState) -> str:
    balance, threads = evidence.balance, len(evidence.balance.members)
    return (
        f"The instance {shown(balance.process)} runs {counted(balance.tasks, 'active task')} on "
        f"{counted(threads, 'thread')} ({people(balance.members, group)}), but {balance.fair} for each thread "
        "are enough to run all tasks."
    )


class ThreadsWithoutTask(Evidence):
    """Threads of Kafka Streams without any task, while ``busiest`` has ``active`` active ones."""

    busiest: str
    active: int


@sentence.register
def _threads_without_task(evidence: ThreadsWithoutTask, found: Observation, group: GroupState) -> str:
    members = found.members
    has = "has" if len(members) == 1 else "have"
    return (
        f"{len(members)} of {counted(len(group.members), 'thread')} {has} neither active nor standby tasks "
        f"({people(members, group)}), although {people([evidence.busiest], group)} runs "
        f"{counted(evidence.active, 'active task')}."
    )
