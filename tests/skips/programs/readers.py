"""Consumers of kafka-python and librdkafka that note every offset that they read; it needs no module of the repository.

The first line of input is the broker's address; every other one is a command, a JSON object. What happens goes to
standard output in the same form. The program ends with its input.

{"do": "start", "name", "client", "group", "topic", "protocol", "reset", "per_s", "commit_ms"}: ``per_s`` 0 is as fast
  as it can; and perhaps "at": "end" (it begins at the end of what it is assigned), "few": true (it fetches as little as
  it can, so that little is read before it is processed)
{"do": "pace", "name", "per_s"}   {"do": "seek", "name", "to"}   {"do": "close", "name"}: it commits, and leaves

{"event": "read", "name", "partition", "from", "to"}: offsets from ``from`` to before ``to``, told before their commit
{"event": "committed", "name", "offsets", "ms"}   {"event": "assigned" or "closed", "name"}
{"event": "failed" or "trouble", "name", "error"}: it has ended, or goes on
"""
# ruff: noqa: PLC0415 -- a process loads only the library whose consumers it has

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from abc import ABC, abstractmethod

FEW = 10
POLL_S = 0.1

_speaking = threading.Lock()


def tell(name: str, event: str, **more: object) -> None:
    with _speaking:
        sys.stdout.write(json.dumps({"name": name, "event": event, **more}) + "\n")
        sys.stdout.flush()


class Reader(ABC):
    """A consumer with a thread that reads until it is closed."""

    def __init__(self, bootstrap: str, wanted: dict) -> None:
        self.wanted, self.name = wanted, wanted["name"]
        self.asked: queue.SimpleQueue = queue.SimpleQueue()
        self._per_s = wanted["per_s"]
        self._runs: dict[int, list[int]] = {}
        threading.Thread(target=self._run, args=(bootstrap,), daemon=True).start()

    def _run(self, bootstrap: str) -> None:
        try:
            self._open(bootstrap)
            self._read()
            self._commit_read()
            self._close()
        except Exception as error:
            tell(self.name, "failed", error=repr(error))
        else:
            tell(self.name, "closed")

    def _read(self) -> None:
        last = time.monotonic()
        while self._obey():
            most = FEW if self._per_s else 500
            found = self._poll(most)
            for partition, offset in found:
                self._note(partition, offset)
            if self._per_s and found:
                time.sleep(len(found) / self._per_s)
            if time.monotonic() - last >= self.wanted["commit_ms"] / 1000:
                last = time.monotonic()
                self._commit_read()

    def _obey(self) -> bool:
        """Do what was asked; whether the consumer goes on."""
        while not self.asked.empty():
            asked = self.asked.get()
            if asked["do"] == "close":
                return False
            if asked["do"] == "pace":
                self._per_s = asked["per_s"]
            else:
                self._seek(asked["to"])
        return True

    def _note(self, partition: int, offset: int) -> None:
        run = self._runs.get(partition)
        if run is None or run[1] != offset:
            self._tell_read(partition)
            self._runs[partition] = [offset, offset + 1]
        else:
            run[1] = offset + 1

    def _tell_read(self, partition: int) -> None:
        run = self._runs.get(partition)
        if run is not None and run[0] < run[1]:
            tell(self.name, "read", partition=partition, **{"from": run[0], "to": run[1]})
            run[0] = run[1]

    def _commit_read(self) -> None:
        for partition in self._runs:
            self._tell_read(partition)
        offsets = self._positions()
        if not offsets:
            return
        try:
            self._commit(offsets)
        except Exception as error:
            tell(self.name, "trouble", error=repr(error))
        else:
            tell(self.name, "committed", offsets=offsets, ms=int(time.time() * 1000))

    @abstractmethod
    def _open(self, bootstrap: str) -> None:
        """Make the consumer, and subscribe."""

    @abstractmethod
    def _poll(self, most: int) -> list[tuple[int, int]]:
        """Partitions and offsets of some records."""

    @abstractmethod
    def _positions(self) -> dict[int, int]:
        """The offsets that can be committed, by partition."""

    @abstractmethod
    def _commit(self, offsets: dict[int, int]) -> None:
        """Commit them."""

    @abstractmethod
    def _seek(self, to: int) -> None:
        """Go on from there in all partitions."""

    @abstractmethod
    def _close(self) -> None:
        """Leave."""


class KafkaPython(Reader):
    """By kafka-python."""

    def _open(self, bootstrap: str) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer
        from kafka.coordinator.assignors.range import RangePartitionAssignor

        reader = self

        class Listener(ConsumerRebalanceListener):
            def on_partitions_revoked(self, revoked) -> None:
                pass

            def on_partitions_assigned(self, assigned) -> None:
                if reader.wanted.get("at") == "end" and assigned:
                    reader.consumer.seek_to_end(*assigned)
                tell(reader.name, "assigned")

        few = {"max_partition_fetch_bytes": 1_000, "fetch_max_bytes": 1_000} if self.wanted.get("few") else {}
        self.consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            client_id=self.name,
            group_id=self.wanted["group"],
            enable_auto_commit=False,
            auto_offset_reset=self.wanted["reset"],
            metadata_max_age_ms=3_000,
            partition_assignment_strategy=[RangePartitionAssignor],
            **few,
        )
        self.consumer.subscribe([self.wanted["topic"]], listener=Listener())

    def _poll(self, most: int) -> list[tuple[int, int]]:
        found = self.consumer.poll(timeout_ms=POLL_S * 1000, max_records=most)
        return [(place.partition, record.offset) for place, records in found.items() for record in records]

    def _positions(self) -> dict[int, int]:
        places = self.consumer.assignment()
        known = {place.partition: self.consumer._subscription.assignment[place].position for place in places}
        return {partition: position.offset for partition, position in known.items() if position is not None}

    def _commit(self, offsets: dict[int, int]) -> None:
        from kafka import OffsetAndMetadata, TopicPartition

        topic = self.wanted["topic"]
        self.consumer.commit({TopicPartition(topic, p): OffsetAndMetadata(o, "", -1) for p, o in offsets.items()})

    def _seek(self, to: int) -> None:
        for place in self.consumer.assignment():
            self.consumer.seek(place, to)

    def _close(self) -> None:
        self.consumer.close(autocommit=False)


class Librdkafka(Reader):
    """By librdkafka, in its binding for Python (confluent-kafka). It commits only behind what it has read."""

    def _open(self, bootstrap: str) -> None:
        from confluent_kafka import Consumer

        self._behind: dict[int, int] = {}
        few = {"queued.max.messages.kbytes": 1, "fetch.message.max.bytes": 1_000, "queued.min.messages": 1}
        settings = {
            "bootstrap.servers": bootstrap,
            "client.id": self.name,
            "group.id": self.wanted["group"],
            "group.protocol": self.wanted["protocol"],
            "enable.auto.commit": False,
            "auto.offset.reset": self.wanted["reset"],
            "topic.metadata.refresh.interval.ms": 3_000,
            "fetch.queue.backoff.ms": 50,
            "error_cb": lambda error: tell(self.name, "trouble", error=repr(error)),
            "log_level": 2,
            **(few if self.wanted.get("few") else {}),
        }
        self.consumer = Consumer(settings)
        self.consumer.subscribe([self.wanted["topic"]], on_assign=self._assigned)

    def _assigned(self, consumer, places) -> None:
        from confluent_kafka import OFFSET_END

        if self.wanted.get("at") == "end":
            for place in places:
                place.offset = OFFSET_END
            if self.wanted["protocol"] == "consumer":
                consumer.incremental_assign(places)
            else:
                consumer.assign(places)
        tell(self.name, "assigned")

    def _poll(self, most: int) -> list[tuple[int, int]]:
        records = [record for record in self.consumer.consume(most, POLL_S) if record.error() is None]
        for record in records:
            self._behind[record.partition()] = record.offset() + 1
        return [(record.partition(), record.offset()) for record in records]

    def _positions(self) -> dict[int, int]:
        return dict(self._behind)

    def _commit(self, offsets: dict[int, int]) -> None:
        from confluent_kafka import TopicPartition

        topic = self.wanted["topic"]
        self.consumer.commit(offsets=[TopicPartition(topic, p, o) for p, o in offsets.items()], asynchronous=False)

    def _seek(self, to: int) -> None:
        from confluent_kafka import TopicPartition

        for place in self.consumer.assignment():
            self.consumer.seek(TopicPartition(place.topic, place.partition, to))

    def _close(self) -> None:
        self.consumer.close()


CLIENTS = {"kafka-python": KafkaPython, "librdkafka": Librdkafka}


def main() -> None:
    bootstrap = sys.stdin.readline().strip()
    readers: dict[str, Reader] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "start":
            readers[asked["name"]] = CLIENTS[asked["client"]](bootstrap, asked)
        elif asked["name"] in readers:
            readers[asked["name"]].asked.put(asked)
    os._exit(0)  # no thread of a library keeps it


if __name__ == "__main__":
    main()
