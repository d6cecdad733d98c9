"""What rebalances cost: how many and how long, what moved for nothing, what stood still, what was read twice."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import marks, variables
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.panels import MOST, ROWS, Column, Panel, Query, graph, marked_from, stat, table, unmarked
from dashboards.queries import GROUP, described, increased, summed

_GROUP: Final = "{{cluster}} {{group}}"
_CHOSEN_TIME: Final = "$__range"


def count_now() -> Panel:
    """How many rebalances there were in the time that is shown."""
    return _total("Rebalances", "short", "group_rebalances_total")


def seconds_now() -> Panel:
    """How long they took together."""
    return _total("Time in rebalances", "s", "group_rebalance_seconds_total")


def pause_now() -> Panel:
    """How long partitions with waiting records stood still, summed over partitions."""
    return _total("Pause (partition-seconds)", "s", "group_rebalance_pause_seconds_total")


def moved_now() -> Panel:
    """How many partitions changed hands."""
    return _total("Partitions moved", "short", "group_moved_partitions_total")


def avoidable_now() -> Panel:
    """How many of them need not have."""
    name = "group_avoidable_moves_total"
    return stat("Avoidable moves", described(name), "short", _sum(name), marked=marked_from(1))


def redelivered_now() -> Panel:
    """How many records were delivered again."""
    name = "group_redelivered_records_total"
    return stat("Records delivered again", described(name), "short", _sum(name), marked=marked_from(1))


def by_group() -> Panel:
    """What each group paid in the time that is shown, the most rebalances first."""
    return table(
        "Cost by group, in the time shown",
        "What rebalances cost each group in the time that the dashboard shows. Times and records are lower bounds.",
        GROUP,
        _cost("Rebalances", "group_rebalances_total"),
        _cost("Time", "group_rebalance_seconds_total", "s"),
        _cost("Pause", "group_rebalance_pause_seconds_total", "s"),
        _cost("Moved", "group_moved_partitions_total"),
        _cost("Avoidable", "group_avoidable_moves_total"),
        _cost("Delivered again", "group_redelivered_records_total"),
        _cost("Burst", "group_rebalance_burst_records_total"),
    )


def count() -> Panel:
    """How often groups rebalance."""
    return _growth("Rebalances", "short", "group_rebalances_total")


def seconds() -> Panel:
    """How much of the time groups rebalance."""
    return _growth("Time in rebalances", "s", "group_rebalance_seconds_total")


def pause() -> Panel:
    """How long partitions with waiting records stand still."""
    return _growth("Pause (partition-seconds)", "s", "group_rebalance_pause_seconds_total")


def moves() -> Panel:
    """What moved, and what of it need not have."""
    names = ("group_moved_partitions_total", "group_avoidable_moves_total")
    return graph(
        "Moved partitions",
        described(*names),
        "short",
        Query(expr=_most(names[0]), legend=f"{_GROUP} moved"),
        Query(expr=_most(names[1]), legend=f"{_GROUP} avoidable"),
    )


def redelivered() -> Panel:
    """What was delivered again."""
    return _growth("Records delivered again", "short", "group_redelivered_records_total")


def burst() -> Panel:
    """What the first commits after a pause covered."""
    return _growth("Burst after pauses (records)", "short", "group_rebalance_burst_records_total")


BOARD: Final = Board(
    uid="groupwatch-rebalances",
    title="groupwatch: cost of rebalances",
    description="How many rebalances, how long, what moved for nothing, what stood still, what was read twice.",
    variables=(variables.clusters, variables.groups, variables.page_address),
    bands=(
        Band(4, (count_now, seconds_now, pause_now, moved_now, avoidable_now, redelivered_now)),
        Band(9, (by_group,)),
        Band(8, (count, seconds), "Over time"),
        Band(8, (pause, moves)),
        Band(8, (redelivered, burst)),
    ),
    annotations=(marks.rebalances,),
)


def _total(title: str, unit: str, name: str) -> Panel:
    return stat(title, described(name), unit, _sum(name), marked=unmarked())


def _sum(name: str) -> str:
    return f"sum({increased(name, _CHOSEN_TIME)})"


def _cost(heading: str, name: str, unit: str = "short") -> Column:
    """Of the groups with most rebalances."""
    rebalances = "group_rebalances_total"
    rows = f"topk({ROWS}, {summed(rebalances, GROUP, increased(rebalances, _CHOSEN_TIME))})"
    return Column(heading, f"{summed(name, GROUP, increased(name, _CHOSEN_TIME))} and {rows}", unit)


def _growth(title: str, unit: str, name: str) -> Panel:
    return graph(f"{title}, in 5 minutes", described(name), unit, Query(expr=_most(name), legend=_GROUP))


def _most(name: str) -> str:
    return f"topk({MOST}, {summed(name, GROUP, increased(name, '5m'))})"
