"""The work of a Connect cluster: its connectors and tasks, and its workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.findings.clauses import capitalize, object_pronoun
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import clock_time, counted
from monitor.messages.names import era, listed, shown
from monitor.model import FindingKind, GroupState, OrphanReason

ROWS: Final = (
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.CONFIG_MISMATCH,
        Rank.LEFT_OUT,
        advice=(
            "Check that every worker can read the topic of configurations (config.storage.topic): the leader's log "
            "shows what failed. Until then, Connect assigns nothing."
        ),
        mark="no worker: configurations unread",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NO_WORKERS,
        Rank.LEFT_OUT,
        advice="Start the workers of this Connect cluster. If it is no longer needed, delete its connectors.",
        mark="no worker: none left",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_ASSIGNED,
        Rank.LEFT_OUT,
        advice=(
            "Check the log of the Connect leader. To trigger a rebalance, restart a worker, or start another one. A "
            "restart of the connector does not assign its tasks again."
        ),
        mark="no worker: not assigned",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.REVOKED,
        Rank.LEFT_OUT,
        advice=(
            "Wait for the next generation. If it does not come, check the log of the Connect leader, and whether a "
            "worker hangs while it stops a task (task.shutdown.graceful.timeout.ms)."
        ),
        mark="no worker yet: revoked",
    ),
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "run_twice",
        Rank.WAS_TWICE,
        advice=(
            "Check what those connectors wrote in that time: records may be there twice. Find out why the worker lost "
            "contact (long pauses, network); Connect stops its tasks only when it rejoins."
        ),
    ),
    FindingSpec(
        FindingKind.CONFIG_BEHIND,
        "config_offset",
        Rank.OLD_CONFIGS,
        advice=(
            "Check the worker's connection to the topic of configurations (config.storage.topic), and that all workers "
            "of the cluster are configured with the same topic."
        ),
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "workers",
        Rank.UNEVEN,
        advice=(
            "Not urgent while the worker keeps up. The next rebalance spreads connectors and tasks evenly. If this "
            "lasts, check the log of the Connect leader."
        ),
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.DELAY,
        Rank.ON_PURPOSE,
        advice=(
            "Start the worker again before then, or wait: Connect then assigns its tasks to other workers. How long it "
            "waits is scheduled.rebalance.max.delay.ms."
        ),
        mark="no worker: delay",
    ),
)


class NoWorker(Evidence):
    """Connectors and tasks of Connect that no worker runs; the tasks are those of the finding.

    ``urls`` are the workers that had them last and are gone, ``rejoined`` those of them that are in the group again.
    ``until_ms`` is until when the leader keeps the tasks back.
    """

    reason: OrphanReason
    connectors: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    rejoined: tuple[str, ...] = ()
    until_ms: int | None = None


@sentence.register
def _no_worker(evidence: NoWorker, found: Observation, group: GroupState) -> str:
    one = len(found.tasks) + len(evidence.connectors) == 1
    head = f"{_work(found.tasks, evidence.connectors)} {'is' if one else 'are'} run by no worker."
    them, generation = object_pronoun(one=one), era(group)
    match evidence.reason:
        case OrphanReason.DELAY:
            return f"{head} {_delay(evidence, them)}"
        case OrphanReason.REVOKED:
            return f"{head} {capitalize(generation)} revoked {them}, and no later generation has assigned {them}."
        case OrphanReason.CONFIG_MISMATCH:
            return (
                f"{head} The Connect leader could not read the configurations in {generation}, and assigned nothing "
                "(CONFIG_MISMATCH)."
            )
        case OrphanReason.NO_WORKERS:
            return f"{head} The Connect cluster has no workers."
        case _:
            gone = f" {_lost_workers(evidence.urls)}." if evidence.urls else ""
            return f"{head} The Connect leader has not assigned {them} in {generation}.{gone}"


def _delay(evidence: NoWorker, them: str) -> str:
    """For what Connect waits. A worker that is back gets its tasks no sooner than another one would."""
    until = f" until {clock_time(evidence.until_ms)}" if evidence.until_ms is not None else ""
    if evidence.rejoined and not evidence.urls:
        return f"{_workers(evidence.rejoined)} rejoined, but Connect waits{until} before it reassigns {them}."
    return f"{_lost_workers(evidence.urls)}. Connect waits{until} for its return before it reassigns {them}."


def _lost_workers(urls: Sequence[str]) -> str:
    if not urls:
        return "Its worker is gone"
    return f"{_workers(urls)} {'is' if len(urls) == 1 else 'are'} gone"


def _workers(urls: Sequence[str]) -> str:
    return f"The worker{'' if len(urls) == 1 else 's'} at {listed(urls)}"


class RunTwice(Evidence):
    """Connectors and tasks of Connect that these workers ran at once.

    ``from_ms`` None: not known; ``until_ms`` None: they still do.
    """

    urls: tuple[str, ...]
    from_ms: int | None
    until_ms: int | None
    connectors: tuple[str, ...] = ()


@sentence.register
def _run_twice(evidence: RunTwice, found: Observation, group: GroupState) -> str:
    begun = f"from {clock_time(evidence.from_ms)}" if evidence.from_ms is not None else "for an unknown time"
    end = f" until {clock_time(evidence.until_ms)}" if evidence.until_ms is not None else ""
    return (
        f"{_work(found.tasks, evidence.connectors)} ran on more than one of the workers "
        f"{listed(evidence.urls)} at once, {begun}{end}: one of them lost "
        "contact to the group and kept running them."
    )


def _work(tasks: Sequence[str], connectors: Sequence[str]) -> str:
    """Tasks and connectors, counted and listed."""
    own = ((tasks, "task"), (connectors, "connector"))
    return " and ".join(f"{counted(len(names), word)} ({listed(names)})" for names, word in own if names)


class UnevenWorkers(Evidence):
    """Workers of Connect that run the most and the fewest tasks or, if ``of_connectors``, connectors."""

    most_url: str
    most: int
    fewest_url: str
    fewest: int
    of_connectors: bool


@sentence.register
def _uneven_workers(evidence: UnevenWorkers, found: Observation, group: GroupState) -> str:
    what = "connector" if evidence.of_connectors else "task"
    return (
        f"The worker at {shown(evidence.most_url)} runs {counted(evidence.most, what)}, and the one at "
        f"{shown(evidence.fewest_url)} only {evidence.fewest}. Connect keeps workers within one of each other."
    )


class WorkersBehind(Evidence):
    """Workers of Connect that joined again and again without what their leader has read of the configurations."""

    urls: tuple[str, ...]


@sentence.register
def _workers_behind(evidence: WorkersBehind, found: Observation, group: GroupState) -> str:
    one = len(evidence.urls) == 1
    return (
        f"The worker{'' if one else 's'} at {listed(evidence.urls)} {'has' if one else 'have'} read less of the topic "
        f"of configurations than the Connect leader in generation {group.generation} and in the one before. Until "
        f"{'it has' if one else 'they have'} read all of it, {'it starts' if one else 'they start'} no new work."
    )
