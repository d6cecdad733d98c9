"""Where the answers of backtests come from: a configuration with other thresholds, and the folder of a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from monitor.cli.snapshot_source import SourceError
from monitor.config import ConfigError, Settings, detection_rules, load
from monitor.history.backtest.cluster import Backtest, Progress, backtest_cluster
from monitor.history.backtest.outcome import ClusterBacktest
from monitor.history.delta_tables import DeltaRecording
from monitor.history.instants import InstantError, read_span
from monitor.history.recorded import RecordingError
from monitor.messages.names import shown
from monitor.model.patterns import NamePattern, PatternError

Tell = Callable[[Progress | None], None]


class Span(NamedTuple):
    """The first and the last instant as a person types them, and now."""

    since: str
    until: str
    now_ms: int


class Chosen(NamedTuple):
    """The cluster, and a regular expression for whole names of groups; None: all."""

    cluster: str | None = None
    groups: str | None = None


def backtests(
    config: Path, folder: str | None, span: Span, chosen: Chosen, tell: Tell | None = None
) -> tuple[ClusterBacktest, ...]:
    """What would have been reported with the thresholds of a configuration, cluster by cluster.

    ``folder`` None: that of the configuration. ``tell`` is called with the progress, and with None in the end.

    Raises:
        SourceError: the configuration, the span or the expression is wrong, or the recording cannot answer.
    """
    settings = _settings(config)
    is_chosen = _matcher(chosen.groups)
    place = folder or settings.history.folder
    if place is None:
        raise SourceError(f"{config} has no [history] folder: give the folder of the recording with --history.")
    rules = detection_rules(settings.detection)
    try:
        since_ms, until_ms = read_span(span.since, span.until, span.now_ms)
        recording = DeltaRecording(place)
        clusters = recording.clusters() if chosen.cluster is None else [chosen.cluster]
        return tuple(
            [
                backtest_cluster(recording, Backtest(name, rules, since_ms, until_ms, is_chosen), tell or _ignore)
                for name in clusters
            ]
        )
    except (InstantError, RecordingError) as error:
        raise SourceError(str(error)) from error
    finally:
        if tell is not None:
            tell(None)


def _settings(config: Path) -> Settings:
    try:
        return load(config)
    except ConfigError as error:
        raise SourceError(str(error)) from None


def _matcher(expression: str | None) -> Callable[[str], bool]:
    if expression is None:
        return lambda _: True
    try:
        return NamePattern(expression).matches
    except PatternError as error:
        raise SourceError(f"--group {shown(expression)} is no regular expression of RE2: {error}.") from error


def _ignore(_: Progress | None) -> None:
    return
