"""Who holds least, at any moment, of those who may take a partition."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from heapq import heapify, heappop, heappush, heapreplace
from typing import Generic, TypeVar

Crowd = TypeVar("Crowd", bound=Hashable)


class LeastLoaded(Generic[Crowd]):
    """How many partitions every member holds, and the order by (number, rank) within some crowds of members.

    The original keeps one sorted set of all members and walks it until it meets a subscriber. Here every crowd has a
    heap of its own whose entries may be out of date. No member's newest number is ever below all of its entries, so an
    entry at the top that is too low is corrected, and one that is too high is dropped, by the next query.

    >>> standing = LeastLoaded([1, 0, 0], {"everybody": [0, 1, 2], "first": [0]})
    >>> standing.grew(1)
    >>> standing.least("everybody"), standing.least("first")
    (2, 0)
    """

    def __init__(self, counts: list[int], crowds: Mapping[Crowd, Iterable[int]]) -> None:
        """Take the numbers, by rank (they are kept up to date in place), and the ranks in each crowd."""
        self.counts = counts
        self._base = max(len(counts), 1)
        self._heaps: dict[Crowd, list[int]] = {}
        self._heaps_of: list[list[list[int]]] = [[] for _ in counts]
        for crowd, ranks in crowds.items():
            members = set(ranks)
            heap = self._heaps[crowd] = [self._entry(rank) for rank in members]
            heapify(heap)
            for rank in members:
                self._heaps_of[rank].append(heap)

    def least(self, crowd: Crowd) -> int | None:
        """The rank of the crowd's member with the fewest partitions, the first of equal ones; None: it is empty."""
        heap, counts = self._heaps.get(crowd, []), self.counts
        while heap:
            count, rank = divmod(heap[0], self._base)
            if count == counts[rank]:
                return rank
            if count < counts[rank]:
                heapreplace(heap, self._entry(rank))
            else:
                heappop(heap)
        return None

    def grew(self, rank: int) -> None:
        """The member has one partition more."""
        self.counts[rank] += 1

    def shrank(self, rank: int) -> None:
        """The member has one partition less."""
        self.counts[rank] -= 1
        for heap in self._heaps_of[rank]:
            heappush(heap, self._entry(rank))

    def _entry(self, rank: int) -> int:
        return self.counts[rank] * self._base + rank
