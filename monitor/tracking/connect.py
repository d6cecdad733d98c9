"""What is remembered of a Connect cluster's work from generation to generation, and of its configurations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.kinds.connect import Work, work_by_connector, worker_work, works
from monitor.model import (
    ConnectConfigEvent,
    ConnectConfigsState,
    ConnectGroupState,
    ConnectorConfig,
    ConnectorConfigured,
    ConnectorTargetSet,
    ConnectorTasksSet,
    DoubleWork,
    GroupState,
    LostWork,
    Member,
    WorkerBehind,
    WorkerHoldings,
    WorkSince,
    traits_of,
)

MAX_DOUBLES: Final = 20
"""How many times are remembered at which workers turned out to have run the same."""

Since = dict[Work, int]
"""What somebody has, and since when."""


def with_connect_work(before: GroupState, after: GroupState, at_ms: int) -> GroupState:
    """The group after a generation, with what is remembered of its workers' work; any other group has nothing of it.

    - A worker has what it had before since then, and the rest since this generation.
    - What a worker had that is gone, and that nobody has, is lost. It stays so until somebody has it, or until a leader
      that keeps nothing back has given it to nobody: then it is no longer configured.
    - What two allocations name was run by both, since the second one got it and until now.

    Args:
        before: the group before.
        after: the same with the members of the newest generation.
        at_ms: when that was stored.
    """
    if not traits_of(after).runs_connectors:
        return after if after.connect is None else replace(after, connect=None)
    known = before.connect or ConnectGroupState()
    if before.generation == after.generation and before.members == after.members:
        return replace(after, connect=before.connect)
    return replace(after, connect=_next_state(known, after.members, at_ms))


def fold_connect_configs(
    cluster: str, topic: str, state: ConnectConfigsState | None, events: Iterable[ConnectConfigEvent]
) -> ConnectConfigsState:
    """The configurations after the events of their topic, in the order of the log.

    Returns:
        The new state; the same object if nothing changed.
    """
    before = state or ConnectConfigsState(cluster=cluster, topic=topic)
    known = {config.connector: config for config in before.connectors}
    for event in events:
        config = _with_event(known.get(event.connector) or ConnectorConfig(connector=event.connector), event)
        known[event.connector] = replace(config, changed_ms=event.stored_ms)
        if config == ConnectorConfig(connector=event.connector, changed_ms=config.changed_ms):
            del known[event.connector]
    after = replace(before, connectors=tuple(known[name] for name in sorted(known)))
    return before if after == before else after


def _with_event(config: ConnectorConfig, event: ConnectConfigEvent) -> ConnectorConfig:
    """A connector that is deleted takes its tasks along; its target state has a deletion of its own."""
    match event:
        case ConnectorConfigured(is_configured=False):
            return ConnectorConfig(connector=config.connector, target_state=config.target_state)
        case ConnectorConfigured():
            return replace(config, is_configured=True, group_id=event.group_id)
        case ConnectorTasksSet():
            return replace(config, tasks=event.tasks)
        case ConnectorTargetSet():
            return replace(config, target_state=event.target_state)


def _next_state(known: ConnectGroupState, members: tuple[Member, ...], at_ms: int) -> ConnectGroupState:
    had = {worker.member_id: _work_since(worker.held) for worker in known.workers}
    has = {member.member_id: _holdings(member, had.get(member.member_id, {}), at_ms) for member in members}
    urls = {worker.member_id: worker.url for worker in known.workers}
    held = frozenset[Work]().union(*has.values())
    return ConnectGroupState(
        workers=tuple(
            WorkerHoldings(member.member_id, _url(member, urls), _by_time(has[member.member_id]))
            for member in sorted(members, key=lambda each: each.member_id)
        ),
        lost=tuple(_lost_work(known, members, held, at_ms)),
        doubles=(*known.doubles, *_doubles(members, had, urls, at_ms))[-MAX_DOUBLES:],
        behind=tuple(_behind(known, members, at_ms)),
    )


def _holdings(member: Member, had: Mapping[Work, int], at_ms: int) -> Since:
    """A worker whose bytes cannot be read has what it had."""
    if member.connect is None:
        return dict(had)
    return {work: had.get(work, at_ms) for work in worker_work(member.connect)}


def _url(member: Member, urls: Mapping[str, str]) -> str:
    return urls.get(member.member_id, "") if member.connect is None else member.connect.url


def _lost_work(
    known: ConnectGroupState, members: tuple[Member, ...], held: frozenset[Work], at_ms: int
) -> Iterator[LostWork]:
    staying = {member.member_id for member in members}
    for each in known.lost if not _gives_out_everything(members) else ():
        if left := works(each.work) - held:
            yield replace(each, work=work_by_connector(left))
    for worker in known.workers:
        if worker.member_id not in staying and (left := frozenset(_work_since(worker.held)) - held):
            yield LostWork(url=worker.url, since_ms=at_ms, work=work_by_connector(left))


def _gives_out_everything(members: tuple[Member, ...]) -> bool:
    """Whether the leader has given out all that is configured: it keeps nothing back, and could read what there is."""
    told = [member.connect.assignment for member in members if member.connect is not None]
    return bool(told) and all(each is not None and not each.error and not each.delay_ms for each in told)


def _doubles(
    members: tuple[Member, ...], had: Mapping[str, Since], urls: Mapping[str, str], at_ms: int
) -> Iterator[DoubleWork]:
    """What several workers say in this generation that they ran, by who they are and since when both did."""
    claims: dict[Work, list[str]] = {}
    for member in members:
        for work in works((member.connect and member.connect.allocation) or ()):
            claims.setdefault(work, []).append(member.member_id)
    url_of = {member.member_id: _url(member, urls) for member in members}
    alike: dict[tuple[tuple[str, ...], int | None], list[Work]] = {}
    for work, claimants in claims.items():
        if len(claimants) > 1:
            begun = [had[each][work] for each in claimants if work in had.get(each, {})]
            key = tuple(sorted(url_of[each] for each in claimants)), max(begun, default=None)
            alike.setdefault(key, []).append(work)
    for (workers, from_ms), done_twice in alike.items():
        yield DoubleWork(urls=workers, from_ms=from_ms, until_ms=at_ms, work=work_by_connector(done_twice))


def _behind(known: ConnectGroupState, members: tuple[Member, ...], at_ms: int) -> Iterator[WorkerBehind]:
    before = {each.member_id: each for each in known.behind}
    for member in members:
        worker = member.connect
        if worker is None or worker.assignment is None or worker.config_offset >= worker.assignment.config_offset:
            continue
        was = before.get(member.member_id, WorkerBehind(member.member_id, at_ms, 0))
        yield replace(was, generations=was.generations + 1)


def _work_since(held: Iterable[WorkSince]) -> Since:
    return {work: each.since_ms for each in held for work in works(each.work)}


def _by_time(since: Since) -> tuple[WorkSince, ...]:
    by_time: dict[int, list[Work]] = {}
    for work, since_ms in since.items():
        by_time.setdefault(since_ms, []).append(work)
    return tuple(WorkSince(since_ms, work_by_connector(by_time[since_ms])) for since_ms in sorted(by_time))
