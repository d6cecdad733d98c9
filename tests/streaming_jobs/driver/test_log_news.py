"""The driver hears of records beyond a position, on a real broker, and of nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.java_runtime.jars import spark_kafka_jars
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.driver.batch_gate import Unread
from streaming_jobs.driver.log_news import CLOSE_LIMIT_MS, LogNews
from streaming_jobs.runtime.session import create_session, stop_session
from tests.support.clients import create_topic, produce
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, eventually

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    # PySpark leaves its sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

BRIEF_MS = 1_500
LONG_MS = 60_000


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = create_session(
        "local[1]", 1, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, tmp_path_factory.mktemp("news") / "spark.log"
    )
    yield session
    stop_session(session)


@pytest.fixture
def news(spark: SparkSession, broker: EmbeddedKafka, topic_name: str) -> Iterator[LogNews]:
    """A log of three partitions with 2, 0 and 1 records, and events with 1."""
    create_topic(broker.bootstrap_servers, topic_name, 3)
    create_topic(broker.bootstrap_servers, f"{topic_name}.events", 1)
    produce(broker.bootstrap_servers, topic_name, {0: 2, 2: 1})
    produce(broker.bootstrap_servers, f"{topic_name}.events", {0: 1})
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "startingOffsets": "earliest"}
    own = LogNews(spark, options, topic_name, f"{topic_name}.events")
    yield own
    own.close()


def position(*read: int, events: int = 1) -> LogPosition:
    return LogPosition(read=dict(enumerate(read)), events_read={0: events})


def test_what_has_been_read_is_no_news(news: LogNews):
    assert not news.await_beyond(position(2, 0, 1), BRIEF_MS)


@pytest.mark.parametrize(
    ("behind", "unread"),
    [
        (position(1, 0, 1), Unread.GROUPS),
        (position(2, 0, 0), Unread.GROUPS),
        (position(2, 0, 1, events=0), Unread.EVENTS),
    ],
)
def test_a_record_that_was_not_read_is_news_at_once(news: LogNews, behind: LogPosition, unread: Unread):
    assert news.await_beyond(behind, LONG_MS) is unread
    assert news.await_beyond(behind, LONG_MS) is unread, "and still is, until it has been read"
    assert not news.await_beyond(position(2, 0, 1), BRIEF_MS)


def test_where_the_events_tell_of_the_groups_they_are_events_all_the_same(
    spark: SparkSession, broker: EmbeddedKafka, topic_name: str
):
    create_topic(broker.bootstrap_servers, topic_name, 1)
    produce(broker.bootstrap_servers, topic_name, {0: 1})
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "startingOffsets": "earliest"}
    own = LogNews(spark, options, topic_name, topic_name)
    assert own.await_beyond(position(0, events=0), LONG_MS) is Unread.EVENTS
    own.close()


def test_a_record_that_comes_ends_the_wait(news: LogNews, broker: EmbeddedKafka, topic_name: str):
    heard: list[Unread | None] = []
    waiting = threading.Thread(target=lambda: heard.append(news.await_beyond(position(2, 0, 1), LONG_MS)))
    waiting.start()
    produce(broker.bootstrap_servers, topic_name, {1: 1})
    waiting.join(LONG_MS / 2000)
    assert heard == [Unread.GROUPS]
    assert not news.await_beyond(position(2, 1, 1), BRIEF_MS)


def test_many_records_are_one_piece_of_news(news: LogNews, broker: EmbeddedKafka, topic_name: str):
    """Whatever was fetched before and thrown away, only what lies beyond the position counts."""
    for round_ in range(1, 6):
        produce(broker.bootstrap_servers, topic_name, dict.fromkeys(range(3), 100))
        assert news.await_beyond(position(2, 0, 1), LONG_MS)
        read = position(2 + 100 * round_, 100 * round_, 1 + 100 * round_)
        assert not news.await_beyond(read, BRIEF_MS)


def test_a_broker_that_cannot_be_asked_is_news(spark: SparkSession):
    """The micro-batch that follows meets the same error, and tells it."""
    own = LogNews(spark, {"kafka.bootstrap.servers": "no-such-host.invalid:9092"}, "log", "events")
    began = time.monotonic()
    assert own.await_beyond(position(0), LONG_MS) is Unread.GROUPS
    assert time.monotonic() - began < LONG_MS / 1000
    own.close()


def test_a_consumer_that_another_thread_waits_in_is_closed_after_that(news: LogNews):
    """Kafka's consumer refuses a second thread, and one that was not closed would stay with its connections."""
    news.await_beyond(position(2, 0, 1), 1)
    consumer = news._consumer
    waiting = threading.Thread(target=lambda: news.await_beyond(position(2, 0, 1), CLOSE_LIMIT_MS // 2))
    waiting.start()
    eventually(lambda: news._in_use.locked() or None, "the thread waits for records")
    news.close()
    waiting.join(LONG_MS / 1000)
    with pytest.raises(Py4JJavaError, match="This consumer has already been closed"):
        consumer.assignment()
