"""The whole pipeline of one cluster, from raw records to the states of its groups and topics."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streaming_jobs.bucket_processor import BucketProcessor
from streaming_jobs.decoding import EventsDecoder, OffsetsLogDecoder
from streaming_jobs.rows import ENTITY_EVENTS, ENTITY_STATES


def entity_states(
    offsets_log: DataFrame, events_log: DataFrame, tick_rows: DataFrame, cluster: str, buckets: int
) -> DataFrame:
    """The newest state of every group, topic and source of the cluster, each micro-batch. Tests pass their own sources.

    Args:
        offsets_log: records of ``__consumer_offsets`` (RECORD_COLUMNS).
        events_log: records of the collectors' topic (RECORD_COLUMNS).
        tick_rows: one row for each bucket (ENTITY_EVENTS).
        cluster: the cluster's name in the configuration.
        buckets: into how many buckets the entities are spread; part of the state's layout.
    """
    decoded = offsets_log.mapInArrow(OffsetsLogDecoder(cluster, buckets), ENTITY_EVENTS)
    events = events_log.mapInArrow(EventsDecoder(cluster, buckets), ENTITY_EVENTS)
    return (
        decoded.unionAll(events)
        .unionAll(tick_rows)
        .groupBy("bucket")
        .transformWithStateInPandas(BucketProcessor(cluster), ENTITY_STATES, outputMode="Update", timeMode="None")
    )
