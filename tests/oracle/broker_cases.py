"""Random groups for the group coordinator's assignors, in the form of the golden vectors' ``input``."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.oracle.names import member_name, topic_name
from tests.oracle.sizes import Size, partition_counts, size, subscriptions

Assigned = dict[str, list[int]]

EVENTS: Final = ("leave", "leave", "join", "join", "resubscribe", "expand", "topic", "recreate", "none")


@dataclass
class Person:
    """A member and its current target assignment."""

    name: str
    topics: list[str]
    instance: str | None
    assigned: Assigned = field(default_factory=dict)


@dataclass
class Topic:
    """A topic's id and its number of partitions; -1: the metadata has gone."""

    topic_id: str
    partitions: int


@dataclass
class BrokerGroup:
    """A group that lives through rounds: take its ``input``, tell it what it was ``assigned``, let it ``happen``."""

    family: str
    rng: random.Random
    size: Size = field(init=False)
    topics: dict[str, Topic] = field(init=False)
    people: list[Person] = field(init=False)
    round: int = 1

    def __post_init__(self) -> None:
        rng = self.rng
        self.size = size(rng)
        self._member_name = member_name(rng)
        self._topic_name = topic_name(rng)
        self._new_id = _id_style(rng)
        counts = partition_counts(rng, self.size)
        self.topics = {self._topic_name(i): Topic(self._new_id(rng), count) for i, count in enumerate(counts)}
        if rng.random() < 0.01:
            rng.choice(list(self.topics.values())).partitions = -1
        self._static = rng.choices([0.0, 0.5, 1.0], [70, 15, 15])[0]
        members = rng.randint(0 if rng.random() < 0.02 else 1, self.size.members)
        asked = subscriptions(rng, list(self.topics), members)
        self.people = [self._person(number, topics) for number, topics in enumerate(asked)]
        self._next = len(self.people)
        rng.shuffle(self.people)
        self._limited = self.family == "kafka.server.share-simple" and rng.random() < 0.15

    def input(self) -> dict[str, Any]:
        """The case: topics, members and what they have now."""
        same = len({frozenset(person.topics) for person in self.people}) <= 1
        told: dict[str, Any] = {
            "subscription_type": "HOMOGENEOUS" if same else "HETEROGENEOUS",
            "topics": {name: {"id": it.topic_id, "partitions": it.partitions} for name, it in self.topics.items()},
            "members": [_told(person) for person in self.people],
        }
        if self._limited:
            told["assignable"] = {
                name: sorted(self.rng.sample(range(it.partitions), self.rng.randint(0, max(0, it.partitions))))
                for name, it in self.topics.items()
                if self.rng.random() < 0.9 and it.partitions >= 0
            }
        return told

    def scatter(self) -> None:
        """Give members parts of the topics, each partition to one of them (in a share group also to more).

        Rarely also to more than one where that should not be, or partitions that are not there.
        """
        rng = self.rng
        shared = self.family == "kafka.server.share-simple" or rng.random() < 0.03
        beyond = rng.randint(1, 2) if rng.random() < 0.03 else 0
        for name, topic in self.topics.items():
            for number in range(topic.partitions + beyond):
                for person in rng.sample(self.people, min(len(self.people), rng.choice([0, 1, 1, 1 + shared]))):
                    person.assigned.setdefault(name, []).append(number)

    def assigned(self, assignment: dict[str, Assigned]) -> None:
        for person in self.people:
            person.assigned = assignment.get(person.name, {})
        self.round += 1

    def happen(self) -> str:
        """Something happens to the group; its name."""
        event = self.rng.choice(EVENTS)
        getattr(self, f"_{event}")()
        if self.rng.random() < 0.5:
            self.rng.shuffle(self.people)
        return event

    # --- events

    def _none(self) -> None:
        pass

    def _leave(self) -> None:
        for _ in range(self.rng.choice([1, 1, 1, 2, len(self.people) // 2])):
            if len(self.people) > 1:
                self.people.pop(self.rng.randrange(len(self.people)))

    def _join(self) -> None:
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            others = [person.topics for person in self.people] or [list(self.topics)]
            like = self.rng.choice(others) if self.rng.random() < 0.8 else list(self.topics)
            self.people.append(self._person(self._next, list(like)))
            self._next += 1

    def _resubscribe(self) -> None:
        names = list(self.topics)
        if self.rng.random() < 0.4:
            topics = self.rng.sample(names, self.rng.randint(1, len(names)))
            for person in self.people:
                person.topics = topics
        elif self.people:
            self.rng.choice(self.people).topics = self.rng.sample(names, self.rng.randint(1, len(names)))

    def _expand(self) -> None:
        self.rng.choice(list(self.topics.values())).partitions += self.rng.randint(1, 4)

    def _topic(self) -> None:
        name = self._topic_name(100 + self.round)
        self.topics[name] = Topic(self._new_id(self.rng), self.rng.randint(1, self.size.partitions))
        for person in self.people:
            if self.rng.random() < 0.8:
                person.topics = [*person.topics, name]

    def _recreate(self) -> None:
        """Another id under the same name: what was assigned of the former topic has gone with it."""
        name = self.rng.choice(list(self.topics))
        self.topics[name] = Topic(self._new_id(self.rng), self.rng.randint(0, self.size.partitions))
        for person in self.people:
            person.assigned = {topic: numbers for topic, numbers in person.assigned.items() if topic != name}

    def _person(self, number: int, topics: list[str]) -> Person:
        instance = f"i{(number * 7) % 23}-{number}" if self.rng.random() < self._static else None
        return Person(self._member_name(number), topics, instance)


def _told(person: Person) -> dict[str, Any]:
    told: dict[str, Any] = {"id": person.name, "topics": person.topics, "assigned": person.assigned}
    return told if person.instance is None else told | {"instance": person.instance}


def _id_style(rng: random.Random) -> Callable[[random.Random], str]:
    """Ids as Kafka makes them; or with the same few bits, so that hash codes are equal and orders close."""
    if rng.random() < 0.85:
        return lambda chance: _uuid(chance.getrandbits(64), chance.getrandbits(64))
    used: set[str] = set()

    def close(chance: random.Random) -> str:
        while True:
            low = chance.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, chance.getrandbits(4)])
            made = _uuid(low ^ chance.choice([0, 1, 2**32, 2**63]), low ^ chance.getrandbits(3))
            if made not in used and not made.startswith("-"):
                used.add(made)
                return made

    return close


def _uuid(most: int, least: int) -> str:
    """As ``Uuid.toString`` writes it."""
    return base64.urlsafe_b64encode(struct.pack(">QQ", most, least)).decode().rstrip("=")
