"""The broker's targets of a KIP-848 group against what its assignor gives.

Words: a *target* is what the broker has chosen for a member; this replays the assignor for the inputs of that epoch.
What they were is not all in the log: the broker may have seen a topic grow before or after a collector did. So the
replay has the partitions that existed at the epoch, those of now, and those that the targets show; one result that
fits is enough.

``range`` is a function of members and topics, so the targets must equal its result. Brokers before 4.1, which write no
hash of the topics, may have kept partitions where they were, and need only have cut every topic evenly. ``uniform``
keeps what members had before, which the log no longer has. So its targets have to be complete and even, with one owner
each. A replay with the targets as the members' partitions may move nothing (KAFKA-18688). If members subscribe to
different topics, releases differ in how even they get (KAFKA-17710): there, evenness is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.assignors import find
from monitor.assignors.kafka_broker import BrokerRangeAssignor, UniformAssignor
from monitor.assignors.registry import System
from monitor.detection.ownership.catalog_view import count_at, count_now, shape_of
from monitor.detection.ownership.context import Owners
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.expected import Counts, visible_counts
from monitor.model import (
    Catalog,
    GroupState,
    Member,
    Phase,
    Source,
    TopicPartition,
    TopicPartitions,
    TopicShape,
    TopicState,
    number,
    numbers,
)

Checked = BrokerRangeAssignor | UniformAssignor

KAFKAS_OWN: Final = ("uniform", "range")
"""The assignors that come with the broker, its default first."""


def recomputed(group: GroupState, members: tuple[Member, ...], catalog: Catalog, targets: Owners) -> Owners:
    """What the group's assignor gives if it differs from the broker's choice; empty if it is the same, or not known.

    Args:
        group: with its topics by name.
        members: its members, each with its target as ``assigned``.
        catalog: the topics that exist now.
        targets: the same, by partition.
    """
    assignors = possible_assignors(group)
    if not assignors or not is_chosen(group):
        return {}
    wanted = frozenset[str]().union(*{member.topics for member in members})
    known = [catalog.topics[topic] for topic in wanted if topic in catalog.topics]
    if any(state.topic_id is None for state in known):
        return {}
    first: Owners = {}
    for assignor in assignors:
        check = _Check(assignor, group, members, catalog, targets)
        difference = check.difference(_candidates(group, known, targets))
        if not difference:
            return {}
        first = first or difference
    now = {state.topic: count_now(state) for state in known}
    if any(number(place.partition) >= now.get(place.topic, 0) for place in targets):
        return {}  # the broker knows topics otherwise than the catalog does: the next pass will tell
    return first


def _candidates(group: GroupState, known: Iterable[TopicState], targets: Owners) -> Iterator[Counts]:
    """The partitions that the broker may have known, the likeliest first: mostly the first is enough."""
    yield {state.topic: count for state in known if (count := count_at(state, group.generation_ms))}
    yield {state.topic: count for state in known if (count := count_now(state))}
    shown = visible_counts(targets)
    if shown is not None and shown.keys() <= {state.topic for state in known}:
        yield shown


def possible_assignors(group: GroupState) -> tuple[Checked, ...]:
    """The assignors that the broker may have used: those that most members ask for, which may be several.

    Empty if one of them is not known here. If no member names one, it is the first of ``group.consumer.assignors``. The
    log does not have that: it may be any of Kafka's. With ADMIN as the source, the broker reported which one it is.
    """
    asked = Counter(member.server_assignor for member in group.members if member.server_assignor is not None)
    most = max(asked.values(), default=0)
    names = sorted(name for name, count in asked.items() if count == most) or list(KAFKAS_OWN)
    if group.source is Source.ADMIN and group.protocol is not None:
        names = [group.protocol]
    known = tuple(rule for name in names if isinstance(rule := find(name, System.KAFKA_BROKER), Checked))
    return known if len(known) == len(names) else ()


def is_chosen(group: GroupState) -> bool:
    """Whether every member's target is the one for what the group is now."""
    return (
        group.phase is not Phase.ASSIGNING
        and (group.target_epoch or 0) >= group.generation
        and not group.pending
        and not group.incomplete_members
        and all(m.reconciliation is not None and m.reconciliation.target is not None for m in group.members)
    )


class _Check:
    """Compares the targets with the assignor's answer, for one set of partitions after the other."""

    def __init__(
        self,
        assignor: Checked,
        group: GroupState,
        members: tuple[Member, ...],
        catalog: Catalog,
        targets: Owners,
    ) -> None:
        self._assignor = assignor
        self._is_recent = bool(group.metadata_hash)
        self._members = members
        self._subscriptions = {member.topics for member in members}
        self._catalog = catalog
        self._targets = targets

    def difference(self, candidates: Iterable[Counts]) -> Owners:
        """Empty if the targets are right for one of these; else the answer for the first."""
        answers: list[Owners] = []
        for counts in candidates:
            if self.is_right(counts):
                return {}
            answers.append(self._answer(counts))
            if answers[-1] == self._targets:
                return {}
        return answers[0]

    def is_right(self, counts: Counts) -> bool:
        """Whether the targets keep the rules that every release of the assignor keeps, where no more can be checked."""
        if not self._is_valid(counts):
            return False
        if isinstance(self._assignor, UniformAssignor):
            return len({frozenset(topics) for topics in self._subscriptions}) > 1 or is_even(self._members)
        return not self._is_recent and are_cut_evenly(self._members)

    def _is_valid(self, counts: Counts) -> bool:
        return is_valid(self._members, counts) and len(self._targets) == sum(counts.values())

    def _answer(self, counts: Counts) -> Owners:
        members = self._members
        if not self._is_valid(counts):
            members = tuple(replace(member, assigned=self._rightful(member, counts)) for member in members)
        return owners_by_partition(self._assignor.assign(members, self._shapes(counts)).members)

    def _rightful(self, member: Member, counts: Counts) -> tuple[TopicPartitions, ...]:
        """What of its target the member can keep: of what exists and it subscribes to, what no member before it has."""
        return tuple(
            TopicPartitions(entry.topic, kept)
            for entry in member.assigned
            if entry.topic in member.topics and (kept := self._kept(member, entry, counts))
        )

    def _kept(self, member: Member, entry: TopicPartitions, counts: Counts) -> tuple[int, ...]:
        targets, name = self._targets, member.member_id
        return tuple(
            each
            for each in numbers(entry.partitions)
            if each < counts.get(entry.topic, 0) and targets[TopicPartition(entry.topic, each)][0] == name
        )

    def _shapes(self, counts: Counts) -> list[TopicShape]:
        known = self._catalog.topics
        return [
            replace(shape_of(topic, counts[topic], known[topic], with_racks=False), topic_id=known[topic].topic_id)
            for topic in sorted(counts)
        ]


def is_valid(members: Iterable[Member], counts: Counts) -> bool:
    """Every member's partitions exist, are of topics that it subscribes to, and are as many in all as there are."""
    topics = {asked: frozenset(asked) for asked in {member.topics for member in members}}
    total = 0
    for member in members:
        subscribed = topics[member.topics]
        for entry in member.assigned:
            count, own = counts.get(entry.topic, 0), numbers(entry.partitions)
            lies_in = entry.topic in subscribed and min(own, default=0) >= 0
            if not lies_in or max(own, default=-1) >= count:
                return False
            total += len(entry.partitions)
    return total == sum(counts.values())


def is_even(members: Iterable[Member]) -> bool:
    """The members' numbers of partitions differ by one at most."""
    return _differ_by_one([sum(len(entry.partitions) for entry in member.assigned) for member in members])


def are_cut_evenly(members: Iterable[Member]) -> bool:
    """Whether the subscribers of every topic have numbers of its partitions that differ by one at most."""
    numbers: dict[str, list[int]] = {}
    for member in members:
        given = {entry.topic: len(entry.partitions) for entry in member.assigned}
        for topic in member.topics:
            numbers.setdefault(topic, []).append(given.get(topic, 0))
    return all(map(_differ_by_one, numbers.values()))


def _differ_by_one(numbers: list[int]) -> bool:
    return not numbers or max(numbers) - min(numbers) <= 1
