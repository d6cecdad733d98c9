"""franz-go's sticky strategies for groups whose members all subscribe to one topic and to nothing else that exists.

No map has two keys then, so that the answer is known (github.com/twmb/franz-go v1.22.2, ``internal/sticky/sticky.go``).

Members stand in order: static ones first, by instance id, then dynamic ones by member id.

Steps:

1. *Keep*: everybody keeps what it claims. Of several, the newest generation keeps it, then the first in order. The
   next one is the *stale* claimant of the partition: it gets it back at once if it has two partitions fewer.
2. *Hand out*: what is left, ascending, each to the member on top of a heap by the number of partitions (``_Heap``).
3. *Level*: members that hold equally many form a level, in the order in which they came to it. While the highest level
   is two or more above the lowest, the first of the highest gives its last partition to the first of the lowest, the
   second to the second, and so on, until one of the levels is through.

Worked example: C0 owns everything, so it gives its last partition to C1, and then the next to C2.

>>> start = {"C0": [0, 1, 2], "C1": [], "C2": []}
>>> level_out(start)
>>> start
{'C0': [0], 'C1': [2], 'C2': [1]}
"""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.member_orders import static_first
from monitor.assignors.dialects.sticky.claims import Claims
from monitor.model import TopicPartition, TopicShape, number


def one_topic_target(group: Group, claims: Claims) -> dict[TopicPartition, str] | None:
    """The owner of each partition, before anything is withheld; None: it is not known.

    Args:
        group: the group.
        claims: who claims which existing partitions, where members come in order.
    """
    shape = _only_topic(group)
    if shape is None:
        return None
    held: dict[str, list[int]] = {member.member_id: [] for member in static_first(group.members)}
    stale: dict[int, str] = {}
    for place, own in sorted(claims.items()):
        held[own[0].member].append(number(place.partition))
        if len(own) > 1:
            stale[number(place.partition)] = own[1].member
    if len(stale) > 1:
        return None  # which of them comes first, a map decides
    for partition, claimant in stale.items():
        _give_back(held, partition, claimant)
    _hand_out(held, shape.partitions)
    level_out(held)
    return {TopicPartition(shape.topic, each): name for name, partitions in held.items() for each in partitions}


def _only_topic(group: Group) -> TopicShape | None:
    existing = {shape.topic: shape for shape in group.topics}
    subscriptions = {frozenset(existing.keys() & set(member.topics)) for member in group.members}
    if len(subscriptions) != 1 or len(topics := next(iter(subscriptions))) != 1:
        return None
    return existing[next(iter(topics))]


def _give_back(held: dict[str, list[int]], partition: int, claimant: str) -> None:
    owner = next(name for name, partitions in held.items() if partition in partitions)
    if len(held[claimant]) + 1 < len(held[owner]):
        held[owner].remove(partition)
        held[claimant].append(partition)


def _hand_out(held: dict[str, list[int]], partitions: int) -> None:
    owned = {partition for own in held.values() for partition in own}
    heap = _Heap(held)
    for partition in range(partitions):
        if partition not in owned:
            heap.give(partition)


class _Heap:
    """A binary heap of members by the number of partitions that they hold. Equal ones stay where they are."""

    def __init__(self, held: dict[str, list[int]]) -> None:
        self._held = held
        self._names = list(held)
        for place in reversed(range(len(self._names) // 2)):
            self._sink(place)

    def give(self, partition: int) -> None:
        """Give a partition to the member on top."""
        self._held[self._names[0]].append(partition)
        self._sink(0)

    def _sink(self, place: int) -> None:
        names = self._names
        while (left := 2 * place + 1) < len(names):
            right = left + 1
            child = right if right < len(names) and self._size(right) < self._size(left) else left
            if self._size(place) <= self._size(child):
                return
            names[place], names[child] = names[child], names[place]
            place = child

    def _size(self, place: int) -> int:
        return len(self._held[self._names[place]])


def level_out(held: dict[str, list[int]]) -> None:
    """Step 3, for members in order and the partitions of each."""
    levels: dict[int, list[str]] = {}
    for name, partitions in held.items():
        levels.setdefault(len(partitions), []).append(name)
        partitions.sort()
    while max(levels, default=0) > min(levels, default=0) + 1:
        _level_once(levels, held)


def _level_once(levels: dict[int, list[str]], held: dict[str, list[int]]) -> None:
    low, high = min(levels), max(levels)
    pairs = list(zip(levels[low], levels[high], strict=False))
    for taker, giver in pairs:
        held[taker].append(held[giver].pop())
    _promote(levels, low, low + 1, [taker for taker, _ in pairs])
    _promote(levels, high, high - 1, [giver for _, giver in pairs])


def _promote(levels: dict[int, list[str]], level: int, other: int, names: Sequence[str]) -> None:
    """Put the first members of a level behind those of another one."""
    levels[level] = levels[level][len(names) :]
    if not levels[level]:
        del levels[level]
    levels.setdefault(other, []).extend(names)
