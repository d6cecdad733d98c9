"""How the lag of each group went lately: what a line on the group's page is drawn from. Time is a parameter."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.model import GroupSummary, Value

EVERY_MS: Final = 15_000
"""A round is kept about so often, however often groups are judged."""

KEPT_MS: Final = 30 * 60_000
"""What is older is forgotten."""

MOST_POINTS: Final = KEPT_MS // EVERY_MS

_EARLY_MS: Final = 1_000
"""A trigger of exactly 15 s may come a little early, and must not be passed over for that."""

_LARGEST: Final = 2**63 - 1
"""More records (sums of offsets that are not checked) are reported as so many."""


class LagPoint(Value):
    """The lag of a group at one time."""

    at_ms: int
    """When the group was evaluated (ms since the epoch)."""
    lag: int | None
    """The lag in records (of MetaQ bytes); null: unknown."""


class _Round(Value):
    """The lags of all groups, each at its row; ``number`` counts the rounds."""

    number: int
    at_ms: int
    lags: NDArray[np.uint64] | NDArray[np.uint32]
    known: NDArray[np.bool_]


class LagHistory:
    """The lags of one cluster's groups in the last half hour, at most 120 points a group.

    A point takes 5 bytes (9 in a round with a lag of 2**32 or more): 39 MB for 65,000 groups after half an hour.
    A group that is missing in a round is forgotten; if it comes again, it starts again. Not safe to share by threads.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._rounds: deque[_Round] = deque(maxlen=MOST_POINTS)
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._began: dict[str, int] = {}  # the round with which a group's row became its own
        self._number = 0
        self._newest: list[str] = []
        self._newest_rows: NDArray[np.intp] = np.zeros(0, np.intp)

    def is_due(self, at_ms: int) -> bool:
        """Whether a round of that time is to be added; the newest was long enough before, or the clock went back."""
        if not self._rounds:
            return True
        passed_ms = at_ms - self._rounds[-1].at_ms
        return passed_ms < 0 or passed_ms >= EVERY_MS - _EARLY_MS

    def add(self, at_ms: int, groups: Sequence[GroupSummary]) -> None:
        """Keep the lags that all groups of the cluster had then. Rounds from later than that are dropped."""
        self._forget_around(at_ms)
        self._number += 1
        self._give_rows([each.group for each in groups])
        lags = [each.lag for each in groups]
        size = len(self._rows) + len(self._free)
        known = np.zeros(size, np.bool_)
        known[self._newest_rows] = [lag is not None for lag in lags]
        self._rounds.append(_Round(self._number, at_ms, self._by_row([lag or 0 for lag in lags], size), known))

    def points(self, group: str, every: int = 1) -> tuple[LagPoint, ...]:
        """What is known of a group, the oldest first; nothing if it was not there in the newest round.

        ``every``: only of each so-many-th round, and of the newest.
        """
        row = self._rows.get(group)
        if row is None:
            return ()
        began = self._began[group]
        return tuple(
            LagPoint(each.at_ms, int(each.lags[row]) if each.known[row] else None)
            for each in self._rounds
            if each.number >= began and (each.number % every == 0 or each is self._rounds[-1])
        )

    def _forget_around(self, at_ms: int) -> None:
        while self._rounds and self._rounds[-1].at_ms >= at_ms:
            self._rounds.pop()
        while self._rounds and self._rounds[0].at_ms < at_ms - KEPT_MS:
            self._rounds.popleft()

    def _give_rows(self, groups: list[str]) -> None:
        """These groups have rows; others lose theirs, and new ones take them. Mostly they are those of before."""
        if groups == self._newest:
            return
        names = set(groups)
        for gone in self._rows.keys() - names:
            self._free.append(self._rows.pop(gone))
            del self._began[gone]
        for new in sorted(names - self._rows.keys()):
            self._rows[new] = self._free.pop() if self._free else len(self._rows)
            self._began[new] = self._number
        self._newest = groups
        self._newest_rows = np.array([self._rows[name] for name in groups], np.intp)

    def _by_row(self, lags: list[int], size: int) -> NDArray[np.uint64] | NDArray[np.uint32]:
        if max(lags, default=0) < 2**32:
            small = np.zeros(size, np.uint32)
            small[self._newest_rows] = lags
            return small
        large = np.zeros(size, np.uint64)
        large[self._newest_rows] = [min(lag, _LARGEST) for lag in lags]
        return large
