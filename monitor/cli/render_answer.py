"""Answers as a person reads them: sentences with what they rest on, and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from monitor.explain.rollout_cost import RolloutForecast
from monitor.explain.rollout_text import cost_line, forecast_heading, remarks
from monitor.explain.statements import Explanation, Statement
from monitor.explain.what_if import MemberChange, Move, WhatIf
from monitor.explain.what_if_text import (
    consequences,
    held_after,
    held_before,
    mark,
    member_names,
    moving,
    sizes,
    task_move,
)
from monitor.history.report.notes import accuracy
from monitor.history.story import GroupStory, missing_sentences
from monitor.messages.formatting import age, counted, grouped, lag_range, until
from monitor.messages.names import few, owner, shown, shown_group
from monitor.messages.notification import utc
from monitor.model import LibraryUse
from monitor.model.escaping import escaped

UNFOLDED: Final = 100_000
"""The width of what does not go to a terminal: a sentence is a line there, and the same on every machine."""

LABEL_WIDTH: Final = 11
"""The longest label and a space."""

MOST_ROWS: Final = 200
"""Longer tables are cut; --json has all."""


def tell(answer: RenderableType) -> None:
    """Print an answer: folded and with colours on a terminal, plain lines elsewhere."""
    console = Console(highlight=False, emoji=False, markup=False)
    if console.is_terminal:
        with console.capture() as coloured:  # without a reader, rich would end the command
            console.print(answer)
        typer.echo(coloured.get(), nl=False, color=True)
        return
    plain = Console(highlight=False, emoji=False, markup=False, width=UNFOLDED, color_system=None)
    with plain.capture() as captured:
        plain.print(answer)
    for line in captured.get().splitlines():
        typer.echo(line.rstrip())


def explanation_shown(
    explanation: Explanation, page: str | None = None, *, now_ms: int | None = None
) -> RenderableType:
    """The statements, each with its evidence indented; at last the address of the page, if it is known.

    With ``now_ms`` (ms since the epoch), the instant that it answers for comes first, and how long ago that was.
    """
    parts: list[RenderableType] = (
        [] if now_ms is None else [_labelled("instant", "bold", _instant(explanation, now_ms))]
    )
    parts += [part for statement in explanation.statements for part in _statement(statement, explanation)]
    return Group(*parts, *([] if page is None else [_labelled("page", "bold", escaped(page))]))


def _instant(explanation: Explanation, now_ms: int) -> str:
    """What is answered for, and what of a recording it was made from."""
    at = f"{utc(explanation.evaluated_ms)}, {age(now_ms - explanation.evaluated_ms)} ago"
    if explanation.state_ms is None:
        return f"{at}."
    if not explanation.state_ms:
        return f"{at}, from the recording: from its first record on."
    return f"{at}, from the recording: the state of {utc(explanation.state_ms)}, and the records after it."


def _statement(statement: Statement, explanation: Explanation) -> list[RenderableType]:
    since, until_ms = statement.since_ms, statement.settling_until_ms
    is_finding = statement.about.value == "finding" and since is not None
    ago = ""
    if is_finding and since is not None:
        ago = f" This has lasted {age(explanation.evaluated_ms - since)}, since {utc(since)}."
    if until_ms is not None:
        ago += f" It is settling: its alert waits for {until(until_ms - explanation.evaluated_ms)} more."
    style = "bold red" if is_finding and until_ms is None else "bold"
    first = _labelled(statement.about.value, style, f"{statement.sentence}{ago}")
    return [first, *(_evidence(each) for each in statement.evidence)]


def _labelled(label: str, style: str, text: str) -> Table:
    grid = Table.grid(padding=0)
    grid.add_column(width=LABEL_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(label, style=style), Text(text))
    return grid


def _evidence(text: str) -> RenderableType:
    return Padding(Text(text, style="dim", overflow="fold"), (0, 0, 0, LABEL_WIDTH + 2))


# --- history ----------------------------------------------------------------------------------------------------------


def story_shown(story: GroupStory) -> RenderableType:
    """A line for each thing that happened, and how the lag went."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for each in story.happened:
        about = each.about.value if each.finding is None else f"{each.about.value} {each.finding}"
        grid.add_row(utc(each.at_ms), about, Text(each.sentence, overflow="fold"))
    head = (
        f"{shown_group(story.group)} of cluster {shown(story.cluster)}, {utc(story.since_ms)} to {utc(story.until_ms)}:"
    )
    missing = [Text(each, style="bold") for each in missing_sentences(story)]
    nothing = [] if story.happened else [Text(_nothing_text(story, has_gaps=bool(missing)))]
    lag = lag_range((point.lag for point in story.lag), story.unit)
    exact = [Text(accuracy(story.step_ms), style="dim")] if story.step_ms else []
    return Group(Text(head), *missing, *nothing, grid, *([] if lag is None else [Text(lag)]), *exact)


def _nothing_text(story: GroupStory, *, has_gaps: bool) -> str:
    """Where no lag is known either, that nothing happened is not known."""
    if all(point.lag is None for point in story.lag):
        return "No event is recorded in this time, and no finding opened or closed."
    return "Nothing happened in what is recorded." if has_gaps else "Nothing happened."


# --- what-if ----------------------------------------------------------------------------------------------------------


def what_if_shown(answer: WhatIf) -> RenderableType:
    """The members before and after, what moves, how even it is, and what was assumed."""
    is_other = answer.assignor_before != answer.assignor
    changed = f" instead of {shown(answer.assignor_before or 'none')}" if is_other else ""
    names = member_names(answer.members)
    parts: list[RenderableType] = [
        Text(
            f"{shown_group(answer.group)} of cluster {shown(answer.cluster)}, assigned by {answer.assignor}{changed}:"
        ),
        _members(answer.members, names),
        Text(moving(answer)),
    ]
    if answer.task_moves is not None:
        parts += [Text(task_move(move, names)) for move in answer.task_moves[:MOST_ROWS]]
        if len(answer.task_moves) > MOST_ROWS:
            parts.append(Text(f"and {counted(len(answer.task_moves) - MOST_ROWS, 'more task')}; --json has all"))
    elif answer.moves:
        parts.append(_moves(answer.moves, names))
    parts += [Text(line) for line in consequences(answer)]
    parts += [Text(f"Assumed: {line}", style="dim") for line in answer.assumptions]
    return Group(*parts)


def _members(members: Sequence[MemberChange], names: Mapping[str, str]) -> RenderableType:
    table = plain_table("member", "", "before", "", "after", "")
    for column in (2, 4):
        table.columns[column].justify = "right"
    for each in members[:MOST_ROWS]:
        before, after = map(str, sizes(each))
        had, has = Text(held_before(each)), Text(held_after(each))
        table.add_row(Text(names[each.member_id]), mark(each), before, had, after, has)
    return _cut(table, len(members), "member")


def _moves(moves: Sequence[Move], names: Mapping[str, str]) -> RenderableType:
    table = plain_table("topic", "partition", "from", "to")
    table.columns[1].justify = "right"
    for move in moves[:MOST_ROWS]:
        before, after = (owner([names.get(each, each) for each in side]) for side in (move.before, move.after))
        table.add_row(Text(shown(move.topic)), str(move.partition), Text(before), Text(after))
    return _cut(table, len(moves), "partition")


# --- the cost of a rollout --------------------------------------------------------------------------------------------


def forecast_shown(forecast: RolloutForecast) -> RenderableType:
    """A line for each way to replace the pods, how the numbers were found, and what was assumed."""
    table = plain_table("assignor", "rebalances", "moves", "pause in each", "pause in all")
    for way in forecast.ways:
        name, *costs = cost_line(way)
        table.add_row(Text(name), *costs)
    parts: list[RenderableType] = [Text(forecast_heading(forecast)), Text("Least / median / most:"), table]
    parts += [Text(line) for line in remarks(forecast)]
    parts += [Text(f"Assumed: {line}", style="dim") for line in forecast.assumptions]
    return Group(*parts)


# --- census -----------------------------------------------------------------------------------------------------------


def census_shown(uses: Sequence[LibraryUse]) -> RenderableType:
    """The client libraries of clusters, with their members and groups."""
    if not uses:
        return Text("No Kafka group has a member.")
    table = plain_table("cluster", "library", "release", "how sure", "members", "groups", "names")
    for column in (4, 5):
        table.columns[column].justify = "right"
    for use in uses[:MOST_ROWS]:
        release = "unknown" if use.versions is None else shown(use.versions)
        counts = grouped(use.members), grouped(use.groups), Text(few(use.group_names))
        table.add_row(Text(shown(use.cluster)), use.library.label, Text(release), use.certainty.value, *counts)
    return _cut(table, len(uses), "row")


# --- tables -----------------------------------------------------------------------------------------------------------


def plain_table(*headings: str) -> Table:
    """An empty table with these headings. Two blanks stand between columns, so that most tables fit 80 columns."""
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _cut(table: Table, rows: int, word: str) -> RenderableType:
    if rows <= MOST_ROWS:
        return table
    return Group(table, Text(f"and {counted(rows - MOST_ROWS, f'more {word}')}; use --json for all."))
