"""The work of Kafka Connect clusters: what workers run, what no worker runs, and how long a cluster still waits."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.lines import GROUP_NAME, counts, of_groups
from dashboards.grafana.panels import MOST, Panel, Query, graph
from dashboards.queries import chosen, described, once
from monitor.metrics import specs

_NOTHING: Final = "None of Connect, or no data"


def connect_tasks() -> Panel:
    """What the workers run."""
    return of_groups("Connectors and tasks", "short", specs.GROUP_CONNECT_TASKS, steps=True).no_value(_NOTHING)


def connect_idle_tasks() -> Panel:
    """What no worker runs, by reason."""
    return counts("Connectors and tasks without a worker", specs.GROUP_CONNECT_IDLE_TASKS, "reason").no_value(_NOTHING)


def connect_delay() -> Panel:
    """How long Connect still waits for a worker that is gone."""
    family = specs.GROUP_CONNECT_DELAY_UNTIL
    expr = f"topk({MOST}, {once(family, f'clamp_min({chosen(family)} - time(), 0)')})"
    query = Query(expr=expr, legend=GROUP_NAME)
    return graph("Remaining wait for a lost worker", described(family), "s", query).no_value(_NOTHING)
