"""Who owns the partitions of a group, who should, and which have no owner."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.lines import GROUP_NAME, counts, lag_of_partitions, most, of_groups
from dashboards.grafana.panels import MOST, ROWS, Column, Panel, Query, graph, table
from dashboards.queries import GROUP, PARTITION, across, described, renamed, summed
from monitor.metrics import specs

_NO_STREAMS: Final = "No groups of Kafka Streams, or no data"

_ON: Final = ", ".join(PARTITION)


def owners() -> Panel:
    """Who owns partitions and who should: first those of which that differs, then those with most lag."""
    expected = renamed(specs.PARTITION_EXPECTED_OWNER_INFO, PARTITION, "member_id", "expected")
    judged = f"({_owners()} * on ({_ON}) group_left (expected) {expected} or on ({_ON}) {expected})"
    same = across("max", (*PARTITION, "member_id"), specs.PARTITION_EXPECTED_OWNER_INFO)
    differing = f"0 * ({judged} and on ({_ON}, member_id) {same}) or {judged}"
    known = f"({judged} or on ({_ON}) {_owners()})"
    return table(
        "Owners and expected owners",
        described(specs.PARTITION_OWNER_INFO, specs.PARTITION_EXPECTED_OWNER_INFO),
        (*PARTITION, "client_id", "host", "member_id", "expected"),
        Column("Differs", f"topk({ROWS}, {differing})", "bool_yes_no", warn_from=1),
        Column("Lag", f"{known} * on ({_ON}) group_left () topk({ROWS}, {lag_of_partitions()})"),
    ).no_value("No owners, or metrics.owner_info is not set")


def who_is_member() -> Panel:
    """The members, and how much each of them owns."""
    labels = (*GROUP, "client_id", "host", "member_id")
    lag = f"{_owners()} * on ({_ON}) group_left () {lag_of_partitions()}"
    return table(
        "Member details",
        described(specs.MEMBER_INFO, specs.PARTITION_OWNER_INFO),
        labels,
        Column("Lag of its partitions", summed(specs.PARTITION_OWNER_INFO, labels, lag)),
        Column("Owns", across("count", labels, specs.PARTITION_OWNER_INFO, _owners())),
        Column("Listed", across("max", labels, specs.MEMBER_INFO), "bool_yes_no"),
    ).no_value("No members, or metrics.member_info is not set")


def orphans() -> Panel:
    """Partitions without an owner, by reason."""
    return counts("Orphaned partitions by reason", specs.GROUP_ORPHANED_PARTITIONS, "reason")


def orphans_age() -> Panel:
    """How long the oldest orphan has had no owner, and how long records have waited where there are no members."""
    return graph(
        "Oldest orphan",
        described(specs.GROUP_ORPHANED_OLDEST_SECONDS, specs.GROUP_UNATTENDED_SECONDS),
        "s",
        Query(expr=most(specs.GROUP_ORPHANED_OLDEST_SECONDS), legend=GROUP_NAME),
        Query(expr=most(specs.GROUP_UNATTENDED_SECONDS), legend=f"{GROUP_NAME} without members"),
    )


def drift() -> Panel:
    """Partitions with another owner than the assignor gives, by expectation."""
    return counts("Drifted partitions by kind", specs.GROUP_DRIFTED_PARTITIONS, "kind")


def drift_age() -> Panel:
    """How long owners have been others than expected, by expectation."""
    family = specs.GROUP_DRIFT_OLDEST_SECONDS
    query = Query(expr=f"topk({MOST}, {across('max', (*GROUP, 'kind'), family)})", legend=f"{GROUP_NAME} {{{{kind}}}}")
    return graph("Oldest drift", described(family), "s", query)


def double_owned() -> Panel:
    """Partitions with more than one owner."""
    return of_groups("Partitions with two owners", "short", specs.GROUP_DOUBLE_OWNED_PARTITIONS, steps=True)


def imbalance() -> Panel:
    """1 is the best that any assignment could reach."""
    return of_groups("Imbalance", "none", specs.GROUP_IMBALANCE_RATIO, steps=True)


def tasks() -> Panel:
    """The tasks of Kafka Streams, and those of them that do not run."""
    return graph(
        "Tasks",
        described(specs.GROUP_TASKS, specs.GROUP_ORPHANED_TASKS),
        "short",
        Query(expr=most(specs.GROUP_TASKS), legend=GROUP_NAME),
        Query(expr=f"{most(specs.GROUP_ORPHANED_TASKS)} > 0", legend=f"{GROUP_NAME} not running"),
        steps=True,
    ).no_value(_NO_STREAMS)


def task_imbalance() -> Panel:
    """1 or less is the best that the threads of the instances allow."""
    return of_groups("Task imbalance", "none", specs.GROUP_TASK_IMBALANCE_RATIO, steps=True).no_value(_NO_STREAMS)


def members() -> Panel:
    """Members, and those of them that own nothing, do nothing or cannot be decoded."""
    return graph(
        "Members",
        described(
            specs.GROUP_MEMBERS, specs.GROUP_IDLE_MEMBERS, specs.GROUP_DEAD_MEMBERS, specs.GROUP_UNREADABLE_MEMBERS
        ),
        "short",
        Query(expr=most(specs.GROUP_MEMBERS), legend=GROUP_NAME),
        Query(expr=f"{most(specs.GROUP_IDLE_MEMBERS)} > 0", legend=f"{GROUP_NAME} idle"),
        Query(expr=f"{most(specs.GROUP_DEAD_MEMBERS)} > 0", legend=f"{GROUP_NAME} silent"),
        Query(expr=f"{most(specs.GROUP_UNREADABLE_MEMBERS)} > 0", legend=f"{GROUP_NAME} unreadable"),
        steps=True,
    )


def _owners() -> str:
    """1 for each owner of each partition."""
    return across("max", (*PARTITION, "client_id", "host", "member_id"), specs.PARTITION_OWNER_INFO)
