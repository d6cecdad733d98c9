"""One rollout of a group, replayed rebalance by rebalance with an assignor.

Moves are counted as the gate counts them afterwards (monitor.tracking.rebalances.moves). A cooperative assignor takes
two rebalances for a partition that moves: one in which its owner gives it back, one in which the new owner gets it.
The coordinator of a KIP-848 group computes a target for each member that joins or leaves. Members follow it as fast as
they can: a partition whose target changes meanwhile moves once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from msgspec.structs import replace

from monitor.assignors.kafka_client.member_order import in_assignment_order
from monitor.assignors.kafka_client.rejoining import rejoining
from monitor.detection.ownership.replays import COOPERATIVE
from monitor.explain.rollout_draws import Draw, Open
from monitor.explain.rollout_plan import Rollout, steps_of
from monitor.explain.simulation import ChosenAssignor, Roster
from monitor.model import Library, Member, ReleasedPartitions, TopicPartition, TopicPartitions, TopicShape, Value
from monitor.tracking.rebalances.moves import moves_between, partitions_of


class Played(Value):
    """What a rollout came to: the number of rebalances, and of moves of partitions in all of them."""

    rebalances: int
    moves: int


class Field(Value):
    """What is replayed: the group, the assignor that it has then, and whether new pods keep the instance ids."""

    roster: Roster
    assignor: ChosenAssignor
    is_static: bool = False

    @property
    def is_cooperative(self) -> bool:
        """Whether partitions that move are without an owner for one generation."""
        return self.assignor.name.rpartition(".")[2] == COOPERATIVE


def play_rollout(field: Field, rollout: Rollout, draw: Draw) -> Played:
    """One rollout, as the draw chooses.

    Raises:
        AssignorError: the original fails for this group.
    """
    old, new = _named_pods(field, draw)
    group = _ReplayedGroup(field, old)
    joining, leaving = iter(new), iter(old)
    for step in steps_of(rollout, len(old)):
        joins, leaves, is_apart = step.joins, step.leaves, step.is_apart
        while joins or leaves:
            is_join = leaves == 0 or (joins > 0 and draw.pick(Open.TURN, 2) == 0)
            _separate(group, draw, is_apart=is_apart)
            is_apart = False
            if is_join:
                joins -= 1
                group.join(next(joining))
            else:
                leaves -= 1
                group.leave(next(leaving))
    group.settle()
    return Played(group.rebalances, group.moves)


def _separate(group: _ReplayedGroup, draw: Draw, *, is_apart: bool) -> None:
    """Whether what comes next falls into a rebalance of its own."""
    if not group.is_changing:
        return
    which = 0 if is_apart else draw.pick(Open.BREAK, 3 if group.is_cooperative else 2)
    if which == 0:
        group.settle()
    elif which == 2:
        group.rebalance()


def _named_pods(field: Field, draw: Draw) -> tuple[list[Member], list[Member]]:
    """The old members in the order in which they stop, and those that replace them, under names that sort as drawn."""
    left = in_assignment_order(field.roster.members)
    order: list[tuple[str, bool]] = [(member.member_id, False) for member in left]
    leavers = [left.pop(draw.pick(Open.LEAVER, len(left))) for _ in range(len(left))]
    for member in leavers:
        place = 0 if field.is_static else draw.pick(Open.PLACE, len(order) + 1)
        order.insert(place, (member.member_id, True))
    names = {key: f"{rank:06}-{_id_ending(draw.seed, rank)}" for rank, key in enumerate(order)}
    old = [replace(member, member_id=names[member.member_id, False]) for member in leavers]
    new = [_fresh(member, names[member.member_id, True], is_static=field.is_static) for member in leavers]
    if field.is_static:
        old = [replace(member, instance_id=_instance_id(member)) for member in old]
        new = [replace(member, instance_id=_instance_id(each)) for member, each in zip(new, old, strict=True)]
    return old, new


def _instance_id(member: Member) -> str:
    return member.member_id if member.instance_id is None else member.instance_id


def _id_ending(seed: int, rank: int) -> str:
    """Half a UUID: the order of a Java map of members depends on it."""
    return blake2b(b"%d of %d" % (rank, seed), digest_size=8).hexdigest()


def _fresh(member: Member, name: str, *, is_static: bool) -> Member:
    """The pod that replaces a member: subscribed as that is, without a memory."""
    return replace(
        member,
        member_id=name,
        instance_id=member.instance_id if is_static else None,
        assigned=(),
        owned=(),
        generation=-1,
        user_data=None,
        joined_as=None,
        reconciliation=None,
    )


class _ReplayedGroup:
    """The members of a group from rebalance to rebalance. ``is_changing``: a member came or left since the last one."""

    def __init__(self, field: Field, members: Sequence[Member]) -> None:
        roster = field.roster
        self.is_cooperative = field.is_cooperative
        self.is_changing = False
        self.rebalances = 0
        self.moves = 0
        self._assignor = field.assignor
        self._is_modern = roster.is_modern
        self._shapes: Sequence[TopicShape] = roster.shapes(roster.counts)
        self._generation = max(0, roster.group.generation)
        self._python = any(each.one is Library.KAFKA_PYTHON for each in roster.libraries.values())
        self._members = {member.member_id: member for member in in_assignment_order(members)}
        self._before: tuple[Member, ...] = tuple(self._members.values())
        self._stayed = frozenset(self._members)
        self._released: tuple[ReleasedPartitions, ...] = ()

    def join(self, member: Member) -> None:
        """A new member is there."""
        self._members[member.member_id] = member
        self._change()

    def leave(self, member: Member) -> None:
        """A member is gone."""
        del self._members[member.member_id]
        self._change()

    def _change(self) -> None:
        self.is_changing = True
        if self._is_modern:
            self._take(self._targets())

    def settle(self) -> None:
        """Rebalance until every partition is where it is to be."""
        while self.is_changing:
            self.rebalance()

    def rebalance(self) -> None:
        """One rebalance; ``is_changing`` says whether another follows."""
        target = {} if self._is_modern else self._targets()
        withheld = frozenset[TopicPartition]()
        if self.is_cooperative:
            target, withheld = self._without_held(target)
        if not self._is_modern:
            self._take(target)
        self._generation += 1
        self.rebalances += 1
        self._count()
        self.is_changing = bool(withheld)

    def _targets(self) -> dict[str, tuple[TopicPartitions, ...]]:
        if not self._members:
            return {}
        members = list(self._members.values())
        if not self._is_modern:
            members = [self._joining(member) for member in members]
        return {each.member_id: each.topics for each in self._assignor.assign(members, self._shapes)}

    def _joining(self, member: Member) -> Member:
        """As it joins: those of the last generation with what they remember of it."""
        if member.member_id not in self._stayed:
            return member
        known = {member.member_id} if self._python else frozenset[str]()
        return rejoining([member], self._generation, known)[0]

    def _without_held(
        self, target: Mapping[str, tuple[TopicPartitions, ...]]
    ) -> tuple[dict[str, tuple[TopicPartitions, ...]], frozenset[TopicPartition]]:
        """What is given at once, and what its present owners have to give back first."""
        holders = {
            place: member.member_id
            for member in self._before
            if member.member_id in self._members
            for place in partitions_of(member.assigned)
        }
        withheld = frozenset(
            place
            for name, topics in target.items()
            for place in partitions_of(topics)
            if holders.get(place, name) != name
        )
        given = {
            name: tuple(
                TopicPartitions(
                    each.topic,
                    tuple(p for p in each.partitions if TopicPartition(each.topic, p) not in withheld),
                )
                for each in topics
            )
            for name, topics in target.items()
        }
        return {name: tuple(each for each in topics if each.partitions) for name, topics in given.items()}, withheld

    def _take(self, target: Mapping[str, tuple[TopicPartitions, ...]]) -> None:
        self._members = {name: replace(member, assigned=target.get(name, ())) for name, member in self._members.items()}

    def _count(self) -> None:
        after = tuple(self._members.values())
        self._released, before = (), self._released
        if after:
            moves = moves_between(self._before, before, after)
            self.moves += moves.moved
            self._released = moves.released if not self._is_modern else ()
        self._before, self._stayed = after, frozenset(self._members)
