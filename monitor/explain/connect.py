"""A Connect cluster in sentences: who assigns its work, what each worker runs, what nobody runs. And a sink's group."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.explain.statements import About, Judged, Statement
from monitor.messages.formatting import clock_time, counted
from monitor.messages.names import listed, shown
from monitor.model import ConnectVerdict, ProcessLoad, TaskVerdict

MOST_WORKERS = 50
"""More workers than that are only counted."""


def connect_statements(known: Judged, cluster: ConnectVerdict) -> Iterator[Statement]:
    """What is known of the workers of a Connect cluster."""
    yield Statement(
        about=About.ASSIGNOR,
        sentence=_assignment_sentence(known, cluster),
        evidence=tuple(_configuration_lines(cluster)),
    )
    loads, tasks = known.verdict.processes, known.verdict.tasks
    run = sum(bool(task.owners) for task in tasks)
    workers = counted(len(loads), "worker") if loads else "No worker"
    verb = "runs" if len(loads) < 2 else "run"
    lines = [_worker_line(load, tasks) for load in loads[:MOST_WORKERS]]
    if len(loads) > MOST_WORKERS:
        lines.append(f"and {counted(len(loads) - MOST_WORKERS, 'more worker')}")
    yield Statement(
        about=About.MEMBERS,
        sentence=f"{workers} {verb} {run} of {len(tasks)} known connectors and tasks.",
        evidence=(*lines, *_idle_lines(tasks)),
    )


def sink_statements(known: Judged) -> Iterator[Statement]:
    """Whose consumer group it is, if its members are tasks of a sink of Connect."""
    sinks = known.verdict.sinks
    if not sinks:
        return
    names = listed(sorted({sink.connector for sink in sinks}))
    yield Statement(
        about=About.MEMBERS,
        sentence=f"The client ids say that its members are tasks of the Connect sink {names}.",
        evidence=tuple(f"{shown(sink.member_id)}: task {shown(sink.connector)}-{sink.task}" for sink in sinks),
    )


def _assignment_sentence(known: Judged, cluster: ConnectVerdict) -> str:
    protocol = shown(known.group.protocol or "none")
    leader = f" at {shown(cluster.leader_url)}" if cluster.leader_url else ""
    text = f"It is a Connect cluster with the protocol {protocol}. Its leader{leader} assigns connectors and tasks"
    if cluster.delay_until_ms is None:
        return f"{text}."
    return f"{text}, and holds back those of a worker that is gone until {clock_time(cluster.delay_until_ms)}."


def _configuration_lines(cluster: ConnectVerdict) -> Iterator[str]:
    if cluster.config_offset is not None:
        yield f"the leader has read the topic of configurations up to offset {cluster.config_offset}"
    configured = [each for each in cluster.connectors if each.tasks is not None]
    if not configured:
        yield "groupwatch does not read the topic of configurations (connect_configs), so it knows only what has run"
    for each in configured:
        state = f", {each.state.value.lower()}" if each.state is not None else ""
        tasks = counted(each.tasks or 0, "task")
        yield f"connector {shown(each.connector)}{state}: {tasks} configured, {each.running} running"


def _worker_line(load: ProcessLoad, tasks: tuple[TaskVerdict, ...]) -> str:
    own = [task for task in tasks if not set(load.members).isdisjoint(task.owners)]
    connectors = [task.task for task in own if task.number is None]
    numbered = [task.task for task in own if task.number is not None]
    offset = f"; configuration offset {load.config_offset}" if load.config_offset is not None else ""
    name = shown(load.process or load.members[0])
    return f"{name}: {_counted_names(numbered, 'task')}, {_counted_names(connectors, 'connector')}{offset}"


def _counted_names(names: list[str], word: str) -> str:
    return f"{counted(len(names), word)} ({listed(names)})" if names else f"no {word}"


def _idle_lines(tasks: tuple[TaskVerdict, ...]) -> Iterator[str]:
    for task in tasks:
        if task.orphan is not None:
            kind = "connector" if task.number is None else "task"
            last = f", last at {shown(task.last_url)}" if task.last_url else ""
            until = f"; Connect waits until {clock_time(task.until_ms)}" if task.until_ms is not None else ""
            yield f"no worker runs {kind} {shown(task.task)} ({task.orphan.value}{last}{until})"
