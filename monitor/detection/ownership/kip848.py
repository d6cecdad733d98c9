"""KIP-848 and share groups in the words of the rules: topics by name, and owned partitions as assigned ones.

Their records name topics by id. The catalog knows the ids of the topics that exist; brokers of Kafka 3.9 write the
names too. An id without a known name belongs to a topic that was deleted, and is left out.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.detection.ownership.context import Expectation, Owners, Ownership
from monitor.detection.ownership.current import owners_by_partition
from monitor.detection.ownership.handovers import handovers_of
from monitor.detection.ownership.targets import recomputed
from monitor.detection.ownership.tasks.inputs import partition_counts, partitions_of, subscribed_topics
from monitor.detection.ownership.tasks.target_check import TargetCheck
from monitor.detection.ownership.tasks.targets import check_targets
from monitor.kinds.streams import TASK_ASSIGNOR, topology_of
from monitor.model import (
    KINDS,
    Catalog,
    GroupState,
    IdPartitions,
    Member,
    MemberAssignment,
    Reconciliation,
    Source,
    TopicPartitions,
)

DEFAULT_ASSIGNOR: Final = "uniform"
"""What brokers use unless a member asks for another: the first of ``group.consumer.assignors``, whose default this is.
The log does not tell it where it was set to something else."""

Names = Mapping[str, str]
"""Topics' names by their ids."""

Resolve = Callable[[Iterable[IdPartitions]], tuple[TopicPartitions, ...]]
"""What is assigned, as partitions of topics by name."""


def named(group: GroupState, catalog: Catalog) -> GroupState:
    """The group with its members' topics by name; a classic group as it is.

    A member's ``assigned`` is what it may own, including partitions that it is to revoke and has not yet revoked. Of a
    streams group these are the partitions that its tasks read, by the topology; a group whose topology is not known
    stays as it is.
    """
    traits = KINDS[group.kind]
    if traits.broker_assigns_tasks:
        return _with_inputs(group, catalog)
    if not traits.by_topic_id:
        return group
    names = _names(group, catalog)
    found = {resolved.regex: resolved.topics for resolved in group.regexes}
    return replace(
        group,
        protocol=_assignor(group) if traits.has_owners and group.members else None,
        protocol_type="consumer" if traits.has_owners else "",
        members=tuple(_named_member(member, names, found) for member in group.members),
    )


def _with_inputs(group: GroupState, catalog: Catalog) -> GroupState:
    """A streams group with the partitions that its members' tasks read."""
    topology = topology_of(group)
    if topology is None:
        return group
    counts = partition_counts(topology, catalog)
    topics = subscribed_topics(topology, counts)
    return replace(
        group,
        protocol=TASK_ASSIGNOR if group.members else None,
        protocol_type="consumer",
        members=tuple(
            replace(
                member,
                topics=topics,
                assigned=partitions_of(
                    topology, (*_reconciliation(member).assigned, *_reconciliation(member).revoking), counts
                ),
                unreadable=None,
            )
            for member in group.members
        ),
    )


def expect_targets(group: GroupState, catalog: Catalog, ownership: Ownership) -> Expectation:
    """What the broker has chosen for the members: that is where they are heading.

    ``pending`` are partitions of which the new owner has to wait until the former one has given them back.
    """
    if not ownership.complete:
        return Expectation(kind="none")
    resolve = _resolver(group, catalog)
    aimed = _members_at_their_targets(group, resolve)
    targets = owners_by_partition(MemberAssignment(member_id=m.member_id, topics=m.assigned) for m in aimed)
    check = check_targets(group, catalog)
    return Expectation(
        kind="target",
        current=targets,
        replayed=_given_owners(check, resolve)
        if KINDS[group.kind].broker_assigns_tasks
        else recomputed(group, aimed, catalog, targets),
        target_check=check,
        pending=frozenset(targets.keys() - ownership.owners.keys()),
        handovers=tuple(
            handover
            for member in group.members
            for handover in handovers_of(group, member, resolve(_reconciliation(member).revoking), targets)
        )
        if targets != ownership.owners
        else (),
    )


def _given_owners(check: TargetCheck | None, resolve: Resolve) -> Owners:
    """What the task assignor gives, by partition, where that is not what the broker chose."""
    if check is None:
        return {}
    return owners_by_partition(MemberAssignment(each.member_id, resolve(each.active)) for each in check.given)


def with_targets(group: GroupState, catalog: Catalog) -> tuple[Member, ...]:
    """The members with what the broker has chosen for them as ``assigned``; nothing where it has yet to choose.

    That is also what its assignors take for what a member has (``targetAssignment`` of ``GroupSpec``).
    """
    return _members_at_their_targets(group, _resolver(group, catalog))


def _members_at_their_targets(group: GroupState, resolve: Resolve) -> tuple[Member, ...]:
    return tuple(replace(member, assigned=resolve(_reconciliation(member).target or ())) for member in group.members)


def _resolver(group: GroupState, catalog: Catalog) -> Resolve:
    topology = topology_of(group)
    if KINDS[group.kind].broker_assigns_tasks:
        counts = partition_counts(topology, catalog) if topology is not None else {}
        return lambda tasks: partitions_of(topology, tasks, counts) if topology is not None else ()
    names = _names(group, catalog)
    return lambda partitions: _by_name(partitions, names)


def _names(group: GroupState, catalog: Catalog) -> Names:
    written = {topic.topic_id: topic.topic for topic in group.subscribed_topics}
    return ChainMap(catalog.names, written)  # no copy: a catalog may have many thousand topics


def _named_member(member: Member, names: Names, found: Mapping[str, tuple[str, ...]]) -> Member:
    reconciliation = _reconciliation(member)
    of_regex = found.get(member.regex, ()) if member.regex is not None else ()
    return replace(
        member,
        topics=tuple(dict.fromkeys((*member.topics, *of_regex))),
        assigned=_by_name((*reconciliation.assigned, *reconciliation.revoking), names),
        unreadable=None,  # that is about what a classic member offers; what it has is the broker's own record
    )


def _reconciliation(member: Member) -> Reconciliation:
    return member.reconciliation or Reconciliation()


def _by_name(partitions: Iterable[IdPartitions], names: Names) -> tuple[TopicPartitions, ...]:
    return tuple(TopicPartitions(names[entry.id], entry.partitions) for entry in partitions if entry.id in names)


def _assignor(group: GroupState) -> str:
    """What the broker reported; else the choice of most members (``ConsumerGroup.computePreferredServerAssignor``)."""
    if group.source is Source.ADMIN and group.protocol is not None:
        return group.protocol
    asked = Counter(member.server_assignor for member in group.members if member.server_assignor is not None)
    most = max(asked.values(), default=0)
    return min((name for name, count in asked.items() if count == most), default=DEFAULT_ASSIGNOR)
