"""The rollouts: so many members of an assignor are replaced in three waves, well or in one of five wrong ways."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tests.rollouts.members import ASSIGNORS

SIZES: Final = (3, 5, 10)
EACH: Final = 4
"""So many rollouts of each assignor and size: the first one is good."""


class Story(StrEnum):
    """How a rollout goes."""

    GOOD = "good"
    HANGS = "one pod hangs once it has joined"
    NEVER_COMMITS = "one pod never commits"
    NO_TOPIC = "the new version reads a topic that does not exist"
    OTHER_GROUP = "the new version has another group id"
    ONE_STAYS = "one old pod stays"


BAD: Final = tuple(story for story in Story if story is not Story.GOOD)


@dataclass(frozen=True)
class Rollout:
    """One rollout, with the exit code that the gate should have."""

    number: int
    assignor: str
    size: int
    story: Story

    @property
    def group(self) -> str:
        return f"rollout-{self.number}"

    @property
    def topic(self) -> str:
        return f"topic-{self.number}"

    @property
    def code(self) -> int:
        return 0 if self.story is Story.GOOD else 1


def all_rollouts() -> list[Rollout]:
    """Sixty: of each assignor and size a good one, and three of the bad ones in turn."""
    bad = itertools.cycle(BAD)
    stories = [
        (assignor, size, Story.GOOD if number == 0 else next(bad))
        for size, assignor in itertools.product(SIZES, ASSIGNORS)
        for number in range(EACH)
    ]
    return [Rollout(number, *each) for number, each in enumerate(stories)]
