"""The whole pipeline of one cluster, from raw records to what its buckets tell the driver."""

from __future__ import annotations

from pyspark.sql import DataFrame

from monitor.model import ALL_GROUPS, Shard, Value
from streaming_jobs.buckets.processor import BucketProcessor
from streaming_jobs.ingest.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.ingest.schemas import BUCKET_ROWS, ENTITY_EVENTS


class Spread(Value):
    """Which groups the pipeline reads, and into how many buckets they go.

    ``text_partitions``: the partitions of the cluster are texts, not numbers. ``source_id``: what collectors read has
    this id; None: it is not known.
    ``config_topics`` are topics of configurations of Connect clusters among the events log.
    """

    buckets: int
    shard: Shard = ALL_GROUPS
    text_partitions: bool = False
    source_id: str | None = None
    config_topics: frozenset[str] = frozenset()


def bucket_rows(
    offsets_log: DataFrame | None,
    events_log: DataFrame,
    tick_rows: DataFrame,
    processor: BucketProcessor,
    spread: Spread,
) -> DataFrame:
    """What the driver has to be told of every bucket, each micro-batch. Tests pass their own sources.

    Args:
        offsets_log: records of ``__consumer_offsets`` (RECORD_COLUMNS); None: the groups come by the collectors' topic.
        events_log: records of the collectors' topic (RECORD_COLUMNS).
        tick_rows: one row for each bucket (ENTITY_EVENTS).
        processor: tracks and judges the buckets.
        spread: which groups are read, and into how many buckets they are spread; part of the state's layout.
    """
    of_events = EventsDecoder(
        processor.cluster,
        spread.buckets,
        shard=spread.shard,
        text_partitions=spread.text_partitions,
        source_id=spread.source_id,
        config_topics=spread.config_topics,
    )
    rows = events_log.mapInArrow(of_events, ENTITY_EVENTS)
    if offsets_log is not None:
        of_offsets = OffsetsLogDecoder(processor.cluster, spread.buckets, shard=spread.shard)
        rows = offsets_log.mapInArrow(of_offsets, ENTITY_EVENTS).unionAll(rows)
    return (
        rows.unionAll(tick_rows)
        .groupBy("bucket")
        .transformWithStateInPandas(processor, BUCKET_ROWS, outputMode="Update", timeMode="None")
    )
