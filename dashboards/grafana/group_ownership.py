"""Who owns the partitions of a group, who should, and what nobody owns."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.lines import GROUP_NAME, counts, lag_of_partitions, most, of_groups
from dashboards.grafana.panels import MOST, ROWS, Column, Panel, Query, graph, table
from dashboards.queries import GROUP, PARTITION, across, described, renamed, summed

_ON: Final = ", ".join(PARTITION)


def owners() -> Panel:
    """Who owns partitions and who should: first those of which that differs, then those with most lag."""
    expected = renamed("partition_expected_owner_info", PARTITION, "member_id", "expected")
    judged = f"({_owners()} * on ({_ON}) group_left (expected) {expected} or on ({_ON}) {expected})"
    same = across("max", (*PARTITION, "member_id"), "partition_expected_owner_info")
    differing = f"0 * ({judged} and on ({_ON}, member_id) {same}) or {judged}"
    known = f"({judged} or on ({_ON}) {_owners()})"
    return table(
        "Who owns what, and who should",
        described("partition_owner_info", "partition_expected_owner_info"),
        (*PARTITION, "client_id", "host", "member_id", "expected"),
        Column("Differs", f"topk({ROWS}, {differing})", "bool_yes_no", warn_from=1),
        Column("Lag", f"{known} * on ({_ON}) group_left () topk({ROWS}, {lag_of_partitions()})"),
    )


def who_is_member() -> Panel:
    """The members, and how much each of them owns."""
    labels = (*GROUP, "client_id", "host", "member_id")
    lag = f"{_owners()} * on ({_ON}) group_left () {lag_of_partitions()}"
    return table(
        "Who the members are",
        described("member_info", "partition_owner_info"),
        labels,
        Column("Lag of what it owns", summed("partition_owner_info", labels, lag)),
        Column("Owns", across("count", labels, "partition_owner_info")),
        Column("Listed", across("max", labels, "member_info"), "bool_yes_no"),
    )


def orphans() -> Panel:
    """Partitions nobody owns, by reason."""
    return counts("Orphaned partitions by reason", "group_orphaned_partitions", "reason")


def orphans_age() -> Panel:
    """How long the oldest orphan has had no owner, and how long records have waited where there are no members."""
    return graph(
        "Oldest orphan",
        described("group_orphaned_oldest_seconds", "group_unattended_seconds"),
        "s",
        Query(expr=most("group_orphaned_oldest_seconds"), legend=GROUP_NAME),
        Query(expr=most("group_unattended_seconds"), legend=f"{GROUP_NAME} without members"),
    )


def drift() -> Panel:
    """Partitions with another owner than the assignor gives, by expectation."""
    return counts("Drifted partitions by kind", "group_drifted_partitions", "kind")


def drift_age() -> Panel:
    """How long owners have been others than expected, by expectation."""
    name = "group_drift_oldest_seconds"
    query = Query(expr=f"topk({MOST}, {across('max', (*GROUP, 'kind'), name)})", legend=f"{GROUP_NAME} {{{{kind}}}}")
    return graph("Oldest drift", described(name), "s", query)


def double_owned() -> Panel:
    """Partitions with more than one owner."""
    return of_groups("Partitions with two owners", "short", "group_double_owned_partitions", steps=True)


def imbalance() -> Panel:
    """1 is the best that any assignment could reach."""
    return of_groups("Imbalance", "none", "group_imbalance_ratio", steps=True)


def members() -> Panel:
    """Members, and those of them that own nothing, do nothing or cannot be decoded."""
    return graph(
        "Members",
        described("group_members", "group_idle_members", "group_dead_members", "group_unreadable_members"),
        "short",
        Query(expr=most("group_members"), legend=GROUP_NAME),
        Query(expr=f"{most('group_idle_members')} > 0", legend=f"{GROUP_NAME} idle"),
        Query(expr=f"{most('group_dead_members')} > 0", legend=f"{GROUP_NAME} silent"),
        Query(expr=f"{most('group_unreadable_members')} > 0", legend=f"{GROUP_NAME} unreadable"),
        steps=True,
    )


def _owners() -> str:
    """1 for each owner of each partition."""
    return across("max", (*PARTITION, "client_id", "host", "member_id"), "partition_owner_info")
