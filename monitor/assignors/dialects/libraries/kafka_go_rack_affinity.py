"""kafka-go's ``rack-affinity`` (github.com/segmentio/kafka-go v0.4.51, ``RackAffinityGroupBalancer.AssignGroups``).

Every topic is dealt by itself to its *readers*, in the order of the JoinGroup answer. The *share* is its n partitions
divided by its m readers, rounded down; the *extras* are the remainder. The *zone* of a partition is the rack of its
leader. That of a member is its user data. Both can be "".

Steps, for one topic:

1. *In the zone*: go through the zones that have partitions and readers, in whatever order Go's map has them. Each
   reader gets an equal part of the zone's partitions, one after the other, and at most the share. The first readers get
   one more of what is left there. If the part equals the share already, this continues while there are extras.
2. *The rest*: put what is left in a line, zone by zone, in whatever order. The readers in order take from the line what
   they have less than the share, and one more while there are extras.

So every reader has the share or one more. Which order the maps had can be read off the assignment, and everything else
follows: extras run out in step 1 only if step 2 has none, and a zone's rest in the line is not torn apart.

The racks of leaders are not in the log. Where a topic has known racks, the first replica of a partition is taken for
its leader. Where it has none, only the number of partitions of each reader is checked.

Worked example: two readers on rack a and one partition on each rack. No data shows whether C0 or C1 takes the one on
rack a, but the first reader of the zone is C0.

>>> from monitor.model import Member, MemberAssignment, TopicPartitions, TopicShape
>>> members = tuple(Member(member_id=name, topics=("t",), user_data=b"a") for name in ("C0", "C1"))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=2, racks=(("b",), ("a",))),))
>>> def given(first, second):
...     runs = (("C0", first), ("C1", second))
...     return Assignment(members=tuple(MemberAssignment(n, (TopicPartitions("t", (p,)),)) for n, p in runs))
>>> RackAffinity().refusal(given(1, 0), group) is None
True
>>> RackAffinity().refusal(given(0, 1), group).reason
<RefusalReason.RACK: 'rack'>
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from monitor.assignors.dialects.dialect import CheckedDialect, Group
from monitor.assignors.dialects.structure import Structure, read_full_structure
from monitor.model import Assignment, Member, TopicPartition, TopicShape, Value, number
from monitor.model.evidence import Refusal, RefusalReason


class RackAffinity(CheckedDialect):
    """``rack-affinity``. See the module for the rule."""

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        structure = read_full_structure(given, group)
        if isinstance(structure, Refusal):
            return structure
        return next(filter(None, (_topic_refusal(deal) for deal in _deals(structure, group))), None)


class _Deal(Value):
    """What the readers of one topic were given: partitions ascending, in the order of the readers."""

    shape: TopicShape
    readers: tuple[Member, ...]
    given: tuple[tuple[int, ...], ...]

    def share(self) -> int:
        return self.shape.partitions // len(self.readers)

    def extras(self) -> int:
        return self.shape.partitions % len(self.readers)

    def refuse(self, reason: RefusalReason, reader: int) -> Refusal:
        """A refusal at the first partition of a reader, if it has any."""
        mine = self.given[reader]
        place = TopicPartition(self.shape.topic, mine[0]) if mine else None
        return Refusal(reason, place, self.readers[reader].member_id)


def _deals(structure: Structure, group: Group) -> Iterator[_Deal]:
    held: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, owner in structure.owners.items():
        held[place.topic, owner].append(number(place.partition))
    members = {member.member_id: member for member in group.members}
    for shape in group.topics:
        readers = structure.subscribers.get(shape.topic, ())
        if readers:
            given = tuple(tuple(sorted(held[shape.topic, name])) for name in readers)
            yield _Deal(shape=shape, readers=tuple(members[name] for name in readers), given=given)


def _topic_refusal(deal: _Deal) -> Refusal | None:
    for reader, mine in enumerate(deal.given):
        if not 0 <= len(mine) - deal.share() <= 1:
            return deal.refuse(RefusalReason.UNEVEN, reader)
    if not deal.shape.racks:
        return None
    zoned = _deal_in_zones(deal)
    if zoned is None:
        return deal.refuse(RefusalReason.RACK, 0)
    for reader, got in enumerate(zoned.got):
        for partition in sorted(got.difference(deal.given[reader])):
            place = TopicPartition(deal.shape.topic, partition)
            return Refusal(RefusalReason.RACK, place, other=deal.readers[reader].member_id)
    return _line_refusal(deal, zoned)


class _Zoned(Value):
    """What step 1 gives to each reader, and what it leaves: partitions of each zone, ascending, and extras."""

    got: tuple[frozenset[int], ...]
    left: Mapping[str, Sequence[int]]
    extras: int


def _deal_in_zones(deal: _Deal) -> _Zoned | None:
    """Step 1, with the extras where the assignment has them; None: they cannot be there."""
    partitions, readers = _partitions_by_zone(deal.shape), _readers_by_zone(deal.readers)
    parts = {
        zone: min(len(partitions[zone]) // len(readers[zone]), deal.share()) for zone in partitions if zone in readers
    }
    rests = {zone: partitions[zone][part * len(readers[zone]) :] for zone, part in parts.items()}
    full = {zone: min(len(rests[zone]), len(readers[zone])) for zone, part in parts.items() if part == deal.share()}
    extras = _extras_by_zone(deal, full, readers)
    if extras is None:
        return None
    got: list[frozenset[int]] = [frozenset()] * len(deal.readers)
    for zone, part in parts.items():
        more = extras.get(zone, len(rests[zone]))
        for turn, reader in enumerate(readers[zone]):
            run = partitions[zone][turn * part : (turn + 1) * part]
            got[reader] = frozenset([*run, *rests[zone][turn : min(turn + 1, more)]])
    left = {zone: partitions[zone] for zone in partitions if zone not in parts}
    left |= {zone: rest[extras.get(zone, len(rest)) :] for zone, rest in rests.items()}
    return _Zoned(got=tuple(got), left=left, extras=deal.extras() - sum(extras.values()))


def _extras_by_zone(
    deal: _Deal, wanted: Mapping[str, int], readers: Mapping[str, Sequence[int]]
) -> Mapping[str, int] | None:
    """How many readers get one of the extras in their zone: all that want one, if there are so many.

    Else the zones whose turn came first have theirs, the next one what was left of them, and the others none.
    """
    if sum(wanted.values()) <= deal.extras():
        return wanted
    found = {zone: sum(len(deal.given[reader]) > deal.share() for reader in readers[zone]) for zone in wanted}
    torn = sum(0 < takers < wanted[zone] for zone, takers in found.items())
    is_possible = torn <= 1 and all(takers <= wanted[zone] for zone, takers in found.items())
    return found if is_possible and sum(found.values()) == deal.extras() else None


def _line_refusal(deal: _Deal, zoned: _Zoned) -> Refusal | None:
    """Step 2: why the rest cannot have been a line of whole zones from which the readers took in order."""
    line, extras = _Line(zoned.left), zoned.extras
    for reader, mine in enumerate(deal.given):
        room = deal.share() - len(zoned.got[reader])
        with_extra = room >= 0 and extras > 0
        extras -= with_extra
        run = sorted(zoned.got[reader].symmetric_difference(mine))
        misplaced = line.take(run)
        if misplaced is not None:
            place = TopicPartition(deal.shape.topic, misplaced)
            return Refusal(RefusalReason.RACK, place, deal.readers[reader].member_id)
        if len(run) != max(room + with_extra, 0):
            return deal.refuse(RefusalReason.UNEVEN, reader)
    return None


class _Line:
    """What is left of the zones, each in its order, one zone after the other in an order that is not known."""

    def __init__(self, left: Mapping[str, Sequence[int]]) -> None:
        self._left = left
        self._zone = {partition: zone for zone, partitions in left.items() for partition in partitions}
        self._taken = dict.fromkeys(left, 0)
        self._torn: str | None = None
        """The zone of which a part was taken."""

    def take(self, run: Sequence[int]) -> int | None:
        """Take these partitions (ascending) from the head of the line. The first that cannot be there, or None."""
        zones: dict[str, list[int]] = defaultdict(list)
        for partition in run:
            if partition not in self._zone:
                return partition
            zones[self._zone[partition]].append(partition)
        for zone, partitions in zones.items():
            start = self._taken[zone]
            if partitions != list(self._left[zone][start : start + len(partitions)]):
                return partitions[0]
            self._taken[zone] += len(partitions)
        behind = zones.keys() - {self._torn}
        torn = [zone for zone in {self._torn: None} | zones if zone is not None and self._is_torn(zone)]
        if len(torn) > 1 or (torn == [self._torn] and behind):
            return min(zones[zone][0] for zone in behind)
        self._torn = torn[0] if torn else None
        return None

    def _is_torn(self, zone: str) -> bool:
        return 0 < self._taken[zone] < len(self._left[zone])


def _partitions_by_zone(shape: TopicShape) -> dict[str, list[int]]:
    """By the rack of the first replica."""
    zones: dict[str, list[int]] = defaultdict(list)
    for partition in range(shape.partitions):
        racks = shape.racks[partition] if partition < len(shape.racks) else ()
        zones[(racks[0] or "") if racks else ""].append(partition)
    return zones


def _readers_by_zone(readers: Sequence[Member]) -> dict[str, list[int]]:
    """By the member's user data, which is the bare name of its rack."""
    zones: dict[str, list[int]] = defaultdict(list)
    for reader, member in enumerate(readers):
        zones[(member.user_data or b"").decode("utf-8", "replace")].append(reader)
    return zones
