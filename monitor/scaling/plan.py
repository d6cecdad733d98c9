"""What each number of members would come to, and the least that is enough.

A number is enough if each of its members is (decision 0103). A member is enough for its partitions if

1. each record that waits now is read within the target, and each that comes in if the load stays for a while;
2. what has come in for minutes leaves the headroom, which a short peak may use.

Where no number does it, one partition may be the reason: it brings more than a member reads (it is crowded), or more of
it waits than a member reads within the target. The other members decide then, and after that, how soon all is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, inf
from typing import Final, NamedTuple, Self

from monitor.model import TopicPartition, Value
from monitor.model.scaling import ScaleTarget
from monitor.scaling.capacity import Capacity
from monitor.scaling.loads import Load, sum_loads
from monitor.scaling.shares import Share, Shares, ShareTable

MOST_PARTITIONS: Final = 500
"""A larger group has no number: its assignor takes a second for each number of members."""
ONE_BY_ONE: Final = 16
FEW: Final = 4
MANY_PARTITIONS: Final = 100
"""So many numbers are tried one by one, with more partitions the FEW; then each is a quarter more."""
STEP: Final = 4
AS_GOOD: Final = 1.05
"""A number that falls short by at most so many times the least possible is as good as the best."""
AS_SOON: Final = 1.25
"""And one that reads a partition, which no member reads within the target, in so many times the least possible time;
fewer members than there are have to be AS_GOOD."""
GIVEN_AWAY: Final = 0.05
"""A member of which others could take no more than this share of what it reads needs no headroom."""
AHEAD_TARGETS: Final = 10
"""What comes in now may go on for so many times the target. Then the number has long been another one."""
_NONE: Final[frozenset[TopicPartition]] = frozenset()


class PlanRow(Value):
    """What so many members would come to."""

    members: int
    """The number of members."""
    partitions: int
    """The partitions of the member that has most."""
    busiest: float
    """The busiest member: what comes in for it, over what it reads."""
    is_in_time: bool
    """Whether each record is read within the target."""
    has_headroom: bool
    """Whether what has come in for minutes leaves the headroom."""
    wait_ms: int = 0
    """How long a record that waits now waits at most from now on (ms)."""
    drain_ms: int | None = None
    """How long until nothing waits (ms); absent: never."""
    moves: int = 0
    """Partitions that would get another owner."""

    @property
    def is_enough(self) -> bool:
        """Whether so many members are enough."""
        return self.is_in_time and self.has_headroom


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
    target, found = situation.target, [_Task.of(share, situation) for share in shares.members]
    return PlanRow(
        members=members,
        partitions=max([len(share.places) for share in shares.members], default=0),
        busiest=round(max([each.incoming for each in found], default=0.0), 3),
        is_in_time=all(each.lateness(target) <= 1 for each in found),
        has_headroom=all(each.fullness(target) <= 1 for each in found),
        wait_ms=ceil(max([each.wait_ms for each in found], default=0.0)),
        drain_ms=_as_whole_ms(max([each.drain_ms for each in found], default=0.0)),
        moves=shares.moves,
    )


def _as_whole_ms(time_ms: float) -> int | None:
    return None if time_ms == inf else ceil(time_ms)


class _Task(NamedTuple):
    """What a member has to do, measured by what it reads.

    ``wait_ms``: how long a record that waits now waits at most. ``drain_ms``: how long until nothing waits; inf: never.
    ``incoming`` and ``lasting``: what comes in now, and what has for minutes, over what it reads. ``may_share``: others
    could take a part that counts.
    """

    wait_ms: float = 0.0
    drain_ms: float = 0.0
    incoming: float = 0.0
    lasting: float = 0.0
    may_share: bool = False

    @classmethod
    def of(cls, share: Share, situation: Situation, left_out: frozenset[TopicPartition] = _NONE) -> Self:
        """That of all partitions but those that are left out: these only get their turn."""
        loads = situation.loads
        turns = [place for place in share.places if (load := loads.get(place)) is not None and _brings(load)]
        own = [loads[place] for place in turns if place not in left_out]
        if not own:
            return cls()
        load, per_s = sum_loads(own), situation.capacity.on_host(share.host) * len(own) / len(turns)
        lasting = load.lasting_per_s / per_s
        return cls(
            wait_ms=max([_longest_wait_ms(each, load, len(own), per_s) for each in own]),
            drain_ms=_drain_ms(load.waiting, per_s - load.incoming_per_s),
            incoming=load.incoming_per_s / per_s,
            lasting=lasting,
            may_share=lasting - max([each.lasting_per_s for each in own]) / per_s > GIVEN_AWAY,
        )

    def lateness(self, target: ScaleTarget) -> float:
        """How long records wait, over the target, if the load stays for a while; 1 or less is in time."""
        return self.wait_ms / target.target_ms + AHEAD_TARGETS * max(0.0, self.incoming - 1)

    def fullness(self, target: ScaleTarget) -> float:
        """What has come in for minutes, over what the headroom leaves for it; 1 or less is enough.

        A member of which nothing could be given away needs no headroom, as one with one partition.
        """
        return self.lasting / target.headroom if self.may_share else 0.0

    def shortfall(self, target: ScaleTarget) -> float:
        """How far it is from being enough; 1 or less is enough."""
        return max(self.lateness(target), self.fullness(target))


def _brings(load: Load) -> bool:
    return load.waiting > 0 or load.incoming_per_s > 0


def _longest_wait_ms(load: Load, whole: Load, partitions: int, per_s: float) -> float:
    """How long the records of one partition wait at most (ms), of several that a member reads in turn.

    The partition gets its share of the member, or more once nothing waits in the others: then all that waits is read,
    and what has come into the others.
    """
    in_turn_ms = partitions * 1000 * load.waiting / per_s
    return min(in_turn_ms, _drain_ms(whole.waiting, per_s - (whole.incoming_per_s - load.incoming_per_s)))


def _drain_ms(waiting: float, spare_per_s: float) -> float:
    """How long it takes to read what waits (ms); inf: it never ends."""
    if spare_per_s > 0:
        return 1000 * waiting / spare_per_s
    return inf if waiting or spare_per_s < 0 else 0.0


class Choice(NamedTuple):
    """A number of members. ``is_enough``: it is enough, or as good as one that is; else none is."""

    members: int
    is_enough: bool


def choose_members(table: ShareTable, situation: Situation) -> Choice:
    """The least number of members that is as good as the least that is enough, or if none is, as any.

    With more members whose largest share is hardly smaller, no more than noise would be better. For the same reason the
    present number may be a little short.

    Raises:
        QuestionError: the group's assignment cannot be computed.
    """
    crowded = frozenset([each.place for each in situation.crowded_partitions()])
    hopeless = crowded.union(_hopeless_partitions(situation))
    tried: list[_Tried] = []
    is_enough = False
    for members in _candidates(table, situation, crowded):
        shares = table.of(members)
        found = _shortfall(shares, situation, crowded)
        tried.append(_Tried(members, found, _shortfall(shares, situation, hopeless) if hopeless > crowded else found))
        is_enough = found <= (AS_GOOD if members == table.present else 1)
        if is_enough:
            break
    fitting = [each for each in tried if each.without_hopeless <= AS_GOOD] or tried
    least = min(each.shortfall for each in fitting)
    is_one_late = hopeless > crowded and not is_enough

    def is_as_good(each: _Tried) -> bool:
        # Fewer members than there are would be more again as soon as something else waits beside the late partition.
        is_close = is_one_late and each.members >= table.present
        return each.shortfall <= least * (AS_SOON if is_close else AS_GOOD)

    return Choice(next(each.members for each in fitting if is_as_good(each)), is_enough)


def _hopeless_partitions(situation: Situation) -> Iterator[TopicPartition]:
    """The partitions of which more waits than a member reads within the target, whatever else it has."""
    most = situation.fastest_per_s * situation.target.target_ms / 1000
    return (place for place, load in situation.loads.items() if load.waiting > most)


class _Tried(NamedTuple):
    """How far a number of members is from being enough, but for crowded partitions; and for all that are hopeless."""

    members: int
    shortfall: float
    without_hopeless: float


def _shortfall(shares: Shares, situation: Situation, left_out: frozenset[TopicPartition]) -> float:
    """How far the member that is shortest is from being enough."""
    tasks = [_Task.of(share, situation, left_out) for share in shares.members]
    return max([each.shortfall(situation.target) for each in tasks], default=0.0)


def _candidates(table: ShareTable, situation: Situation, crowded: frozenset[TopicPartition]) -> Iterator[int]:
    """The numbers of members to try, ascending: from what would be enough if all were even, to one a partition.

    Of one partition, no more counts than one member can do.
    """
    target, fastest = situation.target, situation.fastest_per_s
    most = max(target.least, min(table.partitions or 1, target.most or table.partitions or 1))
    own = [load for place, load in situation.loads.items() if place not in crowded]
    load = sum_loads(own)
    waiting_per_s = sum([min(1000 * each.waiting / target.target_ms, fastest) for each in own])
    required = max(waiting_per_s, load.incoming_per_s / (1 + 1 / AHEAD_TARGETS), load.lasting_per_s)
    first = min(most, max(target.least, ceil(required / fastest)))
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
