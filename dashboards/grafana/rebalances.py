"""What rebalances cost: how many and how long, what moved for nothing, what stood still, what was read twice."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import marks, variables
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.panels import MOST, ROWS, Column, Panel, Query, graph, marked_from, stat, table, unmarked
from dashboards.queries import GROUP, described, increased, summed, total
from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec
from monitor.model.dashboard_uids import REBALANCES_UID

_GROUP: Final = "{{cluster}} {{group}}"
_CHOSEN_TIME: Final = "$__range"


def count_now() -> Panel:
    """How many rebalances there were in the time that is shown."""
    return _total("Rebalances", "short", specs.GROUP_REBALANCES_TOTAL)


def seconds_now() -> Panel:
    """How long they took together."""
    return _total("Time in rebalances", "s", specs.GROUP_REBALANCE_SECONDS_TOTAL)


def pause_now() -> Panel:
    """How long partitions with waiting records stood still, summed over partitions."""
    return _total("Pause (partition-seconds)", "s", specs.GROUP_REBALANCE_PAUSE_SECONDS_TOTAL)


def moved_now() -> Panel:
    """How many partitions changed hands."""
    return _total("Partitions moved", "short", specs.GROUP_MOVED_PARTITIONS_TOTAL)


def avoidable_now() -> Panel:
    """How many of them need not have."""
    family = specs.GROUP_AVOIDABLE_MOVES_TOTAL
    return stat("Avoidable moves", described(family), "short", _sum(family), marked=marked_from(1))


def redelivered_now() -> Panel:
    """How many records were delivered again."""
    family = specs.GROUP_REDELIVERED_RECORDS_TOTAL
    return stat("Records delivered again", described(family), "short", _sum(family), marked=marked_from(1))


def by_group() -> Panel:
    """What each group paid in the time that is shown, the most rebalances first."""
    return table(
        "Cost by group, in the selected time range",
        "Cost of rebalances for each group in the selected time range. Times and records are lower bounds.",
        GROUP,
        _cost("Rebalances", specs.GROUP_REBALANCES_TOTAL),
        _cost("Time", specs.GROUP_REBALANCE_SECONDS_TOTAL, "s"),
        _cost("Pause", specs.GROUP_REBALANCE_PAUSE_SECONDS_TOTAL, "s"),
        _cost("Moved", specs.GROUP_MOVED_PARTITIONS_TOTAL),
        _cost("Avoidable", specs.GROUP_AVOIDABLE_MOVES_TOTAL),
        _cost("Delivered again", specs.GROUP_REDELIVERED_RECORDS_TOTAL),
        _cost("Burst", specs.GROUP_REBALANCE_BURST_RECORDS_TOTAL),
    )


def count() -> Panel:
    """How often groups rebalance."""
    return _growth("Rebalances", "short", specs.GROUP_REBALANCES_TOTAL)


def seconds() -> Panel:
    """How much of the time groups rebalance."""
    return _growth("Time in rebalances", "s", specs.GROUP_REBALANCE_SECONDS_TOTAL)


def pause() -> Panel:
    """How long partitions with waiting records stand still."""
    return _growth("Pause (partition-seconds)", "s", specs.GROUP_REBALANCE_PAUSE_SECONDS_TOTAL)


def moves() -> Panel:
    """What moved, and what of it need not have."""
    families = (specs.GROUP_MOVED_PARTITIONS_TOTAL, specs.GROUP_AVOIDABLE_MOVES_TOTAL)
    return graph(
        "Moved partitions",
        described(*families),
        "short",
        Query(expr=_most(families[0]), legend=f"{_GROUP} moved"),
        Query(expr=_most(families[1]), legend=f"{_GROUP} avoidable"),
    )


def redelivered() -> Panel:
    """What was delivered again."""
    return _growth("Records delivered again", "short", specs.GROUP_REDELIVERED_RECORDS_TOTAL)


def burst() -> Panel:
    """What the first commits after a pause covered."""
    return _growth("Burst after pauses (records)", "short", specs.GROUP_REBALANCE_BURST_RECORDS_TOTAL)


BOARD: Final = Board(
    uid=REBALANCES_UID,
    title="groupwatch: cost of rebalances",
    description="Rebalances: number, duration, avoidable moves, pauses, records read twice.",
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


def _total(title: str, unit: str, family: MetricSpec) -> Panel:
    return stat(title, described(family), unit, _sum(family), marked=unmarked())


def _sum(family: MetricSpec) -> str:
    return total(family, increased(family, _CHOSEN_TIME))


def _cost(heading: str, family: MetricSpec, unit: str = "short") -> Column:
    """The costs of the groups with most rebalances."""
    rebalances = specs.GROUP_REBALANCES_TOTAL
    rows = f"topk({ROWS}, {summed(rebalances, GROUP, increased(rebalances, _CHOSEN_TIME))})"
    return Column(heading, f"{summed(family, GROUP, increased(family, _CHOSEN_TIME))} and {rows}", unit)


def _growth(title: str, unit: str, family: MetricSpec) -> Panel:
    return graph(f"{title}, in 5 minutes", described(family), unit, Query(expr=_most(family), legend=_GROUP))


def _most(family: MetricSpec) -> str:
    return f"topk({MOST}, {summed(family, GROUP, increased(family, '5m'))})"
