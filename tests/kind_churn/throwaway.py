"""Groups that live for seconds: each visit of a console consumer makes one, commits, and leaves it behind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import RetriableError

from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.kind_churn.members import Members
from tests.scenarios.settings import RANGE_ASSIGNOR
from tests.support.crowd import Crowd
from tests.support.job_process import eventually

TOPIC: Final = "visited"
FEWEST: Final = 4
"""So many must have come and gone, one after the other, before one of them is known to be none of the lasting ones."""


class ThrowawayGroups(HealthyGroups):
    """They are named as by Kafka's console consumer, which takes a random number. Some are deleted later."""

    kind = "throwaway"
    pause_s = (3.0, 10.0)

    def __init__(self, bootstrap: str, crowd: Crowd) -> None:
        self.topics = {TOPIC: 2}
        self._bootstrap, self._crowd = bootstrap, crowd
        self._chance = random.Random(0)
        self._left: list[str] = []
        self._admin: KafkaAdminClient | None = None

    def set_up(self) -> None:
        """As many as are needed to know them."""
        self._admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        for _ in range(FEWEST):
            self._visit()

    def end(self) -> None:
        if self._admin is not None:
            self._admin.close()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self._chance = chance
        return [self._visit, self._visit, self._delete]

    def _visit(self) -> bool:
        group = f"console-consumer-{self._chance.randrange(1000, 99_999)}"
        if group in self._left:
            return False
        visitor = Members(self._crowd, group, RANGE_ASSIGNOR, {"topics": [TOPIC]})
        name = visitor.join()
        eventually(lambda: self._has_committed(group), f"a commit of {group}")
        visitor.close(name)
        self._left.append(group)
        return True

    def _delete(self) -> bool:
        """Those that stay can still be compared with others."""
        if len(self._left) <= 2 * FEWEST:
            return False
        assert self._admin is not None
        self._admin.delete_groups([self._left.pop(0)])
        return True

    def _has_committed(self, group: str) -> bool:
        assert self._admin is not None
        with suppress(RetriableError):
            return bool(self._admin.list_group_offsets({group: None}).get(group))
        return False
