"""Members that join, leave and restart all the time, as a seed says; each takes one of the places of its group."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from tests.clients.fleet import Fleet, ProcessEndedError
from tests.clients.groups import Group, Place, places

FEWEST_PLACES: Final = 3
OFTEN: Final = 5
"""Groups with orphans change so many times as often as others: few are there, and each change may be another orphan."""


@dataclass
class Occupied:
    """A group with its places, and the members in these by their numbers."""

    group: Group
    places: tuple[Place, ...]
    members: dict[int, str] = field(default_factory=dict)


class MemberChurn:
    """A thread that changes one member after the other. The last member of a group stays."""

    def __init__(self, seed: int, fleet: Fleet, groups: Sequence[Group], every_s: float = 0.5) -> None:
        self._chance = random.Random(seed)
        self._fleet = fleet
        self._every_s = every_s
        self._groups = [
            Occupied(group, tuple(islice(places(group), max(FEWEST_PLACES, len(group.clients))))) for group in groups
        ]
        self._weights = [OFTEN if each.group.has_orphans else 1 for each in self._groups]
        self._started = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.done: Counter[str] = Counter()
        self.ended: list[str] = []
        self.lost: set[str] = set()
        self.error: Exception | None = None

    def set_up(self) -> None:
        """All places are taken, and all members have been given partitions, but those of groups that fail."""
        for each in self._groups:
            for place in each.places:
                self._start(each, place)
        for each in self._groups:
            if not each.group.fails:
                for member in each.members.values():
                    self._fleet.await_assigned(member)

    def start(self) -> None:
        """Let it begin."""
        self._thread.start()

    def stop(self) -> None:
        """Let it end; members stay.

        Raises:
            Exception: what went wrong in its thread.
        """
        self._stopping.set()
        self._thread.join(120)
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            while not self._stopping.wait(self._chance.uniform(0.5, 1.5) * self._every_s):
                (group,) = self._chance.choices(self._groups, self._weights)
                action = self._chance.choice([self._join, self._leave, self._restart])
                try:
                    if action(group):
                        self.done[action.__name__.removeprefix("_")] += 1
                except ProcessEndedError as ended:
                    self._forget(ended)
        except Exception as error:
            self.error = error

    def _join(self, each: Occupied) -> bool:
        free = [place for place in each.places if place.number not in each.members]
        if not free:
            return False
        self._start(each, self._chance.choice(free))
        return True

    def _leave(self, each: Occupied) -> bool:
        if len(each.members) < 2:
            return False
        self._close(each)
        return True

    def _restart(self, each: Occupied) -> bool:
        if len(each.members) < 2:
            return False
        self._start(each, self._close(each))
        return True

    def _start(self, each: Occupied, place: Place) -> None:
        self._started += 1
        name = f"{each.group.name}#{self._started}"
        self._fleet.start(name, each.group, place)
        each.members[place.number] = name

    def _close(self, each: Occupied) -> Place:
        number = self._chance.choice(list(each.members))
        self._fleet.close(each.members[number])
        del each.members[number]
        return each.places[number]

    def _forget(self, ended: ProcessEndedError) -> None:
        self.ended.append(str(ended))
        lost = self._fleet.forget(ended.process)
        for each in self._groups:
            if not lost.isdisjoint(each.members.values()):
                self.lost.add(each.group.name)
            each.members = {number: name for number, name in each.members.items() if name not in lost}
