"""A member as it is shown: its partitions by topic, and the tasks of Streams or Connect that it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from monitor.kinds.classic_streams import classic_tasks, task_by_partition, task_name
from monitor.kinds.connect import Work, sink_task, worker_work, works
from monitor.kinds.streams import TaskSets, member_tasks
from monitor.model import ConnectWorker, IdPartitions, Member, PartitionId, TopicPartitions

Shown = dict[str, object]
ByTopic = dict[str, list[PartitionId]]


class MemberView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A member. ``assigned`` (with what it has to give back) and ``target`` are partitions by topic.

    ``tasks`` are those of Kafka Streams, ``worker`` is what Connect's workers say and run, ``sink_task`` the task of a
    Connect sink whose consumer this is.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    topics: tuple[str, ...] = ()
    epoch: int | None = None
    state: str | None = None
    assigned: ByTopic | None = None
    target: ByTopic | None = None
    process_id: str | None = None
    topology_epoch: int | None = None
    tasks: Shown | None = None
    worker: Shown | None = None
    sink_task: str | None = None


def view_member(member: Member, names: Mapping[str, str]) -> MemberView:
    """The member as it is shown; a topic that has no name by its id is shown by that."""
    now, client, sink = member.reconciliation, member.streams_client, sink_task(member.client_id)
    has_tasks = now is not None and client is not None
    return MemberView(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.host,
        instance_id=member.instance_id,
        rack=member.rack,
        topics=member.topics,
        epoch=now.epoch if now else None,
        state=now.state.value if now else None,
        assigned=None if has_tasks else _topics_assigned(member, names),
        target=None if has_tasks or now is None or now.target is None else _by_id(now.target, names),
        process_id=client.process_id if client else None,
        topology_epoch=client.topology_epoch if client else None,
        tasks=_tasks(member) if has_tasks else _classic_tasks(member),
        worker=_worker(member.connect) if member.connect else None,
        sink_task=f"{sink.connector}-{sink.task}" if sink else None,
    )


def work_names(work: Iterable[Work]) -> list[str]:
    """Connectors and tasks as Connect shows them, sorted."""
    return [str(each) for each in sorted(work)]


def _topics_assigned(member: Member, names: Mapping[str, str]) -> ByTopic:
    now = member.reconciliation
    return _by_topic(member.assigned) if now is None else _by_id((*now.assigned, *now.revoking), names)


def _by_topic(entries: Iterable[TopicPartitions]) -> ByTopic:
    return {entry.topic: sorted(entry.partitions) for entry in entries}


def _by_id(entries: Iterable[IdPartitions], names: Mapping[str, str]) -> ByTopic:
    found: dict[str, set[int]] = {}
    for entry in entries:
        found.setdefault(names.get(entry.id, entry.id), set()).update(entry.partitions)
    return {topic: [*sorted(found[topic])] for topic in sorted(found)}


def _tasks(member: Member) -> Shown:
    tasks = member_tasks(member)
    shown: Shown = {**_task_sets(tasks.running), "revoking": _task_sets(tasks.revoking)}
    return shown | ({} if tasks.target is None else {"target": _task_sets(tasks.target)})


def _task_sets(tasks: TaskSets) -> Shown:
    return {
        "active": [str(task) for task in tasks.active],
        "standby": [str(task) for task in tasks.standby],
        "warmup": [str(task) for task in tasks.warmup],
    }


def _classic_tasks(member: Member) -> Shown | None:
    told, client = member.streams, member.streams_client
    if told is None:
        return None
    tasks = classic_tasks(member)
    return {
        "active": [task_name(task) for task in tasks.active],
        "standby": [task_name(task) for task in tasks.standby],
        "reads": {f"{place.topic}-{place.partition}": task_name(task) for place, task in task_by_partition(member)},
        "offset_sums": {task_name(each.task): each.offset_sum for each in client.offset_sums} if client else {},
        "error": told.error,
        "next_rebalance_ms": told.next_rebalance_ms,
    }


def _worker(worker: ConnectWorker) -> Shown:
    told = worker.assignment
    return {
        "url": worker.url,
        "config_offset": worker.config_offset,
        "runs": work_names(worker_work(worker)),
        "assigned": work_names(works(told.assigned)) if told else [],
        "revoked": work_names(works(told.revoked)) if told else [],
        "delay_ms": told.delay_ms if told else 0,
        "error": told.error if told else 0,
    }
