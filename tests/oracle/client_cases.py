"""Random groups for Kafka's client assignors, in the form of the golden vectors' ``input``."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.oracle.names import member_name, topic_name
from tests.oracle.sizes import Size, partition_counts, size, subscriptions

Owned = dict[str, list[int]]

EVENTS: Final = (
    *("leave", "join", "resubscribe", "expand", "shrink", "topic", "restart", "stale", "claim", "none"),
    *("leave", "join", "claim", "stale"),  # these find the most
)


@dataclass
class Person:
    """A member over its life. ``writes`` is how its client tells what it owns (see ``_told``)."""

    number: int
    topics: list[str]
    instance: str | None
    rack: str | None
    writes: str
    owned: Owned | None = None
    generation: int = -1
    gone_stale: bool = False


@dataclass
class ClientGroup:
    """A group that lives through rounds: take its ``input``, tell it what it was ``assigned``, let it ``happen``."""

    family: str
    rng: random.Random
    size: Size = field(init=False)
    counts: dict[str, int] = field(init=False)
    racks: dict[str, list[list[str | None]]] | None = field(init=False)
    people: list[Person] = field(init=False)
    round: int = 1

    def __post_init__(self) -> None:
        rng = self.rng
        self.size = size(rng)
        self._member_name = member_name(rng)
        self._topic_name = topic_name(rng)
        self.counts = {self._topic_name(i): count for i, count in enumerate(partition_counts(rng, self.size))}
        self._rack_of_member, self._racks_of_replicas = _rack_style(rng)
        self.racks = None
        if self._racks_of_replicas is not None:
            self.racks = {topic: self._replicas(count) for topic, count in self.counts.items()}
        self._static = rng.choices([0.0, 0.5, 1.0], [70, 15, 15])[0]
        self._writes = rng.choice([["v1"], ["v1"], ["v1", "v1", "v0", "field"], ["v1", "v0", "field", "odd", "silent"]])
        asked = subscriptions(rng, list(self.counts), rng.randint(1, self.size.members))
        if rng.random() < 0.03:
            asked[0] = asked[0] + asked[0][:2]  # no Java consumer names a topic twice; others might
        self.people = [self._person(number, topics) for number, topics in enumerate(asked)]
        self._next = len(self.people)
        self._seen = rng.choice([0, 1, 2, 3, 100]) if rng.random() < 0.06 else None
        rng.shuffle(self.people)

    def input(self) -> dict[str, Any]:
        """The case: who is a member and what it says."""
        told: dict[str, Any] = {"topics": dict(self.counts), "members": [self._told(person) for person in self.people]}
        if self.racks is not None:
            told["racks"] = {topic: self.racks[topic] for topic in self.counts}
        if self._seen is not None:
            told["instance_max_generation"] = self._seen
        return told

    def scatter(self) -> None:
        """Give everybody something to claim, without any sense."""
        rng = self.rng
        places = [(topic, number) for topic, count in self.counts.items() for number in range(count)]
        strange = [("deleted", 0), *((topic, count + rng.randint(0, 2)) for topic, count in self.counts.items())]
        doubled = rng.random() < 0.5
        rng.shuffle(places)
        for person in self.people:
            if rng.random() < 0.25:
                continue
            share = rng.randint(0, max(1, 2 * len(places) // max(1, len(self.people))))
            taken = rng.sample(places, min(share, len(places)))
            if not doubled:
                places = [place for place in places if place not in set(taken)]
            if rng.random() < 0.1:
                taken.append(rng.choice(strange))
            if rng.random() < 0.03:
                taken += taken[:2]  # claimed twice by one and the same
            rng.shuffle(taken)
            person.owned = {}
            for topic, number in taken:
                person.owned.setdefault(topic, []).append(number)
            person.generation = rng.choice([-1, 0, 1, 2, 2, 2, 3])

    def assigned(self, assignment: dict[str, Owned]) -> None:
        """Everybody takes what it was given, in this round's generation, except who did not hear of it."""
        for person in self.people:
            if person.gone_stale:
                person.gone_stale = False
            else:
                person.owned = assignment.get(self._member_name(person.number), {})
                person.generation = self.round
        self.round += 1

    def happen(self) -> str:
        """Something happens to the group; its name."""
        event = self.rng.choice(EVENTS)
        getattr(self, f"_{event}")()
        if self.rng.random() < 0.3:
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
            like = self.rng.choice(self.people).topics if self.rng.random() < 0.8 else list(self.counts)
            self.people.insert(self.rng.randint(0, len(self.people)), self._person(self._next, list(like)))
            self._next += 1

    def _resubscribe(self) -> None:
        topics = list(self.counts)
        for person in self.people if self.rng.random() < 0.2 else self.rng.choices(self.people, k=1):
            person.topics = self.rng.sample(topics, self.rng.randint(1, len(topics)))

    def _expand(self) -> None:
        topic = self.rng.choice(list(self.counts))
        self._resize(topic, self.counts[topic] + self.rng.randint(1, 4))

    def _shrink(self) -> None:
        """The topic was deleted and created again, smaller; or it is gone."""
        topic = self.rng.choice(list(self.counts))
        if self.rng.random() < 0.3 and len(self.counts) > 1:
            del self.counts[topic]
        else:
            self._resize(topic, self.rng.randint(0, self.counts[topic]))

    def _topic(self) -> None:
        topic = self._topic_name(100 + self.round)
        self._resize(topic, self.rng.randint(1, self.size.partitions))
        for person in self.people:
            if self.rng.random() < 0.8:
                person.topics = [*person.topics, topic]

    def _restart(self) -> None:
        """A new member id; a static member keeps its instance id. It has forgotten what it owned."""
        person = self.rng.choice(self.people)
        at = self.people.index(person)
        self.people[at] = replace(person, number=self._next, owned=None, generation=-1)
        self._next += 1

    def _stale(self) -> None:
        """Somebody misses this round, and will come to the next one with what it owns now."""
        self.rng.choice(self.people).gone_stale = True

    def _claim(self) -> None:
        """Somebody claims some of what another owns, in the same generation or its own."""
        for _ in range(self.rng.choice([1, 1, 2, 3])):
            one, other = self.rng.choice(self.people), self.rng.choice(self.people)
            if one is not other and other.owned:
                topic = self.rng.choice(list(other.owned))
                mine = dict(one.owned or {})
                mine[topic] = list(dict.fromkeys([*mine.get(topic, []), *other.owned[topic]]))
                one.owned = mine
                if self.rng.random() < 0.7:
                    one.generation = other.generation

    # --- details

    def _person(self, number: int, topics: list[str]) -> Person:
        rng = self.rng
        instance = None
        if rng.random() < self._static:
            instance = rng.choice([f"i{(number * 7) % 23}", f"instance-{number:04}"]) + f"-{number}"
        return Person(number, topics, instance, self._rack_of_member(rng), rng.choice(self._writes))

    def _resize(self, topic: str, count: int) -> None:
        self.counts[topic] = count
        if self.racks is not None:
            known = self.racks.get(topic, [])[:count]
            self.racks[topic] = known + self._replicas(count)[len(known) :]

    def _replicas(self, count: int) -> list[list[str | None]]:
        assert self._racks_of_replicas is not None
        return [self._racks_of_replicas(self.rng, partition) for partition in range(count)]

    def _told(self, person: Person) -> dict[str, Any]:
        told: dict[str, Any] = {"id": self._member_name(person.number), "topics": person.topics}
        if person.instance is not None:
            told["instance"] = person.instance
        if person.rack is not None:
            told["rack"] = person.rack
        tell = {"kafka.sticky": _tell_sticky, "kafka.cooperative-sticky": _tell_cooperative}.get(
            self.family, _tell_others
        )
        return told | tell(person, self.rng)


def _tell_others(person: Person, rng: random.Random) -> dict[str, Any]:
    """range and roundrobin do not look at what is owned."""
    return {"generation": person.generation} if rng.random() < 0.3 else {}


def _tell_sticky(person: Person, rng: random.Random) -> dict[str, Any]:
    """Sticky's consumers write user data, with the generation; newer ones tell it in the subscription too."""
    if person.owned is None or person.writes == "silent":
        return {}
    data = _user_data(person.owned)
    with_generation = data + struct.pack(">i", person.generation)
    match person.writes:
        case "v0":
            return {"user_data": _base64(data)}
        case "odd":
            return {"user_data": _base64(_broken(with_generation, rng))} | _maybe_generation(person, rng)
        case "field":
            return {"user_data": _base64(with_generation), "owned": person.owned, "generation": person.generation}
        case _:
            return {"user_data": _base64(with_generation)} | _maybe_generation(person, rng)


def _tell_cooperative(person: Person, rng: random.Random) -> dict[str, Any]:
    """Owned partitions are in the subscription, the generation in it too, or in the user data of older clients."""
    if person.owned is None or person.writes == "silent":
        return {"user_data": _base64(struct.pack(">i", -1))} if rng.random() < 0.2 else {}
    generation = struct.pack(">i", person.generation)
    told: dict[str, Any] = {"owned": person.owned}
    match person.writes:
        case "v0":
            return told | {"user_data": _base64(generation)}
        case "odd":
            return told | {"user_data": _base64(_broken(generation, rng))} | _maybe_generation(person, rng)
        case "field":
            return told | {"user_data": _base64(generation), "generation": person.generation}
        case _:
            return told | _maybe_generation(person, rng)


def _maybe_generation(person: Person, rng: random.Random) -> dict[str, Any]:
    """Sometimes absent, sometimes another one than was written elsewhere."""
    kind = rng.random()
    if kind < 0.12:
        return {}
    return {"generation": person.generation + (rng.choice([-1, 1]) if kind > 0.96 else 0)}


def _user_data(owned: Owned) -> bytes:
    """An array of (topic, array of numbers), as Kafka writes them."""
    parts = [struct.pack(">i", len(owned))]
    for topic, numbers in owned.items():
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(numbers)}i", len(name), name, len(numbers), *numbers))
    return b"".join(parts)


def _broken(data: bytes, rng: random.Random) -> bytes:
    """Cut off, longer, changed, empty, or anything."""
    match rng.randrange(6):
        case 0:
            return data[: rng.randrange(len(data))]
        case 1:
            return data + rng.randbytes(rng.randint(1, 6))
        case 2:
            at = rng.randrange(len(data))
            return data[:at] + rng.randbytes(1) + data[at + 1 :]
        case 3:
            return b""
        case 4:
            return rng.randbytes(rng.randint(1, 24))
        case _:
            return data


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


_RackOfMember = Callable[[random.Random], str | None]
_RacksOfReplicas = Callable[[random.Random, int], list[str | None]]


def _rack_style(rng: random.Random) -> tuple[_RackOfMember, _RacksOfReplicas | None]:
    """Where members and replicas are: nowhere known, or in racks that overlap wholly, in part or not at all."""
    if rng.random() < 0.66:
        known_to_members = rng.random() < 0.1
        return (lambda chance: chance.choice("ab") if known_to_members else None), None
    racks = "abcdef"[: rng.randint(1, 5)]
    factor = rng.choices([1, 2, 3, len(racks)], [4, 4, 2, 1])[0]
    unknown = rng.choice([0, 0, 0, 0.1, 0.5])
    in_a_row = rng.random() < 0.4
    places = rng.choices([racks, racks + "z", racks[:2], "xyz", racks + " "], [6, 2, 2, 1, 1])[0]
    nowhere = rng.choice([0, 0, 0, 0.2, 0.6, 1])

    def of_member(chance: random.Random) -> str | None:
        return None if chance.random() < nowhere else chance.choice(places).strip()

    def of_replicas(chance: random.Random, partition: int) -> list[str | None]:
        if in_a_row:
            chosen = [racks[(partition + i) % len(racks)] for i in range(factor)]
        else:
            chosen = [chance.choice(racks) for _ in range(factor)]
        return [None if chance.random() < unknown else rack for rack in chosen]

    return of_member, of_replicas
