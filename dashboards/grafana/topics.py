"""Topics: how fast they are written, where they end, who reads them and how far behind."""

from __future__ import annotations

from typing import Final

from dashboards.grafana import variables
from dashboards.grafana.layout import Band, Board
from dashboards.grafana.panels import MOST, ROWS, Column, Panel, Query, graph, stat, table, unmarked
from dashboards.queries import TOPIC, across, chosen, described, once, since, summed, total
from monitor.metrics import specs
from monitor.model.dashboard_uids import TOPICS_UID

_TOPIC: Final = "{{cluster}} {{topic}}"
_READER: Final = ("cluster", "group", "topic")
_READER_NAME: Final = "{{cluster}} {{group}} {{topic}}"

_LAG: Final = f"({summed(specs.PARTITION_LAG, _READER)} or {summed(specs.TOPIC_LAG, _READER)})"
_LAG_BYTES: Final = f"({summed(specs.PARTITION_LAG_BYTES, _READER)} or {summed(specs.TOPIC_LAG_BYTES, _READER)})"
_LAG_SECONDS: Final = (
    f"({across('max', _READER, specs.PARTITION_LAG_SECONDS)} or {across('max', _READER, specs.TOPIC_LAG_SECONDS)})"
)
"""The lag of partitions where they are given, else of the topic as a whole."""

_OFFSETS: Final = "Offsets count records in Kafka and RocketMQ, bytes in MetaQ. Transaction markers also take offsets."


def topics_known() -> Panel:
    """How many topics there are."""
    expr = f"count({across('count', TOPIC, specs.PARTITION_END_OFFSET)})"
    return stat("Topics", described(specs.PARTITION_END_OFFSET), "short", expr, marked=unmarked())


def partitions_known() -> Panel:
    """How many partitions there are."""
    family = specs.PARTITION_END_OFFSET
    return stat("Partitions", described(family), "short", f"count({once(family)})", marked=unmarked())


def written_now() -> Panel:
    """How fast all of them are written."""
    expr = total(specs.PARTITION_END_OFFSET, _WRITTEN)
    return stat("Written", f"{described(specs.PARTITION_END_OFFSET)} {_OFFSETS}", "cps", expr, marked=unmarked())


def listed_ago() -> Panel:
    """How old the list of topics is."""
    family = specs.CATALOG_TIMESTAMP_SECONDS
    return stat("Listed", described(family), "s", f"max({since(family)})", marked=unmarked())


def written() -> Panel:
    """How fast topics are written."""
    expr = f"topk({MOST}, {summed(specs.PARTITION_END_OFFSET, TOPIC, _WRITTEN)})"
    description = f"Rate at which the end offsets of the topic grow. {_OFFSETS}"
    return graph("Written", description, "cps", Query(expr=expr, legend=_TOPIC))


def read() -> Panel:
    """How fast groups commit what they read; below 0 while a group goes back."""
    slope = f"deriv({chosen(specs.PARTITION_COMMITTED_OFFSET)}[$__rate_interval])"
    expr = f"topk({MOST}, {summed(specs.PARTITION_COMMITTED_OFFSET, _READER, slope)})"
    description = f"Rate at which committed offsets of groups grow. Negative where a group moved back. {_OFFSETS}"
    return graph("Read", description, "cps", Query(expr=expr, legend=_READER_NAME), signed=True)


def ends() -> Panel:
    """Where topics end."""
    expr = f"topk({MOST}, {summed(specs.PARTITION_END_OFFSET, TOPIC)})"
    description = f"{described(specs.PARTITION_END_OFFSET)} Summed over the partitions. {_OFFSETS}"
    return graph("End offsets", description, "short", Query(expr=expr, legend=_TOPIC))


def readers() -> Panel:
    """Who reads a topic, and how far behind."""
    return table(
        f"Consumer groups and their lag (the {ROWS} with the largest lag)",
        "Groups with committed offsets in a topic. " + described(specs.PARTITION_LAG, specs.PARTITION_LAG_SECONDS),
        ("cluster", "topic", "group"),
        Column("Lag", _row_query(_LAG)),
        Column("Behind", _row_query(_LAG_SECONDS), "s", warn_from=300),
        Column("Lag in bytes (MetaQ)", _row_query(_LAG_BYTES), "bytes"),
        Column("Lost records", _row_query(summed(specs.PARTITION_LOST_RECORDS, _READER)), warn_from=1),
        Column(
            "Partitions",
            _row_query(
                across("count", _READER, specs.PARTITION_COMMITTED_OFFSET, once(specs.PARTITION_COMMITTED_OFFSET))
            ),
        ),
    )


def lag() -> Panel:
    """Records that wait in a topic, group by group."""
    query = Query(expr=f"topk({MOST}, {_LAG})", legend=_READER_NAME)
    return graph("Lag", described(specs.PARTITION_LAG, specs.TOPIC_LAG), "short", query)


def lag_seconds() -> Panel:
    """The oldest record that waits in a topic, group by group."""
    query = Query(expr=f"topk({MOST}, {_LAG_SECONDS})", legend=_READER_NAME)
    return graph("Lag in time", described(specs.PARTITION_LAG_SECONDS, specs.TOPIC_LAG_SECONDS), "s", query)


def unread() -> Panel:
    """Topics of which no group has committed anything."""
    committed = across("count", TOPIC, specs.PARTITION_COMMITTED_OFFSET)
    expr = f"{summed(specs.PARTITION_END_OFFSET, TOPIC)} unless on (cluster, topic) {committed}"
    description = "Topics without a committed offset of any selected group, with their end offsets."
    return table("Topics without commits", description, TOPIC, Column("End offset", expr))


_WRITTEN: Final = f"rate({chosen(specs.PARTITION_END_OFFSET)}[$__rate_interval])"
"""Ends only move on: a smaller one is that of a topic that was recreated, which ``rate`` takes for a reset."""

BOARD: Final = Board(
    uid=TOPICS_UID,
    title="groupwatch: topics",
    description="Topics: produce rate, end offsets, consumer groups and their lag.",
    variables=(variables.clusters, variables.topics, variables.readers, variables.page_address),
    bands=(
        Band(4, (topics_known, partitions_known, written_now, listed_ago)),
        Band(9, (readers,)),
        Band(8, (written, read)),
        Band(8, (lag, lag_seconds)),
        Band(8, (ends, unread)),
    ),
)


def _row_query(expr: str) -> str:
    """The query for the groups with most lag. A topic has a lag in records or in bytes."""
    return f"({expr}) and topk({ROWS}, {_LAG} or {_LAG_BYTES})"
