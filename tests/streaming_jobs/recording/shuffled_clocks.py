"""A recording is written and kept up while the machine's clock is set forward and back.

A program of tests.support.delta_spark.
"""

from __future__ import annotations

from typing import Any, Final

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress

from monitor.history.recorded import EVENTS_VERSION, RecordedEvent, encode_events
from monitor.history.tables import CLOCK, EVALUATED, EVENTS, STATES, Table
from monitor.model import Entity, Member, MembershipStored
from streaming_jobs.recording.chunk import RECORDED_EVENTS
from streaming_jobs.recording.delta import RecordedTables
from streaming_jobs.recording.portions import QUERY_ID, PortionWriter
from streaming_jobs.recording.reach import Reach
from streaming_jobs.recording.upkeep import AFTER_START_MS, STATES_EVERY_MS, Clocks, Upkeep

BEGIN: Final = 1_795_313_400_000  # a full ten minutes
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
YEAR = 365 * DAY
AHEAD: Final = (YEAR, YEAR, 0, -30 * MINUTE, 5 * HOUR, 0, -DAY, 0)
"""By how much the clock is ahead at each portion, two minutes apart."""

FOREVER: Final = 2**62
"""The time in a forged record."""

COLUMNS: Final = f"{CLOCK.name} LONG, {RECORDED_EVENTS}"


def rows_of(spark: SparkSession, clock_ms: int, number: int, at_ms: int, *forged_ms: int) -> DataFrame:
    """A micro-batch with a generation of the group g, and with commits at times that cannot be."""
    member = Member(member_id=f"m{number}", client_id="m")
    stored = MembershipStored("g", number, "consumer", "range", "m", stored_ms=at_ms, members=(member,))
    events = encode_events([RecordedEvent(at_ms, stored)])
    group = Entity.GROUP.value
    rows = [(clock_ms, group, "g", number, at_ms, at_ms, EVENTS_VERSION, events)]
    rows += [(clock_ms, group, "forged", number, at, at, EVENTS_VERSION, encode_events([])) for at in forged_ms]
    return spark.createDataFrame(rows, COLUMNS).coalesce(1)


def progress_at(at: str) -> StreamingQueryProgress:
    """A micro-batch that read its log to the end."""
    source = {"description": "", "startOffset": "", "endOffset": "", "latestOffset": "", "numInputRows": 1}
    source |= {"inputRowsPerSecond": 1.0, "processedRowsPerSecond": 1.0, "metrics": {"maxOffsetsBehindLatest": "0"}}
    run = "00000000-0000-0000-0000-000000000001"
    told: dict[str, Any] = {"id": run, "runId": run}
    told |= {"name": "q", "timestamp": at, "batchId": 1, "batchDuration": 1, "durationMs": {}, "eventTime": {}}
    told |= {"stateOperators": [], "sources": [source], "numInputRows": 1, "observedMetrics": {}}
    told |= {"inputRowsPerSecond": 1.0, "processedRowsPerSecond": 1.0}
    return StreamingQueryProgress.fromJson(told | {"sink": {"description": "", "numOutputRows": 1, "metrics": {}}})


def run(spark: SparkSession, folder: str) -> dict[str, Any]:
    """Record eight portions, the third one twice; then keep them up with a clock that is a year ahead. What is seen."""
    spark.sparkContext.setLocalProperty(QUERY_ID, "query")
    tables = RecordedTables(spark, "c", folder)
    tables.create(EVENTS)
    for number, ahead in enumerate(AHEAD):
        writer = PortionWriter(tables, "c", MINUTE)  # as after a restart
        writer.begin()
        at_ms = BEGIN + 2 * number * MINUTE
        for _ in range(2 if number == 2 else 1):  # tried again, as after a kill
            forged = (FOREVER,) if number == 5 else ()
            writer(rows_of(spark, at_ms + 1_000 + ahead, number, at_ms, *forged), number)
    reach = Reach(spark, "c", folder)
    reach.take(progress_at("2027-11-22T02:14:00.000Z"), writer.newest_ms)
    passed = [0]
    upkeep = Upkeep(spark, "c", folder, 1, Clocks(lambda: BEGIN + YEAR + passed[0], lambda: passed[0]))
    told: dict[str, Any] = {"complete": reach.complete_ms, "newest": writer.newest_ms}
    for passed[0] in (0, max(AFTER_START_MS, STATES_EVERY_MS) + 1):
        upkeep.run_if_due(writer.newest_ms, reach.complete_ms, is_behind=True)
        told["states in a backlog"] = tables.has(STATES)
        upkeep.run_if_due(writer.newest_ms, reach.complete_ms, is_behind=False)
    told["rows"] = {table.name: len(_column(folder, table, "day")) for table in (EVENTS, EVALUATED, STATES)}
    # Two days later the events say so, too.
    writer(rows_of(spark, BEGIN + 2 * DAY, 100, BEGIN + 2 * DAY), 100)
    passed[0] += DAY
    upkeep.run_if_due(writer.newest_ms, 0, is_behind=False)
    told["days"] = sorted(_column(folder, EVENTS, "day"))
    return told


def _column(folder: str, table: Table, name: str) -> list[Any]:
    """A value of each row of a table, read without Spark: in a JVM that has just started it takes long."""
    values: list[Any] = DeltaTable(f"{folder}/{table.name}").to_pyarrow_table(columns=[name])[name].to_pylist()
    return values
