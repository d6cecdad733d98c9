"""The rows of a recording, from raw records."""

from __future__ import annotations

from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from streaming_jobs.buckets.pipeline import Spread, decoded_rows
from streaming_jobs.recording.chunk import RECORDED_EVENTS, RecordingChunk


def recorded_rows(cluster: str, offsets_log: DataFrame | None, events_log: DataFrame, spread: Spread) -> DataFrame:
    """What is recorded of each micro-batch, in the columns of monitor.history.tables.EVENTS.

    All rows of a micro-batch have the same time, also if it is tried again: Spark keeps that with its plan. They are
    sorted, so that what is asked for stands in few of a file's row groups.

    Args:
        cluster: the cluster's name.
        offsets_log: as for streaming_jobs.buckets.pipeline.bucket_rows.
        events_log: as there.
        spread: which groups are read, and what else the decoders have to know.
    """
    own = replace(spread, buckets=1)
    rows = decoded_rows(cluster, offsets_log, events_log, own, RECORDED_EVENTS, RecordingChunk)
    now = F.current_timestamp()
    return (
        rows.select(
            F.lit(cluster).alias("cluster"),
            F.date_format(now, "yyyy-MM-dd").alias("day"),
            F.unix_millis(now).alias("recorded_ms"),
            "*",
        )
        .coalesce(1)
        .sortWithinPartitions("entity", "name", "position")
    )
