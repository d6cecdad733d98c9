"""Many consumers of Python's client libraries in one process; it needs only these, and no module of the repository.

The first line of input is the broker's address; every other one is a command, a JSON object. What happens goes to
standard output in the same form. The program ends with its input.

{"do": "start", "name", "library", "group", "topics"} and perhaps "strategies", "client_id", "instance_id",
  "session_ms", "rebalance_ms": what is left out is as the library has it
{"do": "close", "name"}: the consumer closes in good order
"""
# ruff: noqa: PLC0415 -- a process loads only the libraries whose consumers it has

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections import defaultdict

POLL_S = 0.5
AFTER_ERROR_S = 1.0
"""A member whose poll failed tries again after so long, as a program under supervision would."""

_speaking = threading.Lock()


class Voice:
    """Tells what happens to one member."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._topics: set[str] = set()

    def tell(self, event: str, **more: object) -> None:
        with _speaking:
            sys.stdout.write(json.dumps({"name": self._name, "event": event, **more}) + "\n")
            sys.stdout.flush()

    def assigned(self, places) -> None:
        """The partitions that the library gives its user to read."""
        partitions = defaultdict(list)
        for place in places:
            partitions[place.topic].append(place.partition)
        self.tell("assigned", partitions=partitions)

    def consumed(self, topic: str) -> None:
        """The first record of each topic."""
        if topic not in self._topics:
            self._topics.add(topic)
            self.tell("consumed", topic=topic)

    def trouble(self, error: Exception) -> None:
        """An error after which the member goes on."""
        self.tell("trouble", error=repr(error))

    def failed(self, error: Exception) -> None:
        self.tell("failed", error=repr(error))


def given(wanted: dict, **names: str) -> dict:
    """The settings that the command has, by the library's names for them."""
    return {name: wanted[key] for key, name in names.items() if wanted.get(key) is not None}


class Polling(ABC):
    """A member with a thread that polls until it is closed."""

    def __init__(self, bootstrap: str, wanted: dict, voice: Voice) -> None:
        self._voice = voice
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(bootstrap, wanted), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()

    def _run(self, bootstrap: str, wanted: dict) -> None:
        try:
            consumer = self._open(bootstrap, wanted)
            while not self._closing.is_set():
                try:
                    for topic in self._poll(consumer):
                        self._voice.consumed(topic)
                except Exception as error:
                    self._voice.trouble(error)
                    self._closing.wait(AFTER_ERROR_S)
            consumer.close()
        except Exception as error:
            self._voice.failed(error)
        else:
            self._voice.tell("closed")

    @abstractmethod
    def _open(self, bootstrap: str, wanted: dict):
        """The consumer, subscribed."""

    @abstractmethod
    def _poll(self, consumer) -> set[str]:
        """The topics of the records of one poll."""


class KafkaPython(Polling):
    """A member by kafka-python."""

    def _open(self, bootstrap: str, wanted: dict):
        from kafka import ConsumerRebalanceListener, KafkaConsumer

        voice = self._voice

        class Listener(ConsumerRebalanceListener):
            def on_partitions_revoked(self, revoked) -> None:
                pass

            def on_partitions_assigned(self, assigned) -> None:
                voice.assigned(assigned)

        settings = given(
            wanted,
            client_id="client_id",
            instance_id="group_instance_id",
            session_ms="session_timeout_ms",
            rebalance_ms="max_poll_interval_ms",
        )
        if wanted.get("strategies"):
            settings["partition_assignment_strategy"] = [self._assignors()[name] for name in wanted["strategies"]]
        consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, group_id=wanted["group"], auto_offset_reset="earliest", **settings
        )
        consumer.subscribe(wanted["topics"], listener=Listener())
        return consumer

    def _poll(self, consumer) -> set[str]:
        return {place.topic for place, records in consumer.poll(timeout_ms=POLL_S * 1000).items() if records}

    @staticmethod
    def _assignors() -> dict:
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

        all_ = (CooperativeStickyAssignor, RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
        return {assignor.name: assignor for assignor in all_}


class Librdkafka(Polling):
    """A member by librdkafka, in its binding for Python (confluent-kafka)."""

    def _open(self, bootstrap: str, wanted: dict):
        from confluent_kafka import Consumer

        settings = given(
            wanted,
            client_id="client.id",
            instance_id="group.instance.id",
            session_ms="session.timeout.ms",
            rebalance_ms="max.poll.interval.ms",
        )
        if wanted.get("strategies"):
            settings["partition.assignment.strategy"] = ",".join(wanted["strategies"])
        consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": wanted["group"],
                "auto.offset.reset": "earliest",
                "error_cb": self._voice.trouble,
                "log_level": 2,
                **settings,
            }
        )
        consumer.subscribe(wanted["topics"], on_assign=lambda _, places: self._voice.assigned(places))
        return consumer

    def _poll(self, consumer) -> set[str]:
        from confluent_kafka import KafkaException

        records = consumer.consume(num_messages=500, timeout=POLL_S)
        for record in records:
            if record.error() is not None:
                raise KafkaException(record.error())
        return {record.topic() for record in records}


class Aiokafka:
    """A member by aiokafka. All of a process share one event loop."""

    _loop: asyncio.AbstractEventLoop | None = None

    def __init__(self, bootstrap: str, wanted: dict, voice: Voice) -> None:
        self._voice = voice
        self._closing = threading.Event()
        asyncio.run_coroutine_threadsafe(self._run(bootstrap, wanted), self._running_loop())

    def close(self) -> None:
        self._closing.set()

    @classmethod
    def _running_loop(cls) -> asyncio.AbstractEventLoop:
        if cls._loop is None:
            cls._loop = asyncio.new_event_loop()
            threading.Thread(target=cls._loop.run_forever, daemon=True).start()
        return cls._loop

    async def _run(self, bootstrap: str, wanted: dict) -> None:
        try:
            consumer = self._open(bootstrap, wanted)
            await consumer.start()
            try:
                await self._poll(consumer)
            finally:
                await consumer.stop()
        except Exception as error:
            self._voice.failed(error)
        else:
            self._voice.tell("closed")

    def _open(self, bootstrap: str, wanted: dict):
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

        voice = self._voice

        class Listener(ConsumerRebalanceListener):
            def on_partitions_revoked(self, revoked) -> None:
                pass

            def on_partitions_assigned(self, assigned) -> None:
                voice.assigned(assigned)

        settings = given(
            wanted,
            client_id="client_id",
            instance_id="group_instance_id",
            session_ms="session_timeout_ms",
            rebalance_ms="rebalance_timeout_ms",
        )
        if wanted.get("strategies"):
            settings["partition_assignment_strategy"] = tuple(self._assignor(name) for name in wanted["strategies"])
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap, group_id=wanted["group"], auto_offset_reset="earliest", **settings
        )
        consumer.subscribe(wanted["topics"], listener=Listener())
        return consumer

    async def _poll(self, consumer) -> None:
        while not self._closing.is_set():
            try:
                records = await consumer.getmany(timeout_ms=int(POLL_S * 1000))
            except Exception as error:
                self._voice.trouble(error)
                await asyncio.sleep(AFTER_ERROR_S)
            else:
                for place in records:
                    self._voice.consumed(place.topic)

    @staticmethod
    def _assignor(name: str) -> type:
        """A class of its own for each member: sticky keeps its state in the class, one for all consumers of a process.

        One consumer a process is usual, and that is what the members here stand for.
        """
        from aiokafka.coordinator.assignors.range import RangePartitionAssignor
        from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

        all_ = (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
        (base,) = [assignor for assignor in all_ if assignor.name == name]
        return type(base.__name__, (base,), {})


LIBRARIES = {"aiokafka": Aiokafka, "kafka-python": KafkaPython, "librdkafka": Librdkafka}


def main() -> None:
    bootstrap = sys.stdin.readline().strip()
    members: dict[str, Aiokafka | Polling] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "start":
            members[asked["name"]] = LIBRARIES[asked["library"]](bootstrap, asked, Voice(asked["name"]))
        elif asked["do"] == "close":
            members.pop(asked["name"]).close()
    os._exit(0)  # no thread of a library keeps it


if __name__ == "__main__":
    main()
