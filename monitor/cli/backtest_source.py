"""Where the answers of backtests come from: a configuration with other thresholds, and the folder of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from monitor.cli.errors import SourceError
from monitor.cli.processes import are_worth_processes, count_workers, work_in_processes
from monitor.cli.sources.source import answering
from monitor.config import ConfigError, Settings, detection_rules, load
from monitor.history.backtest.cluster import (
    Backtest,
    GroupPairs,
    Plan,
    Progress,
    plan_backtest,
    summarize,
    try_batch,
)
from monitor.history.backtest.outcome import ClusterBacktest
from monitor.history.delta_tables import DeltaRecording
from monitor.history.instants import read_span
from monitor.messages.names import shown
from monitor.model.patterns import PatternError

Tell = Callable[[Progress], None]


class Span(NamedTuple):
    """The first and the last instant as a person types them, and now."""

    since: str
    until: str
    now_ms: int


class Chosen(NamedTuple):
    """The cluster, and a regular expression for whole names of groups; None: all."""

    cluster: str | None = None
    groups: str | None = None


def backtests(config: Path, folder: str | None, span: Span, chosen: Chosen, tell: Tell) -> tuple[ClusterBacktest, ...]:
    """What would have been reported with the thresholds of a configuration, cluster by cluster.

    ``folder`` None: that of the configuration. ``tell`` is called with the progress.

    Raises:
        SourceError: the configuration, the span or the expression is wrong, or the recording cannot answer.
    """
    settings = _settings(config)
    place = folder or settings.history.folder
    if place is None:
        raise SourceError(f"{config} has no [history] folder: give the folder of the recording with --history.")
    rules = detection_rules(settings.detection, settings.alerts, settings.scale)
    try:
        with answering():
            since_ms, until_ms = read_span(span.since, span.until, span.now_ms)
            clusters = DeltaRecording(place).clusters() if chosen.cluster is None else [chosen.cluster]
            asked = [Backtest(name, rules, since_ms, until_ms, chosen.groups) for name in clusters]
            return tuple([_backtest(place, each, tell) for each in asked])
    except PatternError as error:
        text = f"--group {shown(chosen.groups or '')} is no regular expression of RE2: {error}."
        raise SourceError(text) from error


def _backtest(folder: str, asked: Backtest, tell: Tell) -> ClusterBacktest:
    """In as many processes as there are processors, up to MOST_WORKERS, if there is enough to do for them."""
    recording = DeltaRecording(folder)
    plan = plan_backtest(recording, asked, count_workers())
    count = len(plan.batches)
    if not are_worth_processes(count):
        return summarize(plan, (try_batch(recording, plan, number, tell) for number in range(count)))
    return summarize(plan, _with_progress(work_in_processes(try_batch, folder, plan, count), plan, tell))


def _with_progress(batches: Iterable[list[GroupPairs]], plan: Plan, tell: Tell) -> Iterator[list[GroupPairs]]:
    for done, batch in enumerate(batches, start=1):
        yield batch
        tell(Progress(plan.asked.cluster, done, len(plan.batches)))


def _settings(config: Path) -> Settings:
    try:
        return load(config)
    except ConfigError as error:
        raise SourceError(str(error)) from None
