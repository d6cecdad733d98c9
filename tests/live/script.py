"""What the consumers of one seed do: they join, leave, restart, change their minds, and topics grow under them."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final

from kafka.admin import KafkaAdminClient, NewTopic

from monitor.protocol.group_partition import group_partition
from tests.live.crowd import Crowd, Event
from tests.streaming_jobs.clients import produce

LOG_PARTITIONS: Final = 16
MOST_MEMBERS: Final = 3
MOST_PARTITIONS: Final = 9
RANGE: Final = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE: Final = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"

CLASSIC: Final = {"group.protocol": "classic", "session.timeout.ms": "6000", "heartbeat.interval.ms": "300"}
MODERN: Final = {"group.protocol": "consumer"}


@dataclass
class Crowds:
    """The process whose consumers leave in good order, and the one that is killed."""

    polite: Crowd
    doomed: Crowd


@dataclass
class Group:
    """A group and the members that it has now: their names, with the crowd that each is in."""

    name: str
    flavours: tuple[dict[str, str], ...]
    regex: str | None = None
    static: bool = False
    members: dict[str, Crowd] = field(default_factory=dict)


class Seeded:
    """The actions of one seed, each awaited before the next."""

    def __init__(self, seed: int, bootstrap: str, crowds: Crowds, at_half_time: threading.Barrier) -> None:
        self._random = random.Random(seed)
        self._seed = seed
        self._bootstrap = bootstrap
        self._crowds = crowds
        self._half_time = at_half_time
        self._topics = {f"s{seed}-a": 3, f"s{seed}-b": 4}
        self._started = 0
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self.groups = self._all_groups()
        self.marks: list[Event] = []
        self.done: dict[str, int] = {}
        self.error: Exception | None = None

    def _all_groups(self) -> list[Group]:
        prefix = f"s{self._seed}"
        static_range = {**CLASSIC, "partition.assignment.strategy": RANGE}
        cooperative = {**CLASSIC, "partition.assignment.strategy": COOPERATIVE}
        return [
            Group(f"{prefix}-range", (static_range,), static=True),
            Group(f"{prefix}-cooperative", (cooperative,)),
            Group(f"{prefix}-uniform", (MODERN,), static=True),
            Group(f"{prefix}-regex", (MODERN,), regex=f"{prefix}-.*"),
            Group(f"{prefix}-upgraded", (cooperative, MODERN)),
        ]

    def run(self, seconds: float) -> None:
        """Act until the time is over; an error is kept for the test."""
        try:
            self._admin.create_topics([NewTopic(name, count, 1) for name, count in self._topics.items()])
            self._admin.wait_for_topics(list(self._topics))
            produce(self._bootstrap, f"s{self._seed}-a", {0: 5, 1: 3})
            begun = time.monotonic()
            self._act_until(begun + seconds / 2)
            self._half_time.wait()
            for group in self.groups:
                group.members = {name: crowd for name, crowd in group.members.items() if crowd is self._crowds.polite}
            self._act_until(begun + seconds)
        except Exception as error:
            self.error = error
            self._half_time.abort()
        finally:
            self._admin.close()

    def _act_until(self, deadline: float) -> None:
        actions = [self._join] * 4 + [self._leave] * 3 + [self._restart, self._grow, self._subscribe] + [self._mark] * 4
        while time.monotonic() < deadline:
            action = self._random.choice(actions)
            if action(self._random.choice(self.groups)):
                self.done[action.__name__] = self.done.get(action.__name__, 0) + 1

    def _join(self, group: Group) -> bool:
        if len(group.members) >= MOST_MEMBERS:
            return False
        self._started += 1
        name = f"s{self._seed}-{self._started}"
        instance = f"{name}-instance" if group.static and self._random.random() < 0.5 else None
        crowd = self._crowds.doomed if self._random.random() < 0.4 else self._crowds.polite
        self._start(group, crowd, name, instance)
        return True

    def _start(self, group: Group, crowd: Crowd, name: str, instance: str | None) -> None:
        props = {"group.id": group.name, **self._random.choice(group.flavours)}
        if instance is not None:
            props["group.instance.id"] = instance
        wanted: dict[str, Any] = {"regex": group.regex} if group.regex else {"topics": self._some_topics()}
        since = crowd.seen()
        crowd.tell("start", name=name, props=props, **wanted)
        crowd.await_event(since, "assigned", name=name)
        group.members[name] = crowd

    def _some_topics(self) -> list[str]:
        return self._random.choice([list(self._topics), [next(iter(self._topics))]])

    def _leave(self, group: Group) -> bool:
        return self._close(group) is not None

    def _close(self, group: Group) -> str | None:
        if not group.members:
            return None
        name = self._random.choice(list(group.members))
        crowd = group.members.pop(name)
        since = crowd.seen()
        crowd.tell("close", name=name)
        crowd.await_event(since, "closed", name=name)
        return name

    def _restart(self, group: Group) -> bool:
        """Close a static member, and start it again under its instance id."""
        if not group.static or (name := self._close(group)) is None:
            return False
        self._started += 1
        self._start(group, self._crowds.polite, f"s{self._seed}-{self._started}", f"{name}-instance")
        return True

    def _subscribe(self, group: Group) -> bool:
        if group.regex or not group.members:
            return False
        name = self._random.choice(list(group.members))
        group.members[name].tell("subscribe", name=name, topics=self._some_topics())
        return True

    def _grow(self, _group: Group) -> bool:
        """A topic gets a partition, or there is a new topic that the regular expression fits."""
        name = self._random.choice(list(self._topics))
        if self._topics[name] < MOST_PARTITIONS:
            self._topics[name] += 1
            self._admin.create_partitions({name: self._topics[name]})
        elif len(self._topics) < 5:
            new = f"s{self._seed}-more-{len(self._topics)}"
            self._topics[new] = 2
            self._admin.create_topics([NewTopic(new, 2, 1)])
        return True

    def _mark(self, group: Group) -> bool:
        self.marks.append(self.mark(group.name))
        return True

    def mark(self, group: str) -> Event:
        """What the broker says of a group now."""
        crowd = self._crowds.polite
        since = crowd.seen()
        partition = group_partition(group, LOG_PARTITIONS)
        crowd.tell("describe", group=group, partition=partition, topics=list(self._topics))
        return crowd.await_event(since, "mark", group=group)
