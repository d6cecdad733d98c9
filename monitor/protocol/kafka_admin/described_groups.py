"""Groups as brokers describe them, in the words in which the log of groups has them.

A broker reports less than its log has. Of a classic group it reports neither the generation nor timeouts nor the
leader. While the group rebalances, it also omits what members subscribe to and own. Of a KIP-848 group it reports
neither timeouts nor the topics that it found for a regular expression. From 4.0 on it counts as a member's assignment
also what the member has yet to revoke.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from monitor.model import (
    STATES_WITH_TARGETS,
    GroupKind,
    GroupObserved,
    IdPartitions,
    Member,
    MemberState,
    ObservedOffset,
    Reconciliation,
    ResolvedRegex,
    Source,
    SpareTasks,
    StreamsClient,
    Subtopology,
    Topology,
)
from monitor.model.patterns import NamePattern, PatternError
from monitor.protocol.kafka.group_metadata import classic_member
from monitor.protocol.kafka.records.classic import ClassicMember
from monitor.protocol.kafka_admin.responses import (
    AssignmentDescribed,
    ClassicGroupDescribed,
    ClassicMemberDescribed,
    ConsumerGroupDescribed,
    ConsumerMemberDescribed,
    ShareGroupDescribed,
    ShareMemberDescribed,
    StreamsGroupDescribed,
    StreamsMemberDescribed,
    Tasks,
    TasksDescribed,
    TopicFetched,
    TopologyDescribed,
)

AnyDescribed = ClassicGroupDescribed | ConsumerGroupDescribed | ShareGroupDescribed | StreamsGroupDescribed


def observed_group(
    group: AnyDescribed, offsets: Iterable[TopicFetched], *, cluster: str, pass_ms: int, observed_ms: int
) -> GroupObserved:
    """The group with its committed offsets, all in an order of its own: brokers give members in any.

    Args:
        group: as its coordinator described it.
        offsets: its committed offsets.
        cluster: the name that the event bears.
        pass_ms: when the pass began.
        observed_ms: when the request for the group was sent.
    """
    stored = _stored_offsets(offsets)
    seen = GroupObserved(
        cluster=cluster,
        group=group.group_id,
        kind=GroupKind.CLASSIC,
        source=Source.ADMIN,
        pass_ms=pass_ms,
        observed_ms=observed_ms,
        members=tuple(sorted(_members(group), key=lambda member: member.member_id)),
        offsets=tuple([each for each in stored if each.offset >= 0]),
        state=group.group_state,
        invalid=tuple([each for each in stored if each.offset < 0]),
    )
    return _with_kind_fields(seen, group)


def _with_kind_fields(seen: GroupObserved, group: AnyDescribed) -> GroupObserved:
    match group:
        case ClassicGroupDescribed():
            return replace(seen, protocol_type=group.protocol_type, protocol=group.protocol_data or None)
        case ConsumerGroupDescribed():
            kind, protocol = GroupKind.CONSUMER, group.assignor_name or None
            seen = replace(seen, protocol=protocol, regexes=_regexes(group))
        case ShareGroupDescribed():
            kind = GroupKind.SHARE
        case _:
            kind = GroupKind.STREAMS
            seen = replace(seen, topology=_topology(group.topology) if group.topology is not None else None)
    return replace(seen, kind=kind, generation=group.group_epoch, target_epoch=group.assignment_epoch)


def _members(group: AnyDescribed) -> list[Member]:
    match group:
        case ClassicGroupDescribed():
            return [_classic(member, group) for member in group.members]
        case ConsumerGroupDescribed():
            return [_consumer(member, group.assignment_epoch) for member in group.members]
        case ShareGroupDescribed():
            return [_share(member) for member in group.members]
        case _:
            return [_streams(member, group.assignment_epoch) for member in group.members]


def _classic(member: ClassicMemberDescribed, group: ClassicGroupDescribed) -> Member:
    stored = ClassicMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout=0,
        session_timeout=0,
        subscription=member.member_metadata,
        assignment=member.member_assignment,
    )
    return classic_member(stored, group.protocol_type, group.protocol_data or None)


def _consumer(member: ConsumerMemberDescribed, target_epoch: int) -> Member:
    target = _partitions(member.target_assignment)
    return Member(
        member_id=member.member_id,
        topics=tuple(sorted(member.subscribed_topic_names)),
        instance_id=member.instance_id,
        rack=member.rack_id,
        client_id=member.client_id,
        host=member.client_host,
        regex=member.subscribed_topic_regex or None,
        reconciliation=_reconciliation(member.member_epoch, target_epoch, _partitions(member.assignment), target),
    )


def _share(member: ShareMemberDescribed) -> Member:
    """A member of a share group: it never has to revoke a partition, and its target is not reported."""
    return Member(
        member_id=member.member_id,
        topics=tuple(sorted(member.subscribed_topic_names)),
        rack=member.rack_id,
        client_id=member.client_id,
        host=member.client_host,
        reconciliation=Reconciliation(epoch=member.member_epoch, assigned=_partitions(member.assignment)),
    )


def _streams(member: StreamsMemberDescribed, target_epoch: int) -> Member:
    """Only active tasks count as owned, as in the log: standby and warm-up tasks read no input."""
    target = _tasks(member.target_assignment.active_tasks)
    standing = _reconciliation(member.member_epoch, target_epoch, _tasks(member.assignment.active_tasks), target)
    where = member.user_endpoint
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack=member.rack_id,
        client_id=member.client_id,
        host=member.client_host,
        reconciliation=replace(
            standing, spare=_spare_tasks(member.assignment), spare_target=_spare_tasks(member.target_assignment)
        ),
        streams_client=StreamsClient(
            process_id=member.process_id,
            topology_epoch=member.topology_epoch,
            endpoint=None if where is None else f"{where.host}:{where.port}",
        ),
    )


def _reconciliation(
    epoch: int, target_epoch: int, assigned: tuple[IdPartitions, ...], target: tuple[IdPartitions, ...]
) -> Reconciliation:
    """The member's reconciliation, which the broker does not report, but which follows from its own rules.

    A member that has reached the epoch of the targets has revoked what it had to, and waits for what it lacks. One
    that has not, and owns more than it is to own, has to revoke the rest. The broker requests that in the response to
    its next heartbeat, seconds after the targets were chosen.
    """
    beyond, kept = _subtract(assigned, target), assigned
    state = MemberState.STABLE
    if epoch >= target_epoch and assigned != target:
        state, beyond = MemberState.UNRELEASED_PARTITIONS, ()
    elif epoch >= 0 and beyond:
        state, kept = MemberState.UNREVOKED_PARTITIONS, _subtract(assigned, beyond)
    else:
        beyond = ()
    return Reconciliation(epoch=epoch, previous_epoch=epoch, state=state, assigned=kept, revoking=beyond, target=target)


def _subtract(entries: tuple[IdPartitions, ...], others: tuple[IdPartitions, ...]) -> tuple[IdPartitions, ...]:
    taken = {entry.id: frozenset(entry.partitions) for entry in others}
    left = [
        IdPartitions(entry.id, tuple([each for each in entry.partitions if each not in taken.get(entry.id, ())]))
        for entry in entries
    ]
    return tuple([entry for entry in left if entry.partitions])


def _partitions(assignment: AssignmentDescribed) -> tuple[IdPartitions, ...]:
    found = [IdPartitions(entry.topic_id, tuple(sorted(entry.partitions))) for entry in assignment.topic_partitions]
    return tuple(sorted(found))


def _topology(topology: TopologyDescribed) -> Topology:
    """The broker does not show the regular expressions of a subtopology."""
    return Topology(
        epoch=topology.epoch,
        subtopologies=tuple(
            Subtopology(
                subtopology_id=part.subtopology_id,
                source_topics=part.source_topics,
                repartition_sources=tuple(topic.name for topic in part.repartition_source_topics),
                repartition_sinks=part.repartition_sink_topics,
                changelogs=tuple(topic.name for topic in part.state_changelog_topics),
            )
            for part in topology.subtopologies or ()
        ),
    )


def _tasks(entries: Iterable[Tasks]) -> tuple[IdPartitions, ...]:
    return tuple(sorted(IdPartitions(entry.subtopology_id, tuple(sorted(entry.partitions))) for entry in entries))


def _spare_tasks(assignment: TasksDescribed) -> SpareTasks | None:
    found = SpareTasks(standby=_tasks(assignment.standby_tasks), warmup=_tasks(assignment.warmup_tasks))
    return found if found != SpareTasks() else None


def _regexes(group: ConsumerGroupDescribed) -> tuple[ResolvedRegex, ...]:
    """The expressions of the members, with those topics of the group's targets that they match.

    The broker found them among all topics, and gave every partition of them an owner; it uses RE2 as this does
    (RE2/J, KIP-848). While targets are not chosen, there are none.
    """
    if group.group_state not in STATES_WITH_TARGETS:
        return ()
    asked = sorted({member.subscribed_topic_regex for member in group.members if member.subscribed_topic_regex})
    given = sorted(
        {
            entry.topic_name
            for member in group.members
            for entry in (*member.target_assignment.topic_partitions, *member.assignment.topic_partitions)
        }
    )
    return tuple(ResolvedRegex(regex=regex, topics=_matching_topics(regex, given)) for regex in asked)


def _matching_topics(regex: str, topics: Iterable[str]) -> tuple[str, ...]:
    try:
        pattern = NamePattern(regex)
    except PatternError:
        return ()
    return tuple(topic for topic in topics if pattern.matches(topic))


def _stored_offsets(topics: Iterable[TopicFetched]) -> list[ObservedOffset]:
    """What is stored, sorted; one below 0 was committed by a client, and counts as none.

    All partitions of the group were requested, so the response has no partition of which nothing is stored.
    """
    found = [
        ObservedOffset(topic.name, partition.partition_index, partition.committed_offset)
        for topic in topics
        for partition in topic.partitions
    ]
    return sorted(found, key=lambda offset: (offset.topic, offset.partition))
