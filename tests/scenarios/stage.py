"""Where scenarios are played: actions done to a real broker by real clients, under a steady load of records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import KafkaTimeoutError

from tests.scenarios.scenario import (
    AnyAction,
    Burst,
    Close,
    Create,
    DeleteGroup,
    DeleteTopic,
    Grow,
    Hang,
    Kill,
    Resume,
    Rewind,
    Scenario,
    Sleep,
    Stall,
    Start,
)
from tests.scenarios.settings import SESSION_S
from tests.support.background import Background
from tests.support.clients import admin
from tests.support.crowd import Crowd, Event

EVERY_S: Final = 2.0
"""The load is a record into each partition, so often."""

SAID: Final = {"close": "closed", "sleep": "asleep", "hang": "hanging", "resume": "resumed", "rewind": "rewound"}
"""What a consumer says when it has done what it was told."""


def full(scenario: str, name: str) -> str:
    """The name of a scenario's topic or consumer among those of all."""
    return f"{scenario}.{name}"


def short(scenario: str, name: str) -> str:
    """The name within the scenario."""
    return name.removeprefix(f"{scenario}.")


class Load(Background):
    """A thread that writes a record into each partition of some topics, again and again, also into new ones."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self._bootstrap = bootstrap
        self._producer = self._new_producer()
        self._topics: set[str] = set()
        self._changing = threading.Lock()
        self.errors: list[str] = []

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        with suppress(KafkaTimeoutError):  # of records for a broker that has been killed
            self._producer.close(timeout=5)

    def add(self, *topics: str) -> None:
        """Write into these, too. They exist."""
        self.look_at(*topics)
        with self._changing:
            self._topics |= set(topics)

    def look_at(self, *topics: str) -> None:
        """Learn their partitions, so that nothing has to wait for that later."""
        for topic in topics:
            self._producer.partitions_for(topic)

    def leave_out(self, topic: str) -> None:
        """Write into this one no more."""
        with self._changing:
            self._topics.discard(topic)
            self._producer.close(timeout=10)
            self._producer = self._new_producer()  # the old one would ask for the topic all the time once it is gone

    def burst(self, topic: str, records: int) -> None:
        """So many into each partition."""
        with self._changing:
            for partition in self._producer.partitions_for(topic):
                for _ in range(records):
                    self._producer.send(topic, b"x", partition=partition)

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            try:
                with self._changing:
                    self._write()
            except Exception as error:  # told in the report: without a load nothing can be said
                self.errors.append(repr(error))

    def _write(self) -> None:
        for topic in sorted(self._topics):
            for partition in self._producer.partitions_for(topic):
                self._producer.send(topic, b"x", partition=partition)

    def _new_producer(self) -> KafkaProducer:
        return KafkaProducer(
            bootstrap_servers=self._bootstrap, acks=1, linger_ms=50, metadata_max_age_ms=2000, max_block_ms=60_000
        )


class Stage:
    """A broker, two processes with consumers, of which one is to be killed, and the load. For many threads."""

    def __init__(self, bootstrap: str, polite: Crowd, doomed: Crowd, load: Load) -> None:
        self._crowds = {"polite": polite, "doomed": doomed}
        self._load = load
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._asking = threading.Lock()
        self._where: dict[str, str] = {}
        self._await_assigned: dict[str, Callable[[], Event]] = {}
        self._killing = threading.Lock()
        self._killed = False

    def close(self) -> None:
        self._admin.close()

    def create(self, topics: dict[str, int]) -> None:
        """Topics with so many partitions; they exist when this returns."""
        with self._asking:
            self._admin.create_topics([NewTopic(name, count, 1) for name, count in topics.items()])
            self._admin.wait_for_topics(list(topics))

    def set_up(self, scenarios: Iterable[Scenario]) -> None:
        """All topics, and all members that are there from the beginning: first everybody's first one, and so on."""
        scenarios = list(scenarios)
        topics = {full(each.name, topic): count for each in scenarios for topic, count in each.topics.items()}
        self.create(topics)
        silent = {full(each.name, topic) for each in scenarios for topic in each.silent_topics}
        self._load.add(*(topics.keys() - silent))
        self._load.look_at(*silent)
        for number in range(max(len(each.members) for each in scenarios)):
            waiting = [self.start(each.name, each.members[number]) for each in scenarios if number < len(each.members)]
            for wait in waiting:
                wait()

    def start(self, scenario: str, start: Start) -> Callable[[], Event]:
        """Start a consumer; call the answer to wait until it has an assignment."""
        name, crowd = full(scenario, start.member), self._crowds[start.where]
        self._where[name] = start.where
        since = crowd.seen()
        props = dict(start.props) | {"group.id": scenario}
        crowd.tell("start", name=name, props=props, **_subscription(scenario, start), **start.more)

        def await_assigned() -> Event:
            return crowd.await_event(since, "assigned", name=name)

        self._await_assigned[name] = await_assigned
        return await_assigned

    def perform(self, scenario: str, action: AnyAction) -> None:
        """Do it; it is done when this returns, but for what consumers and brokers make of it later."""
        match action:
            case Start():
                self.start(scenario, action)
            case Close() | Sleep() | Hang() | Resume() | Rewind():
                self._tell(scenario, action)
            case Kill():
                self._kill()
            case Grow():
                with self._asking:
                    self._admin.create_partitions({full(scenario, action.topic): action.partitions})
            case Create():
                self.create({full(scenario, action.topic): action.partitions})
                self._load.add(full(scenario, action.topic))
            case DeleteTopic():
                self._load.leave_out(full(scenario, action.topic))
                with self._asking:
                    self._admin.delete_topics([full(scenario, action.topic)])
            case DeleteGroup():
                self._delete_group(scenario)
            case Burst():
                self._load.burst(full(scenario, action.topic), action.records)

    def failures(self) -> list[Event]:
        """Consumers that failed, those that were killed excepted."""
        return [failure for crowd in self._crowds.values() for failure in crowd.failures()]

    def stalls(self, scenario: str) -> tuple[Stall, ...]:
        """When consumers of a scenario stood still, and nobody had told them to."""
        return tuple(
            Stall(short(scenario, event["name"]), event["from_ms"], event["until_ms"])
            for crowd in self._crowds.values()
            for event in crowd.events("stalled")
            if event["name"].startswith(f"{scenario}.")
        )

    def _tell(self, scenario: str, action: Close | Sleep | Hang | Resume | Rewind) -> None:
        name = full(scenario, action.member)
        do = type(action).__name__.lower()
        # for one that goes before it has joined, the coordinator would wait until its session has ended
        self._await_assigned[name]()
        crowd = self._crowds[self._where[name]]
        since = crowd.seen()
        crowd.tell(do, name=name)
        crowd.await_event(since, SAID[do], name=name)

    def _kill(self) -> None:
        with self._killing:
            if not self._killed:
                self._killed = True
                self._crowds["doomed"].kill_9()

    def _delete_group(self, group: str) -> None:
        crowd = self._crowds["polite"]
        since = crowd.seen()
        crowd.tell("delete", group=group)
        deleted = crowd.await_event(since, "deleted", group=group)
        assert deleted["error"] is None, deleted


def miss_soon(bootstrap: str, groups: Iterable[str]) -> None:
    """Let a member of these be missed as soon as one that is to die, if they are KIP-848 groups."""
    short = {"consumer.session.timeout.ms": str(SESSION_S * 1000)}
    with admin(bootstrap) as client:
        client.alter_configs([ConfigResource(ConfigResourceType.GROUP, group, short) for group in groups])


def _subscription(scenario: str, start: Start) -> dict[str, Any]:
    if start.pattern is not None:
        return {"pattern": f"{scenario}\\.{start.pattern}"}
    if start.regex is not None:
        return {"regex": f"{scenario}\\.{start.regex}"}
    return {"topics": [full(scenario, topic) for topic in start.topics]}


def wait_until(instant_s: float) -> None:
    """Sleep until an instant of ``time.time()``."""
    time.sleep(max(0.0, instant_s - time.time()))
