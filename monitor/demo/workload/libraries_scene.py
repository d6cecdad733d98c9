"""The demo's group of two client libraries: a member of Kafka's own Java client, and one of librdkafka."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from monitor.demo.java.clients import kafka_clients
from monitor.demo.workload.scene import SceneStep
from monitor.demo.workload.script import PAYMENTS
from monitor.java_runtime.jars import Progress
from monitor.model.installing import how_to_install, is_installed

GROUP: Final = "fraud-checks"
"""It reads the topic of ``payments``."""

JAVA_MEMBER: Final = f"{GROUP}-java"
LIBRDKAFKA_MEMBER: Final = f"{GROUP}-librdkafka"

_END_LIMIT_S: Final = 15.0
_POLL_S: Final = 0.25

logger = logging.getLogger(__name__)


class LibrariesScene:
    """``fraud-checks`` is healthy. Without confluent-kafka, which has librdkafka, it has its member of Java only."""

    def __init__(self, bootstrap_servers: str, progress: Progress) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._progress = progress

    def start(self, running: ExitStack) -> None:
        """Start a JVM with a member, then the other member; the topic is there."""
        self._progress("starting consumers of Java and of librdkafka")
        java = running.enter_context(kafka_clients(self._bootstrap_servers, self._progress))
        java.consume(JAVA_MEMBER, GROUP, PAYMENTS.name, strategy="RangeAssignor", how="")
        running.callback(java.leave, JAVA_MEMBER)
        if not is_installed("confluent_kafka"):
            self._progress(f"No consumer of librdkafka starts: {how_to_install('demo')}")
            return
        member = LibrdkafkaMember(self._bootstrap_servers)
        running.callback(member.close)

    def steps(self) -> Sequence[SceneStep]:
        """Nothing goes wrong."""
        return ()


class LibrdkafkaMember:
    """A consumer by librdkafka on a thread of its own, from its start to ``close()``."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._settings = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": GROUP,
            "client.id": LIBRDKAFKA_MEMBER,
            "partition.assignment.strategy": "range",
            "auto.offset.reset": "latest",
            "auto.commit.interval.ms": 1_000,
            "session.timeout.ms": 10_000,
            "fetch.min.bytes": 100_000,  # costs little: about one fetch a second
            "fetch.wait.max.ms": 1_000,
        }
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name=LIBRDKAFKA_MEMBER, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the group and wait until that is done."""
        self._ended.set()
        self._thread.join(_END_LIMIT_S)

    def _read(self) -> None:
        from confluent_kafka import Consumer  # noqa: PLC0415 -- an extra of its own

        consumer = Consumer(self._settings, logger=logger)
        consumer.subscribe([PAYMENTS.name])
        try:
            while not self._ended.is_set():
                consumer.consume(num_messages=500, timeout=_POLL_S)
        finally:
            consumer.close()
