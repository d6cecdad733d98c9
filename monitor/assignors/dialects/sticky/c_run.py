"""KIP-54's algorithm as librdkafka has it: one run of its leader.

What is its own, beside the steps of ``kip54_run`` and the books of what moved (``unsafe_movements``):

1. *Keep*: if two members claim a partition for one generation, it has no owner, even if others claim it. Where racks
   are used, a member does not keep a partition without a replica on its rack.
2. *Line*: of the member that owns most (the last by id of equal ones) always the first partition by topic and number,
   those with an earlier owner before the others. Partitions without an owner follow: topics from the last to the first
   of the leader's Metadata answer, and of each the last partition first. If no partition has an owner, the order is by
   topic and number.
3. *Hand out*: where racks are used, first whatever a subscriber on a rack of the partition can take.
4. *Balance*: the *last* member in the JoinGroup answer that claims a kept partition passes for its owner, also if the
   newest claim is another one's. When such a partition moves, it stays with its owner as well. Where a member is looked
   up that takes no part, the leader ends.

Racks are used for the whole group as soon as a member is on a rack of some replica, and not every partition has
replicas on all racks. A member whose rack is "" is then on no rack; one without any (null) is on every one.

A broker may answer Metadata in any order, so the order of topics is a choice of the run. The likeliest is that of the
request: topics as the members' subscriptions first name them.

Source: ``rd_kafka_sticky_assignor_assign_cb`` in ``rdkafka_sticky_assignor.c`` of librdkafka 2.16.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.dialects.sticky.kip54_run import Kept, Run, line_up_from_largest
from monitor.assignors.dialects.sticky.memories import claimed_places, read_fields
from monitor.assignors.dialects.sticky.place_table import PlaceTable
from monitor.assignors.dialects.sticky.unsafe_movements import CRASHED, UnsafeMovements
from monitor.assignors.dialects.structure import subscribers_by_topic
from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.model import TopicPartition, TopicShape, Value


class CRun(Run):
    """One run of librdkafka's leader. See the module for what is its own."""

    def __init__(self, group: Group, table: PlaceTable, choices: Choices) -> None:
        self._racks = Racks(group)
        self._join_order = [table.ranks[member] for member in group.member_ids()]
        self._metadata_order = _first_named(group, table)
        start = _start(group, table, self._racks)
        super().__init__(table, start.kept, choices)
        self._claimed = start.claimed
        self._presumed = start.presumed
        self._movements = UnsafeMovements(table.topic_of)
        self.is_watchful = bool(start.presumed)

    def owned_line(self) -> list[int]:
        """See ``Run.owned_line``."""
        left = [sorted(places, key=lambda place: (place not in self.kept.earlier, place)) for places in self._claimed]
        for places in left:
            places.reverse()  # what is first is taken from the end
        return line_up_from_largest(left, list.pop)

    def unowned_line(self) -> Iterator[int]:
        """See ``Run.unowned_line``."""
        claimed = {place for places in self._claimed for place in places}
        unowned = [place for place in range(len(self.table.topic_of)) if place not in claimed]
        if not claimed:
            yield from unowned
            return
        by_topic: dict[int, list[int]] = {}
        for place in reversed(unowned):
            by_topic.setdefault(self.table.topic_of[place], []).append(place)
        topics = [topic for topic in reversed(self._metadata_order) if topic in by_topic]
        while topics:
            topic = self.choices.pick(topics)
            topics.remove(topic)
            yield from by_topic[topic]

    def hand_out(self, places: Sequence[int]) -> None:
        """See ``Run.hand_out``."""
        if self._racks.are_used:
            places = self._hand_out_on_racks(places)
        super().hand_out(places)
        self.owner.update(self._presumed)

    def _hand_out_on_racks(self, places: Sequence[int]) -> list[int]:
        """Hand out what a member on the right rack can take; gives what is left."""
        crowds: dict[tuple[int, str | None], list[int]] = {}
        for topic, ranks in enumerate(self.table.subscribers):
            for rank in ranks:
                crowds.setdefault((topic, self._racks.rack(self.table.members[rank])), []).append(rank)
        standing = LeastLoaded([len(mine) for mine in self.lists], crowds)
        left = []
        for place in places:
            topic = self.table.topic_of[place]
            racks = (None, *self._racks.replicas(self.table.partition(place)))
            least = [first for rack in racks if (first := standing.least((topic, rack))) is not None]
            if least:
                taker = min(least, key=lambda rank: (self.size(rank), rank))
                self.give(place, taker)
                standing.grew(taker)
            else:
                left.append(place)
        return left

    def target(self, place: int) -> int | None:
        """See ``Run.target``.

        Raises:
            AssignorError: the owner takes no part.
        """
        if not self.takes_part(self.owner[place]):
            raise AssignorError(CRASHED)
        return super().target(place)

    def earlier_owner_size(self, rank: int) -> int:
        """See ``Run.earlier_owner_size``.

        Raises:
            AssignorError: it takes no part.
        """
        if not self.takes_part(rank):
            raise AssignorError(CRASHED)
        return super().earlier_owner_size(rank)

    def holders(self) -> Mapping[int, int]:
        """See ``Run.holders``. Of two members that hold a place, the first in the JoinGroup answer."""
        order = [rank for rank in reversed(self._join_order) if self.takes_part(rank)]
        return _Holders((place, rank) for rank in order for place in self.lists[rank])

    def move_instead(self, place: int, target: int) -> None:
        """See ``Run.move_instead``.

        Raises:
            AssignorError: the leader ends.
        """
        listed = self._movements.way_back(place, self.owner[place], target)
        if listed is None:
            self._movements.record(place, self.owner[place], target)
            self.move(place, target)
            return
        recorded = listed.first()
        owner = self.owner[recorded]
        self._movements.record(recorded, owner, target)
        self.owner[listed.first()] = owner
        self.move(listed.first(), target)
        self.is_watchful = True  # from now on, what is held and what is recorded may differ


class _Holders(dict[int, int]):
    """Who holds which place."""

    def __missing__(self, place: int) -> int:
        raise AssignorError(CRASHED)


class Racks:
    """Where members and replicas are, if that counts. A rack "" is one that no replica has."""

    def __init__(self, group: Group) -> None:
        subscribers = subscribers_by_topic(group)
        self._members = {member.member_id: member.rack for member in group.members}
        self._replicas = {
            TopicPartition(shape.topic, partition): frozenset(rack for rack in racks if rack)
            for shape in group.topics
            if shape.topic in subscribers
            for partition, racks in enumerate(_racks_by_partition(shape))
        }
        existing = frozenset(shape.topic for shape in group.topics)
        homes = {member.rack for member in group.members if member.rack and not existing.isdisjoint(member.topics)}
        everywhere = frozenset[str]().union(*self._replicas.values())
        has_gaps = any(racks != everywhere for racks in self._replicas.values())
        self.are_used = has_gaps and not everywhere.isdisjoint(homes)

    def rack(self, member: str) -> str | None:
        """The member's rack; None: it is at home everywhere."""
        return self._members[member] if self.are_used else None

    def replicas(self, partition: TopicPartition) -> frozenset[str]:
        """The racks of the partition's replicas."""
        return self._replicas[partition]

    def fits(self, member: str, partition: TopicPartition) -> bool:
        """Whether the member may keep the partition."""
        rack = self.rack(member)
        return rack is None or rack in self._replicas[partition]


def _racks_by_partition(shape: TopicShape) -> Iterator[tuple[str | None, ...]]:
    return (shape.racks[partition] if partition < len(shape.racks) else () for partition in range(shape.partitions))


def _first_named(group: Group, table: PlaceTable) -> list[int]:
    """The topics in the order in which the members' subscriptions first name them."""
    names = dict.fromkeys(topic for member in group.members for topic in member.topics)
    return [table.numbers[topic] for topic in names if topic in table.numbers]


class _Start(Value):
    """Step 1.

    Attributes:
        kept: what members keep.
        claimed: by rank, also what members do not keep for the sake of their rack. The line is made of it.
        presumed: who passes for the owner of a place although another one owns it.
    """

    kept: Kept
    claimed: tuple[tuple[int, ...], ...]
    presumed: dict[int, int]


def _start(group: Group, table: PlaceTable, racks: Racks) -> _Start:
    claims = _claims_by_place(group, table)
    claimed: list[list[int]] = [[] for _ in table.members]
    earlier: dict[int, int] = {}
    for place, own in claims.items():
        (_, newest), *older = sorted(own, reverse=True)
        claimed[newest].append(place)
        if older:
            earlier[place] = older[0][1]
    kept = [[place for place in places if _can_keep(rank, place, table, racks)] for rank, places in enumerate(claimed)]
    last = {place: own[-1][1] for place, own in claims.items()}
    return _Start(
        kept=Kept(
            lists=tuple(map(tuple, kept)),
            earlier=earlier,
            is_fresh=False,
            is_uniform=len(set(table.asked)) <= 1,
            is_revoked=sum(map(len, kept)) < sum(map(len, claimed)),
        ),
        claimed=tuple(map(tuple, claimed)),
        presumed={place: last[place] for rank, places in enumerate(kept) for place in places if last[place] != rank},
    )


def _claims_by_place(group: Group, table: PlaceTable) -> dict[int, list[tuple[int, int]]]:
    """The generation and the rank of each claim, in the order of the JoinGroup answer.

    Places that two members claim for one generation are left out.
    """
    claims: dict[int, list[tuple[int, int]]] = {}
    for member in group.members:
        for place in table.find(claimed_places(read_fields(member))):
            claims.setdefault(place, []).append((member.generation, table.ranks[member.member_id]))
    return {place: own for place, own in claims.items() if len({generation for generation, _ in own}) == len(own)}


def _can_keep(rank: int, place: int, table: PlaceTable, racks: Racks) -> bool:
    is_subscribed = table.topic_of[place] in table.asked[rank]
    return is_subscribed and racks.fits(table.members[rank], table.partition(place))
