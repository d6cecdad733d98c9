"""Names as clusters have them, and as nobody should have them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Final

TWINS: Final = ["".join(pair) for pair in itertools.product(("Aa", "BB"), repeat=2)]
"""Four names with one hash code."""

_MANY_TWINS: Final = ["".join(four) for four in itertools.product(("Aa", "BB"), repeat=4)]
"""Sixteen names with one hash code: a place of a HashMap with so many becomes a tree, or makes the table grow."""

_ODD: Final = [
    "",
    "\uffee",
    "\U0001f600",
    "\U00010000z",
    "\ue000",
    "é",
    "e\u0301",
    "Z",
    "a b",
    "a:0",
    "消费者",
    "ß",
    "\0",
    "-1",
]


def member_name(rng: random.Random) -> Callable[[int], str]:
    """A way to name members by their numbers, which may be any; equal numbers have equal names."""
    seed = rng.random()

    def with_uuid(number: int) -> str:
        digits = f"{random.Random(seed + number).getrandbits(128):032x}"
        return f"consumer-{number}-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    styles: list[tuple[int, Callable[[int], str]]] = [
        (5, with_uuid),
        (4, "consumer-{}".format),
        (1, "consumer-{:04}".format),
        (1, lambda number: "ABad"[number % 4] + str(number)),
        (1, lambda number: _ODD[number % len(_ODD)] + str(number)),
        (1, lambda number: _ODD[number] if number < len(_ODD) else f"o{number}"),
        (1, lambda number: TWINS[number] if number < len(TWINS) else f"Aa{number}"),
        (1, lambda number: _MANY_TWINS[number] if number < len(_MANY_TWINS) else f"BB{number}"),
    ]
    return _one_of(rng, styles)


def topic_name(rng: random.Random) -> Callable[[int], str]:
    """As ``member_name``, for topics."""
    styles: list[tuple[int, Callable[[int], str]]] = [
        (4, "t{}".format),
        (3, "topic-{:02}".format),
        (3, "orders.{}".format),
        (2, "T{}_x".format),
        (1, lambda number: _ODD[1 + number] if number + 1 < len(_ODD) else f"o{number}"),
        (1, lambda number: TWINS[number] if number < len(TWINS) else f"Aa{number}"),
        (1, lambda number: _MANY_TWINS[number] if number < len(_MANY_TWINS) else f"BB{number}"),
    ]
    return _one_of(rng, styles)


def _one_of(rng: random.Random, styles: list[tuple[int, Callable[[int], str]]]) -> Callable[[int], str]:
    weights = [weight for weight, _ in styles]
    return rng.choices([style for _, style in styles], weights)[0]
