"""Make a group with different subscriptions more even, one partition at a time.

Steps, over all partitions that are in line, again and again until a whole round moves nothing:

1. If the owner of a partition holds two or more partitions more than its *earlier owner* (the newest one of an older
   generation), the partition goes back there.
2. Else if the owner holds two or more partitions more than some other subscriber, it gives one of the topic to the
   subscriber with the fewest partitions: this one, or one that went the opposite way before (``movements``).

Members that hold everything they could ever get, and nothing that anybody else could get, take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from monitor.assignors.errors import NO_ANSWER, AssignorError
from monitor.assignors.kafka_client.sticky.general.current_assignment import Holdings, Stretch
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.assignors.kafka_client.sticky.general.movements import Movements
from monitor.assignors.kafka_client.sticky.general.potential_consumers import Roster
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, topic_of
from monitor.assignors.kafka_client.sticky.prior_ownership import Claims
from monitor.model import Value

PATIENCE: Final = 50
"""After so many rounds, look whether the same happens again and again. Groups that end need a handful."""
_WORD: Final = 0xFFFF_FFFF


class _Move(Value):
    """Which partition of a stretch is to move (its number there), and who is to have one more."""

    turn: int
    target: int


class Balance:
    """The balancing of one group. Holdings are changed in place."""

    def __init__(self, roster: Roster, known: KnownTopics, holdings: Holdings, earlier: dict[int, int]) -> None:
        """Find out who takes part. ``earlier``: the earlier owner (rank) of a partition, if it has one."""
        self.roster = roster
        self.holdings = holdings
        self.earlier = earlier
        self.taking_part = {rank for rank in range(len(roster.position)) if _takes_part(rank, roster, holdings)}
        self.standing = LeastLoaded(holdings.sizes(), {topic: self._able(topic) for topic in range(len(known.names))})
        self._movements = Movements(known)

    def has_stranger(self) -> bool:
        """Whether some partition has an earlier owner that no longer asks for its topic, or that takes no part."""
        asked = [set(topics) if rank in self.taking_part else set() for rank, topics in enumerate(self.roster.asked)]
        return any(topic_of(place) not in asked[rank] for place, rank in self.earlier.items())

    def move_what_helps(self, line: Sequence[Stretch]) -> bool:
        """Move partitions of the line until no more move helps; whether any was moved.

        Raises:
            AssignorError: the original goes round for ever. It does, for some claims that cannot be true.
        """
        contested = [stretch for stretch in line if self.roster.is_contested(stretch.topic)]
        rounds, seen = 0, set[int]()
        while self._round(contested):
            rounds += 1
            if rounds > PATIENCE:
                state = hash((tuple(map(tuple, self.holdings.lists)), self._movements.state()))
                if state in seen:
                    raise AssignorError(NO_ANSWER, "the original moves partitions in a circle for ever")
                seen.add(state)
        return rounds > 0

    def unevenness(self, lists: Sequence[Sequence[int]]) -> int:
        """The sum of the differences between all pairs that take part, in the original's 32 bits."""
        sizes = sorted(len(lists[rank]) for rank in self.taking_part)
        below = accumulate(sizes, initial=0)
        total = sum(number * size - held for number, (size, held) in enumerate(zip(sizes, below, strict=False))) & _WORD
        return total - (_WORD + 1) if total > _WORD >> 1 else total

    def move(self, place: int, topic: int, target: int) -> None:
        """Give the target one of the topic's partitions and the owner of this partition one less."""
        holdings, standing = self.holdings, self.standing
        moving = self._movements.instead_of(place, topic, holdings.owner[place], target)
        owner = holdings.owner[moving]
        self._movements.record(moving, topic, owner, target)
        holdings.move(moving, target)
        standing.shrank(owner)
        standing.grew(target)

    def _round(self, line: Sequence[Stretch]) -> bool:
        return sum(self._share(stretch) for stretch in line) > 0

    def _share(self, stretch: Stretch) -> int:
        """Move what helps of one topic; how many."""
        moves, turn = 0, 0
        while (found := self._next_move(stretch, turn)) is not None:
            self.move(stretch.places[found.turn], stretch.topic, found.target)
            moves, turn = moves + 1, found.turn + 1
        return moves

    def _next_move(self, stretch: Stretch, turn: int) -> _Move | None:
        """The next partition whose owner holds too much, and where it goes."""
        least = self.standing.least(stretch.topic)
        if least is None:
            return None
        counts, owner, places = self.standing.counts, self.holdings.owner, stretch.places
        enough = counts[least] + 1
        found = (number for number in range(turn, len(places)) if counts[owner[places[number]]] > enough)
        turn = next(found, -1)
        if turn < 0:
            return None
        earlier = self.earlier.get(places[turn])
        goes_home = earlier is not None and counts[owner[places[turn]]] > counts[earlier] + 1
        return _Move(turn=turn, target=earlier if earlier is not None and goes_home else least)

    def _able(self, topic: int) -> list[int]:
        return [rank for rank in self.roster.subscribers[topic] if rank in self.taking_part]


def earlier_owners(claims: Claims, roster: Roster) -> dict[int, int]:
    """Who owned a partition in the newest generation before the newest one of all (ranks).

    Only members that report an older generation count, or none while others report one; among those with the same
    generation the first in the original's map.
    """
    rank_at = {position: rank for rank, position in enumerate(roster.position)}
    owners: dict[int, int] = {}
    generations: dict[int, int] = {}
    for position, places in enumerate(claims.claimed):
        reported = claims.generation[position]
        generation = -1 if reported is None else reported
        if generation < claims.max_generation:
            for place in places.tolist():
                if place not in owners or generation > generations[place]:
                    owners[place], generations[place] = rank_at[position], generation
    return owners


def _takes_part(rank: int, roster: Roster, holdings: Holdings) -> bool:
    mine = holdings.lists[rank]
    return len(mine) < roster.most[rank] or any(roster.is_contested(topic_of(place)) for place in mine)
