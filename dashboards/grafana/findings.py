"""What is wrong with groups, as all dashboards list it."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.panels import ROWS, Column, Panel, table
from dashboards.queries import GROUP, across, described, summed
from monitor.metrics import specs

_FINDING: Final = (*GROUP, "kind", "reason")


def open_findings() -> Panel:
    """What is wrong now, the oldest first."""
    families = (specs.GROUP_FINDING_OLDEST_SECONDS, specs.GROUP_FINDINGS)
    oldest = f"topk({ROWS}, {across('max', _FINDING, families[0])})"
    return table(
        "Open findings",
        f"{described(*families)}\n\nThe page of the group (a link of its name) has them as sentences.",
        _FINDING,
        Column("For", oldest, "s", warn_from=600),
        Column("Findings", f"{summed(families[1], _FINDING)} and {oldest}"),
    ).no_value("No open findings, or no data")
