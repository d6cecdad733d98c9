"""The sources of one cluster's query: its offsets log, its collector's events, and the ticks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.collectors.preflight import READER_GROUPS
from streaming_jobs.buckets import Entity

RECORD_COLUMNS = ("partition", "offset", "timestamp_ms", "key", "value")

QUICK: Final = {"kafka.fetch.max.wait.ms": "20"}
"""How long a broker may hold back an answer without records. Kafka's default of 500 ms cost every task that long: its
consumer has a fetch of the batch before still under way, and what it asks next waits behind it on the connection."""


def kafka_log(
    spark: SparkSession, topic: str, partitions: int, client_options: Mapping[str, str], max_records: int
) -> DataFrame:
    """Every record of a topic from its beginning, in the columns RECORD_COLUMNS.

    ``assign`` instead of ``subscribe``: Spark's source drops topics that the broker calls internal, without a word,
    unless it is told every partition and fetches offsets in the older way (set for the session, see
    :mod:`streaming_jobs.session`). Records lost to retention are no failure: the log is compacted by design.
    """
    reader = spark.readStream.format("kafka").options(**(QUICK | dict(client_options)))
    return (
        reader.option("assign", json.dumps({topic: list(range(partitions))}))
        .option("groupIdPrefix", READER_GROUPS)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "false")
        .option("maxOffsetsPerTrigger", str(max_records))
        .load()
        .select(
            F.col("partition"),
            F.col("offset"),
            F.unix_millis("timestamp").alias("timestamp_ms"),
            F.col("key"),
            F.col("value"),
        )
    )


def ticks(spark: SparkSession, buckets: int) -> DataFrame:
    """One row for each bucket and micro-batch, in the schema ENTITY_EVENTS, so that time passes in idle buckets too.

    The rate-micro-batch source gives exactly ``buckets`` rows each time; the rate source would give a flood after a
    pause of the job (docs/decisions/0003-ticks-from-rate-micro-batch.md).
    """
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", str(buckets)).load()
    return rows.select(
        (F.col("value") % buckets).cast("int").alias("bucket"),
        F.lit(Entity.TICK.value).alias("entity"),
        F.lit("").alias("name"),
        F.lit(0).cast("long").alias("position"),
        F.lit(None).cast("binary").alias("payload"),
    )
