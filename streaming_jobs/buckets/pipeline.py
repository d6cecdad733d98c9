"""The whole pipeline of one cluster, from raw records to what its buckets tell the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from monitor.model import ALL_GROUPS, LogPlaces, Shard, Value
from streaming_jobs.buckets.processor import BucketProcessor
from streaming_jobs.ingest.decoding import EventChunk, EventsDecoder, OffsetsLogDecoder
from streaming_jobs.ingest.schemas import BUCKET_ROWS, ENTITY_EVENTS

Decode = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Makes rows of events of records, as Spark's mapInArrow calls it."""


class Spread(Value):
    """Which groups the pipeline reads, and into how many buckets they go.

    ``text_partitions``: the partitions of the cluster are texts, not numbers. ``source_id``: what collectors read has
    this id; None: it is not known.
    ``config_topics`` are topics of configurations of Connect clusters, among the events log or the log of groups.
    ``places`` says where in the offsets topic groups are.
    """

    buckets: int
    shard: Shard = ALL_GROUPS
    text_partitions: bool = False
    source_id: str | None = None
    config_topics: frozenset[str] = frozenset()
    places: LogPlaces = LogPlaces()


def decoded_rows(  # noqa: PLR0913, PLR0917 -- three of them have a default
    cluster: str,
    offsets_log: DataFrame | None,
    events_log: DataFrame,
    spread: Spread,
    schema: str = ENTITY_EVENTS,
    chunks: Callable[[int], EventChunk] = EventChunk,
    arrange: Callable[[Decode], Decode] = lambda decode: decode,
) -> DataFrame:
    """What the logs tell, in the rows that the chunks make of it (``schema``); see :func:`bucket_rows`.

    ``arrange`` makes of a decoder one that gives the same rows in another order.
    """
    of_events = EventsDecoder(
        cluster,
        spread.buckets,
        shard=spread.shard,
        text_partitions=spread.text_partitions,
        source_id=spread.source_id,
        config_topics=spread.config_topics,
        chunks=chunks,
    )
    rows = events_log.mapInArrow(arrange(of_events), schema)
    if offsets_log is None:
        return rows
    of_offsets = OffsetsLogDecoder(
        cluster,
        spread.buckets,
        shard=spread.shard,
        chunks=chunks,
        places=spread.places,
        config_topics=spread.config_topics,
    )
    return offsets_log.mapInArrow(arrange(of_offsets), schema).unionAll(rows)


def bucket_rows(
    offsets_log: DataFrame | None,
    events_log: DataFrame,
    tick_rows: DataFrame,
    processor: BucketProcessor,
    spread: Spread,
) -> DataFrame:
    """The rows of every bucket for the driver, each micro-batch. Tests pass their own sources.

    Args:
        offsets_log: records of ``__consumer_offsets`` (RECORD_COLUMNS); None: the groups come by the collectors' topic.
        events_log: records of the collectors' topic (RECORD_COLUMNS).
        tick_rows: one row for each bucket (ENTITY_EVENTS).
        processor: tracks and judges the buckets.
        spread: which groups are read, and into how many buckets they are spread; part of the state's layout.
    """
    return (
        decoded_rows(processor.cluster, offsets_log, events_log, spread)
        .unionAll(tick_rows)
        .groupBy("bucket")
        .transformWithStateInPandas(processor, BUCKET_ROWS, outputMode="Update", timeMode="None")
    )
