"""One group, or a few: how far behind, who owns what, what is wrong with it, and how it rebalances."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import group_connect, group_lag, group_ownership, group_shared, marks, variables
from dashboards.grafana.findings import open_findings
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.lines import GROUP_NAME
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
from dashboards.queries import GROUP, chosen, described, increased, numbered, summed, total
from monitor.metrics import specs
from monitor.model.dashboard_uids import GROUP_UID

STATES: Final = (
    Meaning("commits only", NEUTRAL),
    Meaning("empty", BAD),
    Meaning("not ready", BAD),
    Meaning("assigning", WARNING),
    Meaning("reconciling", "yellow"),
    Meaning("stable", CALM),
)
"""The label of each of monitor.metrics.render.STATES, in their order."""


def members_now() -> Panel:
    """How many members there are."""
    expr = total(specs.GROUP_MEMBERS)
    return stat("Members", described(specs.GROUP_MEMBERS), "short", expr, marked=unmarked())


def orphans_now() -> Panel:
    """How many partitions have no owner."""
    family = specs.GROUP_ORPHANED_PARTITIONS
    return stat("Orphaned partitions", described(family), "short", total(family), marked=marked_from(1))


def double_owned_now() -> Panel:
    """How many partitions have two owners."""
    family = specs.GROUP_DOUBLE_OWNED_PARTITIONS
    return stat("With two owners", described(family), "short", total(family), marked=marked_from(1))


def drifted_now() -> Panel:
    """How many partitions have another owner than expected."""
    family = specs.GROUP_DRIFTED_PARTITIONS
    return stat("Drifted partitions", described(family), "short", total(family), marked=marked_from(1))


def imbalance_now() -> Panel:
    """How much more than needed the largest member has."""
    family = specs.GROUP_IMBALANCE_RATIO
    return stat("Imbalance", described(family), "none", f"max({chosen(family)})", marked=marked_from(1.5, 2))


def behind_now() -> Panel:
    """How old what waits is."""
    family = specs.GROUP_LAG_SECONDS
    return stat("Behind", described(family), "s", f"max({chosen(family)})", marked=marked_from(300, 3600))


def state_over_time() -> Panel:
    """The state of each group, over time: what is neither stable nor empty is a rebalance."""
    states = ["offsets_only", "empty", "not_ready", "assigning", "reconciling", "stable"]
    query = Query(expr=f"bottomk({MOST}, {numbered(specs.GROUP_STATE, 'state', states)})", legend=GROUP_NAME)
    return timeline("State", described(specs.GROUP_STATE), query, STATES)


def rebalancing_over_time() -> Panel:
    """When each group was rebalancing."""
    query = Query(expr=f"topk({MOST}, {summed(specs.GROUP_REBALANCING, GROUP)})", legend=GROUP_NAME)
    meanings = (Meaning("at rest", CALM), Meaning("rebalancing", WARNING))
    return timeline("Rebalance in progress", described(specs.GROUP_REBALANCING), query, meanings)


def rebalances() -> Panel:
    """How many generations were completed."""
    family = specs.GROUP_REBALANCES_TOTAL
    query = Query(expr=f"topk({MOST}, {summed(family, GROUP, increased(family, '5m'))})", legend=GROUP_NAME)
    return graph("Rebalances in 5 minutes", described(family), "short", query)


BOARD: Final = Board(
    uid=GROUP_UID,
    title="groupwatch: group",
    description="Lag, owners, findings and rebalances of one group.",
    variables=(variables.clusters, variables.groups, variables.topics_of_groups, variables.page_address),
    bands=(
        Band(4, (behind_now, members_now, orphans_now, double_owned_now, drifted_now, imbalance_now)),
        Band(7, (open_findings, group_lag.status_over_time)),
        Band(8, (group_lag.lag, group_lag.lag_seconds), "Lag"),
        Band(8, (group_lag.partition_lag, group_lag.partition_lag_seconds)),
        Band(8, (group_lag.pace, group_lag.catch_up)),
        Band(8, (group_lag.retention, group_lag.lost_records, group_lag.failing_partitions)),
        Band(9, (group_lag.partitions,)),
        Band(9, (group_ownership.owners,), "Owners"),
        Band(8, (group_ownership.who_is_member,)),
        Band(8, (group_ownership.orphans, group_ownership.orphans_age)),
        Band(8, (group_ownership.drift, group_ownership.drift_age)),
        Band(8, (group_ownership.double_owned, group_ownership.imbalance, group_ownership.members)),
        Band(8, (group_ownership.tasks, group_ownership.task_imbalance)),
        Band(7, (state_over_time, rebalancing_over_time, rebalances), "Rebalances"),
        Band(8, (group_shared.redelivery, group_shared.deliveries), "Share groups"),
        Band(8, (group_shared.outcomes, group_shared.silence)),
        Band(
            8,
            (group_connect.connect_tasks, group_connect.connect_idle_tasks, group_connect.connect_delay),
            "Kafka Connect",
        ),
        Band(
            8,
            (group_lag.lag_bytes, group_lag.partition_lag_bytes, group_lag.pace_bytes),
            "MetaQ, whose offsets are bytes",
        ),
    ),
    annotations=(marks.rebalances,),
)
