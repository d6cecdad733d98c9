"""The most even assignment that the subscriptions allow: the smallest number of partitions the largest member can have.

With equal subscriptions that is the number of partitions over the members, rounded up. Otherwise some topics have few
subscribers, and the answer is a flow: partitions flow from topics to members, and the question is how wide every
member must be for all to fit. Members with equal subscriptions, and topics with equal subscribers, are one node each:
what fits a class of members fits its members, dealt out evenly.

The width starts at the average. If not everything fits, the flow shows a set of topics whose subscribers are too few:
all their members are full. Their average is the next width: every assignment needs it, so no width is tried that is
too large, and the first that fits is the optimum (Hall's theorem; the steps are Newton's for a fractional programme).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from monitor.model import Value


def smallest_largest(subscriptions: Sequence[frozenset[str]], partitions: Mapping[str, int]) -> int:
    """The smallest possible number of partitions of the largest member.

    Args:
        subscriptions: the topics of each member.
        partitions: how many partitions each topic has to give away; every topic needs a subscriber.

    Returns:
        0 if there is nothing to give away.

    Raises:
        ValueError: a topic with partitions has no subscriber.

    >>> smallest_largest([frozenset("ab"), frozenset("ab")], {"a": 3, "b": 2})
    3
    >>> smallest_largest([frozenset("ab"), frozenset("b")], {"a": 4, "b": 1})
    4
    """
    topics = frozenset(topic for topic, count in partitions.items() if count > 0)
    classes: Counter[frozenset[str]] = Counter()
    for subscription, members in Counter(subscriptions).items():
        classes[subscription & topics] += members
    classes.pop(frozenset(), None)
    if not topics <= frozenset[str]().union(*classes):
        raise ValueError(f"{len(topics)} topics have partitions, but not all of them have a subscriber")
    if not topics:
        return 0
    width = _ceil(sum(partitions[topic] for topic in topics), classes.total())
    if len(classes) == 1:
        return width
    network = _Network(_supplies(list(classes), partitions), list(classes.values()))
    while (tight := network.fill(width)) is not None:
        width = _ceil(tight.partitions, tight.members)
    return width


def _ceil(partitions: int, members: int) -> int:
    return -(-partitions // members)


def _supplies(classes: Sequence[frozenset[str]], partitions: Mapping[str, int]) -> dict[int, int]:
    """How many partitions each set of classes must take together. A set of classes is a bit mask of their indexes."""
    subscribers: Counter[str] = Counter()
    for index, topics in enumerate(classes):
        for topic in topics:
            subscribers[topic] |= 1 << index
    supplies: Counter[int] = Counter()
    for topic, mask in subscribers.items():
        supplies[mask] += partitions[topic]
    return dict(supplies)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class _Tight(Value):
    """Topics whose subscribers are all full: so many partitions for so few members."""

    partitions: int
    members: int


class _Paths:
    """One breadth-first search: how each class and each supply was reached, and the classes that have room."""

    def __init__(self, starved: list[int]) -> None:
        self.to_class: dict[int, int] = {}  # class: the supply that reached it
        self.to_supply: dict[int, int | None] = dict.fromkeys(starved)  # supply: the full class that could give it back
        self.open: list[int] = []


class _Network:
    """A flow from supplies (by mask of classes) to classes of members, kept while the members become wider."""

    def __init__(self, supplies: Mapping[int, int], sizes: Sequence[int]) -> None:
        self._masks = sorted(supplies, key=int.bit_count)  # those with the fewest choices choose first
        self._totals = [supplies[mask] for mask in self._masks]
        self._left = list(self._totals)
        self._sizes = sizes
        self._taken = [0] * len(sizes)
        self._room = [0] * len(sizes)
        self._held: list[dict[int, int]] = [{} for _ in sizes]  # class: how much of which supply

    def fill(self, width: int) -> _Tight | None:
        """Let every member take up to ``width``: None if all fits, else the topics that show that it cannot."""
        self._room = [size * width - taken for size, taken in zip(self._sizes, self._taken, strict=True)]
        self._hand_out()
        while any(self._left):
            paths = self._search()
            if not paths.open:
                members = sum(self._sizes[index] for index in paths.to_class)
                return _Tight(partitions=sum(self._totals[supply] for supply in paths.to_supply), members=members)
            for index in paths.open:
                self._push(index, paths)
        return None

    def _hand_out(self) -> None:
        for supply, mask in enumerate(self._masks):
            for index in _bits(mask):
                if not self._left[supply]:
                    break
                self._move(supply, index, min(self._left[supply], self._room[index]))

    def _move(self, supply: int, index: int, amount: int) -> None:
        if amount:
            self._left[supply] -= amount
            self._room[index] -= amount
            self._taken[index] += amount
            self._held[index][supply] = self._held[index].get(supply, 0) + amount

    def _search(self) -> _Paths:
        """From all supplies that have something left, over full classes that hold of another supply, to any room."""
        queue = [supply for supply, left in enumerate(self._left) if left]
        paths = _Paths(queue)
        seen = 0
        for supply in queue:  # grows while it is read
            fresh = self._masks[supply] & ~seen
            seen |= fresh
            for index in _bits(fresh):
                paths.to_class[index] = supply
                if self._room[index]:
                    paths.open.append(index)
                    continue
                for held in self._held[index]:
                    if held not in paths.to_supply:
                        paths.to_supply[held] = index
                        queue.append(held)
        return paths

    def _push(self, index: int, paths: _Paths) -> None:
        """Move as much as the path to an open class lets through (nothing, if an earlier push has used it up)."""
        supply = paths.to_class[index]
        steps = [(supply, index)]
        amount = self._room[index]
        while (full := paths.to_supply[supply]) is not None:
            amount = min(amount, self._held[full].get(supply, 0))
            supply = paths.to_class[full]
            steps.append((supply, full))
        amount = min(amount, self._left[supply])
        for (giver, target), back in zip(steps, [full for _, full in steps[1:]] + [None], strict=True):
            if back is not None:
                self._give_back(giver, back, amount)
            self._move(giver, target, amount)

    def _give_back(self, supply: int, index: int, amount: int) -> None:
        if amount:
            self._move(supply, index, -amount)
            if not self._held[index][supply]:
                del self._held[index][supply]
