"""The deliveries of share groups: what waits for another one, and what became of the records."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.lines import GROUP_NAME, most, of_groups
from dashboards.grafana.panels import MOST, Panel, Query, graph
from dashboards.queries import chosen, described, increased, once
from monitor.metrics import specs

_NOTHING: Final = "No share groups, or no data"


def redelivery() -> Panel:
    """Records of share groups that wait for another delivery, and those of them that wait for the last one."""
    return graph(
        "Waiting for redelivery",
        described(specs.GROUP_SHARE_WAITING_REDELIVERY, specs.GROUP_SHARE_LAST_TRY),
        "short",
        Query(expr=most(specs.GROUP_SHARE_WAITING_REDELIVERY), legend=GROUP_NAME),
        Query(expr=f"{most(specs.GROUP_SHARE_LAST_TRY)} > 0", legend=f"{GROUP_NAME} last delivery"),
        steps=True,
    ).no_value(_NOTHING)


def deliveries() -> Panel:
    """How often the records that wait for another delivery were delivered."""
    return of_groups("Largest delivery count", "short", specs.GROUP_SHARE_MAX_DELIVERIES, steps=True).no_value(_NOTHING)


def outcomes() -> Panel:
    """What became of the records of share groups."""
    families = {
        specs.GROUP_SHARE_ACCEPTED_TOTAL: "accepted",
        specs.GROUP_SHARE_REJECTED_TOTAL: "rejected",
        specs.GROUP_SHARE_GIVEN_UP_TOTAL: "given up",
    }
    return graph(
        "Outcomes of records",
        described(*families),
        "short",
        *[
            Query(expr=f"topk({MOST}, {once(family, increased(family, '5m'))})", legend=f"{GROUP_NAME} {outcome}")
            for family, outcome in families.items()
        ],
    ).no_value(_NOTHING)


def silence() -> Panel:
    """How long members of share groups have acknowledged nothing."""
    family = specs.GROUP_SHARE_LAST_ANSWER
    expr = f"topk({MOST}, {once(family, f'clamp_min(time() - {chosen(family)}, 0)')})"
    query = Query(expr=expr, legend=GROUP_NAME)
    return graph("Time since the last acknowledgment", described(family), "s", query).no_value(_NOTHING)
