"""What a cluster goes through meanwhile: consumers join and leave, commits go on and back, records cannot be read."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, Final, Self

from kafka import KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from monitor.protocol.kafka.group_metadata import group_partition
from tests.live.script import CLASSIC, COOPERATIVE, MODERN, RANGE
from tests.support.clients import offsets_log_producer, simple_consumer
from tests.support.crowd import Crowd

TOPIC: Final = "read"
TOPIC_PARTITIONS: Final = 6
RECORDS: Final = 1000
"""So many are in each partition at the start. No commit is beyond them: how long a commit has been beyond the end of
its log is known by a job's own polls, so no two jobs tell the same of it."""
EVENTS_TOPIC: Final = "groupwatch.events"
LOG_PARTITIONS: Final = 8
HOSTILE_PARTITION: Final = 5
"""No group is in it: a coordinator that meets an unreadable record in its partition can fail for good."""
SPOILT: Final = b"spoilt"
"""What the values of unreadable records begin with, so that they can be counted in the log."""
OF_TOMORROW: Final = "of_tomorrow"
"""A field of events that are dated ahead, so that they can be counted in the log; groupwatch passes over it."""
KEYS: Final = (b"\x00\x01\x00\x09short", b"\x7f\xff\x00\x00", b"\x00\x02\x00")
MOST_MEMBERS: Final = 3


def beside(name: str) -> str:
    """A group whose records are not in the hostile partition."""
    names = (f"{name}-{number}" for number in range(100))
    return next(name for name in names if group_partition(name, LOG_PARTITIONS) != HOSTILE_PARTITION)


FLAVOURS: Final = {
    beside("range"): CLASSIC | {"partition.assignment.strategy": RANGE},
    beside("cooperative"): CLASSIC | {"partition.assignment.strategy": COOPERATIVE},
    beside("uniform"): MODERN,
}
SIMPLE: Final = tuple(beside(f"simple{number}") for number in range(4))
GROUPS: Final = (*FLAVOURS, *SIMPLE)


DAY_MS: Final = 86_400_000


def write_passes_of_tomorrow(bootstrap: str) -> None:
    """What a collector whose clock is a day ahead would write: a whole pass, which saw no topic."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    ahead_ms = int(time.time() * 1000) + DAY_MS
    seen = {"event": "topicobserved", "topic": TOPIC, "pass_ms": ahead_ms, "observed_ms": ahead_ms, "partitions": []}
    ended = {"event": "passcompleted", "pass_ms": ahead_ms, "completed_ms": ahead_ms, "topics": 0}
    for event in (seen, ended):
        producer.send(EVENTS_TOPIC, json.dumps({"cluster": "chaos", OF_TOMORROW: True} | event).encode(), partition=0)
    producer.flush()
    producer.close()


class Load:
    """Three threads of seeded actions for the time of a ``with`` block; afterwards the members stay, and are silent."""

    def __init__(self, seed: int, bootstrap: str, crowd: Crowd, slower: float = 1.0) -> None:
        """``slower``: by which factor its pauses are longer, but for those of the commits."""
        self._bootstrap = bootstrap
        self._crowd = crowd
        self._seed = seed
        self._slower = slower
        self._stopping = threading.Event()
        self._members: dict[str, list[str]] = {group: [] for group in FLAVOURS}
        self._closed: list[str] = []
        self.errors: list[Exception] = []
        jobs = (self._move, self._commit, self._write)
        self._threads = [threading.Thread(target=self._guarded, args=(job,), daemon=True) for job in jobs]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(120)
        since = self._crowd.seen()
        self._crowd.tell("quiet")
        self._crowd.await_event(since, "quiet")
        for name in (name for members in self._members.values() for name in members):
            self._crowd.await_event(0, "assigned", name=name)
        for name in self._closed:
            self._crowd.await_event(0, "closed", name=name)

    def _guarded(self, job: Callable[[random.Random], None]) -> None:
        try:
            job(random.Random(f"{self._seed} {job.__name__}"))
        except Exception as error:
            self.errors.append(error)

    def _move(self, chance: random.Random) -> None:
        """Members come and go, whether or not there is a broker."""
        while not self._stopping.wait(self._slower * chance.uniform(0.1, 1.5)):
            group = chance.choice(list(FLAVOURS))
            members = self._members[group]
            if members and chance.random() < len(members) / (MOST_MEMBERS + 1):
                self._closed.append(members.pop(chance.randrange(len(members))))
                self._crowd.tell("close", name=self._closed[-1])
            elif members and chance.random() < 0.2:
                self._crowd.tell("rewind", name=chance.choice(members))
            else:
                members.append(f"{group}-{chance.randrange(1 << 32):08x}")
                props = FLAVOURS[group] | {"group.id": group}
                self._crowd.tell("start", name=members[-1], topics=[TOPIC], props=props)

    def _commit(self, chance: random.Random) -> None:
        """Groups without members commit forwards and backwards, many times a second, however slow the rest is.

        So it is a commit that has last changed whether a group is behind. Of a record, a job knows the time by polls.
        """
        with ExitStack() as stack:
            consumers = [stack.enter_context(simple_consumer(self._bootstrap, group)) for group in SIMPLE]
            for consumer in consumers:
                consumer.assign([TopicPartition(TOPIC, number) for number in range(TOPIC_PARTITIONS)])
            while not self._stopping.wait(0.03):
                place = TopicPartition(TOPIC, chance.randrange(TOPIC_PARTITIONS))
                offset = OffsetAndMetadata(chance.randrange(RECORDS), "", -1)
                with suppress(KafkaError):  # the broker is gone; whether it has it is for the log to say
                    chance.choice(consumers).commit({place: offset})

    def _write(self, chance: random.Random) -> None:
        """Records to read, and now and then some that groupwatch cannot read, in both of its logs."""
        with offsets_log_producer(self._bootstrap) as into_log:
            into_others = KafkaProducer(bootstrap_servers=self._bootstrap, acks="all")
            while not self._stopping.wait(self._slower * chance.uniform(0.02, 0.15)):
                with suppress(KafkaError):
                    self._write_one(chance, into_log, into_others)
            into_others.close()

    def _write_one(self, chance: random.Random, into_log: Any, into_others: Any) -> None:
        into_others.send(TOPIC, b"x", partition=chance.randrange(TOPIC_PARTITIONS))
        key = chance.choice(KEYS)
        into_log.send("__consumer_offsets", key=key, value=SPOILT, partition=HOSTILE_PARTITION)
        if chance.random() < 0.3:
            into_others.send(EVENTS_TOPIC, SPOILT, partition=0)
