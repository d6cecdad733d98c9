"""Whether a cluster's logs have records that no micro-batch has read: a fetch that the brokers hold back until then.

Spark's source only says where its logs end when it plans a micro-batch, and planning one costs half a second of CPU
even if nothing is new. A consumer of the Kafka connector's own classes waits instead
(docs/decisions/0035-no-batch-without-a-reason.md). It fetches one record and throws it away.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.driver.batch_gate import Unread
from streaming_jobs.runtime.session import JVM_GONE

log = logging.getLogger(__name__)

FETCH_WAIT_MS: Final = 1_000
"""How long a broker holds back an answer without records. A fetch under way at the next question asks from where
the consumer had read to, so its answer is news, or comes as soon as there is any. But it leaves out a partition of
which more was fetched than read: news of that may wait for the end of the fetch."""

CLOSE_LIMIT_MS: Final = 1_000

EVENTS_SLICE_MS: Final = 20
"""So long a wait for commits looks for events that another cluster carries: they are news for the next wait at most."""

_OWN: Final = {
    "client.id": "groupwatch-news",
    "enable.auto.commit": "false",
    "auto.offset.reset": "earliest",
    "fetch.max.wait.ms": str(FETCH_WAIT_MS),
    "fetch.max.bytes": "1",
    "max.partition.fetch.bytes": "1",
    "max.poll.records": "1",
}
"""A broker answers with one batch of records at least, however few bytes are requested (KIP-74)."""

_PREFIX: Final = "kafka."


class LogNews:
    """Waits for records beyond a position. The consumer, made at the first question, is one thread's at a time."""

    def __init__(
        self, spark: SparkSession, source_options: Mapping[str, str], log_topic: str, events_topic: str
    ) -> None:
        """Nothing is connected yet.

        Args:
            spark: whose JVM the consumer lives in.
            source_options: those of Spark's Kafka source, without a group: this consumer is in none.
            log_topic: the log from which the groups are known.
            events_topic: what the collectors write; it may be the same.
        """
        jvm: Any = spark._jvm
        self._jvm = jvm
        # Resolved once: each time, Py4J looks for a class by every part of the name in every jar.
        self._millis = jvm.java.time.Duration.ofMillis
        self._log_topic = log_topic
        self._events_topic = events_topic
        own = {key.removeprefix(_PREFIX): value for key, value in source_options.items() if key.startswith(_PREFIX)}
        self._properties = own | _OWN
        self._consumer: Any = None
        self._places: dict[tuple[str, int], Any] = {}
        self._at: dict[tuple[str, int], int] = {}
        self._in_use = threading.Lock()
        self._is_closed = False

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        """Wait until a log has a record that lies beyond the position; None: there is none yet.

        A consumer that fails is no news of the log: the next micro-batch meets the same error, and says it better. So
        it counts as news of the groups.
        """
        with self._in_use:
            if self._is_closed:  # who saw the query end a moment too late makes no other consumer
                return None
            try:
                topics = self._await_topics(position, limit_ms)
            except Py4JJavaError as error:
                log.info("Waiting for records failed (%s)", error.java_exception.getClass().getSimpleName())
                self._end_consumer()
                return Unread.GROUPS
        if not topics:
            return None
        return Unread.EVENTS if topics == {self._events_topic} else Unread.GROUPS

    def _await_topics(self, position: LogPosition, limit_ms: int) -> set[str]:
        self._seek(dict(self._offsets(position)))
        found = self._consumer.poll(self._millis(limit_ms))
        # Py4J ends an iteration by a Java exception, and PySpark looks for its class in every jar (0.04 cores).
        return set() if found.isEmpty() else self._forget(found.partitions().toArray())

    def _offsets(self, position: LogPosition) -> Iterator[tuple[tuple[str, int], int]]:
        logs = {
            self._log_topic: position.read,
            self._events_topic: position.events_read,
            SHARE_STATE_TOPIC: position.share_read,
        }
        for topic, read in logs.items():
            for partition, offset in read.items():
                yield (topic, partition), offset

    def _seek(self, wanted: Mapping[tuple[str, int], int]) -> None:
        if self._consumer is None:
            self._consumer = self._new_consumer()
        if self._places.keys() != wanted.keys():
            self._places = {place: self._jvm.org.apache.kafka.common.TopicPartition(*place) for place in wanted}
            self._consumer.assign(self._java_list(self._places.values()))
            self._at = {}
        for place, at in wanted.items():
            if self._at.get(place) != at:
                self._consumer.seek(self._places[place], at)
                self._at[place] = at

    def _forget(self, passed: Iterable[Any]) -> set[str]:
        """The consumer has gone on by a record in these partitions; their topics."""
        gone = {(place.topic(), place.partition()) for place in passed}
        for place in gone:
            self._at.pop(place, None)
        return {topic for topic, _ in gone}

    def _new_consumer(self) -> Any:  # noqa: ANN401 -- Py4J has no types
        properties = self._jvm.java.util.HashMap()
        for key, value in self._properties.items():
            properties.put(key, value)
        of_kafka = self._jvm.org.apache.kafka
        bytes_of = of_kafka.common.serialization.ByteArrayDeserializer
        return of_kafka.clients.consumer.KafkaConsumer(properties, bytes_of(), bytes_of())

    def _java_list(self, values: Iterable[Any]) -> Any:  # noqa: ANN401 -- Py4J has no types
        found = self._jvm.java.util.ArrayList()
        for value in values:
            found.add(value)
        return found

    def close(self) -> None:
        """Let go of the brokers, once no thread waits any more: Kafka's consumer refuses a second thread."""
        if not self._in_use.acquire(timeout=CLOSE_LIMIT_MS / 1000):
            log.debug("somebody still waits for records; the consumer ends with the JVM")
            return
        try:
            self._is_closed = True
            self._end_consumer()
        finally:
            self._in_use.release()

    def _end_consumer(self) -> None:
        consumer, self._consumer = self._consumer, None
        self._places, self._at = {}, {}
        if consumer is not None:
            with suppress(Py4JJavaError, *JVM_GONE):
                consumer.close(self._millis(CLOSE_LIMIT_MS))


class CarriedNews:
    """The same of two clusters, of which one has the log of groups, and the other the events of the collectors."""

    def __init__(self, of_groups: LogNews, of_events: LogNews) -> None:
        self._of_groups = of_groups
        self._of_events = of_events

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        """See LogNews. Commits that come while it is looked for events wait for that."""
        events = msgspec.structs.replace(position, read={}, share_read={})
        begun = self._of_events.await_beyond(events, min(limit_ms, EVENTS_SLICE_MS))
        left_ms = 0 if begun else max(0, limit_ms - EVENTS_SLICE_MS)
        of_groups = self._of_groups.await_beyond(msgspec.structs.replace(position, events_read={}), left_ms)
        return of_groups or begun

    def close(self) -> None:
        """Let go of the brokers of both."""
        self._of_groups.close()
        self._of_events.close()
