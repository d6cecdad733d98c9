"""One round of spreading the members of a share group over partitions.

Words: the *sharing* is how many members should read each partition: members divided by partitions, rounded up. A
member's *due* is how many partitions it should read: sharing times partitions divided by members, rounded so that the
dues add up.

Steps:

1. Everybody keeps what it has.
2. Who has more than its due gives up partitions, those that a Java set gives first.
3. A partition that more members have than its sharing is taken from those that a Java set gives first.
4. Those who have less than their due are served in turn, in the order of their numbers: go through the partitions in
   the order of a Java map (``computed_map``); each takes as many of these members as it lacks. One who has its due
   leaves the circle. A partition that nobody in the circle can take, after everybody was asked, is left as it is.

Quirk: when a partition still lacks readers at the moment when the last member leaves the circle, the original asks an
empty circle for the next one and fails.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import Generic, TypeVar

from monitor.assignors.errors import AssignorError
from monitor.assignors.java_hash import integer_hash
from monitor.assignors.java_order import hash_map_order
from monitor.assignors.kafka_broker.computed_map import computed_map_order
from monitor.model import Value

Place = TypeVar("Place", bound=Hashable)


class ShareRound(Value, Generic[Place]):
    """Who takes part, what is there, and what everybody has."""

    members: tuple[int, ...]
    """The numbers of the subscribers, ascending."""
    held: tuple[tuple[Place, ...], ...]
    """What each member of the group has, subscriber or not, by number."""
    targets: tuple[Place, ...]
    """The partitions to share."""


class Change(Value, Generic[Place]):
    """What a member loses and gets."""

    member: int
    lost: tuple[Place, ...]
    got: tuple[Place, ...]


def share_out(turn: ShareRound[Place], hash_of: Callable[[Place], int]) -> list[Change[Place]]:
    """What changes for each member of the group.

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
        Change(member=member, lost=tuple(books.lost[member]), got=tuple(books.got[member]))
        for member in range(len(turn.held))
    ]


def _capacity(size: int) -> int:
    """With which capacity the original creates a map or set for so many (``AssignorHelpers.newHashMap``)."""
    return int((size + 1) / 0.75 + 1)


class _Books(Generic[Place]):
    def __init__(self, turn: ShareRound[Place], hash_of: Callable[[Place], int]) -> None:
        self._turn = turn
        self._hash_of = hash_of
        self._sharing = ceil(len(turn.members) / len(turn.targets)) if turn.targets else 0
        self._due = _dues(turn, self._sharing)
        self._has = [dict.fromkeys(held) for held in turn.held]
        self._readers: dict[Place, dict[int, None]] = {}
        for member, held in enumerate(turn.held):
            for place in held:
                self._readers.setdefault(place, {})[member] = None
        self._came = {place: tuple(readers) for place, readers in self._readers.items()}
        self.lost: list[list[Place]] = [[] for _ in turn.held]
        self.got: list[list[Place]] = [[] for _ in turn.held]

    def revoke_from_members(self) -> None:
        for member, mine in enumerate(self._has):
            excess = len(mine) - self._due[member]
            for place in hash_map_order(mine, self._hash_of)[: max(excess, 0)]:
                self._revoke(member, place)

    def revoke_from_partitions(self) -> None:
        for place, readers in self._readers.items():
            excess = len(readers) - self._sharing
            if excess > 0:
                order = [member for member in hash_map_order(self._came[place], integer_hash) if member in readers]
                for member in order[:excess]:
                    self._revoke(member, place)

    def serve(self) -> None:
        hungry = {member: None for member in self._turn.members if len(self._has[member]) < self._due[member]}
        circle, served = list(hungry), False
        turn = 0
        asked = [*(place for held in self._turn.held for place in held), *self._turn.targets]
        for place in computed_map_order(asked, self._hash_of, _capacity(len(self._turn.targets))):
            readers = self._readers.get(place, {})
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
            if not hungry:
                return

    def _revoke(self, member: int, place: Place) -> None:
        del self._has[member][place]
        del self._readers[place][member]
        self.lost[member].append(place)


def _dues(turn: ShareRound[Place], sharing: int) -> Sequence[int]:
    dues = [0] * len(turn.held)
    if turn.members:
        due = sharing * len(turn.targets) / len(turn.members)  # as a double, rounding errors included
        for number, member in enumerate(turn.members):
            dues[member] = ceil(due * (number + 1)) - ceil(due * number)
    return dues
