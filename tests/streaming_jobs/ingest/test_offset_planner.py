"""A query reads the partitions whose leader answers, and takes up the others where it left them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.kafka.log_ends import LogEnds
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.ingest.offset_planner import plan_offsets
from streaming_jobs.ingest.sources import fetch_limits, kafka_log
from streaming_jobs.runtime.session import create_session, stop_session
from tests.paused import hanging
from tests.support.clients import admin, produce
from tests.support.job_process import eventually
from tests.support.two_brokers import create_on_both, two_brokers

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    # PySpark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with two_brokers() as both:
        yield both


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("planner")
    session = create_session("local[2]", 2, spark_kafka_jars(), {}, folder / "spark.log", queries=2)
    yield session
    stop_session(session)


class Reader:
    """Reads a topic, and keeps which records came, in order."""

    def __init__(self, spark: SparkSession, bootstrap: str, folder: Path) -> None:
        self.spark = spark
        self.bootstrap = bootstrap
        self.folder = folder
        self.seen: list[tuple[int, int]] = []

    def take(self, rows: DataFrame, _: int) -> None:
        self.seen += [(row.partition, row.offset) for row in rows.collect()]

    @contextmanager
    def reading(self, topic: str, partitions: int) -> Iterator[LogEnds]:
        """For the time of the block. It goes on where the block before has ended."""
        ends = LogEnds(ClusterSettings(name="test", bootstrap_servers=self.bootstrap), [topic])
        options = fetch_limits(5_000) | {"kafka.bootstrap.servers": self.bootstrap, "kafka.group.id": f"r-{topic}"}
        rows = kafka_log(self.spark, {topic: partitions}, options, 1000)
        writer = rows.writeStream.foreachBatch(self.take).option("checkpointLocation", str(self.folder))
        query: StreamingQuery = writer.trigger(processingTime="0 seconds").start()
        try:
            plan_offsets(query, ends, lambda: not query.isActive)
            yield ends
        finally:
            query.stop()
            ends.close()

    def await_records(self, *records: tuple[int, int]) -> None:
        eventually(lambda: sorted(self.seen) == sorted(records), f"{records}, and not {self.seen}")


def test_a_broker_that_hangs_keeps_nobody_from_reading_the_others(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    first, second = brokers
    create_on_both(first.bootstrap_servers, "apart", [(1,), (2,)])
    produce(first.bootstrap_servers, "apart", {0: 2, 1: 1})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    with reader.reading("apart", 2) as ends:
        reader.await_records((0, 0), (0, 1), (1, 0))
        with hanging(second):
            produce(first.bootstrap_servers, "apart", {0: 1})
            reader.await_records((0, 0), (0, 1), (1, 0), (0, 2))
            assert list(ends.silent) == [("apart", 1)]
        produce(first.bootstrap_servers, "apart", {1: 1})
        reader.await_records((0, 0), (0, 1), (1, 0), (0, 2), (1, 1))
        assert not ends.silent


def test_a_query_that_starts_while_a_broker_hangs_reads_what_the_others_have(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    first, second = brokers
    create_on_both(first.bootstrap_servers, "late", [(1,), (2,)])
    produce(first.bootstrap_servers, "late", {0: 2, 1: 3})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    with hanging(second), reader.reading("late", 2):
        reader.await_records((0, 0), (0, 1))
    with reader.reading("late", 2):
        reader.await_records((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))


def test_partitions_that_a_topic_has_got_are_read_from_their_start(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    bootstrap = brokers[0].bootstrap_servers
    create_on_both(bootstrap, "grown", [(1,)])
    produce(bootstrap, "grown", {0: 2})
    reader = Reader(spark, bootstrap, tmp_path)
    with reader.reading("grown", 1) as ends:
        reader.await_records((0, 0), (0, 1))
        with admin(bootstrap) as client:
            client.create_partitions({"grown": 2})
        produce(bootstrap, "grown", {1: 2})
        eventually(lambda: ends.partition_count("grown") == 2, "the new partition")
    with reader.reading("grown", 2):
        reader.await_records((0, 0), (0, 1), (1, 0), (1, 1))
