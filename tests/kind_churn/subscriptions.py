"""Groups whose topics come later: such as subscribe to a topic before it exists, and regular expressions."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from functools import wraps
from itertools import cycle, product
from typing import Final

from tests.kind_churn.healthy_groups import Action
from tests.kind_churn.members import MemberGroups, Members
from tests.scenarios.settings import COOPERATIVE_ASSIGNOR, KIP_848, RANGE_ASSIGNOR
from tests.scenarios.stage import Load
from tests.support.clients import create_topic
from tests.support.crowd import Crowd

MOST_GROUPS: Final = 4
PATIENCE_S: Final = 60.0
"""A topic that is awaited longer is created before anything else is done."""
EARLY: Final = "late.early"
PARTITIONS: Final = 6
"""One to three members have equally many partitions of several topics then, also with the range assignor."""


class LateTopics(MemberGroups):
    """Groups that begin before their topic exists, read it later, and are deleted at last.

    Every second one also subscribes to a topic that exists.
    """

    pause_s = (2.0, 6.0)

    def __init__(self, bootstrap: str, crowd: Crowd, load: Load) -> None:
        super().__init__("late-topics", {EARLY: PARTITIONS}, [])
        self._bootstrap, self._crowd, self._load = bootstrap, crowd, load
        self._without_topic: list[tuple[Members, float]] = []
        self._forms = cycle(product((RANGE_ASSIGNOR, COOPERATIVE_ASSIGNOR, KIP_848), (False, True)))
        self._begun = 0

    def set_up(self) -> None:
        """A group that has its topic already, so that there is always one."""
        self._begin()
        self._create()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        every = [*super().actions(chance), self._begin, self._begin, self._create, self._delete]
        return [self._once_nobody_is_overdue(action) for action in every]

    def _once_nobody_is_overdue(self, action: Action) -> Action:
        """The same action. Chance alone lets a group wait for minutes now and then."""

        @wraps(action)
        def act() -> bool:
            if self._without_topic and time.monotonic() - self._without_topic[0][1] > PATIENCE_S:
                self._create()
            return action()

        return act

    def _begin(self) -> bool:
        if len(self.groups) + len(self._without_topic) >= MOST_GROUPS:
            return False
        self._begun += 1
        props, both = next(self._forms)
        name = f"late-{self._begun}"
        group = Members(self._crowd, name, props, {"topics": [f"late.{self._begun}", *([EARLY] if both else [])]})
        self._without_topic.append((group, time.monotonic()))
        group.join()
        group.join()
        return True

    def _create(self) -> bool:
        """The topic that is awaited longest."""
        if not self._without_topic:
            return False
        group, _ = self._without_topic.pop(0)
        (topic, *_) = group.how["topics"]
        create_topic(self._bootstrap, topic, PARTITIONS)
        self._load.add(topic)
        self.groups.append(group)
        return True

    def _delete(self) -> bool:
        """A group, not its topic."""
        if len(self.groups) < 2:
            return False
        group = self.groups.pop(self.chance.randrange(len(self.groups)))
        group.close_all()
        since = self._crowd.seen()
        self._crowd.tell("delete", group=group.group)
        self._crowd.await_event(since, "deleted", group=group.group)
        return True


class Expressions(MemberGroups):
    """Members that subscribe to a regular expression: resolved by themselves, and by the broker."""

    MOST_TOPICS: Final = 8

    def __init__(self, bootstrap: str, crowd: Crowd, load: Load) -> None:
        groups = [
            Members(crowd, "regex-range", RANGE_ASSIGNOR, {"pattern": r"regex\.logs\..+"}),
            Members(crowd, "regex-cooperative", COOPERATIVE_ASSIGNOR, {"pattern": r"regex\.logs\..+"}),
            Members(crowd, "regex-kip848", KIP_848, {"regex": r"regex\.logs\..+"}),
        ]
        super().__init__("regex", {"regex.logs.1": PARTITIONS, "regex.logs.2": PARTITIONS}, groups)
        self._bootstrap, self._load = bootstrap, load
        self._created = len(self.topics)

    def actions(self, chance: random.Random) -> Sequence[Action]:
        often = super().actions(chance)
        return [*often, *often, self._create]

    def _create(self) -> bool:
        """One more topic that fits."""
        if self._created >= self.MOST_TOPICS:
            return False
        self._created += 1
        topic = f"regex.logs.{self._created}"
        create_topic(self._bootstrap, topic, PARTITIONS)
        self._load.add(topic)
        return True
