"""Panels with a line for each group or partition, the largest only."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.panels import MOST, Panel, Query, graph
from dashboards.queries import GROUP, PARTITION, across, chosen, described, summed

GROUP_NAME: Final = "{{cluster}} {{group}}"
PARTITION_NAME: Final = "{{cluster}} {{group}} {{topic}} {{partition}}"


def of_groups(title: str, unit: str, name: str, *, steps: bool = False) -> Panel:
    """A family by group, under its own description."""
    return graph(title, described(name), unit, Query(expr=most(name), legend=GROUP_NAME), steps=steps)


def of_partitions(title: str, unit: str, name: str) -> Panel:
    """A family by partition, under its own description."""
    return graph(title, described(name), unit, Query(expr=most(name), legend=PARTITION_NAME))


def counts(title: str, name: str, label: str) -> Panel:
    """Counts above 0, by group and one more label."""
    expr = f"{summed(name, (*GROUP, label))} > 0"
    return graph(title, described(name), "short", Query(expr=expr, legend=f"{GROUP_NAME} {{{{{label}}}}}"), steps=True)


def most(name: str) -> str:
    """The largest series of a family, at each moment."""
    return f"topk({MOST}, {chosen(name)})"


def lag_of_partitions() -> str:
    """The lag of each partition, in records or in bytes."""
    return across("max", PARTITION, "partition_lag", f"{chosen('partition_lag')} or {chosen('partition_lag_bytes')}")
