"""How the sources are read: every record, by as many tasks as the stateful stage has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.ingest.sources import kafka_log
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.clients import create_topic, produce
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    # PySpark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("sources")
    session = create_session("local[2]", 2, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, folder / "spark.log")
    yield session
    stop_session(session)


def first_batch(rows: DataFrame, folder: Path) -> tuple[int, list[Row]]:
    """How many tasks read the first micro-batch, and its rows."""
    seen: list[tuple[int, list[Row]]] = []

    def look(batch: DataFrame, _: int) -> None:
        seen.append((batch.rdd.getNumPartitions(), batch.collect()))

    writer = rows.writeStream.foreachBatch(look).option("checkpointLocation", str(folder))
    writer.trigger(availableNow=True).start().awaitTermination()
    return seen[0]


def test_a_log_of_many_partitions_is_read_by_few_tasks(
    spark: SparkSession, broker: EmbeddedKafka, topic_name: str, tmp_path: Path
):
    create_topic(broker.bootstrap_servers, topic_name, 7)
    produce(broker.bootstrap_servers, topic_name, dict.fromkeys(range(7), 3))
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    tasks, rows = first_batch(kafka_log(spark, {topic_name: 7}, options, 1000), tmp_path)
    assert tasks == 2
    assert sorted((row.partition, row.offset) for row in rows) == [
        (number, offset) for number in range(7) for offset in range(3)
    ]


def test_a_topic_that_is_read_from_the_next_run_on_is_read_from_its_beginning(
    spark: SparkSession, broker: EmbeddedKafka, topic_name: str, tmp_path: Path
):
    """As the log of share state is, which comes with the first share group, and the topics of Connect's workers."""
    later = f"{topic_name}-later"
    for topic in (topic_name, later):
        create_topic(broker.bootstrap_servers, topic, 1)
        produce(broker.bootstrap_servers, topic, {0: 2})
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    first_batch(kafka_log(spark, {topic_name: 1}, options, 1000), tmp_path)
    produce(broker.bootstrap_servers, topic_name, {0: 1})
    _, rows = first_batch(kafka_log(spark, {topic_name: 1, later: 1}, options, 1000), tmp_path)
    assert sorted((row.topic, row.offset) for row in rows) == [(topic_name, 2), (later, 0), (later, 1)]
