"""What each number of members would come to, and the least that is enough.

A number is enough if each of its members is. A member is enough for its partitions if each record is read within the
target: those that wait now, and those that come in if it goes on so for a while. And if what has come in for minutes
leaves the headroom: a short peak may use it. One partition that brings more than a member reads makes every number too
low, so it is left out, with a word: no member can do better. (Decision 0103.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf
from typing import Final, NamedTuple, Self

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
"""A number whose slowest member takes at most so many times the least possible is as good as the best."""
AHEAD_TARGETS: Final = 10
"""What comes in now may go on for so many times the target. Then the number has long been another one."""


class PlanRow(Value):
    """What so many members would come to."""

    members: int
    """The number of members."""
    partitions: int
    """The partitions of the member that has most."""
    busiest: float
    """The busiest member: what comes in for it, over what it reads."""
    is_enough: bool
    """Whether each record is read within the target, with the headroom."""
    wait_ms: int = 0
    """How long the members need for what waits now at most (ms)."""
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
    busy = [_Business.of(share, situation) for share in shares.members]
    return PlanRow(
        members=members,
        partitions=max([len(share.places) for share in shares.members], default=0),
        busiest=round(max([each.incoming for each in busy], default=0.0), 3),
        is_enough=strain(shares, situation) <= 1,
        wait_ms=ceil(max([each.wait_ms for each in busy], default=0)),
        drain_ms=max(known, default=0) if len(known) == len(drains) else None,
        moves=shares.moves,
    )


def drain_ms(share: Share, situation: Situation) -> int | None:
    """How long a member needs until nothing waits for it (ms), what comes in meanwhile included; None: never."""
    load = _load_sum(share, situation.loads)
    spare = situation.capacity.on_host(share.host) - load.incoming_per_s
    if spare > 0:
        return ceil(1000 * load.waiting / spare)
    return None if load.waiting or spare < 0 else 0


_NOTHING: Final[frozenset[TopicPartition]] = frozenset()


def strain(shares: Shares, situation: Situation, left_out: frozenset[TopicPartition] = _NOTHING) -> float:
    """How far these shares are from being enough: 1 or less is enough. Members with a left-out partition count not."""
    counted = [share for share in shares.members if left_out.isdisjoint(share.places)]
    return max([_Business.of(share, situation).strain(situation.target) for share in counted], default=0.0)


class _Business(NamedTuple):
    """A member: how long it needs for what waits now (ms), and what comes in for it, over what it reads.

    ``lasting`` None: it reads one partition, and no other member could take a part of that: it needs no headroom.
    """

    wait_ms: float
    incoming: float
    lasting: float | None

    @classmethod
    def of(cls, share: Share, situation: Situation) -> Self:
        load, per_s = _load_sum(share, situation.loads), situation.capacity.on_host(share.host)
        own = [place for place in share.places if _brings(situation.loads, place)]
        lasting = load.lasting_per_s / per_s if len(own) > 1 else None
        return cls(1000 * load.waiting / per_s, load.incoming_per_s / per_s, lasting)

    def strain(self, target: ScaleTarget) -> float:
        """How far the member is from being enough."""
        waits = self.wait_ms / target.target_ms + AHEAD_TARGETS * max(0.0, self.incoming - 1)
        return waits if self.lasting is None else max(waits, self.lasting / target.headroom)


def _brings(loads: Loads, place: TopicPartition) -> bool:
    load = loads.get(place)
    return load is not None and (load.waiting > 0 or load.incoming_per_s > 0)


def _load_sum(share: Share, loads: Loads) -> Load:
    """What all partitions of a member bring."""
    own: Sequence[Load] = [loads[place] for place in share.places if place in loads]
    return _sum_up(own)


def _sum_up(loads: Sequence[Load]) -> Load:
    return Load(
        sum([each.waiting for each in loads]),
        sum([each.incoming_per_s for each in loads]),
        sum([each.lasting_per_s for each in loads]),
    )


def enough_members(table: ShareTable, situation: Situation) -> int:
    """The least number of members that is enough; if none is, the least that takes as little time as any.

    Raises:
        QuestionError: the group's assignment cannot be computed.
    """
    left_out = frozenset([each.place for each in situation.crowded_partitions()])
    tried: list[_Tried] = []
    for members in _candidates(table, situation, left_out):
        shares = table.of(members)
        found = strain(shares, situation, left_out)
        if found <= 1:
            return members
        tried.append(_Tried(members, _slowest_ms(shares, situation, left_out), found))
    return _least_as_good(tried)


class _Tried(NamedTuple):
    """A number of members that is not enough."""

    members: int
    slowest_ms: float
    strain: float


def _least_as_good(tried: Sequence[_Tried]) -> int:
    """The least of these numbers that takes as little time as any; where none ends, that comes as near as any."""
    ends = any(each.slowest_ms < inf for each in tried)
    measured = [(each.slowest_ms if ends else each.strain, each.members) for each in tried]
    least = min(measured)[0]
    return next(members for found, members in measured if found <= AS_GOOD * least)


def _slowest_ms(shares: Shares, situation: Situation, left_out: frozenset[TopicPartition]) -> float:
    """How long the slowest member needs until nothing waits for it (ms)."""
    drains = [drain_ms(share, situation) for share in shares.members if left_out.isdisjoint(share.places)]
    return max([inf if each is None else each for each in drains], default=0.0)


def _candidates(table: ShareTable, situation: Situation, left_out: frozenset[TopicPartition]) -> Iterator[int]:
    """The numbers of members to try, ascending: from what would be enough if all were even, to one a partition."""
    target = situation.target
    most = max(target.least, min(table.partitions or 1, target.most or table.partitions or 1))
    load = _sum_up([load for place, load in situation.loads.items() if place not in left_out])
    required = max(
        1000 * load.waiting / target.target_ms, load.incoming_per_s / (1 + 1 / AHEAD_TARGETS), load.lasting_per_s
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
