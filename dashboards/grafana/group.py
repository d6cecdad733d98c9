"""One group, or a few: how far behind, who owns what, what is wrong with it, and how it rebalances."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import marks, variables
from dashboards.grafana.findings import open_findings
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.links import GROUP_UID
from dashboards.grafana.panels import (
    BAD,
    CALM,
    MOST,
    NEUTRAL,
    ROWS,
    WARNING,
    Column,
    Meaning,
    Panel,
    Query,
    graph,
    marked_from,
    stat,
    table,
    timeline,
    unmarked,
)
from dashboards.queries import (
    GROUP,
    PARTITION,
    across,
    chosen,
    described,
    increased,
    numbered,
    renamed,
    summed,
)

_GROUP: Final = "{{cluster}} {{group}}"
_ON: Final = ", ".join(PARTITION)
_PARTITION: Final = "{{cluster}} {{group}} {{topic}} {{partition}}"

STATES: Final = (
    Meaning("commits only", NEUTRAL),
    Meaning("empty", BAD),
    Meaning("assigning", WARNING),
    Meaning("reconciling", "yellow"),
    Meaning("stable", CALM),
)
"""What stands for each of monitor.metrics.render.STATES, in their order."""

STATUSES: Final = (Meaning("OK", CALM), Meaning("WARN", WARNING), Meaning("ERR", BAD))
"""What stands for each of monitor.metrics.render.STATUSES, in their order."""


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


def lag() -> Panel:
    """Records that wait, group by group, and without those behind open transactions."""
    return graph(
        "Lag",
        described("group_lag", "group_stable_lag"),
        "short",
        Query(expr=_most("group_lag"), legend=_GROUP),
        Query(expr=_most("group_stable_lag"), legend=f"{_GROUP} outside open transactions"),
    )


def lag_seconds() -> Panel:
    """The age of the oldest record that waits, group by group; or how old it is at least."""
    return graph(
        "Lag in time",
        described("group_lag_seconds", "group_lag_at_least_seconds"),
        "s",
        Query(expr=_most("group_lag_seconds"), legend=_GROUP),
        Query(expr=_most("group_lag_at_least_seconds"), legend=f"{_GROUP} at least"),
    )


def partition_lag() -> Panel:
    """Records that wait, in the partitions with most of them."""
    return _of_partitions("Lag of partitions", "short", "partition_lag")


def partition_lag_seconds() -> Panel:
    """The age of the oldest record that waits, in the partitions that are furthest behind."""
    return _of_partitions("Lag of partitions in time", "s", "partition_lag_seconds")


def lag_bytes() -> Panel:
    """Bytes that wait, group by group, and in the partitions with most of them."""
    return _of_groups("Lag in bytes (MetaQ)", "bytes", "group_lag_bytes")


def partition_lag_bytes() -> Panel:
    """Bytes that wait, in the partitions with most of them."""
    return _of_partitions("Lag of partitions in bytes (MetaQ)", "bytes", "partition_lag_bytes")


def pace() -> Panel:
    """Whether the group keeps up."""
    return graph(
        "Read and written where records wait",
        described("group_consumed_records_per_second", "group_produced_records_per_second"),
        "cps",
        Query(expr=_most("group_consumed_records_per_second"), legend=f"{_GROUP} read"),
        Query(expr=_most("group_produced_records_per_second"), legend=f"{_GROUP} written"),
    )


def pace_bytes() -> Panel:
    """The same of MetaQ, whose offsets are bytes."""
    return graph(
        "Read and written where bytes wait (MetaQ)",
        described("group_consumed_bytes_per_second", "group_produced_bytes_per_second"),
        "Bps",
        Query(expr=_most("group_consumed_bytes_per_second"), legend=f"{_GROUP} read"),
        Query(expr=_most("group_produced_bytes_per_second"), legend=f"{_GROUP} written"),
    )


def catch_up() -> Panel:
    """When the group will have read what waits."""
    return _of_groups("Time to catch up", "s", "group_catch_up_seconds")


def retention() -> Panel:
    """How near the group is to losing records."""
    return _of_groups("Share of what is kept that waits", "percentunit", "group_retention_ratio")


def lost_records() -> Panel:
    """What retention took before the group read it, in the partitions that lost most."""
    return graph(
        "Lost records",
        described("group_lost_records", "partition_lost_records"),
        "short",
        Query(expr=_most("group_lost_records"), legend=_GROUP),
        Query(expr=_most("partition_lost_records"), legend=_PARTITION),
        steps=True,
    )


def status_over_time() -> Panel:
    """Burrow's status of each group, over time."""
    status = numbered("group_status", "status", ["ok", "warn", "err"])
    query = Query(expr=f"topk({MOST}, {status})", legend=_GROUP)
    return timeline("Status", described("group_status"), query, STATUSES)


def failing_partitions() -> Panel:
    """In how many partitions Burrow's rules see something wrong."""
    return _counts("Partitions that stop, stall or rewind", "group_failing_partitions", "status")


def partitions() -> Panel:
    """Where the partitions stand in which most waits."""
    return table(
        f"The {ROWS} partitions with most lag",
        described("partition_lag", "partition_lag_seconds", "partition_lag_bytes", "partition_committed_offset"),
        PARTITION,
        Column("Lag", _of_rows("partition_lag")),
        Column("Lag in time", _of_rows("partition_lag_seconds"), "s", warn_from=300),
        Column("Lag in bytes (MetaQ)", _of_rows("partition_lag_bytes"), "bytes"),
        Column("Committed", _of_rows("partition_committed_offset")),
    )


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
        Column("Lag", f"{known} * on ({_ON}) group_left () topk({ROWS}, {_lag()})"),
    )


def who_is_member() -> Panel:
    """The members, and how much each of them owns."""
    labels = (*GROUP, "client_id", "host", "member_id")
    lag = f"{_owners()} * on ({_ON}) group_left () {_lag()}"
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
    return _counts("Orphaned partitions by reason", "group_orphaned_partitions", "reason")


def orphans_age() -> Panel:
    """How long the oldest orphan has had no owner, and how long records have waited where there are no members."""
    return graph(
        "Oldest orphan",
        described("group_orphaned_oldest_seconds", "group_unattended_seconds"),
        "s",
        Query(expr=_most("group_orphaned_oldest_seconds"), legend=_GROUP),
        Query(expr=_most("group_unattended_seconds"), legend=f"{_GROUP} without members"),
    )


def drift() -> Panel:
    """Partitions with another owner than the assignor gives, by expectation."""
    return _counts("Drifted partitions by kind", "group_drifted_partitions", "kind")


def drift_age() -> Panel:
    """How long owners have been others than expected, by expectation."""
    name = "group_drift_oldest_seconds"
    query = Query(expr=f"topk({MOST}, {across('max', (*GROUP, 'kind'), name)})", legend=f"{_GROUP} {{{{kind}}}}")
    return graph("Oldest drift", described(name), "s", query)


def double_owned() -> Panel:
    """Partitions with more than one owner."""
    return _of_groups("Partitions with two owners", "short", "group_double_owned_partitions", steps=True)


def imbalance() -> Panel:
    """1 is the best that any assignment could reach."""
    return _of_groups("Imbalance", "none", "group_imbalance_ratio", steps=True)


def members() -> Panel:
    """Members, and those of them that own nothing or do nothing."""
    return graph(
        "Members",
        described("group_members", "group_idle_members", "group_dead_members"),
        "short",
        Query(expr=_most("group_members"), legend=_GROUP),
        Query(expr=f"{_most('group_idle_members')} > 0", legend=f"{_GROUP} idle"),
        Query(expr=f"{_most('group_dead_members')} > 0", legend=f"{_GROUP} silent"),
        steps=True,
    )


def state_over_time() -> Panel:
    """The state of each group, over time: what is neither stable nor empty is a rebalance."""
    states = ["offsets_only", "empty", "assigning", "reconciling", "stable"]
    query = Query(expr=f"bottomk({MOST}, {numbered('group_state', 'state', states)})", legend=_GROUP)
    return timeline("State", described("group_state"), query, STATES)


def rebalancing_over_time() -> Panel:
    """When each group was rebalancing."""
    query = Query(expr=f"topk({MOST}, {summed('group_rebalancing', GROUP)})", legend=_GROUP)
    meanings = (Meaning("at rest", CALM), Meaning("rebalancing", WARNING))
    return timeline("Rebalance under way", described("group_rebalancing"), query, meanings)


def rebalances() -> Panel:
    """How many generations were completed."""
    name = "group_rebalances_total"
    query = Query(expr=f"topk({MOST}, {summed(name, GROUP, increased(name, '5m'))})", legend=_GROUP)
    return graph("Rebalances in 5 minutes", described(name), "short", query)


BOARD: Final = Board(
    uid=GROUP_UID,
    title="groupwatch: group",
    description="How far behind a group is, who owns what, what is wrong with it, and how it rebalances.",
    variables=(variables.clusters, variables.groups, variables.topics_of_groups, variables.page_address),
    bands=(
        Band(4, (behind_now, members_now, orphans_now, double_owned_now, drifted_now, imbalance_now)),
        Band(7, (open_findings, status_over_time)),
        Band(8, (lag, lag_seconds), "Lag"),
        Band(8, (partition_lag, partition_lag_seconds)),
        Band(8, (pace, catch_up)),
        Band(8, (retention, lost_records, failing_partitions)),
        Band(9, (partitions,)),
        Band(9, (owners,), "Who owns what"),
        Band(8, (who_is_member,)),
        Band(8, (orphans, orphans_age)),
        Band(8, (drift, drift_age)),
        Band(8, (double_owned, imbalance, members)),
        Band(7, (state_over_time, rebalancing_over_time, rebalances), "Rebalances"),
        Band(8, (lag_bytes, partition_lag_bytes, pace_bytes), "MetaQ, whose offsets are bytes"),
    ),
    annotations=(marks.rebalances,),
)


def _of_groups(title: str, unit: str, name: str, *, steps: bool = False) -> Panel:
    return graph(title, described(name), unit, Query(expr=_most(name), legend=_GROUP), steps=steps)


def _of_partitions(title: str, unit: str, name: str) -> Panel:
    return graph(title, described(name), unit, Query(expr=_most(name), legend=_PARTITION))


def _most(name: str) -> str:
    """The largest series of a family, at each moment."""
    return f"topk({MOST}, {chosen(name)})"


def _of_rows(name: str) -> str:
    """The values of a family for the partitions with most lag. A partition has a lag in records or in bytes."""
    return f"{across('max', PARTITION, name)} and topk({ROWS}, {_lag()})"


def _lag() -> str:
    """The lag of each partition, in records or in bytes."""
    return across("max", PARTITION, "partition_lag", f"{chosen('partition_lag')} or {chosen('partition_lag_bytes')}")


def _owners() -> str:
    """1 for each owner of each partition."""
    return across("max", (*PARTITION, "client_id", "host", "member_id"), "partition_owner_info")


def _counts(title: str, name: str, label: str) -> Panel:
    """Counts above 0, by group and one more label."""
    expr = f"{summed(name, (*GROUP, label))} > 0"
    return graph(title, described(name), "short", Query(expr=expr, legend=f"{_GROUP} {{{{{label}}}}}"), steps=True)
