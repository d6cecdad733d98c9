"""One group, or a few: how far behind, who owns what, what is wrong with it, and how it rebalances."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import group_lag, group_ownership, marks, variables
from dashboards.grafana.findings import open_findings
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.lines import GROUP_NAME
from dashboards.grafana.links import GROUP_UID
from dashboards.grafana.panels import (
    BAD,
    CALM,
    MOST,
    NEUTRAL,
    WARNING,
    Meaning,
    Panel,
    Query,
    graph,
    marked_from,
    stat,
    timeline,
    unmarked,
)
from dashboards.queries import GROUP, chosen, described, increased, numbered, summed

STATES: Final = (
    Meaning("commits only", NEUTRAL),
    Meaning("empty", BAD),
    Meaning("assigning", WARNING),
    Meaning("reconciling", "yellow"),
    Meaning("stable", CALM),
)
"""What stands for each of monitor.metrics.render.STATES, in their order."""


def members_now() -> Panel:
    """How many members there are."""
    expr = f"sum({chosen('group_members')})"
    return stat("Members", described("group_members"), "short", expr, marked=unmarked())


def orphans_now() -> Panel:
    """How many partitions nobody owns."""
    name = "group_orphaned_partitions"
    return stat("Orphaned partitions", described(name), "short", f"sum({chosen(name)})", marked=marked_from(1))


def double_owned_now() -> Panel:
    """How many partitions have two owners."""
    name = "group_double_owned_partitions"
    return stat("With two owners", described(name), "short", f"sum({chosen(name)})", marked=marked_from(1))


def drifted_now() -> Panel:
    """How many partitions have another owner than expected."""
    name = "group_drifted_partitions"
    return stat("Drifted partitions", described(name), "short", f"sum({chosen(name)})", marked=marked_from(1))


def imbalance_now() -> Panel:
    """How much more than needed the largest member has."""
    name = "group_imbalance_ratio"
    return stat("Imbalance", described(name), "none", f"max({chosen(name)})", marked=marked_from(1.5, 2))


def behind_now() -> Panel:
    """How old what waits is."""
    name = "group_lag_seconds"
    return stat("Behind", described(name), "s", f"max({chosen(name)})", marked=marked_from(300, 3600))


def state_over_time() -> Panel:
    """The state of each group, over time: what is neither stable nor empty is a rebalance."""
    states = ["offsets_only", "empty", "assigning", "reconciling", "stable"]
    query = Query(expr=f"bottomk({MOST}, {numbered('group_state', 'state', states)})", legend=GROUP_NAME)
    return timeline("State", described("group_state"), query, STATES)


def rebalancing_over_time() -> Panel:
    """When each group was rebalancing."""
    query = Query(expr=f"topk({MOST}, {summed('group_rebalancing', GROUP)})", legend=GROUP_NAME)
    meanings = (Meaning("at rest", CALM), Meaning("rebalancing", WARNING))
    return timeline("Rebalance under way", described("group_rebalancing"), query, meanings)


def rebalances() -> Panel:
    """How many generations were completed."""
    name = "group_rebalances_total"
    query = Query(expr=f"topk({MOST}, {summed(name, GROUP, increased(name, '5m'))})", legend=GROUP_NAME)
    return graph("Rebalances in 5 minutes", described(name), "short", query)


BOARD: Final = Board(
    uid=GROUP_UID,
    title="groupwatch: group",
    description="How far behind a group is, who owns what, what is wrong with it, and how it rebalances.",
    variables=(variables.clusters, variables.groups, variables.topics_of_groups, variables.page_address),
    bands=(
        Band(4, (behind_now, members_now, orphans_now, double_owned_now, drifted_now, imbalance_now)),
        Band(7, (open_findings, group_lag.status_over_time)),
        Band(8, (group_lag.lag, group_lag.lag_seconds), "Lag"),
        Band(8, (group_lag.partition_lag, group_lag.partition_lag_seconds)),
        Band(8, (group_lag.pace, group_lag.catch_up)),
        Band(8, (group_lag.retention, group_lag.lost_records, group_lag.failing_partitions)),
        Band(9, (group_lag.partitions,)),
        Band(9, (group_ownership.owners,), "Who owns what"),
        Band(8, (group_ownership.who_is_member,)),
        Band(8, (group_ownership.orphans, group_ownership.orphans_age)),
        Band(8, (group_ownership.drift, group_ownership.drift_age)),
        Band(8, (group_ownership.double_owned, group_ownership.imbalance, group_ownership.members)),
        Band(7, (state_over_time, rebalancing_over_time, rebalances), "Rebalances"),
        Band(
            8,
            (group_lag.lag_bytes, group_lag.partition_lag_bytes, group_lag.pace_bytes),
            "MetaQ, whose offsets are bytes",
        ),
    ),
    annotations=(marks.rebalances,),
)
