"""What is wrong with the work of a Connect cluster: what no worker runs, what two ran at once, and who has too much.

The workers of a cluster are the members of its group. What their records do not say is not guessed: whether a task has
failed or is paused is known only to Connect's REST interface and its topic of statuses.

Rule 1: Work of a worker that is gone is a ``delay`` while the leader waits for it, and for a minute more.
Rule 2: Work that no worker has is ``not_assigned`` a minute after that wait, or after it was configured.
Rule 3: Work that the newest generation revoked is ``revoked``, if no generation follows for a minute.
Rule 4: Work of a cluster without workers is ``no_workers``.
Rule 5: Work that no worker has is ``config_mismatch`` if the leader could not read the configurations.
Rule 6: Work that two workers ran at once is ``run_twice``, for ten minutes from the end of that.
Rule 7: Workers are uneven when their tasks, or connectors, differ by two or more, and nothing is on its way.
Rule 8: A worker is behind when it joined two generations in a row with less of the configurations than their leader.
Rule 9: A worker is no longer behind once its generation has lasted for ten minutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.tasks.connect import OVERDUE_MS
from monitor.detection.rules.rule import Rule
from monitor.findings.connect import NoWorker, RunTwice, UnevenWorkers, WorkersBehind
from monitor.findings.observation import Observation
from monitor.kinds.connect import delay_until_ms, has_config_mismatch, revoked_work, works
from monitor.model import (
    THE_CONNECTOR,
    ConnectGroupState,
    FindingKind,
    OrphanReason,
    Phase,
    ProcessLoad,
    TaskVerdict,
)

REASONS: Final = (
    OrphanReason.CONFIG_MISMATCH,
    OrphanReason.NO_WORKERS,
    OrphanReason.NOT_ASSIGNED,
    OrphanReason.REVOKED,
    OrphanReason.DELAY,
)
"""Why nobody runs a task of Connect."""

_MOMENTS: Final = frozenset({OrphanReason.NOT_ASSIGNED, OrphanReason.REVOKED})
"""These are told once they have lasted: the next generation follows within about a second."""

TOLD_MS: Final = 600_000
"""For how long it is told what has passed by the time that it is known."""


def find_idle_work(facts: Facts) -> Iterable[Observation]:
    """One finding for each reason why no worker runs connectors or tasks."""
    if not facts.traits.runs_connectors:
        return
    for reason in REASONS:
        tasks = [task for task in facts.tasks if task.orphan is reason and _has_lasted(facts, task)]
        if tasks:
            yield _idle_work(facts, reason, tasks)


def _has_lasted(facts: Facts, task: TaskVerdict) -> bool:
    if task.orphan not in _MOMENTS:
        return True
    return facts.has_come((task.since_ms or 0) + OVERDUE_MS)


def _idle_work(facts: Facts, reason: OrphanReason, tasks: list[TaskVerdict]) -> Observation:
    last = {task.last_url for task in tasks if task.last_url}
    present = {member.connect.url for member in facts.group.members if member.connect is not None}
    return Observation(
        kind=FindingKind.ORPHANED,
        reason=reason,
        since_ms=facts.not_later_than_now(min(task.since_ms or facts.group.generation_ms for task in tasks)),
        evidence=NoWorker(
            reason,
            connectors=tuple(task.task for task in tasks if task.number is None),
            urls=tuple(sorted(last - present)),
            rejoined=tuple(sorted(last & present)),
            until_ms=max((task.until_ms for task in tasks if task.until_ms is not None), default=None),
        ),
        tasks=tuple(task.task for task in tasks if task.number is not None),
    )


def find_run_twice(facts: Facts) -> Iterable[Observation]:
    """Tasks that two workers ran at once. It is known once both are in the group again, and told for ``TOLD_MS``."""
    if not facts.traits.runs_connectors:
        return
    known = (facts.group.connect or ConnectGroupState()).doubles
    newest_ms = max((double.until_ms for double in known), default=0)
    doubles = [double for double in known if double.until_ms == newest_ms]
    if not doubles or facts.has_come(newest_ms + TOLD_MS):
        return
    begun = [double.from_ms for double in doubles if double.from_ms is not None]
    from_ms = min(begun) if len(begun) == len(doubles) else None
    twice = sorted(work for double in doubles for work in works(double.work))
    yield Observation(
        kind=FindingKind.DOUBLE_OWNED,
        reason="run_twice",
        since_ms=facts.not_later_than_now(newest_ms if from_ms is None else from_ms),
        evidence=RunTwice(
            urls=tuple(sorted({url for double in doubles for url in double.urls})),
            from_ms=from_ms,
            until_ms=newest_ms,
            connectors=tuple(str(work) for work in twice if work.task == THE_CONNECTOR),
        ),
        tasks=tuple(str(work) for work in twice if work.task != THE_CONNECTOR),
    )


def find_uneven_workers(facts: Facts) -> Iterable[Observation]:
    """Tasks, or connectors, differ by more than one between workers once everything has been given out."""
    if not facts.traits.runs_connectors or facts.task_view is None or not _is_given_out(facts):
        return
    loads = facts.task_view.processes
    for of_connectors in (False, True):
        counts = {load: load.connectors if of_connectors else load.active for load in loads}
        most = max(loads, key=lambda load: (counts[load], load.process))
        fewest = min(loads, key=lambda load: (counts[load], load.process))
        if counts[most] - counts[fewest] > 1:
            yield _uneven(facts, most, fewest, of_connectors=of_connectors)
            return


def _is_given_out(facts: Facts) -> bool:
    group = facts.group
    if group.phase is not Phase.STABLE or any(member.connect is None for member in group.members):
        return False
    return delay_until_ms(group) is None and not revoked_work(group) and not has_config_mismatch(group)


def _uneven(facts: Facts, most: ProcessLoad, fewest: ProcessLoad, *, of_connectors: bool) -> Observation:
    return Observation(
        kind=FindingKind.IMBALANCE,
        reason="workers",
        since_ms=facts.not_later_than_now(facts.group.generation_ms),
        evidence=UnevenWorkers(
            most_url=most.process,
            most=most.connectors if of_connectors else most.active,
            fewest_url=fewest.process,
            fewest=fewest.connectors if of_connectors else fewest.active,
            of_connectors=of_connectors,
        ),
        members=most.members,
    )


def find_workers_behind(facts: Facts) -> Iterable[Observation]:
    """Workers that joined two generations in a row without what their leader has read of the configurations.

    One that joins so reads them at once, or leaves the group. So a generation that has lasted says nothing of it.
    """
    group = facts.group
    if not facts.traits.runs_connectors or facts.has_come(group.generation_ms + TOLD_MS):
        return
    behind = [each for each in (group.connect or ConnectGroupState()).behind if each.generations > 1]
    if behind:
        names = tuple(sorted(each.member_id for each in behind))
        urls = {member.member_id: member.connect.url for member in group.members if member.connect is not None}
        yield Observation(
            kind=FindingKind.CONFIG_BEHIND,
            reason="config_offset",
            since_ms=facts.not_later_than_now(min(each.since_ms for each in behind)),
            evidence=WorkersBehind(urls=tuple(urls.get(name, name) for name in names)),
            members=names,
        )


RULES: Final = (
    Rule(find_idle_work, of_owners=True, needs_tasks=True),
    Rule(find_run_twice, of_owners=True, needs_tasks=True),
    Rule(find_uneven_workers, of_owners=True, needs_tasks=True),
    Rule(find_workers_behind, of_owners=False, needs_tasks=True),
)
