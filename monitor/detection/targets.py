"""The broker's targets of a KIP-848 group against what its assignor gives.

Words: a *target* is what the broker has chosen for a member; an assignor is asked again for the inputs of that epoch.
What they were is not all in the log: the broker may have seen a topic grow before or after a collector did. So the
question is asked for the partitions that existed at the epoch, for those of now, and for those that the targets show;
one answer that fits is enough.

``range`` is a function of members and topics, so its answer must be met exactly; brokers before 4.1, which write no
hash of the topics, may have kept partitions where they were, and need only have cut every topic evenly. ``uniform``
keeps what members had before, which the log no longer has: its targets have to be complete, with one owner each, and
even, and nothing may move when it is asked again with the targets as what members have (KAFKA-18688). Where members
subscribe to different topics releases differ in how even they get (KAFKA-17710): there, evenness is not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from monitor.assignors import UnknownAssignor, find
from monitor.assignors.kafka_broker import BrokerRangeAssignor, UniformAssignor
from monitor.assignors.registry import System
from monitor.detection.expectation import Counts, visible_counts
from monitor.detection.facts import Owners
from monitor.detection.ownership import owners_by_partition
from monitor.detection.topics import count_at, count_now, shape_of
from monitor.model import Catalog, GroupState, Member, Phase, TopicPartition, TopicPartitions, TopicShape

Checked = BrokerRangeAssignor | UniformAssignor


def recomputed(group: GroupState, members: tuple[Member, ...], catalog: Catalog, targets: Owners) -> Owners:
    """What the group's assignor gives where that is not what the broker chose; empty where it is, or cannot be told.

    Args:
        group: with its topics by name.
        members: its members, each with its target as ``assigned``.
        catalog: the topics that exist now.
        targets: the same, by partition.
    """
    assignor = find(group.protocol, System.KAFKA_BROKER)
    if isinstance(assignor, UnknownAssignor) or not isinstance(assignor, Checked) or not is_chosen(group):
        return {}
    wanted = frozenset(topic for member in members for topic in member.topics)
    known = [catalog.topics[topic] for topic in wanted if topic in catalog.topics]
    if any(state.topic_id is None for state in known):
        return {}
    then = {state.topic: count for state in known if (count := count_at(state, group.generation_ms))}
    now = {state.topic: count for state in known if (count := count_now(state))}
    if any(place.partition >= now.get(place.topic, 0) for place in targets):
        return {}  # the broker knows topics otherwise than the catalog does: the next pass will tell
    shown = visible_counts(targets)
    check = _Check(assignor, group, members, catalog, targets)
    return check.difference([then, now, *([shown] if shown is not None else [])])


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
        self._catalog = catalog
        self._targets = targets

    def difference(self, candidates: Iterable[Counts]) -> Owners:
        """Empty if the targets are right for one of these; else the answer for the first."""
        answers: list[Owners] = []
        for counts in candidates:
            if self._is_right(counts):
                return {}
            answers.append(self._answer(counts))
            if answers[-1] == self._targets:
                return {}
        return answers[0]

    def _is_right(self, counts: Counts) -> bool:
        """Whether the rules that every release of the assignor keeps are kept, where no more can be asked."""
        if not is_valid(self._members, self._targets, counts):
            return False
        subscriptions = {frozenset(member.topics) for member in self._members}
        if isinstance(self._assignor, UniformAssignor):
            return len(subscriptions) > 1 or is_even([m.member_id for m in self._members], self._targets)
        return not self._is_recent and are_cut_evenly(self._members, self._targets)

    def _answer(self, counts: Counts) -> Owners:
        members = self._members
        if not is_valid(members, self._targets, counts):
            members = tuple(replace(member, assigned=self._rightful(member, counts)) for member in members)
        return owners_by_partition(self._assignor.assign(members, self._shapes(counts)).members)

    def _rightful(self, member: Member, counts: Counts) -> tuple[TopicPartitions, ...]:
        """What of its target the member can keep: of what exists and it subscribes to, what nobody before it has."""
        return tuple(
            TopicPartitions(entry.topic, kept)
            for entry in member.assigned
            if entry.topic in member.topics and (kept := self._kept(member, entry, counts))
        )

    def _kept(self, member: Member, entry: TopicPartitions, counts: Counts) -> tuple[int, ...]:
        targets, name = self._targets, member.member_id
        return tuple(
            number
            for number in entry.partitions
            if number < counts.get(entry.topic, 0) and targets[TopicPartition(entry.topic, number)][0] == name
        )

    def _shapes(self, counts: Counts) -> list[TopicShape]:
        known = self._catalog.topics
        return [
            replace(shape_of(topic, counts[topic], known[topic], with_racks=False), topic_id=known[topic].topic_id)
            for topic in sorted(counts)
        ]


def is_valid(members: Iterable[Member], targets: Owners, counts: Counts) -> bool:
    """Every partition is meant for one member, which subscribes to its topic."""
    topics = {member.member_id: frozenset(member.topics) for member in members}
    return (
        len(targets) == sum(counts.values())
        and all(place.partition < counts.get(place.topic, 0) for place in targets)
        and all(len(owners) == 1 and place.topic in topics[owners[0]] for place, owners in targets.items())
    )


def is_even(members: Iterable[str], targets: Owners) -> bool:
    """The members' numbers of partitions differ by one at most."""
    return _differ_by_one(members, Counter(owners[0] for owners in targets.values()))


def are_cut_evenly(members: Iterable[Member], targets: Owners) -> bool:
    """Of every topic, its subscribers' numbers of partitions differ by one at most."""
    subscribers: dict[str, list[str]] = {}
    for member in members:
        for topic in member.topics:
            subscribers.setdefault(topic, []).append(member.member_id)
    loads: dict[str, Counter[str]] = {topic: Counter() for topic in subscribers}
    for place, owners in targets.items():
        loads[place.topic][owners[0]] += 1
    return all(_differ_by_one(names, loads[topic]) for topic, names in subscribers.items())


def _differ_by_one(members: Iterable[str], loads: Counter[str]) -> bool:
    numbers = [loads[member] for member in members]
    return not numbers or max(numbers) - min(numbers) <= 1
