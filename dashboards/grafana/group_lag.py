"""How far behind a group is, and whether it catches up."""

from __future__ import annotations

from typing import Final

from dashboards.grafana.lines import (
    GROUP_NAME,
    PARTITION_NAME,
    counts,
    lag_of_partitions,
    most,
    of_groups,
    of_partitions,
)
from dashboards.grafana.panels import (
    BAD,
    CALM,
    MOST,
    ROWS,
    WARNING,
    Column,
    Meaning,
    Panel,
    Query,
    graph,
    table,
    timeline,
)
from dashboards.queries import PARTITION, across, described, numbered

STATUSES: Final = (Meaning("OK", CALM), Meaning("WARN", WARNING), Meaning("ERR", BAD))
"""What stands for each of monitor.metrics.render.STATUSES, in their order."""


def lag() -> Panel:
    """Records that wait, group by group, and without those behind open transactions."""
    return graph(
        "Lag",
        described("group_lag", "group_stable_lag"),
        "short",
        Query(expr=most("group_lag"), legend=GROUP_NAME),
        Query(expr=most("group_stable_lag"), legend=f"{GROUP_NAME} outside open transactions"),
    )


def lag_seconds() -> Panel:
    """The age of the oldest record that waits, group by group; or how old it is at least."""
    return graph(
        "Lag in time",
        described("group_lag_seconds", "group_lag_at_least_seconds"),
        "s",
        Query(expr=most("group_lag_seconds"), legend=GROUP_NAME),
        Query(expr=most("group_lag_at_least_seconds"), legend=f"{GROUP_NAME} at least"),
    )


def partition_lag() -> Panel:
    """Records that wait, in the partitions with most of them."""
    return of_partitions("Lag of partitions", "short", "partition_lag")


def partition_lag_seconds() -> Panel:
    """The age of the oldest record that waits, in the partitions that are furthest behind."""
    return of_partitions("Lag of partitions in time", "s", "partition_lag_seconds")


def pace() -> Panel:
    """Whether the group keeps up."""
    return graph(
        "Read and written where records wait",
        described("group_consumed_records_per_second", "group_produced_records_per_second"),
        "cps",
        Query(expr=most("group_consumed_records_per_second"), legend=f"{GROUP_NAME} read"),
        Query(expr=most("group_produced_records_per_second"), legend=f"{GROUP_NAME} written"),
    )


def catch_up() -> Panel:
    """When the group will have read what waits."""
    return of_groups("Time to catch up", "s", "group_catch_up_seconds")


def retention() -> Panel:
    """How near the group is to losing records."""
    return of_groups("Share of what is kept that waits", "percentunit", "group_retention_ratio")


def lost_records() -> Panel:
    """What retention took before the group read it, in the partitions that lost most."""
    return graph(
        "Lost records",
        described("group_lost_records", "partition_lost_records"),
        "short",
        Query(expr=most("group_lost_records"), legend=GROUP_NAME),
        Query(expr=most("partition_lost_records"), legend=PARTITION_NAME),
        steps=True,
    )


def status_over_time() -> Panel:
    """Burrow's status of each group, over time."""
    status = numbered("group_status", "status", ["ok", "warn", "err"])
    query = Query(expr=f"topk({MOST}, {status})", legend=GROUP_NAME)
    return timeline("Status", described("group_status"), query, STATUSES)


def failing_partitions() -> Panel:
    """In how many partitions Burrow's rules see something wrong."""
    return counts("Partitions that stop, stall or rewind", "group_failing_partitions", "status")


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


def lag_bytes() -> Panel:
    """Bytes that wait, group by group, and in the partitions with most of them."""
    return of_groups("Lag in bytes (MetaQ)", "bytes", "group_lag_bytes")


def partition_lag_bytes() -> Panel:
    """Bytes that wait, in the partitions with most of them."""
    return of_partitions("Lag of partitions in bytes (MetaQ)", "bytes", "partition_lag_bytes")


def pace_bytes() -> Panel:
    """The same of MetaQ, whose offsets are bytes."""
    return graph(
        "Read and written where bytes wait (MetaQ)",
        described("group_consumed_bytes_per_second", "group_produced_bytes_per_second"),
        "Bps",
        Query(expr=most("group_consumed_bytes_per_second"), legend=f"{GROUP_NAME} read"),
        Query(expr=most("group_produced_bytes_per_second"), legend=f"{GROUP_NAME} written"),
    )


def _of_rows(name: str) -> str:
    """The values of a family for the partitions with most lag. A partition has a lag in records or in bytes."""
    return f"{across('max', PARTITION, name)} and topk({ROWS}, {lag_of_partitions()})"
