"""The connectors and tasks of a Connect cluster: which worker runs each, and which do not run.

What each worker has is in the group's own records (monitor.kinds.connect). What there should be is in the topic of
configurations, where that is read. Without it, only what a worker had that is gone is known to be missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from monitor.detection.moment import Moment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.ownership.tasks.task_view import MemberTaskCounts, TaskView
from monitor.kinds.connect import (
    IdleWork,
    IdleWorkReason,
    Work,
    any_assignment,
    configured_work,
    delay_until_ms,
    idle_work,
    running_work,
    sink_group,
    sink_task,
    worker_work,
)
from monitor.model import (
    THE_CONNECTOR,
    Catalog,
    ConnectConfigsState,
    ConnectorConfig,
    ConnectorVerdict,
    ConnectVerdict,
    GroupState,
    Member,
    OrphanReason,
    ProcessLoad,
    SinkState,
    SinkVerdict,
    TaskVerdict,
    traits_of,
)

OVERDUE_MS: Final = 60_000
"""For how long the next generation may be awaited once it is due. Where a delay of 14 s ended, it came within 0.2 s."""


def view_connect(group: GroupState, catalog: Catalog) -> TaskView:
    """The connectors and tasks of the group. Without those that do not run while a worker's bytes cannot be read."""
    configs = catalog.connect_configs.get(group.group)
    running = running_work(group)
    idle = {each.work: each for each in _idle(group, configs)}
    changed_ms = {each.connector: each.changed_ms for each in configs.connectors} if configs is not None else {}
    loads = {member.member_id: _load(member) for member in group.members}
    return TaskView(
        tasks=tuple(
            _task(work, running.get(work, ()), idle.get(work), _since_ms(group, changed_ms, work, idle.get(work)))
            for work in sorted({*running, *idle})
        ),
        members={member: MemberTaskCounts(process=load.process, active=load.active) for member, load in loads.items()},
        processes=tuple(sorted(loads.values(), key=lambda load: load.process)),
        connect=_cluster(group, configs, running),
    )


def tasks_now(tasks: tuple[TaskVerdict, ...], moment: Moment) -> tuple[TaskVerdict, ...]:
    """The tasks as they are at an instant: the leader assigns what it waited for soon after, or not at all."""
    return tuple(_task_now(task, moment) for task in tasks)


def sinks_of(group: GroupState) -> tuple[SinkVerdict, ...]:
    """Which member of a consumer group is which task of a sink connector, by the client ids that Connect gives.

    Empty for every other group.
    """
    if group.protocol_type != "consumer":
        return ()
    found = ((member.member_id, sink_task(member.client_id)) for member in group.members)
    return tuple(SinkVerdict(member_id, sink.connector, sink.task) for member_id, sink in found if sink is not None)


def sink_of(group: GroupState, topics: Topics) -> SinkState | None:
    """The connector whose consumer group this is by its name; None: it is of none that is known."""
    if traits_of(group).runs_connectors:
        return None
    found = topics.sinks.get(group.group)
    return None if found is None else SinkState(found.connector, found.target_state, found.changed_ms)


def _idle(group: GroupState, configs: ConnectConfigsState | None) -> tuple[IdleWork, ...]:
    if any(member.connect is None for member in group.members):
        return ()
    found = idle_work(group, configs)
    if configs is not None:
        return found
    return tuple(each for each in found if each.reason is not IdleWorkReason.UNASSIGNED)


def _task(work: Work, owners: tuple[str, ...], idle: IdleWork | None, since_ms: int | None) -> TaskVerdict:
    is_waiting = idle is not None and idle.reason is IdleWorkReason.DELAY
    return TaskVerdict(
        task=str(work),
        part=work.connector,
        number=None if work.task == THE_CONNECTOR else work.task,
        owners=tuple(sorted(owners)),
        orphan=OrphanReason(idle.reason.value) if idle is not None else None,
        since_ms=since_ms,
        last_url=idle.url if idle is not None else None,
        until_ms=idle.until_ms if idle is not None and is_waiting else None,
    )


def _since_ms(group: GroupState, changed_ms: Mapping[str, int], work: Work, idle: IdleWork | None) -> int | None:
    """Since when no worker runs it: since its worker is gone, or since the generation that should have given it out.

    What was configured after that is missing since then.
    """
    if idle is None:
        return None
    if idle.since_ms is not None:
        return idle.since_ms
    return max(group.generation_ms, changed_ms.get(work.connector, 0))


def _task_now(task: TaskVerdict, moment: Moment) -> TaskVerdict:
    is_over = task.until_ms is not None and moment.has_come(task.until_ms + OVERDUE_MS)
    return replace(task, orphan=OrphanReason.NOT_ASSIGNED, until_ms=None) if is_over else task


def _load(member: Member) -> ProcessLoad:
    worker = member.connect
    if worker is None:
        return ProcessLoad(process="", members=(member.member_id,))
    has = worker_work(worker)
    connectors = sum(work.task == THE_CONNECTOR for work in has)
    return ProcessLoad(
        process=worker.url,
        members=(member.member_id,),
        active=len(has) - connectors,
        connectors=connectors,
        config_offset=worker.config_offset,
    )


def _cluster(
    group: GroupState, configs: ConnectConfigsState | None, running: Mapping[Work, tuple[str, ...]]
) -> ConnectVerdict:
    told = any_assignment(group)
    return ConnectVerdict(
        connectors=_connectors(configs, running),
        leader_url=told.leader_url if told else None,
        config_offset=told.config_offset if told else None,
        delay_until_ms=delay_until_ms(group),
    )


def _connectors(
    configs: ConnectConfigsState | None, running: Mapping[Work, tuple[str, ...]]
) -> tuple[ConnectorVerdict, ...]:
    known = {each.connector: each for each in configs.connectors if each.is_configured} if configs is not None else {}
    runs: dict[str, int] = defaultdict(int)
    workers: dict[str, set[str]] = defaultdict(set)
    for work, members in running.items():
        runs[work.connector] += work.task != THE_CONNECTOR
        workers[work.connector].update(members)
    wanted: dict[str, int] = defaultdict(int)
    for work in configured_work(configs) if configs is not None else ():
        wanted[work.connector] += work.task != THE_CONNECTOR
    return tuple(
        ConnectorVerdict(
            connector=name,
            running=runs[name],
            sink_group=sink_group(known.get(name) or ConnectorConfig(connector=name)),
            tasks=wanted[name] if name in known else None,
            state=known[name].target_state if name in known else None,
            workers=tuple(sorted(workers[name])),
        )
        for name in sorted({*runs, *known})
    )
