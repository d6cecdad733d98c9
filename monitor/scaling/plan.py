"""What each number of members would come to, and the least that is enough.

A member is enough for its partitions if it reads what waits for it within the target, what comes in meanwhile included,
and if no more comes in than the headroom leaves. A number is enough if each of its members is. One partition that
brings more than a member reads makes every number too low, so it is left out, with a word: no member can do better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Final

from monitor.model import TopicPartition, Value
from monitor.model.scaling import ScaleTarget
from monitor.scaling.capacity import Capacity
from monitor.scaling.loads import Load, Loads
from monitor.scaling.shares import Share, Shares, ShareTable

MOST_PARTITIONS: Final = 500
"""A larger group has no number: its assignor takes a second for each number of members."""
ONE_BY_ONE: Final = 16
FEW: Final = 4
MANY_PARTITIONS: Final = 100
"""So many numbers are tried one by one, with more partitions the FEW; then each is a quarter more."""
STEP: Final = 4
AS_GOOD: Final = 1.05
"""A number whose busiest member has at most so many times the least possible is as good as the best."""


class PlanRow(Value):
    """What so many members would come to."""

    members: int
    """The number of members."""
    partitions: int
    """The partitions of the member that has most."""
    busiest: float
    """The busiest member: what it would have to read, over what it can."""
    drain_ms: int | None = None
    """How long until nothing waits (ms); absent: never."""
    moves: int = 0
    """Partitions that would get another owner."""


class Crowded(Value):
    """A partition that brings more than one member reads: so much comes in, over what a member reads."""

    place: TopicPartition
    ratio: float


class Situation(Value):
    """All that a plan is made of."""

    target: ScaleTarget
    loads: Mapping[TopicPartition, Load]
    capacity: Capacity

    @property
    def fastest_per_s(self) -> float:
        """How fast the fastest members read (records a second)."""
        return max([self.capacity.per_s, *self.capacity.by_host.values()])

    def crowded_partitions(self) -> tuple[Crowded, ...]:
        """The partitions that bring more than any member reads, the worst first."""
        limit = self.fastest_per_s
        found = [Crowded(place, load.incoming_per_s / limit) for place, load in self.loads.items()]
        return tuple(sorted([each for each in found if each.ratio > 1], key=lambda each: (-each.ratio, each.place)))


def plan_row(members: int, shares: Shares, situation: Situation) -> PlanRow:
    """What these shares come to. A crowded partition counts as any other here."""
    drains = [drain_ms(share, situation) for share in shares.members]
    known = [each for each in drains if each is not None]
    return PlanRow(
        members=members,
        partitions=max([len(share.places) for share in shares.members], default=0),
        busiest=round(busiest(shares, situation, frozenset()), 3),
        drain_ms=max(known, default=0) if len(known) == len(drains) else None,
        moves=shares.moves,
    )


def drain_ms(share: Share, situation: Situation) -> int | None:
    """How long a member needs until nothing waits for it (ms), what comes in meanwhile included; None: never."""
    waiting, incoming = _load_sums(share, situation.loads)
    spare = situation.capacity.on_host(share.host) - incoming
    if spare > 0:
        return ceil(1000 * waiting / spare)
    return None if waiting or spare < 0 else 0


def busiest(shares: Shares, situation: Situation, left_out: frozenset[TopicPartition]) -> float:
    """How far the busiest member is from being enough: 1 or less is enough. Members with these partitions count not."""
    return max(
        [_business(share, situation) for share in shares.members if left_out.isdisjoint(share.places)],
        default=0.0,
    )


def _business(share: Share, situation: Situation) -> float:
    """What a member has to read over what it can read, by the target, and by the headroom if it could give some away.

    A member with one partition has nothing that another could take.
    """
    target, capacity = situation.target, situation.capacity.on_host(share.host)
    waiting, incoming = _load_sums(share, situation.loads)
    required = (incoming + 1000 * waiting / target.target_ms) / capacity
    own = [place for place in share.places if _brings(situation.loads, place)]
    return max(required, incoming / capacity / target.headroom) if len(own) > 1 else required


def _brings(loads: Loads, place: TopicPartition) -> bool:
    load = loads.get(place)
    return load is not None and (load.waiting > 0 or load.incoming_per_s > 0)


def _load_sums(share: Share, loads: Loads) -> tuple[float, float]:
    """The records that wait for a member, and what comes in for it (records a second)."""
    own: Sequence[Load] = [loads[place] for place in share.places if place in loads]
    return sum([each.waiting for each in own]), sum([each.incoming_per_s for each in own])


def enough_members(table: ShareTable, situation: Situation) -> int:
    """The least number of members that is enough; if none is, the least that is as good as any.

    Raises:
        QuestionError: the group's assignment cannot be computed.
    """
    left_out = frozenset([each.place for each in situation.crowded_partitions()])
    best: list[tuple[float, int]] = []
    for members in _candidates(table, situation, left_out):
        found = busiest(table.of(members), situation, left_out)
        if found <= 1:
            return members
        best.append((found, members))
    least = min(found for found, _ in best)
    return next(members for found, members in best if found <= AS_GOOD * least)


def _candidates(table: ShareTable, situation: Situation, left_out: frozenset[TopicPartition]) -> Iterator[int]:
    """The numbers of members to try, ascending: from what would be enough if all were even, to one a partition."""
    target = situation.target
    most = max(target.least, min(table.partitions or 1, target.most or table.partitions or 1))
    required = sum(
        load.required_per_s(target.target_ms) for place, load in situation.loads.items() if place not in left_out
    )
    first = min(most, max(target.least, ceil(required / situation.fastest_per_s)))
    yield from rising_numbers(first, most, table.partitions)


def rising_numbers(first: int, most: int, partitions: int) -> Iterator[int]:
    """Numbers from one to another, both included: one by one at first, then in larger steps.

    >>> list(rising_numbers(3, 6, 12)), len(list(rising_numbers(1, 500, 500)))
    ([3, 4, 5, 6], 28)
    """
    members, one_by_one = first, ONE_BY_ONE if partitions <= MANY_PARTITIONS else FEW
    while members < most:
        yield members
        members += 1 if members - first < one_by_one else max(1, members // STEP)
    yield most
