"""The collector of a system that is read as a whole: a reading at a fixed rhythm, each written to an events topic.

The events topic is one of a Kafka cluster that the job reads (the carrier); the system may be any other.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Final

from kafka import KafkaProducer

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.kafka.catalog import CLOSE_LIMIT_S
from monitor.collectors.kafka.events_writer import (
    clock_problem,
    ensure_events_topic,
    write_completion,
    write_groups,
    write_listing,
    write_topics,
)
from monitor.collectors.kafka_client.connection import CONNECT_LIMIT_S, close_producer, open_admin, open_producer
from monitor.collectors.passes.collector import RetryingCollector
from monitor.collectors.snapshot import SnapshotReader, SourceSnapshot
from monitor.config import ClusterSettings
from monitor.model import GroupsListed, PassCompleted, Source

LONGEST_PAUSE_S: Final = 60.0
"""The longest wait until the next request to a system that does not respond."""


class PollingCollector(RetryingCollector):
    """Reads a system again and again, and writes what it reads.

    ``run`` belongs to one thread.
    """

    def __init__(
        self,
        name: str,
        reader: SnapshotReader,
        carrier: ClusterSettings,
        interval_s: float,
        clock: Callable[[], int] = wall_clock_ms,
    ) -> None:
        """Prepare; the first pass connects.

        Args:
            name: the cluster that the events are of.
            reader: reads it.
            carrier: the Kafka cluster whose events topic they are written to.
            interval_s: the time between the starts of two passes, in seconds.
            clock: gives the time in milliseconds since the epoch.
        """
        super().__init__(name, "system", name)
        self._name = name
        self._reader = reader
        self._carrier = carrier
        self._interval_s = interval_s
        self._clock = clock
        self._producer: KafkaProducer | None = None
        self._pass_ms = 0
        self._clock_told: str | None = None
        """The problem that this machine's clock is far ahead, as the brokers dated the newest complete pass."""

    def run(self, stop: threading.Event) -> None:
        """Make a pass now and then one every interval, until ``stop``; after failures, at longer intervals."""
        try:
            while not stop.is_set():
                began = time.monotonic()
                self.attempt()
                stop.wait(max(0.0, began + self._pause_s() - time.monotonic()))
        finally:
            self.close()

    def collect(self) -> SourceSnapshot:
        """Make one pass: read everything, and write it.

        That a pass is complete, which makes what it did not see disappear, is written of complete readings only.

        Raises:
            CollectorError: the system, or the carrier, cannot be reached.
            ConfigError: the carrier's client properties cannot be used.
            KafkaError: the events were not written.
        """
        self._pass_ms = max(self._clock(), self._pass_ms + 1)
        reading = self._reader.read(self._pass_ms)
        self.source.require(reading.source_id)
        producer, destination = self._connect(), self._carrier.events_topic
        write_topics(producer, destination, reading.topics)
        write_groups(producer, destination, reading.groups)
        if reading.complete:
            self._write_end(producer, reading)
            self.last_success_ms = max(self._clock(), self._pass_ms)
            self.complete_passes += 1
        else:
            self.incomplete_passes += 1
        self._note_problems(reading)
        return reading

    def close(self) -> None:
        """Close the connections. The next pass opens new ones."""
        producer, self._producer = self._producer, None
        if producer is not None:
            close_producer(producer, CLOSE_LIMIT_S)
        self._reader.close()

    def _note_problems(self, reading: SourceSnapshot) -> None:
        """What a complete reading says is no reason to call the system away: one node of many may be out of date."""
        said = " ".join([*reading.problems, *([self._clock_told] if self._clock_told else [])]) or None
        self.problem, self.warning = (None, said) if reading.complete else (said, None)

    def _write_end(self, producer: KafkaProducer, reading: SourceSnapshot) -> None:
        ended_ms, destination = max(self._clock(), self._pass_ms), self._carrier.events_topic
        listing = GroupsListed(
            cluster=self._name,
            source=reading.source,
            pass_ms=self._pass_ms,
            completed_ms=ended_ms,
            groups=tuple(group.group for group in reading.groups) if reading.listed is None else reading.listed,
        )
        write_listing(producer, destination, listing)
        if reading.source is Source.SYSTEM:  # else the topics are those of a cluster that another collector lists
            completed = PassCompleted(
                cluster=self._name,
                pass_ms=self._pass_ms,
                completed_ms=ended_ms,
                topics=len(reading.topics),
                source_id=reading.source_id,
            )
            self._clock_told = clock_problem(completed, write_completion(producer, destination, completed))

    def _pause_s(self) -> float:
        """The interval; after failures twice as long each time, and not the same for every collector that failed."""
        if not self.failures_in_a_row:
            return self._interval_s
        longest = max(self._interval_s, min(LONGEST_PAUSE_S, self._interval_s * 2**self.failures_in_a_row))
        return random.uniform(self._interval_s, longest)

    def _connect(self) -> KafkaProducer:
        if self._producer is None:
            with open_admin(self._carrier, CONNECT_LIMIT_S) as admin:
                self.has_made_topic |= ensure_events_topic(admin, self._carrier.events_topic)
            self._producer = open_producer(self._carrier, CONNECT_LIMIT_S)
        return self._producer
