"""The workers of a Connect cluster: what each runs, what is idle until when, and which consumer group has which sink.

In the protocols ``compatible`` and ``sessioned`` an assignment is a difference to what the worker had as it joined.
Source: ``WorkerCoordinator.onJoinComplete`` of connect-runtime 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from monitor.model import (
    THE_CONNECTOR,
    ConnectAssignment,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorTasks,
    ConnectWorker,
    GroupState,
    TargetState,
    Value,
)

CONFIG_MISMATCH: Final = 1
"""The error of an assignment without any work, as the leader could not read the configurations."""

_SINK_GROUP: Final = "connect-"
_CLIENT: Final = re.compile(r"connector-consumer-(.*)-(\d+)", re.DOTALL)


class Work(msgspec.Struct, frozen=True, order=True, gc=False):
    """A task of a connector, or (THE_CONNECTOR) the connector itself.

    >>> str(Work("jdbc", 0)), str(Work("jdbc", THE_CONNECTOR))
    ('jdbc-0', 'jdbc')
    """

    connector: str
    task: int

    def __str__(self) -> str:
        """As Connect shows it."""
        return self.connector if self.task == THE_CONNECTOR else f"{self.connector}-{self.task}"


class IdleWorkReason(StrEnum):
    """Why no worker runs a task."""

    NO_WORKERS = "no_workers"
    CONFIG_MISMATCH = "config_mismatch"
    """The leader could not read the configurations: no worker got any work, and all join again."""
    REVOKED = "revoked"
    """It was taken from its worker in the newest generation, and is given to another one in the next."""
    DELAY = "delay"
    """Its worker is gone, and the leader waits for it to come back."""
    UNASSIGNED = "not_assigned"


class IdleWork(Value):
    """A task that no worker runs.

    ``url`` is the worker that had it last, ``since_ms`` since when it is gone (None: no worker is known to have run
    it). ``until_ms`` is when the leader gives it to another worker if its own does not come back; only if it waits for
    that.
    """

    work: Work
    reason: IdleWorkReason
    url: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None


class SinkTask(Value):
    """The task of a sink that a consumer belongs to, by its client id."""

    connector: str
    task: int


def worker_work(worker: ConnectWorker) -> frozenset[Work]:
    """What a worker runs: all that it was given; or what it had, without what was revoked, and what it got."""
    told = worker.assignment
    if told is None:
        return works(worker.allocation or ())
    if worker.allocation is None:
        return works(told.assigned)
    return (works(worker.allocation) - works(told.revoked)) | works(told.assigned)


def works(entries: Iterable[ConnectorTasks]) -> frozenset[Work]:
    """The tasks one by one."""
    return frozenset(Work(entry.connector, task) for entry in entries for task in entry.tasks)


def work_by_connector(work: Iterable[Work]) -> tuple[ConnectorTasks, ...]:
    """The same by connector, sorted.

    >>> work_by_connector([Work("b", 1), Work("a", -1), Work("b", 0)])
    (ConnectorTasks(connector='a', tasks=(-1,)), ConnectorTasks(connector='b', tasks=(0, 1)))
    """
    found: dict[str, list[int]] = {}
    for each in sorted(work):
        found.setdefault(each.connector, []).append(each.task)
    return tuple(ConnectorTasks(connector, tuple(tasks)) for connector, tasks in found.items())


def running_work(group: GroupState) -> dict[Work, tuple[str, ...]]:
    """The workers that run each task, by their member ids."""
    running: dict[Work, tuple[str, ...]] = {}
    for member in group.members:
        for work in worker_work(member.connect) if member.connect is not None else ():
            running[work] = (*running.get(work, ()), member.member_id)
    return running


def any_assignment(group: GroupState) -> ConnectAssignment | None:
    """One of the newest assignments: what the leader says of itself is the same in all. None: none is known."""
    return next((each.assignment for each in _workers(group) if each.assignment is not None), None)


def delay_until_ms(group: GroupState) -> int | None:
    """Until when the leader keeps back what a worker had that is gone; None: it does not.

    It is as long as the newest generation says from when that was stored; a rebalance in between carries on what is
    left. With nothing lost, it is the time between two rounds of revocation.
    """
    delays = [each.assignment.delay_ms for each in _workers(group) if each.assignment is not None]
    return group.generation_ms + max(delays) if any(delays) else None


def revoked_work(group: GroupState) -> frozenset[Work]:
    """The work that the newest generation revoked: it is idle until the next one assigns it to another worker."""
    told = [worker.assignment for worker in _workers(group) if worker.assignment is not None]
    return frozenset[Work]().union(*(works(each.revoked) for each in told))


def has_config_mismatch(group: GroupState) -> bool:
    """Whether no worker got any work, as the leader could not read the configurations."""
    return any(worker.assignment is not None and worker.assignment.error for worker in _workers(group))


def configured_work(configs: ConnectConfigsState) -> frozenset[Work]:
    """What the configurations say that should run: every connector, and its tasks unless it is stopped."""
    found = set[Work]()
    for each in configs.connectors:
        if each.is_configured:
            found.add(Work(each.connector, THE_CONNECTOR))
            found.update(Work(each.connector, number) for number in range(_wanted_tasks(each)))
    return frozenset(found)


def idle_work(group: GroupState, configs: ConnectConfigsState | None = None) -> tuple[IdleWork, ...]:
    """What no worker runs and should be run, sorted, with the reason.

    Without the configurations it is what a worker had that is gone, and what the newest generation revoked: tasks that
    never ran are not known, and what was revoked may have been deleted.

    Args:
        group: the workers of a Connect cluster.
        configs: its connectors; None: not known.
    """
    idle, running = _Idle(group), running_work(group)
    wanted = idle.lost.keys() | idle.revoked if configs is None else configured_work(configs)
    return tuple(idle.of(work) for work in sorted(wanted) if work not in running)


def sink_group(config: ConnectorConfig) -> str:
    """The consumer group of a sink (``SinkUtils.consumerGroupId``).

    >>> sink_group(ConnectorConfig(connector="s3"))
    'connect-s3'
    """
    return config.group_id or f"{_SINK_GROUP}{config.connector}"


def sink_connectors(configs: Iterable[ConnectConfigsState]) -> dict[str, ConnectorConfig]:
    """The connectors by the consumer groups that they have if they are sinks; of two with one group, the first.

    >>> s3 = ConnectorConfig(connector="s3", is_configured=True, target_state=TargetState.STOPPED)
    >>> sink_connectors([ConnectConfigsState(cluster="c", topic="connect-configs", connectors=(s3,))]) == {
    ...     "connect-s3": s3
    ... }
    True
    """
    found: dict[str, ConnectorConfig] = {}
    for each in configs:
        for config in each.connectors:
            if config.is_configured:
                found.setdefault(sink_group(config), config)
    return found


def sink_task(client_id: str) -> SinkTask | None:
    """The task of a sink whose consumer has this client id; None: it is none of Connect, or was given another one.

    >>> sink_task("connector-consumer-s3-sink-2"), sink_task("checkout")
    (SinkTask(connector='s3-sink', task=2), None)
    """
    found = _CLIENT.fullmatch(client_id)
    return None if found is None else SinkTask(connector=found[1], task=int(found[2]))


def _wanted_tasks(config: ConnectorConfig) -> int:
    return 0 if config.target_state is TargetState.STOPPED else config.tasks or 0


def _workers(group: GroupState) -> list[ConnectWorker]:
    return [member.connect for member in group.members if member.connect is not None]


class _Idle:
    """The reasons why work is idle, in one state of a group."""

    def __init__(self, group: GroupState) -> None:
        known = group.connect or ConnectGroupState()
        self.lost = {work: (each.url, each.since_ms) for each in known.lost for work in works(each.work)}
        self.revoked = revoked_work(group)
        self._is_without_workers = not group.members
        self._has_mismatch = has_config_mismatch(group)
        self._until_ms = delay_until_ms(group)

    def of(self, work: Work) -> IdleWork:
        reason = self._reason(work)
        url, since_ms = self.lost.get(work, (None, None))
        until_ms = self._until_ms if reason is IdleWorkReason.DELAY else None
        return IdleWork(work=work, reason=reason, url=url, since_ms=since_ms, until_ms=until_ms)

    def _reason(self, work: Work) -> IdleWorkReason:
        if self._is_without_workers:
            return IdleWorkReason.NO_WORKERS
        if self._has_mismatch:
            return IdleWorkReason.CONFIG_MISMATCH
        if work in self.revoked:
            return IdleWorkReason.REVOKED
        is_kept = work in self.lost and self._until_ms is not None
        return IdleWorkReason.DELAY if is_kept else IdleWorkReason.UNASSIGNED
