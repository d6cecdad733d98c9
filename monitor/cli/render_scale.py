"""What scale shows: how many members a group needs, and what each number would come to."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from monitor.cli.render_answer import plain_table
from monitor.scaling.answer import ScalePlan
from monitor.scaling.text import measured_text, plan_caption, plan_heading, plan_line, plan_remarks


def plan_shown(plan: ScalePlan) -> RenderableType:
    """The number and why, a line for each number that helps, and what was assumed."""
    parts: list[RenderableType] = [Text(plan_heading(plan)), Text(measured_text(plan.scaling))]
    if plan.rows:
        table = plain_table("members", "most partitions", "busiest", "lag read in", "caught up in", "moves", "")
        for column in range(6):
            table.columns[column].justify = "right"
        for row in plan.rows:
            table.add_row(*plan_line(row, plan.scaling))
        parts += [table, Text(plan_caption(plan))]
    parts += [Text(line) for line in plan_remarks(plan)]
    parts += [Text(f"Assumed: {line}", style="dim") for line in plan.assumptions]
    return Group(*parts)
