"""What is known of a group without its offsets. It changes with members and topics only, so it can be cached.

Running the assignor is the most expensive part of a verdict, and in most micro-batches its inputs have not changed. A
view that was lost is made again; the cache saves nothing but time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from monitor.detection.client_libraries.recognition import recognize_libraries
from monitor.detection.client_libraries.remarks import member_remarks
from monitor.detection.ownership.alternatives import alternative_to
from monitor.detection.ownership.balance import balance_of
from monitor.detection.ownership.catalog_view import Topics, age_beside
from monitor.detection.ownership.context import Expectation, Ownership
from monitor.detection.ownership.current import read_ownership
from monitor.detection.ownership.expected import expect
from monitor.detection.ownership.kip848 import expect_targets, named
from monitor.detection.ownership.self_assigned.groups import expect_shares, grown_ms, readable
from monitor.detection.ownership.tasks.connect import sinks_of
from monitor.detection.ownership.tasks.task_view import TaskView
from monitor.detection.ownership.tasks.views import view_tasks
from monitor.model import (
    FAUST,
    KINDS,
    UNKNOWN_LIBRARY,
    Catalog,
    ClientLibrary,
    GroupState,
    Member,
    MemberVerdict,
    Phase,
    Sharing,
    SinkVerdict,
    Value,
)
from monitor.model.evidence import Balance


class AssignmentView(Value):
    """Who owns what in a group, and who should. ``group`` is the group with its topics by name, without its offsets.

    ``tasks`` is of a group whose members have tasks: of Kafka Streams, or Kafka Connect. ``sinks`` says which member
    of a consumer group is which task of a sink of Connect.

    ``grown_ms`` is of a group whose members work out their own shares
    (monitor.detection.ownership.self_assigned.groups).
    """

    group: GroupState
    ownership: Ownership
    expectation: Expectation
    members: tuple[MemberVerdict, ...]
    balance: Balance | None
    grown_ms: int = 0
    tasks: TaskView | None = None
    sinks: tuple[SinkVerdict, ...] = ()

    def named(self, group: GroupState) -> GroupState:
        """The group with its offsets and with its topics by name."""
        if not _is_renamed(group):
            return group
        own = self.group
        return replace(group, protocol=own.protocol, protocol_type=own.protocol_type, members=own.members)


def _is_renamed(group: GroupState) -> bool:
    """Whether the catalog adds to the state of the group: topics by name, strategies that fit."""
    traits = KINDS[group.kind]
    return traits.is_self_assigned or traits.by_topic_id


def view_assignment(group: GroupState, catalog: Catalog) -> AssignmentView:
    """The view of a group. Its offsets are not looked at, and of the catalog nothing that moves with the records.

    That is the contract of :class:`AssignmentViews`: of a topic, only what :meth:`Topics.outline` covers may be read.
    """
    group = without_offsets(group)
    if KINDS[group.kind].is_self_assigned:
        return _stand_by_shares(readable(group, catalog), catalog)
    group = named(group, catalog)
    libraries = recognize_libraries(group)
    ownership = read_ownership(group, libraries)
    if KINDS[group.kind].broker_chooses_owners:
        expectation = expect_targets(group, catalog, ownership)
    else:
        expectation = expect(group, catalog, ownership, libraries)
    tasks = view_tasks(group, catalog)
    members = _members(group, catalog, ownership, expectation, libraries)
    return AssignmentView(
        group=group,
        ownership=ownership,
        expectation=_sharing(expectation, ownership),
        members=members if tasks is None else _with_tasks(members, tasks),
        balance=_balance(group, ownership) if tasks is None else None,  # of partitions, and tasks are balanced
        tasks=tasks,
        sinks=sinks_of(group),
    )


def _with_tasks(members: tuple[MemberVerdict, ...], tasks: TaskView) -> tuple[MemberVerdict, ...]:
    """The members with their tasks. Whether they are idle is not judged by partitions."""
    counts = tasks.members
    return tuple(
        replace(
            member,
            idle=None,
            process=counts[member.member_id].process,
            active_tasks=counts[member.member_id].active,
            standby_tasks=counts[member.member_id].standby,
        )
        for member in members
    )


def _stand_by_shares(group: GroupState, catalog: Catalog) -> AssignmentView:
    ownership = read_ownership(group)
    found = expect_shares(group, catalog, ownership)
    return AssignmentView(
        group=replace(group, protocol=found.strategy),
        ownership=ownership,
        expectation=_sharing(found.expectation, ownership),
        members=_members(group, catalog, ownership, found.expectation, {}),
        balance=_balance(group, ownership),
        grown_ms=grown_ms(group, catalog, ownership),
        sinks=sinks_of(group),
    )


def _balance(group: GroupState, ownership: Ownership) -> Balance | None:
    if group.protocol == FAUST:  # it keeps partitions of equal number together, so the optimum is another one
        return None
    balance = balance_of(group.members, ownership) if group.phase is Phase.STABLE else None
    if balance is None or balance.largest <= balance.optimum:
        return balance
    return replace(balance, alternative=alternative_to(group, ownership, balance))


def without_offsets(group: GroupState) -> GroupState:
    """What a view depends on, of the group: nothing that moves with commits, or while a rebalance is under way.

    The commits after a rebalance show what it cost. The records that a share group has acknowledged show nothing of
    its members, either.
    """
    return replace(
        group,
        offsets=(),
        unconfirmed=(),
        pending_offsets=(),
        pending_listed_ms=0,
        departures=(),
        sampled=None,
        observations=(),
        taken=(),
        committed_topics=(),
        history=(),
        earlier_ms=(),
        rebalance_ms=0,
        pause_ms=0,
        burst_records=0,
        redelivered_records=0,
        observed_ms=0,
        share=None,
        static_ids=(),
        rocketmq=None,
    )


class _Remembered(Value):
    """A view, and what it was made from."""

    group: GroupState
    outlines: tuple[object, ...]
    view: AssignmentView


class AssignmentViews:
    """The views of the groups of one cluster, each made again only when something that it depends on has changed."""

    def __init__(self) -> None:
        self._known: dict[str, _Remembered] = {}
        self.made = 0
        """How many were made since the beginning."""

    def of(self, group: GroupState, topics: Topics) -> AssignmentView:
        """The view of the group among these topics: the same as ``view_assignment(group, topics.catalog)``."""
        bare = without_offsets(group)
        known = self._known.get(group.group)
        if known is not None and known.group == bare and known.outlines == _outlines(known.view, topics):
            return known.view
        view = view_assignment(group, topics.catalog)
        self._known[group.group] = _Remembered(group=bare, outlines=_outlines(view, topics), view=view)
        self.made += 1
        return view

    def keep_only(self, groups: AbstractSet[str]) -> None:
        """Drop what is remembered of all other groups."""
        if not self._known.keys() <= groups:
            known = list(self._known.items())  # at once: other threads may add to it meanwhile
            self._known = {name: remembered for name, remembered in known if name in groups}


def _outlines(view: AssignmentView, topics: Topics) -> tuple[object, ...]:
    """All that a view depends on besides the group. The names of topics decide what the ids of a modern group mean."""
    ownership = view.ownership
    concerned = ownership.subscribed.union([place.topic for place in ownership.owners])
    return (
        age_beside(topics.catalog, view.group),
        topics.names_digest if KINDS[view.group.kind].by_topic_id else b"",
        topics.catalog.connect_configs.get(view.group.group),
        *(topics.outline(topic) for topic in sorted(concerned)),
    )


def _sharing(expectation: Expectation, ownership: Ownership) -> Expectation:
    """The same, with one mapping where they are equal: most groups own what they should, and there are many."""
    owners = ownership.owners
    replayed = owners if expectation.replayed == owners else expectation.replayed
    current = replayed if expectation.current == replayed else expectation.current
    return replace(expectation, current=current, replayed=replayed)


def _members(
    group: GroupState,
    catalog: Catalog,
    ownership: Ownership,
    expectation: Expectation,
    libraries: Mapping[str, ClientLibrary],
) -> tuple[MemberVerdict, ...]:
    owned = Counter(owner for owners in ownership.owners.values() for owner in owners)
    expected = Counter(owner for owners in expectation.current.values() for owner in owners)
    current = expectation.current
    heirs = Counter(owner for place in expectation.pending for owner in current.get(place, ()))
    existing = {topic for topic in ownership.subscribed if topic in catalog.topics}
    if not KINDS[group.kind].has_owners:  # until a topic is initialized for a share group, no member has any of it
        existing &= {place.topic for place in ownership.owners}
    known = expectation.kind in ("exact", "target")
    return tuple(
        MemberVerdict(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            host=member.host,
            topics=member.topics,
            partitions=owned[member.member_id],
            expected_partitions=expected[member.member_id] if known else None,
            epoch=member.reconciliation.epoch if member.reconciliation else None,
            state=member.reconciliation.state if member.reconciliation else None,
            answers=member.answers,
            connections=member.connections,
            unreadable=member.unreadable if member.answers else None,
            library=libraries.get(member.member_id, UNKNOWN_LIBRARY),
            remarks=member_remarks(member, group.protocol),
            leads=member.member_id == group.leader,
            idle=group.sharing is Sharing.EXCLUSIVE
            and not _is_unconsidered(member, group)
            and _is_idle(member, owned, heirs, existing),
        )
        for member in group.members
    )


def _is_unconsidered(member: Member, group: GroupState) -> bool:
    """The member is new, and the broker has yet to choose with it. Of share groups only the epochs show that."""
    view = member.reconciliation
    is_choosing = group.phase is Phase.ASSIGNING or (group.target_epoch or 0) < group.generation
    return is_choosing and view is not None and view.target is None


def _is_idle(member: Member, owned: Counter[str], coming: Counter[str], existing: set[str]) -> bool:
    """It could read something, and does not, and is not about to get something either."""
    has_some = owned[member.member_id] or member.copies
    if has_some or member.unreadable is not None or existing.isdisjoint(member.topics):
        return False
    if member.reconciliation is not None:  # what the broker has chosen it takes with its next heartbeat
        return not any(entry.partitions for entry in member.reconciliation.target or ())
    return not coming[member.member_id]
