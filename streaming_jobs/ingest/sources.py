"""The sources of one cluster's query: its offsets log, its collector's events, and the ticks."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.model import Entity

RECORD_COLUMNS = ("partition", "offset", "timestamp_ms", "key", "value")

TIMESTAMP_MS: Final = "unix_millis(timestamp)"
"""When a record was written, as it says."""

WRITTEN_MS: Final = (
    "CASE WHEN timestampType = 1 THEN unix_millis(timestamp)"  # LogAppendTime
    " WHEN unix_millis(timestamp) > 0 THEN unix_millis(least(timestamp, current_timestamp()))"
    " ELSE unix_millis(current_timestamp()) END"
)
"""When it was written at the latest; see :func:`events_log`."""

FETCH_OPTIONS: Final = {
    "kafka.fetch.max.wait.ms": "20",
    "kafka.max.poll.records": "20000",
    "kafka.max.partition.fetch.bytes": str(8 * 2**20),
    "kafka.fetch.max.bytes": str(64 * 2**20),
}
"""How the source asks a broker for records, unless a deployment says otherwise.

The first: how long a broker may hold back an answer without records. Kafka's default of 500 ms cost every task that
long: its consumer has a fetch of the batch before still under way, and what it asks next waits behind it. The others
let a backlog come in large pieces: reading 3,000,000 commits took 9.2 s of CPU instead of 15.0 (500 records a poll)."""

FETCH_LIMIT_MS: Final = 4_000
"""How long a task may wait for records, and again for a log's start and end. With a broker that hangs meanwhile, the
micro-batch then ends after 8 s at most, and the next one leaves that broker out. Spark's default is 120 s."""

LONGEST_FETCH_LIMIT_MS: Final = 120_000
"""The most that a query comes to wait whose fetches take too long though all brokers answer."""


def fetch_limits(limit_ms: int) -> dict[str, str]:
    """The options of a Kafka source that bound how long its tasks wait for a broker.

    A request has half of that. A consumer that does not know yet that another broker leads the partition asks twice.
    """
    return {
        "kafkaConsumer.pollTimeoutMs": str(limit_ms),
        "kafka.default.api.timeout.ms": str(limit_ms),
        "kafka.request.timeout.ms": str(limit_ms // 2),
    }


def kafka_log(
    spark: SparkSession,
    partitions: Mapping[str, int],
    client_options: Mapping[str, str],
    max_records: int,
) -> DataFrame:
    """Every record of some topics from their beginning, in the columns RECORD_COLUMNS; of several, with "topic".

    Each topic is given with the number of its partitions. Between two runs of a query, a source may get topics and lose
    some.

    ``assign`` instead of ``subscribe``: Spark's source drops topics that the broker calls internal, without a word,
    unless it gets every partition and fetches offsets in the older way (set for the session, see
    :mod:`streaming_jobs.runtime.session`). Records lost to retention are no failure: the log is compacted by design.

    As many tasks read it as the stateful stage has, not one for each partition of the log. A task with its Python
    costs the same however little it reads, and a log has 50 partitions by default.
    """
    places = {topic: list(range(count)) for topic, count in partitions.items()}
    more = ("topic",) if len(places) > 1 else ()
    return _columns(_load(spark, places, client_options, max_records), TIMESTAMP_MS, *more)


def events_log(
    spark: SparkSession,
    topic: str,
    client_options: Mapping[str, str],
    max_records: int,
    beside: Collection[str] = (),
) -> DataFrame:
    """Every record of a collectors' topic (see :func:`kafka_log`), each with the latest time at which it was written.

    ``beside`` are topics of one partition each that are read by the same source, as Connect's configurations: a source
    may get topics and lose some between two runs of a query, while a query never may get a source. The column "topic"
    has the topic of each record.

    By the brokers' clock where they date the records (``message.timestamp.type`` LogAppendTime): no writer can set
    it, and it is the same whenever the record is read. Else by the clock of whoever wrote it, but not later than the
    micro-batch that reads it first; a micro-batch that is tried again has the time that it had (Spark keeps it).
    """
    places = {topic: [0], **{other: [0] for other in sorted(beside)}}
    return _columns(_load(spark, places, client_options, max_records), WRITTEN_MS, "topic")


def _load(
    spark: SparkSession, places: Mapping[str, list[int]], client_options: Mapping[str, str], max_records: int
) -> DataFrame:
    reader = spark.readStream.format("kafka").options(**(FETCH_OPTIONS | dict(client_options)))
    return (
        reader.option("assign", json.dumps(places))
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "false")
        .option("maxOffsetsPerTrigger", str(max_records))
        .load()
        .coalesce(spark.sparkContext.defaultParallelism)
    )


def _columns(log: DataFrame, timestamp_ms: str, *more: str) -> DataFrame:
    return log.select("partition", "offset", F.expr(timestamp_ms).alias("timestamp_ms"), "key", "value", *more)


def ticks(spark: SparkSession, buckets: int) -> DataFrame:
    """One row for each bucket and micro-batch, in the schema ENTITY_EVENTS, so that time passes in idle buckets too.

    The rate-micro-batch source gives exactly ``buckets`` rows each time; the rate source would give a flood after a
    pause of the job (docs/decisions/0003-ticks-from-rate-micro-batch.md).
    """
    rows = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", str(buckets))
        .option("numPartitions", "1")
        .load()
    )
    return rows.select(
        (F.col("value") % buckets).cast("int").alias("bucket"),
        F.lit(Entity.TICK.value).alias("entity"),
        F.lit("").alias("name"),
        F.lit(0).cast("long").alias("position"),
        F.lit(None).cast("binary").alias("payload"),
    )
