"""Real consumers and producers of one cluster's applications, beside each other until a ``with`` block ends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import count
from threading import Event, Thread
from typing import Any, Final, Self

from kafka import KafkaProducer, TopicPartition
from kafka.structs import OffsetAndMetadata

from tests.support.background import Background
from tests.support.clients import admin
from tests.support.crowd import Crowd
from tests.support.job_process import eventually

RESTART_S: Final = 3.0
"""From the end of a process to its next start, as a cluster manager does it."""

_NUMBERS: Final = count()


class Crew(Background):
    """Whoever works for the applications of one cluster. ``errors``: what went wrong with that."""

    join_s = 60.0

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self.bootstrap = bootstrap
        self.over: Event = self._stopping
        self.errors: list[str] = []
        self._threads: list[Thread] = []
        self._crowd = Crowd(bootstrap)
        self._members: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        self._crowd.__enter__()
        return super().__enter__()

    def __exit__(self, *failure: Any) -> None:
        super().__exit__(*failure)
        for thread in self._threads:
            thread.join(self.join_s)
        self._crowd.__exit__(*failure)

    def work(self, task: Callable[[], None]) -> None:
        """Do that in a thread."""

        def attempt() -> None:
            try:
                task()
            except Exception as error:
                logging.getLogger(__name__).exception("a task failed")
                self.errors.append(repr(error))

        self._threads.append(Thread(target=attempt, daemon=True))
        self._threads[-1].start()

    def consume(self, group: str, client: str, *topics: str, **settings: str) -> str:
        """A consumer of the Java client, which commits each second; the name by which it is stopped.

        If another one takes its static id, its process ends and is started again.
        """
        name = f"{client}/{next(_NUMBERS)}"
        given = {each.replace("_", "."): value for each, value in settings.items()}
        self._members[name] = {"topics": topics, "props": {"group.id": group, "client.id": client, **given}}
        self._crowd.tell("start", name=name, **self._members[name])
        return name

    def stop(self, name: str) -> None:
        """Let it leave its group; it has left when this returns."""
        since = self._crowd.seen()
        self._crowd.tell("close", name=name)
        self._crowd.await_event(since, "closed", name=name)

    def set_offsets(self, group: str, topic: str, offsets: Iterable[int]) -> None:
        """What an administrator does to a group without members; the offsets are those of partitions 0, 1 and so on."""
        wanted = {TopicPartition(topic, number): OffsetAndMetadata(each, "", -1) for number, each in enumerate(offsets)}
        with admin(self.bootstrap) as client:
            client.alter_group_offsets(group, wanted)

    def write(self, topic: str, partition: int, records: int, value: bytes = b"x") -> None:
        """So many records into one partition, acknowledged."""
        with closing(KafkaProducer(bootstrap_servers=self.bootstrap, metadata_max_age_ms=1_000)) as producer:
            eventually(lambda: partition in (producer.partitions_for(topic) or ()), f"{topic} {partition}")
            for sent in [producer.send(topic, value, partition=partition) for _ in range(records)]:
                sent.get(timeout=60)

    def _run(self) -> None:
        """Start again whoever was fenced."""
        known = 0
        while not self.over.wait(RESTART_S):
            failed = self._crowd.failures()
            for event in failed[known:]:
                if "FencedInstanceId" in event["error"]:
                    self._crowd.tell("start", name=event["name"], **self._members[event["name"]])
                else:
                    self.errors.append(f"{event['name']}: {event['error']}")
            known = len(failed)
