"""All clusters at a glance: what is wrong, which groups are furthest behind, and how all of them are."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import variables
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
from dashboards.queries import CLUSTER, GROUP, across, chosen, described, groups_with, since, spec_of, summed

TOP: Final = 10
"""So many groups are listed where only the first ones matter."""

_ORPHANED: Final = f"{summed('group_orphaned_partitions', GROUP)} > 0"
_BEHIND: Final = f"{chosen('group_status', status='warn')} == 1 or {chosen('group_status', status='err')} == 1"

FINDINGS: Final = {
    "orphaned": "partitions without an owner",
    "unattended": "no members, records wait",
    "dead_member": "a silent member",
    "double_owned": "partitions with two owners",
    "drift": "other owners than expected",
    "imbalance": "uneven shares",
    "idle_members": "idle members",
    "lag": "stalled, stopped or behind",
    "retention": "records lost, or about to be",
    "abandoned": "topics no longer read",
    "rebalance": "many or long rebalances",
    "unreadable_members": "members that cannot be read",
}
"""All kinds of findings, as they are called here."""


def groups_known() -> Panel:
    """How many groups there are, whatever is said of each of them."""
    name = "cluster_groups"
    return stat("Groups", described(name), "short", f"sum({chosen(name)})", marked=unmarked())


def groups_orphaned() -> Panel:
    """How many groups have a partition that nobody owns."""
    description = described("group_orphaned_partitions")
    return stat("Groups with orphans", description, "short", groups_with(_ORPHANED), marked=marked_from(1))


def groups_behind() -> Panel:
    """How many groups are not OK by Burrow's rules."""
    return stat("Groups not OK", described("group_status"), "short", groups_with(_BEHIND), marked=marked_from(1))


def records_waiting() -> Panel:
    """All that waits for all groups."""
    name = "cluster_lag"
    return stat("Records waiting", described(name), "short", f"sum({chosen(name)})", marked=unmarked())


def oldest_waiting() -> Panel:
    """The age of what has waited longest for any group."""
    expr = f"max({chosen('group_lag_seconds')})"
    return stat("Oldest record waiting", described("group_lag_seconds"), "s", expr, marked=marked_from(300, 3600))


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
    query = Query(expr=summed("cluster_findings", ["kind", "reason"]), legend="{{kind}} {{reason}}")
    return graph("Open findings by reason", described("cluster_findings"), "short", query, steps=True)


def problems() -> Panel:
    """How much of a group is concerned."""
    names = ("group_orphaned_partitions", "group_double_owned_partitions", "group_drifted_partitions")
    return table(
        "How much is wrong",
        described(*names, "group_dead_members", "group_failing_partitions", "group_lost_records"),
        GROUP,
        Column("Orphaned", _ORPHANED, warn_from=1),
        Column("Two owners", f"{summed('group_double_owned_partitions', GROUP)} > 0", warn_from=1),
        Column("Drifted", f"{summed('group_drifted_partitions', GROUP)} > 0"),
        Column("Stop, stall, rewind", f"{summed('group_failing_partitions', GROUP)} > 0", warn_from=1),
        Column("Silent members", f"{summed('group_dead_members', GROUP)} > 0", warn_from=1),
        Column("Lost records", f"{summed('group_lost_records', GROUP)} > 0", warn_from=1),
    )


def top_lag() -> Panel:
    """The groups for which most records wait."""
    return _top("Most records waiting", "group_lag", "Lag", "short")


def top_lag_seconds() -> Panel:
    """The groups that are furthest behind in time."""
    return _top("Longest behind", "group_lag_seconds", "Behind", "s")


def top_lag_bytes() -> Panel:
    """The groups of MetaQ for which most bytes wait."""
    return _top("Most bytes waiting (MetaQ)", "group_lag_bytes", "Lag", "bytes")


def top_retention() -> Panel:
    """The groups that are next to lose records to retention."""
    return _top("Nearest to losing records", "group_retention_ratio", "Share of what is kept", "percentunit")


def lag_of_clusters() -> Panel:
    """Records that wait for all groups, cluster by cluster: each shard tells what waits for its own."""
    query = Query(expr=summed("cluster_lag", CLUSTER), legend="{{cluster}}")
    return graph("Records waiting", described("cluster_lag"), "short", query)


def lag_seconds_of_clusters() -> Panel:
    """The oldest record that waits, cluster by cluster."""
    query = Query(expr=across("max", CLUSTER, "group_lag_seconds"), legend="{{cluster}}")
    return graph("Oldest record waiting", described("group_lag_seconds"), "s", query)


def by_state() -> Panel:
    """How many groups are in which state: all of the cluster, whatever is said of each of them."""
    query = Query(expr=summed("cluster_groups", ["state"]), legend="{{state}}")
    return graph("Groups by state", described("cluster_groups"), "short", query, steps=True)


def by_status() -> Panel:
    """How many groups have which of Burrow's statuses."""
    return _counted("Groups by status", "group_status", "status", f"{chosen('group_status')} == 1")


def by_kind() -> Panel:
    """How many groups are of which kind."""
    return _counted("Groups by kind", "group_info", "kind", chosen("group_info"))


def clusters() -> Panel:
    """The clusters, with how much there is and how old these numbers are."""
    return table(
        "Clusters",
        "The clusters that groupwatch reads. The other numbers of a cluster are as old as its evaluation. Where "
        "several jobs share the groups, a cluster is readable and ready if it is to all of them.",
        CLUSTER,
        Column("Groups", summed("cluster_groups", CLUSTER)),
        Column("Readable", across("min", CLUSTER, "up"), "bool_yes_no"),
        Column("Ready", across("min", CLUSTER, "ready"), "bool_yes_no"),
        Column(
            "Judged",
            across("max", CLUSTER, "last_evaluation_timestamp_seconds", since("last_evaluation_timestamp_seconds")),
            "s",
            warn_from=120,
        ),
        Column("Members", summed("group_members", CLUSTER)),
        Column("Records waiting", summed("cluster_lag", CLUSTER)),
    )


BOARD: Final = Board(
    uid="groupwatch",
    title="groupwatch: fleet",
    description="All consumer groups of all clusters: what is wrong, who is behind.",
    variables=(variables.clusters, variables.groups, variables.page_address),
    bands=(
        Band(4, (clusters_read, groups_known, groups_orphaned, groups_behind, records_waiting, oldest_waiting)),
        Band(9, (open_findings, problems), "What is wrong"),
        Band(8, (findings, findings_of_clusters, by_status)),
        Band(9, (top_lag, top_lag_seconds), "Who is behind"),
        Band(8, (top_retention, top_lag_bytes)),
        Band(8, (lag_of_clusters, lag_seconds_of_clusters)),
        Band(8, (by_state, by_kind), "What there is"),
        Band(6, (clusters,)),
    ),
)


def _groups_with_finding(kind: str) -> str:
    return groups_with(across("max", GROUP, "group_findings", chosen("group_findings", kind=kind)))


def _top(title: str, name: str, heading: str, unit: str) -> Panel:
    """The groups with the largest values above 0."""
    expr = f"topk({TOP}, {across('max', GROUP, name)} > 0)"
    return table(title, spec_of(name).help, GROUP, Column(heading, expr, unit))


def _counted(title: str, name: str, label: str, expr: str) -> Panel:
    query = Query(expr=across("count", [label], name, expr), legend=f"{{{{{label}}}}}")
    return graph(title, spec_of(name).help, "short", query, steps=True)
