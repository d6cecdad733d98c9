"""Panels with a line for each group or partition, the largest only."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.panels import MOST, Panel, Query, graph
from dashboards.queries import GROUP, PARTITION, across, chosen, described, once, summed
from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

GROUP_NAME: Final = "{{cluster}} {{group}}"
PARTITION_NAME: Final = "{{cluster}} {{group}} {{topic}} {{partition}}"


def of_groups(title: str, unit: str, family: MetricSpec, *, steps: bool = False) -> Panel:
    """A family by group, under its own description."""
    return graph(title, described(family), unit, Query(expr=most(family), legend=GROUP_NAME), steps=steps)


def of_partitions(title: str, unit: str, family: MetricSpec) -> Panel:
    """A family by partition, under its own description."""
    return graph(title, described(family), unit, Query(expr=most(family), legend=PARTITION_NAME))


def counts(title: str, family: MetricSpec, label: str) -> Panel:
    """Counts above 0, by group and one more label."""
    expr = f"{summed(family, (*GROUP, label))} > 0"
    return graph(
        title, described(family), "short", Query(expr=expr, legend=f"{GROUP_NAME} {{{{{label}}}}}"), steps=True
    )


def most(family: MetricSpec) -> str:
    """The largest series of a family, at each moment."""
    return f"topk({MOST}, {once(family)})"


def lag_of_partitions() -> str:
    """The lag of each partition, in records or in bytes."""
    return across(
        "max", PARTITION, specs.PARTITION_LAG, f"{chosen(specs.PARTITION_LAG)} or {chosen(specs.PARTITION_LAG_BYTES)}"
    )
