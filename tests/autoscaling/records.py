"""Writes the records of a load, and knows when each was written: how old the oldest unread record of a group is.

A topic has one writer, whose producer is idempotent: the n-th record of a partition has the offset n.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer

from tests.autoscaling.consumers import POISON
from tests.autoscaling.workers import Worker

TICK_S: Final = 0.2
_LATER: Final = frozenset({KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
Rates = Callable[[float], Sequence[float]]
"""Records a second in each partition, at a time of ``time.monotonic``."""


class Ledger:
    """How many records each partition of a topic got by when; for several threads."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self._lock = threading.Lock()
        self._ends: list[list[int]] = [[] for _ in range(partitions)]
        self._times: list[list[float]] = [[] for _ in range(partitions)]

    def add(self, partition: int, records: int, at_s: float) -> None:
        """So many more records of this time; times do not decrease."""
        if records:
            with self._lock:
                ends = self._ends[partition]
                ends.append((ends[-1] if ends else 0) + records)
                self._times[partition].append(at_s)

    def end(self, partition: int) -> int:
        """The offset after the newest record."""
        with self._lock:
            ends = self._ends[partition]
            return ends[-1] if ends else 0

    def written_at(self, partition: int, offset: int) -> float | None:
        """When the record with this offset was written; None: it was not yet."""
        with self._lock:
            place = bisect_right(self._ends[partition], offset)
            times = self._times[partition]
            return times[place] if place < len(times) else None

    def oldest_unread_s(self, committed: Mapping[int, int]) -> float | None:
        """When the oldest record that is not committed was written; None: all are."""
        found = (self.written_at(each, committed.get(each, 0)) for each in range(self.partitions))
        return min((each for each in found if each is not None), default=None)

    def lag(self, committed: Mapping[int, int]) -> int:
        """How many records are not committed."""
        return sum(max(0, self.end(each) - committed.get(each, 0)) for each in range(self.partitions))


class Writer(Worker):
    """Writes to topics until the end of a ``with`` block, each with its own rates.

    A record counts as written from when it is due, also if the broker takes it later.
    """

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 20,
                "message.timeout.ms": 300_000,
                "queue.buffering.max.messages": 2_000_000,
                "log_level": 0,
            }
        )
        self._lock = threading.Lock()
        self._unsent: deque[tuple[str, int, bytes]] = deque()
        self._rates: dict[str, Rates] = {}
        self._due: dict[str, list[float]] = {}
        self.ledgers: dict[str, Ledger] = {}

    def add(self, topic: str, partitions: int, rates: Rates) -> None:
        """Write to a new, empty topic from now on."""
        with self._lock:
            self.ledgers[topic] = Ledger(partitions)
            self._due[topic] = [0.0] * partitions
            self._rates[topic] = rates

    def change(self, topic: str, rates: Rates) -> None:
        """Other rates from now on."""
        with self._lock:
            self._rates[topic] = rates

    def burst(self, topic: str, records: Sequence[int]) -> None:
        """So many records into each partition at once."""
        with self._lock:
            for partition, count in enumerate(records):
                self._write(topic, partition, count)
            self._send()

    def poison(self, topic: str, partition: int) -> None:
        """A record that kills its consumer."""
        with self._lock:
            self._write(topic, partition, 1, POISON)
            self._send()

    def flush(self) -> None:
        """Return when the broker has all records."""
        with self._lock:
            self._send()
            assert not self._unsent, "the broker does not know a topic"
        assert not self._producer.flush(60), "the broker does not take the records"

    def _work(self) -> None:
        last_s = time.monotonic()
        while not self._stopping.wait(TICK_S):
            now_s = time.monotonic()
            with self._lock:
                for topic, rates in self._rates.items():
                    self._write_due(topic, rates(now_s), now_s - last_s)
                self._send()
            last_s = now_s
        self._producer.flush(10)

    def _write_due(self, topic: str, rates: Sequence[float], passed_s: float) -> None:
        due = self._due[topic]
        for partition, rate in enumerate(rates):
            due[partition] += rate * passed_s
            count = int(due[partition])
            due[partition] -= count
            self._write(topic, partition, count)

    def _write(self, topic: str, partition: int, count: int, value: bytes = b"x") -> None:
        self.ledgers[topic].add(partition, count, time.monotonic())
        self._unsent.extend([(topic, partition, value)] * count)

    def _send(self) -> None:
        """Hand records to the producer, in order. A broker that has just started may not know the topic yet."""
        while self._unsent:
            topic, partition, value = self._unsent[0]
            try:
                self._producer.produce(topic, value, partition=partition)
            except KafkaException as error:
                if error.args[0].code() not in _LATER:
                    raise
                break
            self._unsent.popleft()
        self._producer.poll(0)
