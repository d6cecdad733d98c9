"""At which instants a group is judged: on a grid in absolute time, so that the same question has one answer.

Two spans that overlap have the same instants where they do. The length of a step is one of a few, each a divisor of a
day: spans of nearly the same length have the same.
"""

from __future__ import annotations

from typing import Final

from monitor.model import Value

SECOND_MS: Final = 1_000
SHORTEST_STEP_MS: Final = 10 * SECOND_MS
"""How far apart the instants are at least that a group is judged at beside those at which something happened to it."""

CLOSE_STEP_MS: Final = SECOND_MS
"""The same where a group is looked at closely. A job judges no more often by default."""

MOST_STEPS: Final = 720
MOST_ROWS: Final = 720_000
"""How many partitions are judged at the most, all instants together: of a group with many, there are fewer instants."""

LEAST_CHANGES: Final = 200
"""How many changes of its members are judged even for a group with many partitions: the newest ones."""

_DAY_S: Final = 86_400
_LENGTHS_S: Final = (
    *(1, 2, 5, 10, 15, 20, 30),
    *(60, 120, 300, 600, 900, 1_200, 1_800),
    *(3_600, 7_200, 14_400, 21_600, 43_200, _DAY_S),
)


class Steps(Value):
    """At which instants a group is judged: at the multiples of ``apart_ms``, and whenever its members changed.

    ``is_close``: also whenever its members took or gave back partitions one by one, and when its topics changed.
    ``partitions_every_ms``: how far apart the points of partitions are, a multiple of that; None: there are none.
    """

    apart_ms: int
    is_close: bool = False
    partitions_every_ms: int | None = None

    def floor(self, at_ms: int) -> int:
        """The newest multiple by an instant."""
        return at_ms // self.apart_ms * self.apart_ms

    def ceiling(self, at_ms: int) -> int:
        """The oldest multiple from an instant on."""
        return -(-at_ms // self.apart_ms) * self.apart_ms


def step_ms(since_ms: int, until_ms: int, partitions: int = 1, *, is_close: bool = False) -> int:
    """How far apart the instants are that a group with so many partitions is judged at; ``is_close``: at least 1 s.

    >>> step_ms(0, 60_000), step_ms(0, 86_400_000), step_ms(0, 86_400_000, partitions=10_000)
    (10000, 120000, 1200000)
    >>> step_ms(0, 60_000, is_close=True), step_ms(0, 3_600_000, is_close=True)
    (1000, 5000)
    >>> step_ms(0, 10_000_000), step_ms(0, 10_001_000), step_ms(0, 200_000_000_000)
    (15000, 15000, 345600000)
    """
    steps = max(1, min(MOST_STEPS, MOST_ROWS // max(1, partitions)))
    shortest_ms = CLOSE_STEP_MS if is_close else SHORTEST_STEP_MS
    least_s = -(-max(shortest_ms, -(-(until_ms - since_ms) // steps)) // SECOND_MS)
    long_s = -(-least_s // _DAY_S) * _DAY_S
    return SECOND_MS * next((length_s for length_s in _LENGTHS_S if length_s >= least_s), long_s)


def most_changes(partitions: int) -> int:
    """At how many instants at the most a group with so many partitions is judged beside the steps."""
    return max(LEAST_CHANGES, MOST_ROWS // max(1, partitions))
