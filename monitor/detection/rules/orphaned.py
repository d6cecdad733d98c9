"""Partitions that a member should read and that have no owner, each with the reason.

Only where it is certain: a group of the consumer protocol whose members can all be read, or that has none left. Simple
consumers (offsets only) choose their partitions themselves, and a partition that no longer exists needs no owner.

Two of the reasons are no finding by themselves: a group that is switched off, and a topic that a group has turned away
from, do no harm until records wait there (monitor.detection.rules.unattended).

In a group whose leader or broker assigns, the first of these that is true of a partition without an owner counts:

Rule 1: What an empty group has committed is ``no_members``, if it ever had a generation.
Rule 2: What may have been deleted before the generation has no reason until a newer poll. It is there for certain if it
came later, is below an owned partition, or is on its way to an owner.
Rule 3: Beside a member whose assignment cannot be read, only what came after the generation has a reason.
Rule 4: All is ``not_ready`` while the broker says so of the topology.
Rule 5: What is on its way to a new owner is ``pending``.
Rule 6: A topic that no member subscribes to is ``unsubscribed``.
Rule 7: What is left is ``rebalancing`` while the broker has yet to choose.
Rule 8: A topic that the leader does not subscribe to is ``leader_unsubscribed``, if its assignor leaves such out.
Rule 9: What came after the generation ``grew``. In KIP-848 it is ``rebalancing`` if its topic was recreated.
Rule 10: What a member has let go of for the next generation is ``pending``.
Rule 11: What the leader's metadata was too old for ``grew``.
Rule 12: Anything else is ``no_task`` in Kafka Streams, and ``assignor_gap`` elsewhere.

In a group whose members assign themselves:

Rule 13: What came after they last did ``grew``.
Rule 14: What is in the share of a member is ``pending``.
Rule 15: Anything else is ``mixed_subscription`` or ``mixed_strategy``, as the members differ, or an ``assignor_gap``.

Of all others:

Rule 16: What a share group subscribes to, and its coordinator has not initialized, is ``not_initialized``.
Rule 17: What has an owner that does not subscribe, and whose library drops it, is ``owner_unsubscribed``.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import is_older_than_generation, was_seen
from monitor.detection.ownership.context import Expectation, Facts, Ownership
from monitor.detection.ownership.late_partitions import LatePartitions, horizon_ms
from monitor.detection.ownership.self_assigned.groups import horizon_ms as shares_horizon_ms
from monitor.detection.ownership.tasks.task_view import TaskView
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Evidence, Observation
from monitor.findings.orphaned import NoOwner, UnsubscribedOwners
from monitor.findings.share import NotInitialized
from monitor.findings.streams import StreamsReport
from monitor.findings.table import FINDINGS
from monitor.kinds.classic_streams import assignment_error, is_half_done, tells_what_follows
from monitor.kinds.share import by_place, readable_places
from monitor.model import (
    KINDS,
    Catalog,
    FindingKind,
    GroupState,
    Library,
    OrphanReason,
    PartitionState,
    Phase,
    TaskVerdict,
    TopicPartition,
    traits_of,
)

Known = dict[TopicPartition, PartitionState]
Orphans = dict[TopicPartition, OrphanReason]

TOLD: Final = tuple(
    OrphanReason(spec.reason)
    for spec in FINDINGS
    if spec.kind is FindingKind.ORPHANED and spec.reason != OrphanReason.NOT_READY
)
"""The reasons that are findings; monitor.detection.rules.not_ready has the one that is left."""


def orphans_of(
    group: GroupState, catalog: Catalog, ownership: Ownership, expectation: Expectation, known: Known
) -> Orphans:
    """Every orphaned partition of the group with its reason."""
    if KINDS[group.kind].acknowledges_records:
        return _not_readable(group, catalog, ownership, known)
    if group.phase is Phase.EMPTY and group.protocol_type == "consumer" and group.generation > 0:
        places = (TopicPartition(offset.topic, offset.partition) for offset in group.offsets)
        return {place: OrphanReason.NO_MEMBERS for place in places if place in known}
    if not ownership.complete and (KINDS[group.kind].is_self_assigned or not ownership.is_lived_in):
        return {}
    unowned = {
        place: state
        for place, state in known.items()
        if place not in ownership.owners and was_seen(catalog, place.topic)
    }
    dropped = dict.fromkeys(ownership.dropped & known.keys(), OrphanReason.OWNER_UNSUBSCRIBED)
    if not unowned:
        return dropped
    if KINDS[group.kind].is_self_assigned:
        return _left_over(group, catalog, ownership, expectation, unowned)
    late = LatePartitions(group, catalog, ownership, expectation, unowned)
    if is_older_than_generation(catalog, group):  # what the generation lacks may be gone: the next pass shows it
        unowned = {
            place: state
            for place, state in unowned.items()
            if place.topic not in ownership.subscribed or not late.may_be_gone(place, state)
        }
    if not ownership.complete:
        unowned = _certain(unowned, ownership, late)
    reason = _Reasons(group, ownership, expectation, late)
    return {place: reason.of(place, state) for place, state in unowned.items()} | dropped


def _not_readable(group: GroupState, catalog: Catalog, ownership: Ownership, known: Known) -> Orphans:
    """The partitions that members of a share group cannot read, and those with share state that no member reads."""
    share = group.share
    if share is None:
        return {}
    found = (*by_place(share.partitions, catalog.names), *by_place(share.listed, catalog.names))
    left = [place for place, _ in found if place in known and place.topic not in ownership.subscribed]
    if group.phase is Phase.EMPTY:
        return dict.fromkeys(left, OrphanReason.NO_MEMBERS)
    orphans = dict.fromkeys(left if group.members else (), OrphanReason.UNSUBSCRIBED)
    readable = readable_places(group, catalog.names)
    if readable is None:
        return orphans
    return orphans | {
        place: OrphanReason.NOT_INITIALIZED
        for place in known
        if place.topic in ownership.subscribed and place not in readable and was_seen(catalog, place.topic)
    }


def _certain(unowned: Known, ownership: Ownership, late: LatePartitions) -> Known:
    """What certainly lacks an owner that it should have, in a group with members that cannot be read.

    One whose assignment cannot be read may own whatever the others do not, but for what came later. What one subscribes
    to that cannot be read is not known either, so other topics are not judged.
    """
    return {
        place: state
        for place, state in unowned.items()
        if place.topic in ownership.subscribed and (ownership.owners_known or late.came_later(place, state))
    }


class _Reasons:
    """Why a partition has no owner where a leader or the broker assigns; certain reasons are examined first."""

    def __init__(self, group: GroupState, ownership: Ownership, expectation: Expectation, late: LatePartitions) -> None:
        self._ownership = ownership
        self._expectation = expectation
        self._late = late
        self._is_of_broker = KINDS[group.kind].broker_chooses_owners
        self._is_undecided = group.phase is Phase.ASSIGNING
        self._is_not_ready = group.phase is Phase.NOT_READY
        self._leader_assigns_tasks = traits_of(group).leader_assigns_tasks
        self._is_half_done = is_half_done(group.members)
        is_known = expectation.kind == "exact" or (self._leader_assigns_tasks and tells_what_follows(group.members))
        self._let_go = frozenset() if is_known else _had_before(group)

    def of(self, place: TopicPartition, state: PartitionState) -> OrphanReason:
        return self._told(place) or self._inferred(place, state)

    def _told(self, place: TopicPartition) -> OrphanReason | None:
        """What the group's own records tell, whenever the partition came."""
        if self._is_not_ready:
            return OrphanReason.NOT_READY
        if place in self._expectation.pending:
            return OrphanReason.PENDING
        if place.topic not in self._ownership.subscribed:
            return OrphanReason.UNSUBSCRIBED
        if self._is_undecided:
            return OrphanReason.REBALANCING
        return OrphanReason.LEADER_UNSUBSCRIBED if place.topic in self._expectation.left_out else None

    def _inferred(self, place: TopicPartition, state: PartitionState) -> OrphanReason:
        if self._late.came_later(place, state):
            is_anew = self._is_of_broker and bool(state.former_ms)  # its epoch knows the topic by its former id
            return OrphanReason.REBALANCING if is_anew else OrphanReason.GREW
        if self._is_half_done or place in self._let_go:
            return OrphanReason.PENDING
        if self._late.was_unknown(place, state):
            return OrphanReason.GREW
        return OrphanReason.NO_TASK if self._leader_assigns_tasks else OrphanReason.ASSIGNOR_GAP


def _had_before(group: GroupState) -> frozenset[TopicPartition]:
    """What members still had as they joined: a cooperative assignor takes it in one generation, and then gives it.

    Members that give back all before they join, as with assignors that are not cooperative, have nothing then.
    """
    return frozenset(
        TopicPartition(entry.topic, number)
        for member in group.members
        for entry in member.owned
        for number in entry.partitions
    )


def _left_over(
    group: GroupState, catalog: Catalog, ownership: Ownership, expectation: Expectation, unowned: Known
) -> Orphans:
    """Why these partitions have no owner in a group whose members each compute their own share."""
    owned = {place.topic for place in ownership.owners}
    topics = {place.topic for place in unowned} & ownership.subscribed
    horizons = {topic: shares_horizon_ms(group, catalog.topics[topic], owned=topic in owned) for topic in topics}
    reasons = {topic: _reason_in(group, topic, expectation) for topic in topics}

    def reason(place: TopicPartition, state: PartitionState) -> OrphanReason:
        if place.topic not in topics:
            return OrphanReason.UNSUBSCRIBED
        if state.first_seen_ms > horizons[place.topic] or (expectation.stale_metadata and place in expectation.current):
            return OrphanReason.GREW
        if expectation.kind == "exact" and expectation.current.get(place):
            return OrphanReason.PENDING
        return reasons[place.topic]

    return {place: reason(place, state) for place, state in unowned.items()}


def _reason_in(group: GroupState, topic: str, expectation: Expectation) -> OrphanReason:
    """Why a partition of the topic is in no member's share."""
    if expectation.kind != "exact":
        return OrphanReason.ASSIGNOR_GAP
    if any(topic not in member.topics for member in group.members):
        return OrphanReason.MIXED_SUBSCRIPTION
    mixed = len({member.assignor for member in group.members}) > 1
    return OrphanReason.MIXED_STRATEGY if mixed else OrphanReason.ASSIGNOR_GAP


def judge_tasks(group: GroupState, view: TaskView, orphans: Orphans, known: Known) -> tuple[TaskVerdict, ...]:
    """The tasks of a group. Idle ones have the reason of the partitions that they read, and since when."""
    return tuple([task if task.owners else _judge_task(task, group, orphans, known) for task in view.tasks])


def _judge_task(task: TaskVerdict, group: GroupState, orphans: Orphans, known: Known) -> TaskVerdict:
    if not group.members:
        return replace(task, orphan=OrphanReason.NO_MEMBERS, since_ms=group.phase_ms)
    places = [place for place in task.reads if place in orphans]
    if not places:
        return task
    reason = orphans[places[0]]
    oldest_ms = min(known[place].first_seen_ms for place in places)
    return replace(task, orphan=reason, since_ms=_since_ms(group, reason, oldest_ms))


def find_orphaned(facts: Facts) -> Iterable[Observation]:
    """One finding for each reason, with all its partitions and the age of the oldest."""
    by_reason: dict[OrphanReason, list[TopicPartition]] = {}
    for row in facts.partitions:
        if row.orphan is not None:
            by_reason.setdefault(row.orphan, []).append(TopicPartition(row.topic, row.partition))
    for reason in TOLD:
        if reason in by_reason:
            yield _finding(facts, reason, tuple(by_reason[reason]))


def _finding(facts: Facts, reason: OrphanReason, partitions: tuple[TopicPartition, ...]) -> Observation:
    oldest_ms = min(facts.known[place].first_seen_ms for place in partitions)
    is_dropped = reason is OrphanReason.OWNER_UNSUBSCRIBED
    owners = {owner for place in partitions for owner in facts.ownership.owners[place]} if is_dropped else frozenset()
    return Observation(
        kind=FindingKind.ORPHANED,
        reason=reason,
        since_ms=facts.not_later_than_now(_since_ms(facts.group, reason, oldest_ms)),
        evidence=_evidence(facts, reason, partitions, owners),
        partitions=partitions,
        members=tuple(sorted(owners)),
        tasks=_tasks_reading(facts, partitions),
        library=_leaders_library(facts) if reason is OrphanReason.GREW else None,
    )


def _leaders_library(facts: Facts) -> Library | None:
    """The client library of the group leader, or that of all members if the leader is not known; None: unknown."""
    if not facts.traits.leader_assigns_partitions:
        return None
    leaders = [each for each in facts.members if each.member_id == facts.group.leader] or facts.members
    found = {each.library.one for each in leaders}
    return found.pop() if len(found) == 1 else None


def _evidence(
    facts: Facts, reason: OrphanReason, partitions: tuple[TopicPartition, ...], owners: AbstractSet[str]
) -> Evidence:
    if reason is OrphanReason.OWNER_UNSUBSCRIBED:
        return _dropped_by(facts, owners)
    return NotInitialized() if reason is OrphanReason.NOT_INITIALIZED else _no_owner(facts, reason, partitions)


def _tasks_reading(facts: Facts, partitions: tuple[TopicPartition, ...]) -> tuple[str, ...]:
    """The known tasks of Kafka Streams that would consume the partitions."""
    wanted = frozenset(partitions)
    return tuple(each.task for each in facts.tasks if not each.owners and not wanted.isdisjoint(each.reads))


def _dropped_by(facts: Facts, owners: AbstractSet[str]) -> UnsubscribedOwners:
    libraries = {
        library for member in facts.members if member.member_id in owners for library in member.library.libraries
    }
    return UnsubscribedOwners(libraries=tuple(sorted(libraries)))


def _no_owner(facts: Facts, reason: OrphanReason, partitions: tuple[TopicPartition, ...]) -> NoOwner:
    return NoOwner(
        reason,
        seen_growing=_seen_growing(facts, partitions),
        awaited=_awaited(facts, partitions) if reason is OrphanReason.PENDING else (),
        streams=_streams_report(facts.group) if facts.traits.leader_assigns_tasks else None,
    )


def _streams_report(group: GroupState) -> StreamsReport:
    return StreamsReport(error=assignment_error(group.members), tells_what_follows=tells_what_follows(group.members))


def _awaited(facts: Facts, partitions: tuple[TopicPartition, ...]) -> tuple[str, ...]:
    """Whom partitions on their way wait for: who joined with them and lets them go; of KIP-848, who is to take them."""
    traits = facts.traits
    if traits.broker_chooses_owners or traits.is_self_assigned:
        return tuple(sorted({heir for place in partitions for heir in facts.expectation.current.get(place, ())}))
    wanted = frozenset(partitions)
    had = (
        (member, entry, number)
        for member in facts.group.members
        for entry in member.owned
        for number in entry.partitions
    )
    return tuple(
        sorted({member.member_id for member, entry, number in had if TopicPartition(entry.topic, number) in wanted})
    )


def _seen_growing(facts: Facts, partitions: tuple[TopicPartition, ...]) -> bool:
    """Whether collectors saw every one of the partitions come, after the generation, to a topic they already knew."""
    topics = {place.topic for place in partitions}
    horizons = {topic: horizon_ms(facts.group, facts.catalog, topic, owned=True) for topic in topics}
    return all(facts.known[place].first_seen_ms > horizons[place.topic] for place in partitions)


def _since_ms(group: GroupState, reason: OrphanReason, first_seen_ms: int) -> int:
    """Since when it is certain. A partition older than the generation lacks an owner at least since that generation."""
    if reason is OrphanReason.NOT_READY:
        return group.phase_ms
    if reason is OrphanReason.REBALANCING:
        return max(first_seen_ms, group.under_way.started_ms if group.under_way else group.phase_ms)
    came_later = reason in (OrphanReason.GREW, OrphanReason.NOT_INITIALIZED)
    return max(first_seen_ms, group.generation_ms) if came_later else group.generation_ms


RULES: Final = (Rule(find_orphaned, of_owners=True),)
