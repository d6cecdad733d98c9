"""A Kafka Streams application whose instances are closed in good order and started again."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.collectors.kafka.test_streams_application import APPLICATION
from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.scenarios.settings import SESSION_S
from tests.support.java_program import jars_of_streams_and_connect, java_command

MOST_INSTANCES: Final = 3
CLOSE_S: Final = 60

BROKER: Final = {
    "group.streams.min.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.num.standby.replicas": "1",
}
"""In the protocol of KIP-1071 sessions and standby tasks are settings of the group, or of the brokers."""

CLASSIC: Final = (
    f"session.timeout.ms={SESSION_S * 1000}",
    "heartbeat.interval.ms=1000",
    "num.standby.replicas=1",
    "probing.rebalance.interval.ms=60000",
)


class Instance:
    """A process of the application; it keeps its state from one start to the next."""

    def __init__(self, folder: Path, arguments: Sequence[str], settings: Sequence[str]) -> None:
        folder.mkdir(parents=True)
        self._log = folder / "log"
        options = ("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        jars = jars_of_streams_and_connect()
        self._command = java_command(APPLICATION, *arguments, str(folder), *settings, options=options, jars=jars)

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=log, stderr=log)

    def stop(self) -> None:
        """Let it close in good order; its input ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(CLOSE_S)
        assert code == 0, f"an instance ended with {code}; see {self._log}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)
        assert self._process.stdin is not None
        self._process.stdin.close()


class StreamsApplication(HealthyGroups):
    """One to three instances of two threads each, with standby tasks."""

    pause_s = (4.0, 12.0)

    def __init__(self, bootstrap: str, folder: Path, kind: str) -> None:
        """``kind``, streams-classic or streams-kip1071, is also the name of its group."""
        self.kind = kind
        self.topics = {f"{kind}-events": 4}
        settings = CLASSIC if kind == "streams-classic" else ("group.protocol=streams",)
        (topic,) = self.topics
        arguments = (bootstrap, self.kind, topic)
        more = (*settings, "commit.interval.ms=500", "num.stream.threads=2")
        self._idle = [Instance(folder / f"{self.kind}-{n}", arguments, more) for n in range(MOST_INSTANCES)]
        self._running: list[Instance] = []

    def set_up(self) -> None:
        """Two instances."""
        for _ in range(2):
            self._start()

    def end(self) -> None:
        while self._running:
            self._running.pop().kill()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self._chance = chance
        return [self._start, self._close, self._restart]

    def _start(self) -> bool:
        if not self._idle:
            return False
        instance = self._idle.pop()
        instance.start()
        self._running.append(instance)
        return True

    def _close(self) -> bool:
        """Never the last one."""
        if len(self._running) < 2:
            return False
        instance = self._running.pop(self._chance.randrange(len(self._running)))
        self._idle.append(instance)
        instance.stop()
        return True

    def _restart(self) -> bool:
        return self._close() and self._start()
