"""What the page of a group says of Connect: workers, connectors and tasks of a cluster, or whose group a sink has.

Both sides name one another: a connector has a link to its consumer group, and that group one to the Connect cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.findings.table import spec_of
from monitor.messages.formatting import age, clock_time
from monitor.model import (
    ConnectorVerdict,
    GroupSummary,
    GroupVerdict,
    OrphanReason,
    ProcessLoad,
    TaskVerdict,
    Value,
)
from monitor.model.findings import FindingKind
from monitor.web.page.member_labels import Holder, Holders
from monitor.web.views.addresses import PAGE, GroupAddress


class WorkerLine(Value):
    """A worker. ``is_behind``: it joined with less of the configurations than its leader had read."""

    load: ProcessLoad
    holder: Holder
    is_leader: bool
    is_behind: bool


class ConnectorLine(Value):
    """A connector. ``href`` is the page of its consumer group; None: there is no such group here."""

    connector: ConnectorVerdict
    href: str | None


class TaskLine(Value):
    """A connector or a task. ``remark`` says why no worker runs it, ``waiting`` until when Connect waits."""

    task: TaskVerdict
    owners: tuple[Holder, ...]
    remark: str | None
    idle_for: str | None
    waiting: str | None


class SinkLine(Value):
    """A member of a consumer group that is a task of a sink."""

    holder: Holder
    connector: str
    task: int


class ClusterLink(Value):
    """The Connect cluster that a consumer group belongs to."""

    group: str
    href: str


class ConnectPart(Value):
    """The part of the page about Connect; all of it is empty for a group that has nothing to do with it."""

    workers: tuple[WorkerLine, ...] = ()
    connectors: tuple[ConnectorLine, ...] = ()
    tasks: tuple[TaskLine, ...] = ()
    hidden_tasks: int = 0
    sinks: tuple[SinkLine, ...] = ()
    clusters: tuple[ClusterLink, ...] = ()


NOTHING: Final = ConnectPart()


def connect_part(
    verdict: GroupVerdict, groups: Iterable[GroupSummary], holders: Holders, limit: int | None
) -> ConnectPart:
    """What there is to say.

    Args:
        verdict: of the group.
        groups: all groups of its cluster.
        holders: its members.
        limit: how many tasks are listed at most; None: all.
    """
    if verdict.connect is None:
        return _sink_part(verdict, groups, holders)
    tasks = sorted(verdict.tasks, key=lambda task: task.orphan is None)
    known = {summary.group for summary in groups}
    return ConnectPart(
        workers=tuple(_worker_line(verdict, load, holders) for load in verdict.processes),
        connectors=tuple(_connector_line(verdict.cluster, each, known) for each in verdict.connect.connectors),
        tasks=tuple(_task_line(verdict, task, holders) for task in tasks[:limit]),
        hidden_tasks=0 if limit is None else max(0, len(tasks) - limit),
    )


def _sink_part(verdict: GroupVerdict, groups: Iterable[GroupSummary], holders: Holders) -> ConnectPart:
    clusters = [each.group for each in groups if verdict.group in each.sink_groups]
    if not verdict.sinks and not clusters:
        return NOTHING
    sinks = sorted(verdict.sinks, key=lambda sink: (sink.connector, sink.task))
    return ConnectPart(
        sinks=tuple(SinkLine(holders[sink.member_id], sink.connector, sink.task) for sink in sinks),
        clusters=tuple(ClusterLink(name, _href(verdict.cluster, name)) for name in clusters),
    )


def _worker_line(verdict: GroupVerdict, load: ProcessLoad, holders: Holders) -> WorkerLine:
    leader = verdict.connect
    read, led = load.config_offset, leader.config_offset if leader is not None else None
    return WorkerLine(
        load=load,
        holder=holders[load.members[0]],
        is_leader=leader is not None and bool(load.process) and leader.leader_url == load.process,
        is_behind=read is not None and led is not None and read < led,
    )


def _connector_line(cluster: str, connector: ConnectorVerdict, known: set[str]) -> ConnectorLine:
    group = connector.sink_group
    return ConnectorLine(connector=connector, href=_href(cluster, group) if group in known else None)


def _href(cluster: str, group: str) -> str:
    return GroupAddress(cluster, group).under(PAGE)


def _task_line(verdict: GroupVerdict, task: TaskVerdict, holders: Holders) -> TaskLine:
    return TaskLine(
        task=task,
        owners=tuple(holders[owner] for owner in task.owners),
        remark=_remark(task.orphan),
        idle_for=None if task.since_ms is None else age(verdict.evaluated_ms - task.since_ms),
        waiting=None if task.until_ms is None else clock_time(task.until_ms),
    )


def _remark(reason: OrphanReason | None) -> str | None:
    return None if reason is None else spec_of(FindingKind.ORPHANED, reason).mark
