"""Asking an assignor again, for the inputs of a generation: whether it explains the owners, and what it expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Protocol

from msgspec.structs import replace

from monitor.assignors import Assignor, order_sensitive, rejoining
from monitor.assignors.dialects import DialectRow, Exactness, Group, ReplayedDialect
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor
from monitor.detection.ownership.catalog_view import shape_of
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition
from monitor.model import (
    Assignment,
    Catalog,
    ClientLibrary,
    GroupState,
    Library,
    Member,
    MemberAssignment,
    TopicPartition,
    TopicShape,
)
from monitor.model.evidence import Refusal

Counts = Mapping[str, int]
"""The number of partitions by topic; a topic without partitions has no entry, as if it did not exist."""

LARGE: Final = 20_000
"""From so many partitions on, only two other orders of the members are tried in search of a tie, instead of sixteen."""

COOPERATIVE: Final = "cooperative-sticky"


class ReplayInputs:
    """What an assignor is given of a group, and who owns what."""

    def __init__(
        self, group: GroupState, catalog: Catalog, owners: Owners, libraries: Mapping[str, ClientLibrary]
    ) -> None:
        self.group = group
        self.owners = owners
        self._catalog = catalog
        self._libraries = libraries
        self._now = {member.joined_as: member.member_id for member in group.members if member.joined_as is not None}

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The members as they joined: one that came back, under the id of its predecessor."""
        members = self.group.members
        if not self._now:
            return members
        return tuple([replace(member, member_id=member.joined_as or member.member_id) for member in members])

    @property
    def leader(self) -> str | None:
        """The leader under the id with which it joined."""
        then = {now: joined_as for joined_as, now in self._now.items()}
        return then.get(self.group.leader or "", self.group.leader)

    def owners_of(self, assignment: Assignment) -> Owners:
        """Who owns what by an answer for the members as they joined, under the ids that they have now."""
        owners = owners_by_partition(assignment.members)
        if not self._now:
            return owners
        return {place: tuple(sorted(self._now.get(each, each) for each in ids)) for place, ids in owners.items()}

    def named_now(self, refusal: Refusal) -> Refusal:
        """The refusal with the ids that its members have now."""
        now = self._now
        member, other = (each and now.get(each, each) for each in (refusal.member, refusal.other))
        return replace(refusal, member=member, other=other)

    def rejoining(self) -> tuple[Member, ...]:
        """The members as they would join if the group rebalanced now, each as its library does."""
        kafka_python = {name for name, library in self._libraries.items() if library.one is Library.KAFKA_PYTHON}
        return rejoining(self.group.members, self.group.generation, kafka_python)

    def shapes(self, counts: Counts) -> tuple[TopicShape, ...]:
        """The topics, with racks if a member has one."""
        racks = any(member.rack is not None for member in self.group.members)
        known = self._catalog.topics
        return tuple([shape_of(topic, counts[topic], known.get(topic), with_racks=racks) for topic in sorted(counts)])


class Replay(Protocol):
    """An assignor that may have given what the group owns."""

    @property
    def dialect(self) -> DialectRow | None:
        """Whose it is; None: Kafka's own."""

    @property
    def gives_owners(self) -> bool:
        """Whether it has one answer; otherwise it only accepts or refuses one."""

    def explains(self, counts: Counts) -> bool:
        """Whether it can have given the owners for so many partitions."""

    def owners(self, counts: Counts) -> Owners:
        """What it gives for so many partitions, to the members as they joined.

        Raises:
            AssignorError: the original fails for this group.
        """

    def owners_now(self, counts: Counts) -> Owners:
        """What it would give, in the end, if the members rejoined.

        Raises:
            AssignorError: the original fails for this group.
        """

    def pending(self, counts: Counts, given: Owners) -> frozenset[TopicPartition]:
        """The partitions that it left without an owner because their old owner has to revoke them first."""


class JavaReplay:
    """An assignor of Kafka's own Java client."""

    dialect: Final[DialectRow | None] = None
    gives_owners: Final = True

    def __init__(self, assignor: Assignor, inputs: ReplayInputs) -> None:
        self._assignor = assignor
        self._inputs = inputs
        self._known: dict[tuple[tuple[str, int], ...], Owners] = {}

    def explains(self, counts: Counts) -> bool:
        """See Replay."""
        return self.owners(counts) == self._inputs.owners

    def owners(self, counts: Counts) -> Owners:
        """See Replay."""
        key = tuple(counts.items())
        if key not in self._known:
            answer = self._assignor.assign(self._inputs.members, self._inputs.shapes(counts))
            self._known[key] = self._inputs.owners_of(answer)
        return self._known[key]

    def owners_now(self, counts: Counts) -> Owners:
        """See Replay."""
        return self._target(self._inputs.rejoining(), counts)

    def pending(self, counts: Counts, given: Owners) -> frozenset[TopicPartition]:
        """See Replay."""
        if not isinstance(self._assignor, CooperativeStickyAssignor):
            return frozenset()
        return frozenset(self._target(self._inputs.members, counts).keys() - given.keys())

    def has_tie(self, counts: Counts) -> bool:
        """Whether another order of the members could have led to another answer."""
        orders = {"orders": 2} if sum(counts.values()) > LARGE else {}
        return order_sensitive(self._assignor, self._inputs.members, self._inputs.shapes(counts), **orders)

    def _target(self, members: Sequence[Member], counts: Counts) -> Owners:
        """Who is to own what in the end, where partitions take two generations to get there."""
        assignor = self._assignor
        assign = assignor.target if isinstance(assignor, CooperativeStickyAssignor) else assignor.assign
        return owners_by_partition(assign(members, self._inputs.shapes(counts)).members)


class DialectReplay:
    """An assignor of another client library."""

    def __init__(self, row: DialectRow, inputs: ReplayInputs) -> None:
        self.row = row
        self._inputs = inputs
        self._given = Assignment(members=tuple([MemberAssignment(m.member_id, m.assigned) for m in inputs.members]))

    @property
    def dialect(self) -> DialectRow | None:
        """See Replay."""
        return self.row

    @property
    def gives_owners(self) -> bool:
        """See Replay."""
        return isinstance(self.row.rule, ReplayedDialect)

    def explains(self, counts: Counts) -> bool:
        """See Replay."""
        return any(self.row.rule.refusal(self._given, each) is None for each in self._groups(counts))

    def explains_as_listed(self, counts: Counts) -> bool:
        """Whether it can have given the owners if a broker listed the partitions of a topic in another order."""
        if not self.row.as_listed:
            return False
        owners = self._inputs.owners
        return any(_are_alike(owners, self._assign(group)) for group in self._groups(counts))

    def refusal(self, counts: Counts) -> Refusal | None:
        """Why it cannot have given the owners; None: it can, or no member can have used it."""
        for group in self._groups(counts):
            refusal = self.row.rule.refusal(self._given, group)
            return None if refusal is None else self._inputs.named_now(refusal)
        return None

    def has_every_answer(self) -> bool:
        """Whether it refuses only what it cannot have given: where static and dynamic members meet, orders count."""
        is_ordered = self.row.exactness is Exactness.ORDERS
        return not is_ordered or len({member.instance_id is None for member in self._inputs.group.members}) == 1

    def owners(self, counts: Counts) -> Owners:
        """See Replay."""
        return self._assign(next(iter(self._groups(counts))))

    def owners_now(self, counts: Counts) -> Owners:
        """See Replay."""
        return self.owners_led_by(self._inputs.group.leader, counts)

    def owners_led_by(self, leader: str | None, counts: Counts) -> Owners:
        """What it would give, in the end, if the members rejoined and this one led; nothing if it is only checked.

        Raises:
            AssignorError: the library fails for this group.
        """
        members, rule = self._inputs.rejoining(), self.row.rule
        if not isinstance(rule, ReplayedDialect):
            return {}
        group = Group(members=members, topics=self._inputs.shapes(counts), leader=leader or members[0].member_id)
        return owners_by_partition(final_assignment(self.row, rule, group).members)

    def pending(self, counts: Counts, given: Owners) -> frozenset[TopicPartition]:
        """See Replay: what a member had as it joined, and no member has now."""
        if self.row.protocol != COOPERATIVE:
            return frozenset()
        had = {TopicPartition(e.topic, p) for m in self._inputs.group.members for e in m.owned for p in e.partitions}
        return frozenset(
            [place for place in had - given.keys() if place.partition < counts.get(place.topic, 0)]  # type: ignore[operator]
        )

    def _groups(self, counts: Counts) -> Iterator[Group]:
        """The group as its leader saw it; as any member, if the log does not name the leader."""
        members, shapes = self._inputs.members, self._inputs.shapes(counts)
        ids = [member.member_id for member in members]
        for leader in (self._inputs.leader,) if self._inputs.leader in ids else ids:
            yield Group(members=members, topics=shapes, leader=leader)

    def _assign(self, group: Group) -> Owners:
        if not isinstance(self.row.rule, ReplayedDialect):
            return {}
        return self._inputs.owners_of(self.row.rule.assign(group))


def _are_alike(one: Owners, other: Owners) -> bool:
    """Whether the same partitions have one owner each, who has as many of each topic."""
    if one.keys() != other.keys():
        return False
    sizes = [Counter((place.topic, members) for place, members in owners.items()) for owners in (one, other)]
    return sizes[0] == sizes[1]


def final_assignment(dialect: DialectRow, rule: ReplayedDialect, group: Group) -> Assignment:
    """What a dialect gives in the end: a cooperative one assigns what has to be revoked first in the next generation.

    Raises:
        AssignorError: the library fails for this group.
    """
    given = rule.assign(group)
    if dialect.protocol != COOPERATIVE:
        return given
    kept = {each.member_id: each.topics for each in given.members}
    members = [replace(member, owned=kept.get(member.member_id, ())) for member in group.members]
    return rule.assign(replace(group, members=tuple(members)))
