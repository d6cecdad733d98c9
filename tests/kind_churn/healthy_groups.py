"""Groups that are well whatever is done to them here: what every kind of them has in common."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from monitor.demo.servers.server import EmbeddedServer
from tests.support.background import Background

Action = Callable[[], bool]
"""Does something to a group; False: there is nothing to do it to now."""


class HealthyGroups(ABC):
    """Groups of one kind, from the start of their first members to the end of a ``with`` block.

    Attributes:
        kind: the name of the kind.
        topics: the partitions of the topics that they read, by name.
        pause_s: the shortest and the longest time between two actions.
    """

    kind: str
    topics: Mapping[str, int]
    pause_s: tuple[float, float]

    def __enter__(self) -> Self:
        try:
            self.set_up()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @abstractmethod
    def set_up(self) -> None:
        """Start the first members, and wait until they work."""

    @abstractmethod
    def end(self) -> None:
        """End all members at once. Harmless if none has been started."""

    @abstractmethod
    def actions(self, chance: random.Random) -> Sequence[Action]:
        """What can be done, the frequent actions several times; ``chance`` chooses to which member."""


class GroupOfServers(HealthyGroups):
    """A group of which each member is a server: some run, and some do not."""

    def __init__(self, kind: str, topics: Mapping[str, int], servers: Sequence[EmbeddedServer]) -> None:
        self.kind = kind
        self.topics = topics
        self._idle = list(servers)
        self._running: list[EmbeddedServer] = []

    def set_up(self) -> None:
        """Two servers."""
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
        server = self._idle.pop()
        server.start()
        self._running.append(server)
        return True

    def _close(self) -> bool:
        """Never the last one."""
        if len(self._running) < 2:
            return False
        server = self._running.pop(self._chance.randrange(len(self._running)))
        self._idle.append(server)
        server.stop()
        return True

    def _restart(self) -> bool:
        return self._close() and self._start()


class Churn(Background):
    """A thread that does one action after the other, as a seed says."""

    join_s = 120.0

    def __init__(self, groups: HealthyGroups, seed: int) -> None:
        super().__init__()
        self._groups = groups
        self._chance = random.Random(f"{groups.kind} {seed}")
        self.kind = groups.kind
        self.done: Counter[str] = Counter()
        self.error: Exception | None = None

    def _run(self) -> None:
        actions = self._groups.actions(self._chance)
        try:
            while not self._stopping.wait(self._chance.uniform(*self._groups.pause_s)):
                action = self._chance.choice(actions)
                if action():
                    self.done[action.__name__.removeprefix("_")] += 1
        except Exception as error:
            self.error = error
