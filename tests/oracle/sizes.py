"""How large the groups of random cases are: mostly so small that a person can follow what went wrong."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Size:
    """The most members, topics, and partitions of a topic."""

    name: str
    members: int
    topics: int
    partitions: int


TINY: Final = Size("tiny", members=4, topics=3, partitions=6)
MEDIUM: Final = Size("medium", members=12, topics=8, partitions=10)
LARGE: Final = Size("large", members=48, topics=14, partitions=30)


def size(rng: random.Random) -> Size:
    return rng.choices([TINY, MEDIUM, LARGE], [55, 38, 7])[0]


def partition_counts(rng: random.Random, chosen: Size) -> list[int]:
    """One for each topic; often all the same, for then topics are assigned together."""
    topics = rng.randint(1, chosen.topics)
    most = rng.randint(1 + chosen.partitions // 4, chosen.partitions)
    if rng.random() < 0.4:
        return [most] * topics
    return [0 if rng.random() < 0.07 else rng.randint(1, most) for _ in range(topics)]


def subscriptions(rng: random.Random, topics: list[str], members: int) -> list[list[str]]:
    """What each member asks for: all the same, nearly the same, each a part of the next, or anything."""
    kind = rng.choices(["same", "nearly", "nested", "random"], [45, 12, 18, 25])[0]
    base = rng.sample(topics, rng.randint(1, len(topics))) if rng.random() < 0.3 else list(topics)
    asked = [list(base) for _ in range(members)]
    if kind == "nested":
        asked = [base[: rng.randint(1, len(base))] for _ in range(members)]
    elif kind == "random":
        asked = [rng.sample(topics, rng.randint(0 if rng.random() < 0.1 else 1, len(topics))) for _ in range(members)]
    if kind == "nearly" and members:
        asked[rng.randrange(members)] = rng.sample(base, rng.randint(0, len(base) - 1))
    if asked and rng.random() < 0.15:
        for subscription in asked if rng.random() < 0.5 else rng.choices(asked, k=1):
            subscription.append("no-such-topic")
    if rng.random() < 0.4:
        for subscription in asked:
            rng.shuffle(subscription)
    return asked
