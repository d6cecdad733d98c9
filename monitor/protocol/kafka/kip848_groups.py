"""The records of KIP-848, share and streams groups as events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from monitor.model import (
    STATIC_LEAVE_EPOCH,
    ClassicProtocol,
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupEvent,
    GroupKind,
    IdPartitions,
    Member,
    MemberRemoved,
    MembershipStored,
    MemberState,
    MemberStored,
    ReadablePartitionsStored,
    Reconciliation,
    RegexResolved,
    SharedTopic,
    SpareTasks,
    StreamsClient,
    SubscribedTopic,
    SubscribedTopicsStored,
    Subtopology,
    TargetEpochStored,
    TargetStored,
    Topology,
    TopologyStored,
)
from monitor.protocol.kafka.consumer_protocol import accept_subscription
from monitor.protocol.kafka.records.consumer import (
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    GroupKey,
    MemberKey,
    OwnedPartitions,
    PartitionMetadataValue,
    RegularExpressionKey,
    RegularExpressionValue,
    TargetAssignmentMemberValue,
    TargetAssignmentMetadataValue,
    TopicPartitionIds,
)
from monitor.protocol.kafka.records.share import (
    EpochAndHashValue,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    ShareGroupStatePartitionMetadataValue,
)
from monitor.protocol.kafka.records.share import SharedTopic as SharedTopicData
from monitor.protocol.kafka.records.streams import (
    CopartitionGroup,
    OwnedTasks,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTopologyValue,
    TaskIds,
)
from monitor.protocol.kafka.records.streams import Subtopology as SubtopologyStored
from monitor.protocol.wire.bounds import MOST_PARTITIONS, require_at_least
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.schema import Message

_MOST_DIGITS: Final = 10
"""A setting with as many digits is no number of tasks."""

_STATES: Final[Mapping[int, MemberState]] = MappingProxyType(
    {
        0: MemberState.STABLE,
        1: MemberState.UNREVOKED_PARTITIONS,
        2: MemberState.UNRELEASED_PARTITIONS,
    }
)
"""Of a KIP-848 or share group (``group.modern.MemberState`` of the coordinator)."""

_STREAMS_STATES: Final[Mapping[int, MemberState]] = MappingProxyType(
    {
        1: MemberState.STABLE,
        2: MemberState.UNREVOKED_PARTITIONS,
        3: MemberState.UNRELEASED_PARTITIONS,
    }
)
"""Of a streams group (``group.streams.MemberState``); its tasks are what partitions are elsewhere."""

KINDS: Final[Mapping[int, GroupKind]] = MappingProxyType(
    dict.fromkeys((3, 4, 5, 6, 7, 8, 16), GroupKind.CONSUMER)
    | dict.fromkeys((10, 11, 12, 13, 14, 15), GroupKind.SHARE)
    | dict.fromkeys((17, 19, 20, 21, 22, 23), GroupKind.STREAMS)
)
"""The kind of group by type of record, for the types that tell of the membership of groups other than classic ones."""

RECORD_KINDS: Final[Mapping[int, GroupKind]] = MappingProxyType({2: GroupKind.CLASSIC, **KINDS})
"""The kind of group by type of record, for all types that tell of its membership."""

SOLE_KINDS: Final[Mapping[type[GroupEvent], GroupKind]] = MappingProxyType(
    {
        MembershipStored: RECORD_KINDS[2],
        SubscribedTopicsStored: RECORD_KINDS[4],
        ReadablePartitionsStored: RECORD_KINDS[15],
        RegexResolved: RECORD_KINDS[16],
        TopologyStored: RECORD_KINDS[23],
    }
)
"""The kind of group of events that only one kind has; the others name theirs."""

STANDBY_REPLICAS: Final = "num.standby.replicas"
"""The setting of a streams group for which its tasks are assigned."""


def modern_event(number: int, key: Message, value: Message | None, timestamp_ms: int) -> GroupEvent:
    """What a record of one of the types in KINDS tells; a null value is a deletion.

    Of a streams group only active tasks count as owned: standby and warm-up tasks read no input.

    Raises:
        DecodeError: An epoch, or a topic's number of partitions, is beyond sense.
    """
    kind = KINDS[number]
    match key:
        case RegularExpressionKey():
            return _regex(key, value, timestamp_ms)
        case MemberKey():
            return _member_event(number, kind, key, value, timestamp_ms)
        case GroupKey():
            return _group_event(number, kind, key.group_id, value, timestamp_ms)
        case _:
            raise TypeError(f"no modern group has a key like {type(key).__name__}")


def _group_event(number: int, kind: GroupKind, group: str, value: Message | None, timestamp_ms: int) -> GroupEvent:
    match value:
        case ConsumerGroupMetadataValue() | EpochAndHashValue() | StreamsGroupMetadataValue():
            return _epoch(kind, group, value, timestamp_ms)
        case TargetAssignmentMetadataValue():
            require_at_least(0, value.assignment_epoch)
            return TargetEpochStored(group=group, kind=kind, epoch=value.assignment_epoch, stored_ms=timestamp_ms)
        case PartitionMetadataValue():
            return SubscribedTopicsStored(group=group, stored_ms=timestamp_ms, topics=_topics(value))
        case StreamsGroupTopologyValue():
            require_at_least(0, value.epoch)
            return TopologyStored(group=group, topology=_topology(value), stored_ms=timestamp_ms)
        case ShareGroupStatePartitionMetadataValue():
            return ReadablePartitionsStored(
                group=group,
                stored_ms=timestamp_ms,
                initialized=_shared_topics(value.initialized_topics),
                initializing=_shared_topics(value.initializing_topics),
            )
    return _group_deletion(number, kind, group, timestamp_ms)


def _group_deletion(number: int, kind: GroupKind, group: str, timestamp_ms: int) -> GroupEvent:
    if number in (3, 11, 17):
        return GroupDeleted(group=group, kind=kind, deleted_ms=timestamp_ms)
    if number == 4:
        return SubscribedTopicsStored(group=group, stored_ms=timestamp_ms)
    if number == 15:
        return ReadablePartitionsStored(group=group, stored_ms=timestamp_ms)
    if number == 23:
        return TopologyStored(group=group, topology=None, stored_ms=timestamp_ms)
    return TargetEpochStored(group=group, kind=kind, epoch=None, stored_ms=timestamp_ms)


def _epoch(
    kind: GroupKind,
    group: str,
    value: ConsumerGroupMetadataValue | EpochAndHashValue | StreamsGroupMetadataValue,
    timestamp_ms: int,
) -> EpochStored:
    require_at_least(0, value.epoch)
    validated, replicas = None, None
    if isinstance(value, StreamsGroupMetadataValue):
        validated = value.validated_topology_epoch if value.validated_topology_epoch >= 0 else None
        replicas = _standby_replicas(value)
    return EpochStored(
        group=group,
        kind=kind,
        epoch=value.epoch,
        stored_ms=timestamp_ms,
        metadata_hash=value.metadata_hash,
        validated_epoch=validated,
        standby_replicas=replicas,
    )


def _standby_replicas(value: StreamsGroupMetadataValue) -> int | None:
    """How many standby tasks a task with state has; None: it is not told, or no number."""
    told = {entry.key: entry.value for entry in value.last_assignment_configs or ()}.get(STANDBY_REPLICAS, "")
    return int(told) if len(told) < _MOST_DIGITS and told.isascii() and told.isdecimal() else None


def _topology(value: StreamsGroupTopologyValue) -> Topology:
    return Topology(
        epoch=value.epoch,
        subtopologies=tuple(
            Subtopology(
                subtopology_id=part.subtopology_id,
                source_topics=part.source_topics,
                source_regexes=part.source_topic_regex,
                repartition_sources=tuple(topic.name for topic in part.repartition_source_topics),
                repartition_sinks=part.repartition_sink_topics,
                changelogs=tuple(topic.name for topic in part.state_changelog_topics),
                copartitioned=tuple(_copartition_topics(part, own) for own in part.copartition_groups),
            )
            for part in value.subtopologies
        ),
    )


def _copartition_topics(part: SubtopologyStored, group: CopartitionGroup) -> tuple[str, ...]:
    """The topics of the group that are named, sorted; the record has their places in the lists of its subtopology."""
    made = [topic.name for topic in part.repartition_source_topics]
    sources = [part.source_topics[place] for place in group.source_topics if 0 <= place < len(part.source_topics)]
    return tuple(sorted({*sources, *[made[at] for at in group.repartition_source_topics if 0 <= at < len(made)]}))


def _shared_topics(topics: Iterable[SharedTopicData]) -> tuple[SharedTopic, ...]:
    return tuple(SharedTopic(topic_id=t.topic_id, topic=t.topic_name, partitions=t.partitions) for t in topics)


def _member_event(number: int, kind: GroupKind, key: MemberKey, value: Message | None, timestamp_ms: int) -> GroupEvent:
    group, member_id = key.group_id, key.member_id
    if number in (5, 10, 19):
        if value is None:
            return MemberRemoved(group=group, kind=kind, member_id=member_id, removed_ms=timestamp_ms)
        return MemberStored(group=group, kind=kind, member=_member(member_id, value), stored_ms=timestamp_ms)
    if number in (7, 13, 21):
        target, spare = (None, None) if value is None else _target(value)
        return TargetStored(group=group, kind=kind, member_id=member_id, target=target, spare=spare)
    if value is None:
        return CurrentRemoved(group=group, kind=kind, member_id=member_id, removed_ms=timestamp_ms)
    return CurrentStored(group=group, kind=kind, member_id=member_id, current=_current(value, timestamp_ms))


def _regex(key: RegularExpressionKey, value: Message | None, timestamp_ms: int) -> RegexResolved:
    return RegexResolved(
        group=key.group_id,
        regex=key.regular_expression,
        topics=value.topics if isinstance(value, RegularExpressionValue) else None,
        stored_ms=timestamp_ms,
    )


def _topics(value: PartitionMetadataValue) -> tuple[SubscribedTopic, ...]:
    if not all(0 <= topic.num_partitions <= MOST_PARTITIONS for topic in value.topics):
        raise DecodeError("bad_number", 0)
    return tuple(
        SubscribedTopic(topic_id=topic.topic_id, topic=topic.topic_name, partitions=topic.num_partitions)
        for topic in value.topics
    )


def _member(member_id: str, value: Message) -> Member:
    match value:
        case ConsumerGroupMemberMetadataValue():
            return _consumer_member(member_id, value)
        case ShareGroupMemberMetadataValue():
            return Member(
                member_id=member_id,
                topics=value.subscribed_topic_names,
                rack=value.rack_id,
                client_id=value.client_id,
                host=value.client_host,
            )
        case StreamsGroupMemberMetadataValue():
            return Member(
                member_id=member_id,
                instance_id=value.instance_id,
                rack=value.rack_id,
                client_id=value.client_id,
                host=value.client_host,
                rebalance_timeout_ms=value.rebalance_timeout_ms,
                streams_client=_streams_client(value),
            )
        case _:
            raise TypeError(f"{type(value).__name__} tells nothing of a member")


def _streams_client(value: StreamsGroupMemberMetadataValue) -> StreamsClient:
    where = value.user_endpoint
    return StreamsClient(
        process_id=value.process_id,
        topology_epoch=value.topology_epoch,
        endpoint=None if where is None else f"{where.host}:{where.port}",
    )


def _consumer_member(member_id: str, value: ConsumerGroupMemberMetadataValue) -> Member:
    classic = value.classic_member_metadata or ClassicMemberMetadata()
    offered, unreadable = _classic_protocols(classic)
    return Member(
        member_id=member_id,
        topics=value.subscribed_topic_names,
        instance_id=value.instance_id,
        rack=value.rack_id,
        client_id=value.client_id,
        host=value.client_host,
        session_timeout_ms=classic.session_timeout_ms,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        unreadable=unreadable,
        regex=value.subscribed_topic_regex or None,
        server_assignor=value.server_assignor,
        classic_protocols=offered,
    )


def _classic_protocols(classic: ClassicMemberMetadata) -> tuple[tuple[ClassicProtocol, ...], str | None]:
    """The assignors that a classic member offers; the first of their subscriptions that is broken, if one is."""
    offered, unreadable = [], None
    for protocol in classic.supported_protocols:
        topics: tuple[str, ...] = ()
        try:
            topics = accept_subscription(protocol.metadata).message.topics
        except DecodeError as error:
            unreadable = unreadable or str(error)
        offered.append(ClassicProtocol(name=protocol.name, topics=topics))
    return tuple(offered), unreadable


def _target(value: Message) -> tuple[tuple[IdPartitions, ...], SpareTasks | None]:
    match value:
        case TargetAssignmentMemberValue():
            return _partitions(value.topic_partitions), None
        case StreamsGroupTargetAssignmentMemberValue():
            return _tasks(value.active_tasks), _spare_tasks(value.standby_tasks, value.warmup_tasks)
        case _:
            raise TypeError(f"{type(value).__name__} is no target")


def _current(value: Message, timestamp_ms: int) -> Reconciliation:
    spare: SpareTasks | None = None
    spare_revoking: SpareTasks | None = None
    match value:
        case ConsumerGroupCurrentMemberAssignmentValue():
            state, assigned = _STATES.get(value.state), _partitions(value.assigned_partitions)
            revoking = _partitions(value.partitions_pending_revocation)
        case ShareGroupCurrentMemberAssignmentValue():
            state, assigned, revoking = _STATES.get(value.state), _partitions(value.assigned_partitions), ()
        case StreamsGroupCurrentMemberAssignmentValue():
            state, assigned = _STREAMS_STATES.get(value.state), _tasks(value.active_tasks)
            revoking = _tasks(value.active_tasks_pending_revocation)
            spare = _spare_tasks(value.standby_tasks, value.warmup_tasks)
            spare_revoking = _spare_tasks(value.standby_tasks_pending_revocation, value.warmup_tasks_pending_revocation)
        case _:
            raise TypeError(f"{type(value).__name__} is no current assignment")
    require_at_least(STATIC_LEAVE_EPOCH, value.member_epoch, value.previous_member_epoch)
    return Reconciliation(
        epoch=value.member_epoch,
        previous_epoch=value.previous_member_epoch,
        state=state or MemberState.UNKNOWN,
        assigned=assigned,
        revoking=revoking,
        since_ms=timestamp_ms,
        spare=spare,
        spare_revoking=spare_revoking,
    )


def _partitions(entries: Iterable[TopicPartitionIds | OwnedPartitions]) -> tuple[IdPartitions, ...]:
    return tuple(IdPartitions(entry.topic_id, entry.partitions) for entry in entries)


def _tasks(entries: Iterable[TaskIds | OwnedTasks]) -> tuple[IdPartitions, ...]:
    return tuple(IdPartitions(entry.subtopology_id, entry.partitions) for entry in entries)


def _spare_tasks(standby: Iterable[TaskIds | OwnedTasks], warmup: Iterable[TaskIds | OwnedTasks]) -> SpareTasks | None:
    found = SpareTasks(standby=_tasks(standby), warmup=_tasks(warmup))
    return found if found != SpareTasks() else None
