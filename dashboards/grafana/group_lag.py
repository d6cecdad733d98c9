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
from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

_NO_METAQ: Final = "No groups of MetaQ, or no data"

STATUSES: Final = (Meaning("OK", CALM), Meaning("WARN", WARNING), Meaning("ERR", BAD))
"""The label of each of monitor.metrics.render.STATUSES, in their order."""


def lag() -> Panel:
    """Records that wait, group by group, and without those behind open transactions."""
    return graph(
        "Lag",
        described(specs.GROUP_LAG, specs.GROUP_LAG_AT_LEAST, specs.GROUP_UNCOMMITTED_RECORDS, specs.GROUP_STABLE_LAG),
        "short",
        Query(expr=most(specs.GROUP_LAG), legend=GROUP_NAME),
        Query(expr=most(specs.GROUP_LAG_AT_LEAST), legend=f"{GROUP_NAME} at least"),
        Query(expr=most(specs.GROUP_UNCOMMITTED_RECORDS), legend=f"{GROUP_NAME} uncommitted, at most"),
        Query(expr=most(specs.GROUP_STABLE_LAG), legend=f"{GROUP_NAME} outside open transactions"),
    )


def lag_seconds() -> Panel:
    """The age of the oldest record that waits, group by group; or how old it is at least."""
    return graph(
        "Lag in time",
        described(specs.GROUP_LAG_SECONDS, specs.GROUP_LAG_AT_LEAST_SECONDS),
        "s",
        Query(expr=most(specs.GROUP_LAG_SECONDS), legend=GROUP_NAME),
        Query(expr=most(specs.GROUP_LAG_AT_LEAST_SECONDS), legend=f"{GROUP_NAME} at least"),
    )


def partition_lag() -> Panel:
    """Records that wait, in the partitions with most of them."""
    return of_partitions("Lag of partitions", "short", specs.PARTITION_LAG)


def partition_lag_seconds() -> Panel:
    """The age of the oldest record that waits, in the partitions that are furthest behind."""
    return of_partitions("Time lag of partitions", "s", specs.PARTITION_LAG_SECONDS)


def pace() -> Panel:
    """Whether the group keeps up."""
    return graph(
        "Consumed and produced, partitions with lag",
        described(specs.GROUP_CONSUMED_RECORDS_PER_SECOND, specs.GROUP_PRODUCED_RECORDS_PER_SECOND),
        "cps",
        Query(expr=most(specs.GROUP_CONSUMED_RECORDS_PER_SECOND), legend=f"{GROUP_NAME} read"),
        Query(expr=most(specs.GROUP_PRODUCED_RECORDS_PER_SECOND), legend=f"{GROUP_NAME} written"),
    )


def catch_up() -> Panel:
    """When the group will have read what waits."""
    return of_groups("Time to catch up", "s", specs.GROUP_CATCH_UP_SECONDS)


def retention() -> Panel:
    """How near the group is to losing records."""
    return of_groups("Lag as a share of retained records", "percentunit", specs.GROUP_RETENTION_RATIO)


def lost_records() -> Panel:
    """What retention took before the group read it, in the partitions that lost most; and what the group skipped."""
    return graph(
        "Lost records",
        described(
            specs.GROUP_LOST_RECORDS,
            specs.PARTITION_LOST_RECORDS,
            specs.GROUP_SKIPPED_AT_LEAST,
            specs.GROUP_SKIPPED_AT_MOST,
        ),
        "short",
        Query(expr=most(specs.GROUP_LOST_RECORDS), legend=GROUP_NAME),
        Query(expr=most(specs.PARTITION_LOST_RECORDS), legend=PARTITION_NAME),
        Query(expr=most(specs.GROUP_SKIPPED_AT_LEAST), legend=f"{GROUP_NAME}: skipped, at least"),
        Query(expr=most(specs.GROUP_SKIPPED_AT_MOST), legend=f"{GROUP_NAME}: skipped, at most"),
        steps=True,
    )


def status_over_time() -> Panel:
    """Burrow's status of each group, over time."""
    status = numbered(specs.GROUP_STATUS, "status", ["ok", "warn", "err"])
    query = Query(expr=f"topk({MOST}, {status})", legend=GROUP_NAME)
    return timeline("Status", described(specs.GROUP_STATUS), query, STATUSES)


def failing_partitions() -> Panel:
    """The number of partitions in which Burrow's rules see something wrong."""
    return counts("Partitions that stop, stall or rewind", specs.GROUP_FAILING_PARTITIONS, "status")


def partitions() -> Panel:
    """Where the partitions stand in which most waits."""
    return table(
        f"The {ROWS} partitions with the largest lag",
        described(
            specs.PARTITION_LAG,
            specs.PARTITION_LAG_SECONDS,
            specs.PARTITION_LAG_BYTES,
            specs.PARTITION_COMMITTED_OFFSET,
        ),
        PARTITION,
        Column("Lag", _row_query(specs.PARTITION_LAG)),
        Column("Lag in time", _row_query(specs.PARTITION_LAG_SECONDS), "s", warn_from=300),
        Column("Lag in bytes (MetaQ)", _row_query(specs.PARTITION_LAG_BYTES), "bytes"),
        Column("Committed", _row_query(specs.PARTITION_COMMITTED_OFFSET)),
    )


def lag_bytes() -> Panel:
    """Bytes that wait, group by group, and in the partitions with most of them."""
    return of_groups("Lag in bytes (MetaQ)", "bytes", specs.GROUP_LAG_BYTES).no_value(_NO_METAQ)


def partition_lag_bytes() -> Panel:
    """Bytes that wait, in the partitions with most of them."""
    return of_partitions("Lag of partitions in bytes (MetaQ)", "bytes", specs.PARTITION_LAG_BYTES).no_value(_NO_METAQ)


def pace_bytes() -> Panel:
    """The same of MetaQ, whose offsets are bytes."""
    return graph(
        "Consumed and produced, partitions with lag (MetaQ)",
        described(specs.GROUP_CONSUMED_BYTES_PER_SECOND, specs.GROUP_PRODUCED_BYTES_PER_SECOND),
        "Bps",
        Query(expr=most(specs.GROUP_CONSUMED_BYTES_PER_SECOND), legend=f"{GROUP_NAME} read"),
        Query(expr=most(specs.GROUP_PRODUCED_BYTES_PER_SECOND), legend=f"{GROUP_NAME} written"),
    ).no_value(_NO_METAQ)


def _row_query(family: MetricSpec) -> str:
    """The values of a family for the partitions with most lag. A partition has a lag in records or in bytes."""
    return f"{across('max', PARTITION, family)} and topk({ROWS}, {lag_of_partitions()})"
