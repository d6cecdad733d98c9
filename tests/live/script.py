"""What the consumers of one seed do: they join, leave, restart, fall asleep, and topics grow under them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.protocol.kafka.group_metadata import group_partition
from tests.support.crowd import PATIENCE_S, Crowd, Event

LOG_PARTITIONS: Final = 16
MOST_MEMBERS: Final = 3
MOST_PARTITIONS: Final = 9
MOST_TOPICS: Final = 5
MOST_TRIES: Final = 5
ROUNDS: Final = 3
"""Between two rounds a process is killed, with all of its consumers."""
RANGE: Final = "org.apache.kafka.clients.consumer.RangeAssignor"
COOPERATIVE: Final = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"

SESSION_MS: Final = 4000
ASLEEP: Final = {"max.poll.interval.ms": "4000"}
"""How soon a consumer that does not poll leaves by itself; a static one just falls silent."""
CLASSIC: Final = {
    **ASLEEP,
    "group.protocol": "classic",
    "session.timeout.ms": str(SESSION_MS),
    "heartbeat.interval.ms": "300",
}
MODERN: Final = {**ASLEEP, "group.protocol": "consumer"}
RACKS: Final = (None, "east", "west")


@dataclass
class Crowds:
    """The process whose consumers leave in good order, and the one that is killed and comes back empty."""

    bootstrap: str
    polite: Crowd
    doomed: Crowd
    failures: list[Event] = field(default_factory=list)

    def kill(self) -> None:
        """End the doomed process; its consumers say no goodbye."""
        self.failures += self.doomed.failures()
        self.doomed.kill_9()
        self.doomed = Crowd(self.bootstrap)


@dataclass(frozen=True)
class Started:
    """A consumer: the process that it is in, and its instance id if it is a static member."""

    crowd: Crowd
    instance: str | None


@dataclass
class Group:
    """A group and the consumers, by their names, that are thought to be its members now."""

    name: str
    flavours: tuple[dict[str, str], ...]
    regex: str | None = None
    static: bool = False
    members: dict[str, Started] = field(default_factory=dict)


class Seeded:
    """The actions of one seed, one after another. ``done`` counts them."""

    def __init__(self, seed: int, crowds: Crowds, between_rounds: threading.Barrier) -> None:
        self._random = random.Random(seed)
        self._prefix = f"s{seed}"
        self._crowds = crowds
        self._between_rounds = between_rounds
        self._topics = {f"s{seed}-a": 3, f"s{seed}-b": 4}
        self._started = 0
        self._admin = KafkaAdminClient(bootstrap_servers=crowds.bootstrap)
        self._producer = KafkaProducer(bootstrap_servers=crowds.bootstrap, acks="all")
        self.groups = self._all_groups()
        self.marks: list[Event] = []
        self.done: Counter[str] = Counter()
        self.error: Exception | None = None

    def _all_groups(self) -> list[Group]:
        prefix = self._prefix
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
            begun = time.monotonic()
            self._do_what_is_rare()
            for number in range(1, ROUNDS + 1):
                self._act_until(begun + seconds * number / ROUNDS)
                if number < ROUNDS:
                    self._lose_the_doomed()
        except Exception as error:
            self.error = error
            self._between_rounds.abort()
        finally:
            self._admin.close()
            self._producer.close()

    def _do_what_is_rare(self) -> None:
        """What a slow machine may not come to by chance; the rest of the time is chance's."""
        by_kind = {group.name.removeprefix(f"{self._prefix}-"): group for group in self.groups}
        self._fit_no_topic(by_kind["regex"])
        self._change_protocol(by_kind["upgraded"])
        for kind in ("range", "uniform"):
            self._come_back(by_kind[kind])
        self._hand_over(by_kind["cooperative"])
        for action in (self._join, self._grow, self._mark):
            self._do(action, by_kind["regex"])

    def _fit_no_topic(self, group: Group) -> None:
        """A group whose only expression fits no topic, so that it has nothing to assign; then there is no group."""
        unfit = replace(group, regex=f"{self._prefix}-none")  # with the same members
        self._start(unfit, self._crowds.polite, None)
        self._mark(unfit)
        self._do(self._delete, unfit)

    def _change_protocol(self, group: Group) -> None:
        """From the classic one to that of KIP-848 and back."""
        for flavour in group.flavours:
            self._start(group, self._crowds.polite, None, flavour)
            self._mark(group)
        self._end(group, list(group.members)[-1], "close", "closed")
        self.done["leave"] += 1

    def _come_back(self, group: Group) -> None:
        """A static member restarts, and another falls asleep: its session ends."""
        self._start(group, self._crowds.polite, f"{group.name}-first")
        self._do(self._restart, group)
        self._start(group, self._crowds.polite, f"{group.name}-second")
        self._mark(group)
        self._end(group, list(group.members)[-1], "sleep", "asleep")
        self.done["sleep"] += 1

    def _hand_over(self, group: Group) -> None:
        """A member goes back to what it has read, gives partitions to another, and wants fewer topics."""
        both = list(self._topics)
        self._start(group, self._crowds.polite, None, topics=both)
        self._do(self._produce, group)
        deadline = time.monotonic() + PATIENCE_S
        while not any(offset["offset"] for offset in self.mark(group.name)["offsets"].values()):
            assert time.monotonic() < deadline, f"{group.name} commits nothing"
        self._do(self._rewind, group)
        self._start(group, self._crowds.doomed, None, topics=both)
        self._mark(group)
        [first, _] = group.members
        group.members[first].crowd.tell("subscribe", name=first, topics=both[:1])
        self.done["subscribe"] += 1

    def _lose_the_doomed(self) -> None:
        """Wait for the other seeds; the barrier's action kills the process."""
        self._between_rounds.wait()
        for group in self.groups:
            living = {name: one for name, one in group.members.items() if one.crowd is self._crowds.polite}
            self.done["killed"] += len(group.members) - len(living)
            group.members = living

    def _act_until(self, deadline: float) -> None:
        actions = {
            self._join: 8,
            self._leave: 4,
            self._restart: 3,
            self._sleep: 1,
            self._rewind: 2,
            self._delete: 1,
            self._grow: 2,
            self._subscribe: 3,
            self._produce: 4,
            self._mark: 8,
        }
        while time.monotonic() < deadline:
            [action] = self._random.choices(list(actions), list(actions.values()))
            self._do(action, self._random.choice(self.groups))

    def _do(self, action: Callable[[Group], bool], group: Group) -> None:
        if action(group):
            self.done[action.__name__.removeprefix("_")] += 1
            if action in (self._restart, self._rewind, self._delete):
                self._mark(group)  # what they write is soon written over

    def _join(self, group: Group) -> bool:
        if len(group.members) >= MOST_MEMBERS:
            return False
        crowd = self._crowds.doomed if self._random.random() < 0.4 else self._crowds.polite
        static = group.static and self._random.random() < 0.5
        self._start(group, crowd, f"{self._prefix}-instance-{self._started}" if static else None)
        return True

    def _start(
        self,
        group: Group,
        crowd: Crowd,
        instance: str | None,
        flavour: dict[str, str] | None = None,
        topics: list[str] | None = None,
    ) -> None:
        self._started += 1
        name = f"{self._prefix}-{self._started}"
        rack = self._random.choice(RACKS)
        props = {"group.id": group.name, **(flavour or self._random.choice(group.flavours))}
        props |= {"group.instance.id": instance} if instance else {}
        props |= {"client.rack": rack} if rack else {}
        wanted: dict[str, Any] = {"regex": group.regex} if group.regex else {"topics": topics or self._some_topics()}
        since = crowd.seen()
        crowd.tell("start", name=name, props=props, **wanted)
        crowd.await_event(since, "assigned", name=name)
        group.members[name] = Started(crowd, instance)

    def _some_topics(self) -> list[str]:
        return self._random.choice([list(self._topics), [next(iter(self._topics))]])

    def _leave(self, group: Group) -> bool:
        if not group.members:
            return False
        self._end(group, self._random.choice(list(group.members)), "close", "closed")
        return True

    def _end(self, group: Group, name: str, do: str, told: str) -> Started:
        one = group.members.pop(name)
        since = one.crowd.seen()
        one.crowd.tell(do, name=name)
        one.crowd.await_event(since, told, name=name)
        return one

    def _restart(self, group: Group) -> bool:
        """Close a static member, and start another consumer under its instance id."""
        static = [name for name, one in group.members.items() if one.instance]
        if not static:
            return False
        one = self._end(group, self._random.choice(static), "close", "closed")
        self._start(group, one.crowd, one.instance)
        return True

    def _sleep(self, group: Group) -> bool:
        """A consumer never polls again: it is in everybody's way until it leaves or its time is over."""
        if not group.members:
            return False
        self._end(group, self._random.choice(list(group.members)), "sleep", "asleep")
        return True

    def _rewind(self, group: Group) -> bool:
        if not group.members:
            return False
        name = self._random.choice(list(group.members))
        crowd = group.members[name].crowd
        since = crowd.seen()
        crowd.tell("rewind", name=name)
        crowd.await_event(since, "rewound", name=name)
        return True

    def _delete(self, group: Group) -> bool:
        """All leave, and the group is deleted, unless a member that fell silent is still in it."""
        for name in list(group.members):
            self._end(group, name, "close", "closed")
        crowd = self._crowds.polite
        since = crowd.seen()
        crowd.tell("delete", group=group.name)
        return crowd.await_event(since, "deleted", group=group.name)["error"] is None

    def _subscribe(self, group: Group) -> bool:
        """Another subscription, or the same again: so there is nothing to wait for."""
        if group.regex or not group.members:
            return False
        name = self._random.choice(list(group.members))
        group.members[name].crowd.tell("subscribe", name=name, topics=self._some_topics())
        return True

    def _grow(self, _group: Group) -> bool:
        """A topic gets a partition, or there is a new topic that the regular expression fits."""
        name = self._random.choice(list(self._topics))
        if self._topics[name] < MOST_PARTITIONS:
            self._topics[name] += 1
            self._admin.create_partitions({name: self._topics[name]})
        elif len(self._topics) < MOST_TOPICS:
            new = f"{self._prefix}-more-{len(self._topics)}"
            self._topics[new] = 2
            self._admin.create_topics([NewTopic(new, 2, 1)])
        else:
            return False
        return True

    def _produce(self, _group: Group) -> bool:
        """Records, so that the positions that are committed go on."""
        place = self._random.choice(list(self._topics)[:2]), self._random.randrange(3)
        sent = [self._producer.send(place[0], b"x", partition=place[1]) for _ in range(self._random.randint(1, 5))]
        for future in sent:
            future.get(timeout=30)
        return True

    def _mark(self, group: Group) -> bool:
        self.marks.append(self.mark(group.name))
        return True

    def mark(self, group: str) -> Event:
        """What the broker says of a group now; asked again, a few times, if something was written meanwhile."""
        for _ in range(MOST_TRIES):
            mark = self._ask(group)
            if mark["log_end"] == mark["log_end_after"]:
                break
        return mark

    def _ask(self, group: str) -> Event:
        crowd = self._crowds.polite
        since = crowd.seen()
        partition = group_partition(group, LOG_PARTITIONS)
        crowd.tell("describe", group=group, partition=partition, topics=list(self._topics))
        return crowd.await_event(since, "mark", group=group)
