"""A query reads the partitions whose leader answers, and takes up the others where it left them."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import Ends, LogEnds
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.ingest.offset_planner import start_planned
from streaming_jobs.ingest.sources import fetch_limits, kafka_log
from streaming_jobs.runtime.query_errors import is_fetch_timeout, trace_of
from streaming_jobs.runtime.session import create_session, stop_session
from tests.paused import hanging, jvm_of
from tests.support.clients import admin, produce
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, PATIENCE_S, crowding, eventually
from tests.support.several_brokers import await_leader, create_on, two_brokers

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    # PySpark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

FETCH_LIMIT_MS: Final = 2_000
"""When a fetch has failed, on a machine that has cores to spare: within it, a broker that does not hang answers."""


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with two_brokers() as both:
        yield both


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("planner")
    session = create_session(
        "local[2]", 2, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, folder / "spark.log", queries=2
    )
    yield session
    stop_session(session)


class Reader:
    """Reads a topic, and keeps which records came, in order."""

    def __init__(self, spark: SparkSession, bootstrap: str, folder: Path) -> None:
        self.spark = spark
        self.bootstrap = bootstrap
        self.folder = folder
        # Asked once: Spark refuses to read with other limits from a cached consumer that has these.
        self.limits = fetch_limits(round(FETCH_LIMIT_MS * crowding()))
        self.seen: list[tuple[int, int]] = []
        self.query: StreamingQuery

    def take(self, rows: DataFrame, _: int) -> None:
        self.seen += [(row.partition, row.offset) for row in rows.collect()]

    @contextmanager
    def reading(self, topic: str, partitions: int, ends: LogEnds | None = None) -> Iterator[LogEnds]:
        """For the time of the block. It goes on where the block before has ended."""
        ends = ends or LogEnds(ClusterSettings(name="test", bootstrap_servers=self.bootstrap), [topic])
        with self._running(self._log(topic, partitions), ends):
            yield ends

    @contextmanager
    def reading_both(self, *topics: str) -> Iterator[LogEnds]:
        """The same of several topics of one partition, each by a source of its own."""
        ends = LogEnds(ClusterSettings(name="test", bootstrap_servers=self.bootstrap), topics)
        one, other = (self._log(topic, 1) for topic in topics)
        with self._running(one.union(other), ends):
            yield ends

    def _log(self, topic: str, partitions: int) -> DataFrame:
        options = {"kafka.bootstrap.servers": self.bootstrap, "kafka.group.id": f"r-{topic}"}
        return kafka_log(self.spark, {topic: partitions}, self.limits | options, 1000)

    @contextmanager
    def _running(self, rows: DataFrame, ends: LogEnds) -> Iterator[None]:
        writer = rows.writeStream.foreachBatch(self.take).option("checkpointLocation", str(self.folder))
        ending = threading.Event()
        self.query = start_planned(writer.trigger(processingTime="0 seconds"), "planned", ends, ending.is_set)
        try:
            yield
        finally:
            ending.set()
            self.query.stop()
            ends.close()

    def await_records(self, *records: tuple[int, int]) -> None:
        eventually(lambda: self._has_seen(records), f"{records}")

    def _has_seen(self, records: Sequence[tuple[int, int]]) -> bool:
        """A query that failed sees nothing more: then its error is the answer."""
        error = self.query.exception()
        assert error is None, f"the query has failed with {self.seen}: {error}"
        return sorted(self.seen) == sorted(records)


def test_a_broker_that_hangs_keeps_nobody_from_reading_the_others(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    first, second = brokers
    create_on(first.bootstrap_servers, "apart", [(1,), (2,)])
    produce(first.bootstrap_servers, "apart", {0: 2, 1: 1})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    with reader.reading("apart", 2) as ends:
        reader.await_records((0, 0), (0, 1), (1, 0))
        with hanging(second):
            produce(first.bootstrap_servers, "apart", {0: 1})
            reader.await_records((0, 0), (0, 1), (1, 0), (0, 2))
            eventually(lambda: list(ends.silent) == [("apart", 1)], "that nobody but the hanging broker is silent")
        produce(first.bootstrap_servers, "apart", {1: 1})
        reader.await_records((0, 0), (0, 1), (1, 0), (0, 2), (1, 1))
        eventually(lambda: not ends.silent, "that nobody is silent any more")


def test_a_query_that_starts_while_a_broker_hangs_reads_what_the_others_have(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    first, second = brokers
    create_on(first.bootstrap_servers, "late", [(1,), (2,)])
    produce(first.bootstrap_servers, "late", {0: 2, 1: 3})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    with hanging(second), reader.reading("late", 2):
        reader.await_records((0, 0), (0, 1))
    # One that has hung for longer than its session leads nothing until it is back: a fetch would end the query.
    await_leader(first.bootstrap_servers, 1, "late")
    with reader.reading("late", 2):
        reader.await_records((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))


def test_partitions_that_a_topic_has_got_are_read_from_their_start(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    bootstrap = brokers[0].bootstrap_servers
    create_on(bootstrap, "grown", [(1,)])
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


class EndsBeforeAHang(LogEnds):
    """Says where the logs end, and then the broker hangs that leads what there is to read."""

    def __init__(self, bootstrap: str, topic: str, jvm: int) -> None:
        super().__init__(ClusterSettings(name="test", bootstrap_servers=bootstrap), [topic])
        self.jvm = jvm

    def ask(self, read: Mapping[Place, int]) -> Ends:
        found = super().ask(read)
        if any(end > read[place] for place, end in found.ends.items()):
            os.kill(self.jvm, signal.SIGSTOP)
        return found


def test_a_broker_that_hangs_after_the_planning_ends_the_query_with_a_timeout(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    """The next start reads the others, once the plan is taken back."""
    first, second = brokers
    create_on(first.bootstrap_servers, "within", [(1,), (2,)])
    produce(first.bootstrap_servers, "within", {1: 1})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    ends = EndsBeforeAHang(first.bootstrap_servers, "within", jvm_of(second))
    try:
        with reader.reading("within", 2, ends), pytest.raises(StreamingQueryException) as raised:
            reader.query.awaitTermination(round(PATIENCE_S * crowding()))
    finally:
        os.kill(ends.jvm, signal.SIGCONT)
    assert is_fetch_timeout(raised.value), trace_of(raised.value)
    assert (tmp_path / "offsets" / "0").exists()
    assert not (tmp_path / "commits" / "0").exists()
    assert reader.seen == []


def test_a_source_none_of_whose_leaders_answers_does_not_stop_the_other_sources_of_a_query(
    spark: SparkSession, brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path: Path
):
    """As the events topic, whose only partition may be the hanging broker's."""
    first, second = brokers
    create_on(first.bootstrap_servers, "here", [(1,)])
    create_on(first.bootstrap_servers, "there", [(2,)])
    produce(first.bootstrap_servers, "there", {0: 1})
    reader = Reader(spark, first.bootstrap_servers, tmp_path)
    with reader.reading_both("here", "there") as ends:
        reader.await_records((0, 0))
        with hanging(second):
            produce(first.bootstrap_servers, "here", {0: 2})
            reader.await_records((0, 0), (0, 0), (0, 1))
            eventually(lambda: list(ends.silent) == [("there", 0)], "that nobody but the hanging broker is silent")
