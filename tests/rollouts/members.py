"""The pods of a rollout: consumers of Java in a JVM that all share, and of librdkafka on threads of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import Consumer

from monitor.demo.java.clients import JavaClients, kafka_clients

LIBRDKAFKA: Final = "librdkafka-cooperative"
STRATEGIES: Final = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
    "kip848-uniform": "uniform",
}
"""Those of Java's client, by the name of an assignor in a rollout."""
ASSIGNORS: Final = (*STRATEGIES, LIBRDKAFKA)
_END_LIMIT_S: Final = 30.0


class Pods:
    """Starts and stops consumers by name. For several threads."""

    def __init__(self, bootstrap: str, java: JavaClients | None) -> None:
        self._bootstrap, self._java = bootstrap, java
        self._one_at_a_time = threading.Lock()
        self._own: dict[str, LibrdkafkaPod] = {}

    def start(self, name: str, group: str, topic: str, assignor: str, *, commits: bool = True) -> None:
        """A consumer that reads the topic; it joins in a while."""
        if assignor == LIBRDKAFKA:
            self._own[name] = LibrdkafkaPod(self._bootstrap, name, group, topic, commits=commits)
            return
        with self._one_at_a_time:
            how = "" if commits else "uncommitted"
            self._java.consume(name, group, topic, strategy=STRATEGIES[assignor], how=how)

    def stop(self, name: str) -> None:
        """It leaves its group in good order."""
        if name in self._own:
            self._own.pop(name).close()
            return
        with self._one_at_a_time:
            self._java.leave(name)

    def hang(self, name: str) -> None:
        """It polls no more, and stays a member."""
        if name in self._own:
            self._own[name].hangs.set()
            return
        with self._one_at_a_time:
            self._java.hang(name)

    def held(self, name: str) -> int:
        """How many partitions it was given."""
        if name in self._own:
            return self._own[name].held
        with self._one_at_a_time:
            return len(self._java.holds(name))

    def close(self) -> None:
        """End those of this process."""
        for name in list(self._own):
            self._own.pop(name).close()


class LibrdkafkaPod:
    """A consumer by librdkafka."""

    def __init__(self, bootstrap: str, name: str, group: str, topic: str, *, commits: bool) -> None:
        self.held = 0
        self.hangs = threading.Event()
        self._ended = threading.Event()
        self._topic = topic
        self._settings = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "client.id": name,
            "partition.assignment.strategy": "cooperative-sticky",
            "auto.offset.reset": "latest",
            "auto.commit.interval.ms": 1_000,
            "enable.auto.commit": commits,
            "allow.auto.create.topics": False,
            "log_level": 0,
        }
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.hangs.clear()
        self._ended.set()
        self._thread.join(_END_LIMIT_S)

    def _run(self) -> None:
        consumer = Consumer(self._settings)
        consumer.subscribe([self._topic])
        while not self._ended.is_set():
            if self.hangs.is_set():
                self._ended.wait(0.2)
                continue
            consumer.consume(num_messages=500, timeout=0.2)
            self.held = len(consumer.assignment())
        consumer.close()


@contextmanager
def running_pods(bootstrap: str) -> Iterator[Pods]:
    """Pods until the end of the block."""
    with kafka_clients(bootstrap) as java:
        pods = Pods(bootstrap, java)
        try:
            yield pods
        finally:
            pods.close()
