"""Backtests as a person reads them: a table of alerts, a table of findings, and examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.cli.render_answer import plain_table
from monitor.history.backtest.episodes import Change
from monitor.history.backtest.outcome import BacktestExample, BacktestRow, ClusterBacktest, Shift
from monitor.messages.formatting import counted, grouped, lasted
from monitor.messages.names import shown, shown_group
from monitor.messages.notification import utc

EXAMPLES: Final = 20
"""So many examples of alerts are shown, and of findings; --json has more."""

EXAMPLES_ALIKE: Final = 2
"""So many of one change of one alert or finding."""

_SHIFTS: Final = (Change.SOONER, Change.LATER, Change.LONGER, Change.SHORTER)
_NUMBERS: Final = ("before", "after", "more", "fewer", *_SHIFTS)


def backtests_shown(found: Sequence[ClusterBacktest]) -> RenderableType:
    """The backtests of clusters, one below the other."""
    return Group(*(part for each in found for part in _cluster(each)))


def _cluster(found: ClusterBacktest) -> Iterator[RenderableType]:
    yield Text(f"Cluster {shown(found.cluster)}, {utc(found.since_ms)} to {utc(found.until_ms)}: {_groups(found)}")
    for word, rows, examples in (
        ("alert", found.alerts, found.alert_examples),
        ("finding", found.findings, found.finding_examples),
    ):
        if rows:
            yield _rows(word, rows)
            yield _examples(examples)
        elif found.judged:
            yield Text(f"There was no {word}, and there would have been none.")


def _groups(found: ClusterBacktest) -> str:
    if not found.groups:
        return "no such group was known."
    known = counted(found.groups, "group")
    if not found.judged:
        return f"{known}, none with other thresholds than were in force."
    return f"{known}, {grouped(found.judged)} with other thresholds than were in force."


def _rows(word: str, rows: Iterable[BacktestRow]) -> Table:
    table = plain_table(word, "severity", *_NUMBERS)
    for column in table.columns[2:]:
        column.justify = "right"
    for row in rows:
        counts = [grouped(count) for count in (row.before, row.after)]
        changes = [grouped(count) if count else "" for count in (row.more, row.fewer)]
        shifts = [_shift(each) for each in (row.sooner, row.later, row.longer, row.shorter)]
        table.add_row(row.name, row.severity.value, *counts, *changes, *shifts)
    return table


def _shift(shift: Shift) -> str:
    return f"{grouped(shift.count)} by {lasted(shift.median_ms)}" if shift.count else ""


def _examples(examples: Iterable[BacktestExample]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for _ in range(4):
        grid.add_column(overflow="fold")
    for example in _first(examples):
        about = f"{example.name} ({example.finding})" if example.finding else example.name
        group = Text(shown_group(example.group), overflow="fold")
        grid.add_row(example.change.value, about, group, Text(f"{_when(example)}. {example.sentence}", overflow="fold"))
    return grid


def _first(examples: Iterable[BacktestExample]) -> Iterator[BacktestExample]:
    alike: Counter[tuple[str, Change]] = Counter()
    shown_so_far = 0
    for example in examples:
        alike[example.name, example.change] += 1
        if alike[example.name, example.change] <= EXAMPLES_ALIKE and shown_so_far < EXAMPLES:
            shown_so_far += 1
            yield example


def _when(example: BacktestExample) -> str:
    """When it was, and when it would have been.

    >>> from monitor.model.findings import Severity
    >>> def example(change, by_ms, *times):
    ...     return BacktestExample("lag/behind", Severity.WARNING, change, by_ms, "g", "", "", *times)
    >>> _when(example(Change.SOONER, 30_000, 60_000, 90_000, 30_000, 90_000))
    'at 1970-01-01 00:00:30 UTC instead of 1970-01-01 00:01:00 UTC, 30 s sooner'
    >>> _when(example(Change.LONGER, 30_000, 60_000, 90_000, 60_000, 120_000))
    'at 1970-01-01 00:01:00 UTC, for 1 min instead of 30 s'
    >>> _when(example(Change.MORE, 30_000, None, None, 60_000, 90_000))
    'at 1970-01-01 00:01:00 UTC, for 30 s'
    """
    before = _Times(example.before_from_ms, example.before_until_ms)
    after = _Times(example.after_from_ms, example.after_until_ms)
    if example.change in (Change.MORE, Change.FEWER):
        return f"at {(after if example.change is Change.MORE else before).start}, for {lasted(example.by_ms)}"
    if example.change in (Change.SOONER, Change.LATER):
        return f"at {after.start} instead of {before.start}, {lasted(example.by_ms)} {example.change.value}"
    return f"at {after.start}, for {after.length} instead of {before.length}"


class _Times:
    """When an episode was, in words."""

    def __init__(self, from_ms: int | None, until_ms: int | None) -> None:
        self.start = "" if from_ms is None else utc(from_ms)
        self.length = "" if from_ms is None or until_ms is None else lasted(until_ms - from_ms)
