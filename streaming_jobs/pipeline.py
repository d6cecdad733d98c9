"""The whole pipeline of one cluster, from raw records to what its buckets tell the driver."""

from __future__ import annotations

from pyspark.sql import DataFrame

from monitor.model import ALL_GROUPS, Shard, Value
from streaming_jobs.bucket_processor import BucketProcessor
from streaming_jobs.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.rows import BUCKET_ROWS, ENTITY_EVENTS


class Spread(Value):
    """Which groups the pipeline reads, and into how many buckets they go."""

    buckets: int
    shard: Shard = ALL_GROUPS


def bucket_rows(
    offsets_log: DataFrame, events_log: DataFrame, tick_rows: DataFrame, processor: BucketProcessor, spread: Spread
) -> DataFrame:
    """What the driver has to be told of every bucket, each micro-batch. Tests pass their own sources.

    Args:
        offsets_log: records of ``__consumer_offsets`` (RECORD_COLUMNS).
        events_log: records of the collectors' topic (RECORD_COLUMNS).
        tick_rows: one row for each bucket (ENTITY_EVENTS).
        processor: tracks and judges the buckets.
        spread: which groups are read, and into how many buckets they are spread; part of the state's layout.
    """
    of_offsets = OffsetsLogDecoder(processor.cluster, spread.buckets, shard=spread.shard)
    of_events = EventsDecoder(processor.cluster, spread.buckets, shard=spread.shard)
    decoded = offsets_log.mapInArrow(of_offsets, ENTITY_EVENTS)
    events = events_log.mapInArrow(of_events, ENTITY_EVENTS)
    return (
        decoded.unionAll(events)
        .unionAll(tick_rows)
        .groupBy("bucket")
        .transformWithStateInPandas(processor, BUCKET_ROWS, outputMode="Update", timeMode="None")
    )
