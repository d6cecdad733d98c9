"""KIP-54's algorithm, in the older form that Java's clients had up to 2.3 and that other libraries took over.

Steps:

1. *Keep*: everybody keeps what it owns and still subscribes to. Of several that claim a partition, the newest
   generation owns it. The next newest is its *earlier owner*.
2. *Line up* all partitions: topics with the fewest subscribers first, then by topic and number. The exception: a member
   owned something and all members subscribe to the same. Then owned partitions come first, in an order of the library
   (``owned_line``) that begins with members that own most. Partitions without an owner follow.
3. *Hand out* partitions without an owner, in line, each to the subscriber with the fewest partitions, the first by id.
4. *Balance*, over the line again and again until a whole round moves nothing. If the owner of a partition holds two
   partitions more than its earlier owner, it goes back there. Else, if it holds two more than some subscriber, it gives
   one of the topic to the subscriber with the fewest: this one, or one that came from there before (``movements``).
   What was handed out in step 3 has a first turn, unless a member lost something in step 1.
5. *Decide*: if a member owned something before and the second turn moved some, its result counts only if it is more
   even. The measure, against the state before step 4, is the sum of all differences between two members.

Members that hold everything they could ever get, and nothing that anybody else could get, take no part in 4 and 5.
The original stops as soon as a group is balanced, and it looks before every partition. That makes a difference only in
a *watchful* run: if an earlier owner does not subscribe any more or takes no part (a *stranger*).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Final

from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.dialects.sticky.place_table import PlaceTable
from monitor.assignors.errors import NO_ANSWER, AssignorError
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.model import Value

PATIENCE: Final = 50
"""After so many rounds, look whether the same happens again and again. Groups that end need a handful."""


class Kept(Value):
    """What step 1 found.

    Attributes:
        lists: the places that each member keeps, by rank, in the order in which they are claimed.
        earlier: the earlier owner of a place, if it has one.
        is_fresh: whether no member claimed anything at all.
        is_uniform: whether all subscriptions are the same, as far as the library finds out.
        is_revoked: whether a member had to give something up that it claims.
    """

    lists: tuple[tuple[int, ...], ...]
    earlier: dict[int, int]
    is_fresh: bool
    is_uniform: bool
    is_revoked: bool


class Run(ABC):
    """One run over one group. What libraries do differently are methods to override.

    Attributes:
        lists: the places that each member holds, by rank.
        owner: the member from which a place can be taken, by rank.
        is_watchful: whether to look if the group is balanced before every place.
        counted: members that take no part, and count in step 5 all the same, with nothing.
    """

    def __init__(self, table: PlaceTable, kept: Kept, choices: Choices) -> None:
        self.table = table
        self.kept = kept
        self.choices = choices
        self.lists = [list(places) for places in kept.lists]
        self.owner = {place: rank for rank, places in enumerate(self.lists) for place in places}
        self.is_watchful = False
        self.counted: set[int] = set()
        self._participants: frozenset[int] = frozenset()
        self._standing: LeastLoaded[int] = LeastLoaded([], {})
        self._balanced: bool | None = None  # None: something has moved since it was last found out

    @abstractmethod
    def owned_line(self) -> list[int]:
        """The places that have an owner, in the order of step 2 where all members subscribe to the same."""
        ...

    @abstractmethod
    def move_instead(self, place: int, target: int) -> None:
        """Give the target this place, or one of the topic that came from there before."""
        ...

    def unowned_line(self) -> Iterable[int]:
        """The places without an owner, in the order of step 2 where all members subscribe to the same."""
        return (place for place in self._by_subscribers() if place not in self.owner)

    def hand_out(self, places: Sequence[int]) -> None:
        """Step 3."""
        standing = LeastLoaded([len(mine) for mine in self.lists], dict(enumerate(self.table.subscribers)))
        for place in places:
            taker = standing.least(self.table.topic_of[place])
            if taker is not None:  # a topic of the table has subscribers, so there is always one
                self.give(place, taker)
                standing.grew(taker)

    def target(self, place: int) -> int | None:
        """The member that should get the place or another one of its topic (step 4); None: it stays."""
        size = self.size(self.owner[place])
        earlier = self.kept.earlier.get(place)
        if earlier is not None and size > self.earlier_owner_size(earlier) + 1:
            return earlier
        least = self.least_loaded(place)
        return least if least is not None and size > self.size(least) + 1 else None

    def earlier_owner_size(self, rank: int) -> int:
        """How many places an earlier owner has. One that takes no part has none, as far as the algorithm knows."""
        return self.size(rank) if self.takes_part(rank) else 0

    def holders(self) -> Mapping[int, int]:
        """Who holds which place, as far as the group's balance is concerned."""
        return self.owner

    def assign(self) -> list[list[int]]:
        """The places of each member, by rank.

        Raises:
            AssignorError: the library fails, or does not end.
        """
        is_initial = not self.owner
        line = self._line()
        unowned = [place for place in line if place not in self.owner]
        self.hand_out(unowned)
        self.find_participants()
        before = [list(places) for places in self.lists]
        if not self.kept.is_revoked:
            self._balance(unowned)
        has_moved = self._balance(line)
        is_useless = has_moved and not is_initial and self._is_no_better(before)
        return before if is_useless else self.lists

    def find_participants(self) -> None:
        """Find out who takes part in balancing."""
        table = self.table
        self._participants = frozenset(
            rank
            for rank, places in enumerate(self.lists)
            if len(places) < self.most(rank) or any(map(table.is_contested, places))
        )
        able = {
            topic: [rank for rank in ranks if rank in self._participants]
            for topic, ranks in enumerate(table.subscribers)
        }
        self._standing = LeastLoaded([len(places) for places in self.lists], able)
        self.is_watchful = self.is_watchful or any(
            rank not in self._participants or table.topic_of[place] not in table.asked[rank]
            for place, rank in self.kept.earlier.items()
        )

    def take(self, place: int, rank: int) -> None:
        """The member loses a place, if it has it."""
        if place in self.lists[rank]:
            self.lists[rank].remove(place)
            self._standing.shrank(rank)

    def give(self, place: int, rank: int) -> None:
        """The member gets a place, even if another one holds it."""
        self.lists[rank].append(place)
        self.owner[place] = rank

    def move(self, place: int, target: int) -> None:
        """Take the place from its owner and give it to the target."""
        self.take(place, self.owner[place])
        self.give(place, target)
        self._standing.grew(target)
        self._balanced = None

    def state(self) -> object:
        """Everything that later moves can depend on."""
        return tuple(map(tuple, self.lists))

    def size(self, rank: int) -> int:
        """How many places the member has."""
        return len(self.lists[rank])

    def most(self, rank: int) -> int:
        """How many places the member can have at most."""
        return sum(len(self.table.places(topic)) for topic in self.table.asked[rank])

    def takes_part(self, rank: int) -> bool:
        """Whether the member takes part in balancing."""
        return rank in self._participants

    def least_loaded(self, place: int) -> int | None:
        """The subscriber of the place's topic with the fewest places that takes part."""
        return self._standing.least(self.table.topic_of[place])

    def _line(self) -> list[int]:
        if self.kept.is_fresh or not self.kept.is_uniform:
            return self._by_subscribers()
        return [*self.owned_line(), *self.unowned_line()]

    def _by_subscribers(self) -> list[int]:
        topic_of, subscribers = self.table.topic_of, self.table.subscribers
        return sorted(range(len(topic_of)), key=lambda place: len(subscribers[topic_of[place]]))

    def _balance(self, line: Sequence[int]) -> bool:
        """Step 4, one turn; whether anything moved."""
        contested = [place for place in line if self.table.is_contested(place)]
        rounds, seen = 0, set[object]()
        while self._round(contested):
            rounds += 1
            if rounds > PATIENCE:
                state = self.state()
                if state in seen:
                    raise AssignorError(NO_ANSWER, "the original moves partitions in a circle for ever")
                seen.add(state)
        return rounds > 0

    def _round(self, line: Sequence[int]) -> bool:
        moved = False
        for place in line:
            if self.is_watchful and self._is_balanced():
                break
            target = self.target(place)
            if target is not None:
                self.move_instead(place, target)
                moved = True
        return moved

    def _is_balanced(self) -> bool:
        if self._balanced is None:
            sizes = [self.size(rank) for rank in self._participants]
            is_even = min(sizes) >= max(sizes) - 1
            self._balanced = is_even or not self._can_anybody_get_more()
        return self._balanced

    def _can_anybody_get_more(self) -> bool:
        holders = self.holders()
        by_size = sorted(self._participants, key=lambda rank: (self.size(rank), rank))
        return any(self._can_get_more(rank, holders) for rank in by_size)

    def _can_get_more(self, rank: int, holders: Mapping[int, int]) -> bool:
        """Whether the member could get a place from a member that holds more."""
        size, mine = self.size(rank), set(self.lists[rank])
        if size == self.most(rank):
            return False  # it seems to have everything, whatever it really has
        wanted = (place for topic in self.table.asked[rank] for place in self.table.places(topic) if place not in mine)
        return any(self.size(holders[place]) > size for place in wanted)

    def _is_no_better(self, before: Sequence[Sequence[int]]) -> bool:
        """Step 5: whether the sum of the differences between all pairs that take part did not become less."""
        sizes, former = ([len(lists[rank]) for rank in self._participants] for lists in (self.lists, before))
        return _unevenness([*sizes, *(0 for _ in self.counted)]) >= _unevenness(former)


def line_up_from_largest(left: Sequence[list[int]], take: Callable[[list[int]], int]) -> list[int]:
    """Take one place after the other, each from the member (rank) that has most left, the last of equal ones.

    >>> line_up_from_largest([[1, 2], [3], [4, 5]], list.pop)
    [5, 2, 4, 3, 1]
    """
    most = [(-len(places), -rank) for rank, places in enumerate(left)]
    heapify(most)
    line: list[int] = []
    while most:
        rank = -heappop(most)[1]
        if left[rank]:
            line.append(take(left[rank]))
            heappush(most, (-len(left[rank]), -rank))
    return line


def _unevenness(sizes: Sequence[int]) -> int:
    ascending = sorted(sizes)
    below = accumulate(ascending, initial=0)
    return sum(number * size - held for number, (size, held) in enumerate(zip(ascending, below, strict=False)))
