"""A Kafka Streams application whose instances are closed in good order and started again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from monitor.demo.java.streams_instance import StreamsApplication, StreamsInstance
from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.scenarios.settings import SESSION_S

MOST_INSTANCES: Final = 3

BROKER: Final = {
    "group.streams.min.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.session.timeout.ms": str(SESSION_S * 1000),
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.num.standby.replicas": "1",
}
"""In the protocol of KIP-1071 sessions and standby tasks are settings of the group, or of the brokers."""

CLASSIC: Final = {
    "session.timeout.ms": str(SESSION_S * 1000),
    "heartbeat.interval.ms": "1000",
    "num.standby.replicas": "1",
    "probing.rebalance.interval.ms": "60000",
}


class StreamsGroup(HealthyGroups):
    """One to three instances of two threads each, with standby tasks."""

    pause_s = (4.0, 12.0)

    def __init__(self, bootstrap: str, folder: Path, kind: str) -> None:
        """``kind``, streams-classic or streams-kip1071, is also the name of its group."""
        self.kind = kind
        self.topics = {f"{kind}-events": 4}
        settings = CLASSIC if kind == "streams-classic" else {"group.protocol": "streams"}
        (topic,) = self.topics
        more = {**settings, "commit.interval.ms": "500", "num.stream.threads": "2"}
        application = StreamsApplication(kind, topic, more)
        self._idle = [
            StreamsInstance(bootstrap, application, data_dir=folder / f"{kind}-{n}") for n in range(MOST_INSTANCES)
        ]
        self._running: list[StreamsInstance] = []

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
