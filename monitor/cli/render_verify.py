"""What verify shows: a line for each expectation; of a rollout under way, what is still missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.cli.gate import GateResult, GroupRollout
from monitor.cli.render_answer import plain_table
from monitor.expectations.outcome import Check, GroupOutcome, Outcome
from monitor.explain.rollout_text import comparison
from monitor.messages.formatting import age
from monitor.messages.names import shown, shown_group
from monitor.messages.notification import utc
from monitor.model.escaping import escaped
from monitor.model.expectations import Met

if TYPE_CHECKING:
    from monitor.history.met_then import MetThen

_WORDS: Final = {Met.YES: "met", Met.NO: "not met", Met.UNKNOWN: "unknown"}
_STYLES: Final = {Met.YES: "green", Met.NO: "bold red", Met.UNKNOWN: "yellow"}
_WHOLE: Final = {
    Met.YES: "All expectations are met.",
    Met.NO: "Not all expectations are met.",
    Met.UNKNOWN: "Not all expectations could be checked.",
}

_SPAN: Final = {
    Met.YES: "All objectives would have been met.",
    Met.NO: "Not all objectives would have been met.",
    Met.UNKNOWN: "Whether all objectives would have been met is not known: unknown time is not good.",
}
NO_TARGET: Final = "No entry has slo, so there is no objective."


def outcome_shown(outcome: Outcome) -> RenderableType:
    """The checks of all groups, those first that are not met."""
    parts = [_group_shown(each) for each in outcome.groups]
    return Group(*parts, Text(_WHOLE[outcome.met], style=_STYLES[outcome.met]))


def _group_shown(group: GroupOutcome) -> RenderableType:
    team = "" if group.team is None else f" (team {shown(group.team)})"
    name = f"{shown_group(group.group)} of cluster {shown(group.cluster)}" if group.group else shown(group.cluster)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for each in group.checks:
        grid.add_row(Text(f"  {_WORDS[each.met]}", style=_STYLES[each.met]), each.key, Text(escaped(each.sentence)))
    return Group(Text(f"{name}{team}:"), grid)


def nothing_expected(cluster: str, group: str | None) -> str:
    """Why there is nothing to verify, as a sentence."""
    if group is not None:
        return f"No entry of the file is about {shown_group(group)} of {shown(cluster)}."
    return f"No entry of the file is about a group of {shown(cluster)}."


def result_shown(result: GateResult) -> RenderableType:
    """How a rollout ended, and what it cost."""
    parts = [part for each in result.groups for part in (_group_shown(each.outcome), *_costs(each))]
    return Group(*parts, Text(_result_line(result), style=_STYLES[result.met]))


def _costs(rollout: GroupRollout) -> list[RenderableType]:
    lines = []
    if rollout.progress is not None:
        costs = rollout.progress.costs
        lines.append(f"Costs of the rollout: {costs.sentence()}")
        if rollout.forecast is not None:
            is_whole = rollout.progress.is_over and costs.is_complete
            lines.append(comparison(rollout.forecast, (costs.rebalances, costs.moved), is_whole=is_whole))
    if rollout.no_forecast:
        lines.append(f"There is no forecast. {rollout.no_forecast}")
    return [Text(f"  {line}") for line in lines]


def _result_line(result: GateResult) -> str:
    took = age(result.waited_ms)
    since = utc(result.since_ms)
    match result.met:
        case Met.YES:
            return f"The rollout since {since} succeeded; this took {took}."
        case Met.NO if all(each.outcome.met is Met.YES for each in result.groups):
            return f"The rollout since {since} has not succeeded within {took}: all is met, but not yet for --stable."
        case Met.NO:
            return f"The rollout since {since} has not succeeded within {took}."
        case Met.UNKNOWN:
            return f"Whether the rollout since {since} succeeded is not known after {took}."


def span_shown(found: MetThen) -> RenderableType:
    """For how long each entry was met, and whether that is enough."""
    grid = plain_table("groups", "met", "not met", "unknown", "objective", "")
    for each in found.entries:
        passed_ms = max(1, each.time.passed_ms)
        shares = [Text(share(part, passed_ms)) for part in (each.yes_ms, each.no_ms, each.unknown_ms)]
        slo = "" if each.slo is None else f"{each.slo.percent:g}% of {each.slo.window_days}d"
        told = Text("") if each.target is None else Text(_WORDS[each.target], style=_STYLES[each.target])
        grid.add_row(Text(shown(each.groups)), *shares, Text(slo), told)
    head = Text(f"Cluster {shown(found.cluster)}, {utc(found.since_ms)} to {utc(found.until_ms)}:")
    has_target = any(each.target is not None for each in found.entries)
    return Group(head, grid, Text(_SPAN[found.met] if has_target else NO_TARGET, style=_STYLES[found.met]))


def share(part_ms: int, passed_ms: int) -> str:
    """A part of the time in percent, rounded down: 100 % is all of it.

    >>> share(999_999, 1_000_000), share(5, 5), share(0, 5)
    ('99.999%', '100%', '0%')
    """
    thousandths = part_ms * 100_000 // passed_ms
    return f"{thousandths / 1_000:g}%"


class RolloutTicker:
    """Writes a line whenever something else is missing than before."""

    def __init__(self, now_ms: Callable[[], int], write_line: Callable[[str], object]) -> None:
        self._now_ms = now_ms
        self._write_line = write_line
        self._last: tuple[str, ...] | None = None

    def tell(self, groups: Sequence[GroupRollout]) -> None:
        """Write what is missing now, if that has changed."""
        missing = tuple([line for each in groups for line in _missing(each)])
        if missing == self._last:
            return
        self._last = missing
        at = utc(self._now_ms())
        for line in missing or ("Nothing is missing.",):
            self._write_line(f"{at}  {line}")


def _missing(rollout: GroupRollout) -> list[str]:
    unmet: list[Check] = [each for each in rollout.outcome.checks if each.met is not Met.YES]
    name = shown(rollout.group) if rollout.group else "The cluster"
    return [f"{name}: {escaped(each.sentence)}" for each in unmet]
