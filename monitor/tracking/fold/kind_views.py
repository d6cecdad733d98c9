"""What only share groups, Kafka Streams or Connect have, as it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from monitor.kinds.classic_streams import (
    classic_tasks,
    idle_classic_tasks,
    task_name,
    task_order,
    topics_without_task,
)
from monitor.kinds.connect import (
    IdleWork,
    any_assignment,
    delay_until_ms,
    idle_work,
    revoked_work,
    running_work,
    sink_group,
    works,
)
from monitor.kinds.streams import IdleTask, idle_tasks, missing_topics, task_inputs, task_owners
from monitor.model import (
    ConnectConfigsState,
    ConnectGroupState,
    GroupState,
    SharedTopic,
    ShareGroupState,
    StreamsGroupState,
    StreamsTask,
    Topology,
)
from monitor.tracking.fold.member_view import work_names

Shown = dict[str, object]
Counts = Mapping[str, int]
"""The numbers of partitions of the topics that there are; empty: not known."""


class KindView(msgspec.Struct, frozen=True):
    """What depends on the kind of group.

    ``owners`` are the members that run each task, ``idle`` the tasks that nobody runs, ``details`` what else there is.
    None: a group of this kind has no such thing, or it is not known.
    """

    owners: dict[str, tuple[str, ...]] | None = None
    idle: tuple[Shown, ...] | None = None
    details: Shown | None = None


def view_share(group: GroupState) -> KindView:
    """The partitions that members of a share group can read, and those that they cannot read yet."""
    share = group.share or ShareGroupState()
    return KindView(
        details={
            "initialized": _partitions_by_topic(share.initialized),
            "initializing": _partitions_by_topic(share.initializing),
        }
    )


def view_streams(group: GroupState, counts: Counts) -> KindView:
    """The topology of a streams group of the broker, and its tasks."""
    known = group.streams or StreamsGroupState()
    details: Shown = {"validated_epoch": known.validated_epoch, "standby_replicas": known.standby_replicas}
    if known.topology is not None:
        details["topology"] = msgspec.to_builtins(known.topology)
        details["missing_topics"] = missing_topics(known.topology, counts) if counts else None
    owners = task_owners(group.members)
    return KindView(
        owners={str(task): owners[task] for task in sorted(owners)},
        idle=tuple(_idle_task(each, known.topology, counts) for each in idle_tasks(group, counts)) if counts else None,
        details=details,
    )


def view_classic_streams(group: GroupState, counts: Counts) -> KindView:
    """The tasks of a classic Kafka Streams group."""
    owners: dict[StreamsTask, tuple[str, ...]] = {}
    for member in group.members:
        for task in classic_tasks(member).active:
            owners[task] = (*owners.get(task, ()), member.member_id)
    idle: Iterator[Shown] = (
        {"task": task_name(each.task), "reason": each.reason.value} for each in idle_classic_tasks(group, counts)
    )
    return KindView(
        owners={task_name(task): owners[task] for task in sorted(owners, key=task_order)},
        idle=tuple(idle) if counts else None,
        details={"topics_without_task": topics_without_task(group)},
    )


def view_connect(group: GroupState, configs: ConnectConfigsState | None) -> KindView:
    """The work of a Connect cluster."""
    running = running_work(group)
    return KindView(
        owners={str(work): running[work] for work in sorted(running)},
        idle=tuple(_idle_work(each) for each in idle_work(group, configs)),
        details=_connect_details(group) | ({} if configs is None else {"connectors": _connectors(configs)}),
    )


def _partitions_by_topic(entries: Iterable[SharedTopic]) -> Shown:
    return {entry.topic: sorted(entry.partitions) for entry in entries}


def _idle_task(idle: IdleTask, topology: Topology | None, counts: Counts) -> Shown:
    reads = task_inputs(topology, idle.task, counts) if topology is not None else ()
    return {"task": str(idle.task), "reason": idle.reason.value, "target": idle.target, "reads": reads}


def _idle_work(idle: IdleWork) -> Shown:
    return {
        "work": str(idle.work),
        "reason": idle.reason.value,
        "url": idle.url,
        "since_ms": idle.since_ms,
        "until_ms": idle.until_ms,
    }


def _connect_details(group: GroupState) -> Shown:
    known, told = group.connect or ConnectGroupState(), any_assignment(group)
    return {
        "leader_url": told.leader_url if told else None,
        "config_offset": told.config_offset if told else None,
        "delay_until_ms": delay_until_ms(group),
        "revoked": work_names(revoked_work(group)),
        "lost": [
            {"url": each.url, "since_ms": each.since_ms, "work": work_names(works(each.work))} for each in known.lost
        ],
        "run_twice": [
            {
                "urls": each.urls,
                "from_ms": each.from_ms,
                "until_ms": each.until_ms,
                "work": work_names(works(each.work)),
            }
            for each in known.doubles
        ],
        "behind": [msgspec.structs.asdict(each) for each in known.behind],
    }


def _connectors(configs: ConnectConfigsState) -> list[Shown]:
    return [
        {
            "connector": each.connector,
            "tasks": each.tasks,
            "target_state": each.target_state,
            "group": sink_group(each),
        }
        for each in configs.connectors
        if each.is_configured
    ]
