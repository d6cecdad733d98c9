"""Who has least and who has most, while partitions go from one end of a sorted line of members to the other.

The line is sorted once. At its lower end a *range* of members with equally many partitions takes turns; when everybody
there has got one more, the level rises by one and the range grows by those who were on that level already. At the upper
end it is the other way round. Source: ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``.
"""

from __future__ import annotations

from collections.abc import Iterable


class Levels:
    """The two ends of a line of members (numbers). The sizes are the caller's, who changes them as partitions move.

    >>> sizes = [2, 0, 1]
    >>> levels = Levels([0, 1, 2], sizes)
    >>> taken = []
    >>> for _ in range(4):
    ...     taken.append(levels.next_least())
    ...     sizes[taken[-1]] += 1
    >>> taken
    [1, 1, 2, 1]
    """

    def __init__(self, members: Iterable[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._line = line = sorted(members, key=lambda member: (sizes[member], member))
        self._low_level, self._low_end, self._low_next = sizes[line[0]] - 1, 0, 0
        self._high_level, self._high_start, self._high_end = sizes[line[-1]] + 1, len(line), len(line)
        self._high_next = len(line) - 1

    def difference(self) -> int:
        """By how many partitions the ends of the line differ."""
        return self._sizes[self._line[-1]] - self._sizes[self._line[0]]

    def are_level(self) -> bool:
        """Whether the levels that were reached from both ends differ by one at most."""
        return self._high_level - self._low_level <= 1

    def next_least(self) -> int:
        """The member that is to get a partition."""
        if self._low_next >= self._low_end:
            self._low_level += 1
            while self._low_end < len(self._line) and self._size_at(self._low_end) == self._low_level:
                self._low_end += 1
            self._low_next = 0
        self._low_next += 1
        return self._line[self._low_next - 1]

    def next_most(self) -> int | None:
        """The member that is to lose a partition; None: there is none left."""
        if self._high_next < self._high_start:
            if self._high_end <= self._high_start and self._high_start > 0:
                self._high_level = self._size_at(self._high_start - 1)  # everybody above was excluded
            else:
                self._high_level -= 1
            while self._high_start > 0 and self._size_at(self._high_start - 1) == self._high_level:
                self._high_start -= 1
            self._high_next = self._high_end - 1
        if self._high_next < 0:
            return None
        self._high_next -= 1
        return self._line[self._high_next + 1]

    def exclude_most(self) -> None:
        """The member that ``next_most`` gave last can lose nothing: it leaves the upper range."""
        place, last = self._high_next + 1, self._high_end - 1
        self._line[place], self._line[last] = self._line[last], self._line[place]
        self._high_end -= 1

    def _size_at(self, place: int) -> int:
        return self._sizes[self._line[place]]
