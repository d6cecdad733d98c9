"""What a forecast of a rollout leaves open, and how it is chosen: all of it where that is little, else a sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from hashlib import blake2b
from itertools import product
from typing import Final, TypeVar

Played = TypeVar("Played")


class Open(StrEnum):
    """What is open before a rollout."""

    PLACE = "place"
    """Where the id of a new member sorts among the others."""
    LEAVER = "leaver"
    """Which of the old pods stops next, by the order of their ids."""
    TURN = "turn"
    """Whether a new member joins next (0) or an old one leaves (1)."""
    BREAK = "break"
    """Whether it falls into a rebalance of its own (0), that of the one before (1), or the second half of that (2)."""


class Draw(ABC):
    """One way in which all that is open may turn out. ``seed`` is of its member ids."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @abstractmethod
    def pick(self, what: Open, options: int) -> int:
        """One of so many options, counted from 0."""


class SampledDraw(Draw):
    """As scattered as a hash; the same at each call of the command."""

    _count = 0

    def pick(self, what: Open, options: int) -> int:
        """See Draw."""
        self._count += 1
        digest = blake2b(b"%d %d" % (self.seed, self._count), digest_size=8).digest()
        return int.from_bytes(digest) % options


Rule = Callable[[int, int], int]
"""Which of so many options, by how often it was called before."""

_FIRST: Final[Rule] = lambda options, count: 0  # noqa: E731
_LAST: Final[Rule] = lambda options, count: options - 1  # noqa: E731
_PLACES: Final[tuple[Rule, ...]] = (
    _FIRST,
    _LAST,
    lambda options, count: min(count, options - 1),
    lambda options, count: max(0, options - 1 - count),
    lambda options, count: min(2 * count + 1, options - 1),
    lambda options, count: max(0, options - 2 - 2 * count),
)
"""New ids before the old ones or behind them, in the order of joining or the reverse, and each beside an old one."""


class RuledDraw(Draw):
    """By a rule for each thing: the extremes, which a sample may miss."""

    def __init__(self, rules: dict[Open, Rule], seed: int) -> None:
        super().__init__(seed)
        self._rules = rules
        self._counts: Counter[Open] = Counter()

    def pick(self, what: Open, options: int) -> int:
        """See Draw."""
        self._counts[what] += 1
        return min(options - 1, self._rules[what](options, self._counts[what] - 1))


class _ListedDraw(Draw):
    """Begins with these picks, continues with the first option, and keeps what it picked of how many."""

    def __init__(self, prefix: list[int]) -> None:
        super().__init__()
        self._prefix = prefix
        self.picked: list[tuple[int, int]] = []

    def pick(self, what: Open, options: int) -> int:
        """See Draw."""
        number = len(self.picked)
        choice = self._prefix[number] if number < len(self._prefix) else 0
        self.picked.append((choice, options))
        return choice


def ruled_draws() -> Iterator[RuledDraw]:
    """The extremes, always the same ones."""
    breaks: tuple[Rule, ...] = (_FIRST, lambda options, count: 1)
    kinds = product(_PLACES, (_FIRST, _LAST), (_FIRST, _LAST), breaks)
    for seed, (place, leaver, turn, apart) in enumerate(kinds):
        yield RuledDraw({Open.PLACE: place, Open.LEAVER: leaver, Open.TURN: turn, Open.BREAK: apart}, seed)


def play_all(play: Callable[[Draw], Played], limit: int) -> list[Played] | None:
    """The outcome for everything that is open; None: that is more than ``limit``.

    >>> play_all(lambda draw: (draw.pick(Open.TURN, 2), draw.pick(Open.BREAK, 2)), limit=4)
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> play_all(lambda draw: draw.pick(Open.PLACE, 5), limit=4)
    """
    played: list[Played] = []
    prefix: list[int] | None = []
    while prefix is not None:
        draw = _ListedDraw(prefix)
        played.append(play(draw))
        if (len(played) == 1 and _paths(draw) > limit) or len(played) > limit:
            return None
        prefix = _next_prefix(draw.picked)
    return played


def _paths(draw: _ListedDraw) -> int:
    """About how many ways there are, by the options of one."""
    total = 1
    for _, options in draw.picked:
        total *= options
    return total


def _next_prefix(picked: list[tuple[int, int]]) -> list[int] | None:
    while picked and picked[-1][0] + 1 == picked[-1][1]:
        picked.pop()
    if not picked:
        return None
    *head, (last, _) = picked
    return [choice for choice, _ in head] + [last + 1]
