"""A share group whose members join and leave while records are written and accepted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack

from monitor.demo.java.share_clients import ShareClients
from tests.kind_churn.healthy_groups import Action, HealthyGroups

GROUP, TOPIC = "pool", "work"
MOST_MEMBERS = 4


class ShareGroup(HealthyGroups):
    """One to four members, all in one process."""

    kind = "share"
    pause_s = (0.5, 2.5)

    def __init__(self, bootstrap: str) -> None:
        self.topics = {TOPIC: 4}
        self._bootstrap = bootstrap
        self._running = ExitStack()
        self._members: list[str] = []
        self._started = 0

    def set_up(self) -> None:
        """Two members."""
        self._clients = self._running.enter_context(ShareClients(self._bootstrap))
        for _ in range(2):
            self._join()

    def end(self) -> None:
        self._running.close()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self._chance = chance
        return [self._join, self._leave, self._restart]

    def _join(self) -> bool:
        if len(self._members) >= MOST_MEMBERS:
            return False
        self._started += 1
        self._members.append(f"member-{self._started}")
        self._clients.consume(self._members[-1], GROUP, TOPIC, strategy="", how="0")
        return True

    def _leave(self) -> bool:
        """Never the last one: then nobody would accept what is written."""
        if len(self._members) < 2:
            return False
        self._clients.leave(self._members.pop(self._chance.randrange(len(self._members))))
        return True

    def _restart(self) -> bool:
        return self._leave() and self._join()
