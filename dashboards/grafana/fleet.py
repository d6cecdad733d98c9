"""All clusters at a glance: what is wrong, which groups are furthest behind, and how all of them are."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import marks, variables
from dashboards.grafana.cluster_shares import clusters_read
from dashboards.grafana.findings import open_findings
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.panels import (
    Column,
    Panel,
    Query,
    graph,
    marked_from,
    stat,
    table,
    unmarked,
)
from dashboards.queries import GROUP, across, chosen, described, groups_with, once, since, summed, total
from monitor.metrics import specs
from monitor.metrics.promql import CLUSTER
from monitor.metrics.spec_types import MetricSpec
from monitor.model.dashboard_uids import FLEET_UID

TOP: Final = 10
"""So many groups are listed where only the first ones matter."""

_ORPHANED: Final = f"{summed(specs.GROUP_ORPHANED_PARTITIONS, GROUP)} > 0"
_BEHIND: Final = across(
    "max",
    GROUP,
    specs.GROUP_STATUS,
    f"{chosen(specs.GROUP_STATUS, status='warn')} == 1 or {chosen(specs.GROUP_STATUS, status='err')} == 1",
)

FINDINGS: Final = {
    "orphaned": "partitions without an owner",
    "unattended": "no members, records wait",
    "dead_member": "a silent member",
    "double_owned": "partitions with two owners",
    "drift": "other owners than expected",
    "imbalance": "uneven shares",
    "idle_members": "idle members",
    "lag": "stalled, stopped or behind",
    "uncommitted": "partitions never committed",
    "offsets": "committed offsets expired, will expire, or are below 0",
    "retention": "records lost, or about to be",
    "abandoned": "topics no longer read",
    "rebalance": "many or long rebalances",
    "transactions": "transactions without effect",
    "poison": "records that share groups do not accept",
    "unreadable_members": "members that cannot be read",
    "subscription": "subscribed topics that do not exist",
    "config_behind": "Connect workers behind on configurations",
    "skipped": "records passed without being read, or perhaps so",
    "capacity": "partitions with too much for one member",
    "expectation": "groups not as their teams expect",
}
"""All kinds of findings, as they are called here."""


def groups_known() -> Panel:
    """How many groups there are, whatever the verdict on each of them."""
    family = specs.CLUSTER_GROUPS
    return stat("Groups", described(family), "short", total(family), marked=unmarked())


def groups_orphaned() -> Panel:
    """How many groups have a partition without an owner."""
    description = described(specs.GROUP_ORPHANED_PARTITIONS)
    return stat("Groups with orphans", description, "short", groups_with(_ORPHANED), marked=marked_from(1))


def groups_behind() -> Panel:
    """How many groups are not OK by Burrow's rules."""
    return stat("Groups not OK", described(specs.GROUP_STATUS), "short", groups_with(_BEHIND), marked=marked_from(1))


def records_waiting() -> Panel:
    """All that waits for all groups."""
    family = specs.CLUSTER_LAG
    return stat("Lag", described(family), "short", total(family), marked=unmarked())


def oldest_waiting() -> Panel:
    """The age of what has waited longest for any group."""
    expr = f"max({chosen(specs.GROUP_LAG_SECONDS)})"
    return stat("Oldest unread record", described(specs.GROUP_LAG_SECONDS), "s", expr, marked=marked_from(300, 3600))


def findings() -> Panel:
    """How many groups have something wrong, by what it is."""
    description = (
        "Groups with a finding, by its kind. Look at the age before you act: a metadata refresh takes up to five "
        "minutes, a rebalance as long as the group's timeout."
    )
    queries = [Query(expr=_groups_with_finding(kind), legend=called) for kind, called in FINDINGS.items()]
    return graph("Groups with findings", description, "short", *queries, steps=True)


def findings_of_clusters() -> Panel:
    """How many findings are open, of all groups, by kind and reason."""
    query = Query(expr=summed(specs.CLUSTER_FINDINGS, ["kind", "reason"]), legend="{{kind}} {{reason}}")
    return graph("Open findings by reason", described(specs.CLUSTER_FINDINGS), "short", query, steps=True)


def problems() -> Panel:
    """How much of a group is concerned."""
    families = (specs.GROUP_ORPHANED_PARTITIONS, specs.GROUP_DOUBLE_OWNED_PARTITIONS, specs.GROUP_DRIFTED_PARTITIONS)
    return table(
        "Findings by kind",
        described(*families, specs.GROUP_DEAD_MEMBERS, specs.GROUP_FAILING_PARTITIONS, specs.GROUP_LOST_RECORDS),
        GROUP,
        Column("Orphaned", _ORPHANED, warn_from=1),
        Column("Two owners", f"{summed(specs.GROUP_DOUBLE_OWNED_PARTITIONS, GROUP)} > 0", warn_from=1),
        Column("Drifted", f"{summed(specs.GROUP_DRIFTED_PARTITIONS, GROUP)} > 0"),
        Column("Stop, stall, rewind", f"{summed(specs.GROUP_FAILING_PARTITIONS, GROUP)} > 0", warn_from=1),
        Column("Silent members", f"{summed(specs.GROUP_DEAD_MEMBERS, GROUP)} > 0", warn_from=1),
        Column("Lost records", f"{summed(specs.GROUP_LOST_RECORDS, GROUP)} > 0", warn_from=1),
    ).no_value("No group with such findings, or no data")


def top_lag() -> Panel:
    """The groups for which most records wait."""
    return _top("Largest lag", specs.GROUP_LAG, "Lag", "short")


def top_lag_seconds() -> Panel:
    """The groups that are furthest behind in time."""
    return _top("Longest time lag", specs.GROUP_LAG_SECONDS, "Behind", "s")


def top_lag_bytes() -> Panel:
    """The groups of MetaQ for which most bytes wait."""
    return _top("Largest lag in bytes (MetaQ)", specs.GROUP_LAG_BYTES, "Lag", "bytes").no_value(
        "No lag in bytes, or no data"
    )


def top_retention() -> Panel:
    """The groups that are next to lose records to retention."""
    return _top("Closest to losing records", specs.GROUP_RETENTION_RATIO, "Share of retained records", "percentunit")


def lag_of_clusters() -> Panel:
    """Records that wait for all groups, cluster by cluster: each shard reports those of its own groups."""
    query = Query(expr=summed(specs.CLUSTER_LAG, CLUSTER), legend="{{cluster}}")
    return graph("Lag", described(specs.CLUSTER_LAG), "short", query)


def lag_seconds_of_clusters() -> Panel:
    """The oldest record that waits, cluster by cluster."""
    query = Query(expr=across("max", CLUSTER, specs.GROUP_LAG_SECONDS), legend="{{cluster}}")
    return graph("Oldest unread record", described(specs.GROUP_LAG_SECONDS), "s", query)


def by_state() -> Panel:
    """How many groups are in which state: all of the cluster, whatever the verdict on each of them."""
    query = Query(expr=summed(specs.CLUSTER_GROUPS, ["state"]), legend="{{state}}")
    return graph("Groups by state", described(specs.CLUSTER_GROUPS), "short", query, steps=True)


def by_status() -> Panel:
    """How many groups have which of Burrow's statuses."""
    return _counted("Groups by status", specs.GROUP_STATUS, "status", f"{chosen(specs.GROUP_STATUS)} == 1")


def by_kind() -> Panel:
    """How many groups are of which kind."""
    return _counted("Groups by kind", specs.GROUP_INFO, "kind", chosen(specs.GROUP_INFO))


def by_library() -> Panel:
    """How many members use which client library."""
    query = Query(expr=summed(specs.CLIENT_LIBRARY_MEMBERS, ["library"]), legend="{{library}}")
    return graph("Members by client library", described(specs.CLIENT_LIBRARY_MEMBERS), "short", query, steps=True)


def clusters() -> Panel:
    """The clusters, with how much there is and how old these numbers are."""
    return table(
        "Clusters",
        "The clusters that groupwatch reads. The other numbers of a cluster are as old as its evaluation. Where "
        "several jobs share the groups, a cluster is readable and ready if it is to all of them.",
        CLUSTER,
        Column("Groups", summed(specs.CLUSTER_GROUPS, CLUSTER)),
        Column("Readable", across("min", CLUSTER, specs.UP), "bool_yes_no"),
        Column("Ready", across("min", CLUSTER, specs.READY), "bool_yes_no"),
        Column(
            "Judged",
            across(
                "max", CLUSTER, specs.LAST_EVALUATION_TIMESTAMP_SECONDS, since(specs.LAST_EVALUATION_TIMESTAMP_SECONDS)
            ),
            "s",
            warn_from=120,
        ),
        Column("Members", summed(specs.GROUP_MEMBERS, CLUSTER)),
        Column("Lag", summed(specs.CLUSTER_LAG, CLUSTER)),
    )


BOARD: Final = Board(
    uid=FLEET_UID,
    title="groupwatch: fleet",
    description="All consumer groups of all clusters: findings and lag.",
    variables=(variables.clusters, variables.groups, variables.page_address),
    bands=(
        Band(4, (clusters_read, groups_known, groups_orphaned, groups_behind, records_waiting, oldest_waiting)),
        Band(9, (open_findings, problems), "Findings"),
        Band(8, (findings, findings_of_clusters, by_status)),
        Band(9, (top_lag, top_lag_seconds), "Lag"),
        Band(8, (top_retention, top_lag_bytes)),
        Band(8, (lag_of_clusters, lag_seconds_of_clusters)),
        Band(8, (by_state, by_kind, by_library), "Inventory"),
        Band(6, (clusters,)),
    ),
    annotations=(marks.alerts,),
)


def _groups_with_finding(kind: str) -> str:
    return groups_with(across("max", GROUP, specs.GROUP_FINDINGS, chosen(specs.GROUP_FINDINGS, kind=kind)))


def _top(title: str, family: MetricSpec, heading: str, unit: str) -> Panel:
    """The groups with the largest values above 0."""
    expr = f"topk({TOP}, {across('max', GROUP, family)} > 0)"
    return table(title, family.help, GROUP, Column(heading, expr, unit)).no_value("No group with lag, or no data")


def _counted(title: str, family: MetricSpec, label: str, expr: str) -> Panel:
    query = Query(expr=across("count", [label], family, once(family, expr)), legend=f"{{{{{label}}}}}")
    return graph(title, family.help, "short", query, steps=True)
