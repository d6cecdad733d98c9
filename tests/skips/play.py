"""One run: a topic and a group of its own, what is done to them, and what was seen of them."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewPartitions, NewTopic

from tests.skips.logs import Fleet, Hearing, Process
from tests.skips.oracle import ROW, Event, Passage, Row, Told, passages, ranges_read, told_after_ms
from tests.support.job_process import JobProcess, eventually

SLOW_COMMITS: Final = 12
"""So many commits of a slow consumer: groupwatch asks for ten before it believes that it knows its pace."""
CAUGHT_UP: Final = 300
"""So many records a slow consumer has read by its twelfth commit."""
PATIENCE_S: Final = 60
"""How long a consumer or a broker may take on a busy machine for what takes a second otherwise."""
TOLD_S: Final = 12.0
"""How long it is awaited that something is told: longer than it may take."""
HEALTHY_S: Final = 5.0
"""How long it is awaited that nothing is told."""


@dataclass
class Kit:
    """What all runs share."""

    fleet: Fleet
    hearing: Hearing
    job: JobProcess
    client: KafkaAdminClient
    cluster: str
    folder: Path
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """The administrator, for one thread."""
        with self.one_at_a_time:
            yield self.client


class Play:
    """A group that is called like its topic."""

    def __init__(self, kit: Kit, name: str, client: str, size: int, chance: random.Random) -> None:
        self.kit, self.name, self.client, self.size, self.chance = kit, name, client, size, chance
        self.process = kit.fleet.process(client)
        self.new: set[int] = set()
        self._readers = 0
        self._seen: dict[Row, Told] = {}

    @property
    def reader(self) -> str:
        """The newest of its consumers, which follow one another."""
        return f"{self.name}/reader {self._readers}"

    def events(self) -> list[Event]:
        """The log of all of its consumers."""
        return [
            event for number in range(1, self._readers + 1) for event in self.process.of(f"{self.name}/reader {number}")
        ]

    def create(self, partitions: int = 1) -> None:
        """Its topic."""
        with self.kit.admin() as client:
            client.create_topics([NewTopic(self.name, partitions, 1)])

    def grow(self, partitions: int) -> None:
        """Add partitions."""
        with self.kit.admin() as client:
            client.create_partitions({self.name: NewPartitions(partitions)})
        self.new.update(range(1, partitions))

    def fill(self, records: int, partition: int = 0) -> None:
        """Write records; the first ones in small batches, so that a slow consumer fetches few."""
        java, name = self.kit.fleet.java, f"{self.name}/{partition}"
        before = len(java.of(name))
        self._write(records, partition)
        self._until(java, lambda: len(java.of(name)) > before, f"{name} filled")

    def _write(self, records: int, partition: int) -> None:
        self.kit.fleet.java.tell("fill", topic=self.name, partition=partition, records=records, few=800)

    def start(self, per_s: float = 0, *, few: bool = False, reset: str = "earliest", **more: Any) -> None:
        """A consumer, which has its partitions when this returns."""
        self._readers += 1
        self.process.tell(
            "start",
            name=self.reader,
            client=self.client,
            group=self.name,
            topic=self.name,
            protocol="consumer" if self.client == "java-848" else "classic",
            reset=reset,
            per_s=per_s,
            few=few,
            **({"commit_ms": 500} | more),
        )
        self._await(lambda: any(event["event"] == "assigned" for event in self._newest()), "assigned")

    def pace(self, per_s: float) -> None:
        """Read so fast from now on; 0: as fast as it can."""
        self.process.tell("pace", name=self.reader, per_s=per_s)

    def seek(self, to: int) -> None:
        """Let the application go elsewhere."""
        self.process.tell("seek", name=self.reader, to=to)

    def close(self) -> None:
        """Let the consumer leave."""
        self.leave()
        self._await(lambda: self._newest()[-1]["event"] == "closed", "closed")

    def leave(self) -> None:
        """Tell it to; nothing is awaited."""
        self.process.tell("close", name=self.reader)

    def await_commits(self, count: int) -> None:
        """Until the newest consumer has made so many commits that moved."""

        def have_moved() -> bool:
            made = [event["offsets"] for event in self._newest() if event["event"] == "committed"]
            moved = [after for before, after in pairwise(made) if after != before]
            return len(moved) >= count - 1

        self._await(have_moved, f"{count} commits")

    def committed(self, partition: int = 0) -> int | None:
        """The newest offset that its consumers have committed, or an administrator."""
        key, found = str(partition), None
        for event in self.events():
            if event["event"] in ("committed", "reset"):
                found = event["offsets"].get(key, found)
        return found

    def await_committed(self, offset: int, partition: int = 0) -> None:
        """Until so much was committed."""
        self._await(lambda: (self.committed(partition) or 0) >= offset, f"{offset} committed")

    def delete_records(self, to: int) -> None:
        """As retention would."""
        with self.kit.admin() as client:
            client.delete_records({TopicPartition(self.name, 0): to})

    def reset(self, to: int) -> None:
        """An administrator resets the offset, while the group is empty."""
        with self.kit.admin() as client:
            client.alter_group_offsets(self.name, {TopicPartition(self.name, 0): OffsetAndMetadata(to, "", -1)})
        self.process.note(self.reader, {"event": "reset", "offsets": {"0": to}})

    def forget(self) -> None:
        """The offsets expire, while the group is empty."""
        with self.kit.admin() as client:
            client.delete_group_offsets(self.name, [TopicPartition(self.name, 0)])

    def feed_until(self, offset: int, partition: int = 0) -> None:
        """Write a record each second until so much was committed: librdkafka commits only behind what it has read."""

        def is_committed() -> bool:
            if (self.committed(partition) or 0) >= offset:
                return True
            time.sleep(1.0)
            self._write(1, partition)
            return False

        self._await(is_committed, f"{offset} of partition {partition} committed")

    def passages(self) -> list[Passage]:
        """What was not read."""
        return passages(self.events(), self.new)

    def read(self) -> int:
        """How many offsets its consumers have noted."""
        return sum(end - start for ranges in ranges_read(self.events()).values() for start, end in ranges)

    def told(self) -> list[Told]:
        """What was told of skipped records, by findings and by the rows of the API."""
        return [*self.kit.hearing.of(self.name), *self._seen.values()]

    def await_told(self) -> None:
        """Until each passage that must be told is told, but not for ever."""
        missed = [each for each in self.passages() if each.records >= 100]
        deadline = time.monotonic() + (TOLD_S if missed else HEALTHY_S)
        while time.monotonic() < deadline:
            self.look()
            if missed and all(told_after_ms(each, self.told()) is not None for each in missed):
                return
            time.sleep(0.5)

    def look(self) -> None:
        """Note the rows that the API has now."""
        for row in self.rows():
            heard_ms = int(time.time() * 1000)
            self._seen.setdefault(row, Told(ROW, (row.partition,), heard_ms, (row.before, row.offset)))

    def shown(self) -> dict[str, Any]:
        """What the API says of the group now."""
        known: dict[str, Any] = json.loads(self.kit.job.get_any(f"/api/v1/groups/{self.kit.cluster}/{self.name}"))
        return known

    def rows(self) -> list[Row]:
        """What it says of skipped records, by partition."""
        return [
            Row(
                each["partition"],
                each["cause"],
                each.get("before", 0),
                each["offset"],
                each.get("at_least", 0),
                each["at_most"],
            )
            for each in self.shown().get("skips", [])
        ]

    def keep(self) -> None:
        """Write down what happened, for who asks why something was not told."""
        known = {"new": sorted(self.new), "events": self.events(), "shown": self.shown()}
        (self.kit.folder / f"{self.name}.json").write_text(json.dumps(known), encoding="utf-8")

    def _newest(self) -> list[Event]:
        return self.process.of(self.reader)

    def _await(self, look: Callable[[], bool], what: str) -> None:
        def seen() -> bool:
            failed = [event for event in self._newest() if event["event"] == "failed"]
            assert not failed, f"{self.reader}: {failed}"
            return bool(self._newest()) and bool(look())

        self._until(self.process, seen, f"{self.reader}: {what}")

    def _until(self, process: Process, look: Callable[[], bool], what: str) -> None:
        """As long as a process lives."""

        def seen() -> bool:
            assert process.ended is None, f"{what}: the process ended with {process.ended}: {process.last_words()}"
            return look()

        eventually(seen, what, PATIENCE_S)
