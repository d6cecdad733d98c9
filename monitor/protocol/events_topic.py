"""The values of the topic ``groupwatch.events``: what the collectors saw, as JSON that console tools can show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from monitor.model import (
    KINDS,
    STATIC_LEAVE_EPOCH,
    THE_CONNECTOR,
    UNKNOWN_SUM,
    CollectedEvent,
    ConnectWorker,
    GroupObserved,
    GroupsListed,
    IdPartitions,
    Member,
    OffsetsListed,
    PartitionId,
    PassCompleted,
    RebalanceSampled,
    Reconciliation,
    ShareGroupRead,
    StreamsClient,
    StreamsNotice,
    StreamsTask,
    TopicObserved,
    TopicPartitions,
)
from monitor.protocol.wire.bounds import MOST_OFFSET, MOST_PARTITIONS, latest_ms
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.json_value import decode_json_struct

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[CollectedEvent]] = msgspec.json.Decoder(
    TopicObserved | PassCompleted | OffsetsListed | RebalanceSampled | GroupObserved | GroupsListed | ShareGroupRead
)
EVENTS_VERSION: Final = 1
"""The newest version of the events that is understood (docs/events.md)."""

_NUMBER_LIMIT: Final = 1 << 31
_LIMIT: Final = 1 << 63


def encode_event(event: CollectedEvent) -> bytes:
    """The event as one JSON object.

    >>> encode_event(PassCompleted(cluster="c", pass_ms=1, completed_ms=2, topics=0))
    b'{"event":"passcompleted","cluster":"c","pass_ms":1,"completed_ms":2,"topics":0}'
    """
    return _ENCODER.encode(event)


def decode_event(data: bytes | None) -> CollectedEvent:
    """The event in the value of a record. Fields that are not known are passed over: a newer collector may send them.

    Raises:
        DecodeError: No value, no JSON, no event whose numbers are in range, or one of a newer version. The position is
            always 0; the cause tells more.
    """
    if data is None:
        raise DecodeError("null_value", 0)
    event = _decode(data)
    if event.version > EVENTS_VERSION:
        raise DecodeError("newer_version", 0)
    if event.version < 1 or not all(0 <= number < limit for number, limit in _numbers(event)):
        raise DecodeError("bad_event", 0)
    return event


def require_partitions(event: CollectedEvent, *, text: bool) -> None:
    """Make sure that every partition is a text, or every one a number: of a mixture nobody could tell the order.

    A group has to be of a kind that has such partitions.

    Raises:
        DecodeError: one is not.
    """
    wanted = str if text else int
    fits = not isinstance(event, GroupObserved) or KINDS[event.kind].text_partitions is text
    if not fits or not all(type(partition) is wanted for partition in _partitions(event)):
        raise DecodeError("bad_event", 0)


def require_past(event: CollectedEvent, written_ms: int) -> None:
    """Make sure that the event tells of nothing that is more than AHEAD_MS later than its record.

    One pass that is dated ahead would make what all later ones see look old: every topic would go, and come back
    without its history.

    Args:
        event: an event whose numbers are in range.
        written_ms: when the record was written at the latest, by another clock than the collector's; below 1: unknown.

    Raises:
        DecodeError: "from_the_future".
    """
    if max(_times(event)) > latest_ms(written_ms):
        raise DecodeError("from_the_future", 0)


def require_source(event: PassCompleted, known: str | None) -> None:
    """Make sure that the pass was over what is watched.

    Args:
        event: the end of a pass.
        known: the id of what is watched; None: it is not known yet, or has none.

    Raises:
        DecodeError: "other_source".
    """
    if known is not None and event.source_id not in (None, known):
        raise DecodeError("other_source", 0)


def event_cluster(data: bytes | None) -> str | None:
    """The cluster that an event is of, also where the rest of it cannot be read; None: not even that can."""
    try:
        return None if data is None else _CLUSTER_DECODER.decode(data).cluster
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _VersionField(msgspec.Struct):
    version: int = 1


class _ClusterField(msgspec.Struct):
    cluster: str


_VERSION_DECODER: Final = msgspec.json.Decoder(_VersionField)
_CLUSTER_DECODER: Final = msgspec.json.Decoder(_ClusterField)


def _decode(data: bytes) -> CollectedEvent:
    """The event; one that cannot be read because it is of a newer version is told as that."""
    try:
        return decode_json_struct(_DECODER, data)
    except DecodeError as error:
        if error.reason == "bad_event" and _version(data) > EVENTS_VERSION:
            raise DecodeError("newer_version", 0) from error
        raise


def _version(data: bytes) -> int:
    """The version that it names; 0: none. What was refused as an event may end in the middle, or be anything."""
    try:
        return _VERSION_DECODER.decode(data).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 0


def _numbers(event: CollectedEvent) -> Iterator[tuple[int, int]]:
    """Every number of the event with the limit below which it must stay (JSON has no largest integer)."""
    for time_ms in _times(event):
        yield time_ms, _LIMIT
    highest = MOST_PARTITIONS if isinstance(event, TopicObserved) else _NUMBER_LIMIT
    for partition in _partitions(event):
        if isinstance(partition, int):
            yield partition, highest
    for offset in _offsets(event):
        yield offset, MOST_OFFSET + 1
    if isinstance(event, PassCompleted):
        yield event.topics, _NUMBER_LIMIT
    elif isinstance(event, OffsetsListed):
        yield from _transaction_numbers(event)
    elif isinstance(event, RebalanceSampled):
        yield from _sample_numbers(event)
    elif isinstance(event, ShareGroupRead):
        yield event.config.delivery_limit or 0, _NUMBER_LIMIT
        yield event.config.lock_ms or 0, _NUMBER_LIMIT
    elif isinstance(event, GroupObserved):
        yield from _group_numbers(event)


def _group_numbers(event: GroupObserved) -> Iterator[tuple[int, int]]:
    yield event.generation or 0, _NUMBER_LIMIT
    yield event.target_epoch or 0, _NUMBER_LIMIT
    yield event.topology.epoch if event.topology is not None else 0, _NUMBER_LIMIT
    for member in event.members:
        yield from _member_numbers(member)


def _times(event: CollectedEvent) -> Iterator[int]:
    """When the event says that something was, in milliseconds since the epoch."""
    match event:
        case OffsetsListed():
            yield event.asked_ms
            for pending in event.pending:
                yield from (pending.sent_ms, pending.started_ms or 0)
        case RebalanceSampled():
            yield from (event.since_ms, event.sampled_ms, event.seen_ms or 0)
        case ShareGroupRead():
            yield event.read_ms
        case PassCompleted() | GroupsListed():
            yield from (event.pass_ms, event.completed_ms)
        case _:
            yield from (event.pass_ms, event.observed_ms)
    if isinstance(event, GroupObserved):
        for offset in event.offsets:
            yield offset.committed_ms or 0
        for member in event.members:
            yield member.reconciliation.since_ms if member.reconciliation is not None else 0


def _offsets(event: CollectedEvent) -> Iterator[int]:
    if isinstance(event, TopicObserved):
        for seen in event.partitions:
            yield from (seen.earliest or 0, seen.end or 0, seen.stable or 0)
    elif isinstance(event, OffsetsListed | GroupObserved):
        for each in event.offsets:
            yield each.offset
    elif isinstance(event, ShareGroupRead):
        for share in event.offsets:
            yield from (share.start_offset or 0, share.lag or 0)


def _transaction_numbers(event: OffsetsListed) -> Iterator[tuple[int, int]]:
    for pending in event.pending:
        yield pending.log_partition, MOST_PARTITIONS
        yield pending.start_offset, MOST_OFFSET + 1
        yield pending.producer_id, _LIMIT
        yield pending.producer_epoch, _NUMBER_LIMIT
        yield pending.timeout_ms or 0, _LIMIT


def _sample_numbers(event: RebalanceSampled) -> Iterator[tuple[int, int]]:
    """No span of time reaches back beyond 1970."""
    yield event.interval_ms or 0, event.since_ms + 1
    yield event.gap_ms or 0, event.sampled_ms + 1
    yield event.took_ms, event.sampled_ms + 1
    yield event.broker or 0, _NUMBER_LIMIT


def _member_numbers(member: Member) -> Iterator[tuple[int, int]]:
    yield member.generation + 1, _NUMBER_LIMIT  # -1: its client sends none
    yield member.session_timeout_ms + 1, _NUMBER_LIMIT
    yield member.rebalance_timeout_ms + 1, _NUMBER_LIMIT  # -1: a member of KIP-848 that has not told it
    yield member.connections, _NUMBER_LIMIT
    if member.reconciliation is not None:
        yield member.reconciliation.epoch - STATIC_LEAVE_EPOCH, _NUMBER_LIMIT
        yield member.reconciliation.previous_epoch + 2, _NUMBER_LIMIT
    if member.streams is not None:
        yield from _notice_numbers(member.streams)
    if member.streams_client is not None:
        yield from _client_numbers(member.streams_client)
    if member.connect is not None:
        yield from _worker_numbers(member.connect)


def _notice_numbers(notice: StreamsNotice) -> Iterator[tuple[int, int]]:
    yield notice.version, _NUMBER_LIMIT
    yield notice.error, _NUMBER_LIMIT
    yield notice.next_rebalance_ms or 0, _LIMIT  # a time that is to come
    for task in (*notice.active, *notice.standby):
        yield from _task_numbers(task)


def _client_numbers(client: StreamsClient) -> Iterator[tuple[int, int]]:
    yield client.version or 0, _NUMBER_LIMIT
    yield client.error, _NUMBER_LIMIT
    yield client.topology_epoch or 0, _NUMBER_LIMIT
    for entry in client.offset_sums:
        yield from _task_numbers(entry.task)
        yield entry.offset_sum - UNKNOWN_SUM, _LIMIT - UNKNOWN_SUM


def _task_numbers(task: StreamsTask) -> Iterator[tuple[int, int]]:
    yield task.subtopology, _NUMBER_LIMIT
    yield task.partition, _NUMBER_LIMIT


def _worker_numbers(worker: ConnectWorker) -> Iterator[tuple[int, int]]:
    yield worker.version, _NUMBER_LIMIT
    yield worker.config_offset + 1, MOST_OFFSET + 2  # -1: it has read nothing
    work = worker.allocation or ()
    if (given := worker.assignment) is not None:
        yield given.config_offset + 1, MOST_OFFSET + 2
        yield given.error, _NUMBER_LIMIT
        yield given.delay_ms, _NUMBER_LIMIT
        work = (*work, *given.assigned, *given.revoked)
    for entry in work:
        for task in entry.tasks:
            yield task - THE_CONNECTOR, _NUMBER_LIMIT


def _partitions(event: CollectedEvent) -> Iterator[PartitionId]:
    """Every partition that the event names."""
    if isinstance(event, TopicObserved | OffsetsListed | GroupObserved | ShareGroupRead):
        places = event.partitions if isinstance(event, TopicObserved) else event.offsets
        for place in places:
            yield place.partition
    if isinstance(event, OffsetsListed):
        for pending in event.pending:
            for sent in pending.partitions:
                yield from sent.partitions
    if isinstance(event, GroupObserved):
        for member in event.members:
            for entry in _partition_sets(member):
                yield from entry.partitions


def _partition_sets(member: Member) -> Iterator[TopicPartitions | IdPartitions]:
    yield from member.assigned
    yield from member.owned
    yield from member.copies or ()
    if member.reconciliation is not None:
        yield from _reconciled_partitions(member.reconciliation)


def _reconciled_partitions(reconciliation: Reconciliation) -> Iterator[IdPartitions]:
    yield from reconciliation.assigned
    yield from reconciliation.revoking
    yield from reconciliation.target or ()
    for spare in (reconciliation.spare, reconciliation.spare_revoking, reconciliation.spare_target):
        if spare is not None:
            yield from (*spare.standby, *spare.warmup)
