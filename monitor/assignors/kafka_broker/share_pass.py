"""One round of spreading the members of a share group over partitions.

Words: the *sharing* is how many members should read each partition: members divided by partitions, rounded up. A
member's *due* is how many partitions it should read: sharing times partitions divided by members, rounded so that the
dues add up.

Steps:

1. Everybody keeps what it has.
2. Who has more than its due gives up partitions, those that a Java set gives first.
3. A partition that more members have than its sharing is taken from those that a Java set gives first.
4. Those who have less than their due are served in turn, in the order of their numbers: go through the partitions in
   the order of a Java map (``java_compute_if_absent``); each takes as many of these members as it lacks. One who has
   its due leaves the circle. A partition that no member in the circle can take, after all were tried, is left as it
   is.

Quirks. If a partition still lacks readers when the last member leaves the circle, the original looks for the next one
in an empty circle and fails. After a whole turn of the circle in which no member could take anything, the original
gives away no further partition. A member may have room for one all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from math import ceil
from typing import Generic, TypeVar

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.hash import integer_hash
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_broker.java_compute_if_absent import computed_map_order
from monitor.model import Value

Place = TypeVar("Place", bound=Hashable)


class ShareRound(Value, Generic[Place]):
    """Who takes part, what is there, and what everybody has."""

    members: tuple[int, ...]
    """The numbers of the subscribers, ascending."""
    held: Mapping[int, tuple[Place, ...]]
    """What members have, subscribers or not, by ascending number."""
    targets: tuple[Place, ...]
    """The partitions to share."""


class Change(Value, Generic[Place]):
    """What a member loses and gets."""

    member: int
    lost: tuple[Place, ...]
    got: tuple[Place, ...]


def share_out(turn: ShareRound[Place], hash_of: Callable[[Place], int]) -> list[Change[Place]]:
    """What changes, for each member for whom something does.

    Args:
        turn: what is to be shared.
        hash_of: Java's hash code of a partition's key.

    Raises:
        AssignorError: the original runs out of members.
    """
    books = _Books(turn, hash_of)
    books.revoke_from_members()
    books.revoke_from_partitions()
    books.serve()
    return [
        Change(member=member, lost=tuple(books.lost.get(member, ())), got=tuple(books.got.get(member, ())))
        for member in sorted(books.lost.keys() | books.got.keys())
    ]


class _Books(Generic[Place]):
    def __init__(self, turn: ShareRound[Place], hash_of: Callable[[Place], int]) -> None:
        self._turn = turn
        self._hash_of = hash_of
        self._sharing = ceil(len(turn.members) / len(turn.targets)) if turn.targets else 0
        self._due = _dues(turn, self._sharing)
        self._has: dict[int, dict[Place, None]] = defaultdict(dict)
        self._readers: dict[Place, dict[int, None]] = defaultdict(dict)
        for member, held in turn.held.items():
            self._has[member].update(dict.fromkeys(held))
            for place in held:
                self._readers[place][member] = None
        self._came = {place: tuple(readers) for place, readers in self._readers.items()}
        self.lost: dict[int, list[Place]] = defaultdict(list)
        self.got: dict[int, list[Place]] = defaultdict(list)

    def revoke_from_members(self) -> None:
        for member, mine in self._has.items():
            excess = len(mine) - self._due.get(member, 0)
            if excess > 0:
                for place in hash_map_order(mine, self._hash_of)[:excess]:
                    self._revoke(member, place)

    def revoke_from_partitions(self) -> None:
        for place, readers in self._readers.items():
            excess = len(readers) - self._sharing
            if excess > 0:
                order = [member for member in hash_map_order(self._came[place], integer_hash) if member in readers]
                for member in order[:excess]:
                    self._revoke(member, place)

    def serve(self) -> None:
        hungry = {member: None for member, due in self._due.items() if len(self._has[member]) < due}
        circle, served = list(hungry), False
        turn = 0
        for place in self._in_map_order():
            if not hungry:
                return
            readers = self._readers[place]
            lacking = self._sharing - len(readers)
            while lacking > 0:
                if turn >= len(circle):
                    if not served:
                        break
                    circle, turn, served = list(hungry), 0, False
                if not circle:
                    raise AssignorError("NoSuchElementException")
                member = circle[turn]
                turn += 1
                if member not in readers:
                    self.got[member].append(place)
                    self._has[member][place] = None
                    lacking -= 1
                    served = True
                    if len(self._has[member]) >= self._due[member]:
                        del hungry[member]

    def _in_map_order(self) -> Iterable[Place]:
        """The partitions that members had and those to share; there is room for the latter, as in the original."""
        asked = [*(place for held in self._turn.held.values() for place in held), *self._turn.targets]
        room = int((len(self._turn.targets) + 1) / 0.75 + 1)
        return computed_map_order(asked, self._hash_of, room)

    def _revoke(self, member: int, place: Place) -> None:
        del self._has[member][place]
        del self._readers[place][member]
        self.lost[member].append(place)


def _dues(turn: ShareRound[Place], sharing: int) -> dict[int, int]:
    """The subscribers' dues, by ascending number."""
    if not turn.members:
        return {}
    due = sharing * len(turn.targets) / len(turn.members)  # as a double, rounding errors included
    return {member: ceil(due * (place + 1)) - ceil(due * place) for place, member in enumerate(turn.members)}
