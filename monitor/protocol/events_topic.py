"""The values of the topic ``groupwatch.events``: what the collectors saw, as JSON that console tools can show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from monitor.model import (
    CollectedEvent,
    GroupKind,
    GroupObserved,
    GroupsListed,
    IdPartitions,
    Member,
    OffsetsListed,
    PartitionId,
    PassCompleted,
    RebalanceSampled,
    Reconciliation,
    TopicObserved,
    TopicPartitions,
)
from monitor.protocol.errors import DecodeError
from monitor.protocol.json_value import decoded_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[CollectedEvent]] = msgspec.json.Decoder(
    TopicObserved | PassCompleted | OffsetsListed | RebalanceSampled | GroupObserved | GroupsListed
)
EVENTS_VERSION: Final = 1
"""The newest version of the events that is understood (docs/events.md)."""

_PARTITION_LIMIT: Final = 1 << 31
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
    event = _decoded(data)
    if event.version > EVENTS_VERSION:
        raise DecodeError("newer_version", 0)
    if event.version < 1 or not all(0 <= number < limit for number, limit in _numbers(event)):
        raise DecodeError("bad_event", 0)
    return event


WITH_TEXT: Final = frozenset({GroupKind.ROCKETMQ, GroupKind.METAQ})
"""The kinds of groups whose partitions are texts."""


def require_partitions(event: CollectedEvent, *, text: bool) -> None:
    """Make sure that every partition is a text, or every one a number: of a mixture nobody could tell the order.

    A group has to be of a kind that has such partitions.

    Raises:
        DecodeError: one is not.
    """
    wanted = str if text else int
    fits = not isinstance(event, GroupObserved) or (event.kind in WITH_TEXT) is text
    if not fits or not all(type(partition) is wanted for partition in _partitions(event)):
        raise DecodeError("bad_event", 0)


def cluster_named(data: bytes | None) -> str | None:
    """The cluster that an event is of, also where the rest of it cannot be read; None: not even that can."""
    try:
        return None if data is None else _OF_A_CLUSTER.decode(data).cluster
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class _Versioned(msgspec.Struct):
    version: int = 1


class _OfACluster(msgspec.Struct):
    cluster: str


_VERSIONED: Final = msgspec.json.Decoder(_Versioned)
_OF_A_CLUSTER: Final = msgspec.json.Decoder(_OfACluster)


def _decoded(data: bytes) -> CollectedEvent:
    """The event; one that cannot be read because it is of a newer version is told as that."""
    try:
        return decoded_json(_DECODER, data)
    except DecodeError as error:
        if error.reason == "bad_event" and _version(data) > EVENTS_VERSION:
            raise DecodeError("newer_version", 0) from error
        raise


def _version(data: bytes) -> int:
    """The version that it names; 0: none. What was refused as an event may end in the middle, or be anything."""
    try:
        return _VERSIONED.decode(data).version
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 0


def _numbers(event: CollectedEvent) -> Iterator[tuple[int, int]]:
    """Every number of the event with the limit below which it must stay (JSON has no largest integer)."""
    for partition in _partitions(event):
        if isinstance(partition, int):
            yield partition, _PARTITION_LIMIT
    if isinstance(event, OffsetsListed):
        yield event.asked_ms, _LIMIT
        for listed in event.offsets:
            yield listed.offset, _LIMIT
    elif isinstance(event, RebalanceSampled):
        yield event.since_ms, _LIMIT
        yield event.sampled_ms, _LIMIT
        yield event.interval_ms or 0, _LIMIT
        yield event.seen_ms or 0, _LIMIT
        yield event.gap_ms or 0, _LIMIT
        yield event.took_ms, _LIMIT
        yield event.broker or 0, _PARTITION_LIMIT
    elif isinstance(event, GroupObserved):
        yield from _of_group(event)
    else:
        yield event.pass_ms, _LIMIT
        yield from _of_pass(event)


def _of_pass(event: PassCompleted | GroupsListed | TopicObserved) -> Iterator[tuple[int, int]]:
    if isinstance(event, PassCompleted):
        yield event.completed_ms, _LIMIT
        yield event.topics, _LIMIT
        return
    if isinstance(event, GroupsListed):
        yield event.completed_ms, _LIMIT
        return
    yield event.observed_ms, _LIMIT
    for seen in event.partitions:
        yield seen.earliest or 0, _LIMIT
        yield seen.end or 0, _LIMIT
        yield seen.stable or 0, _LIMIT


def _of_group(event: GroupObserved) -> Iterator[tuple[int, int]]:
    yield event.pass_ms, _LIMIT
    yield event.observed_ms, _LIMIT
    yield event.generation or 0, _LIMIT
    yield event.target_epoch or 0, _LIMIT
    for offset in event.offsets:
        yield offset.offset, _LIMIT
        yield offset.committed_ms or 0, _LIMIT
    for member in event.members:
        yield from _of_member(member)


def _of_member(member: Member) -> Iterator[tuple[int, int]]:
    yield member.generation + 1, _LIMIT  # -1: its client sends none
    yield member.session_timeout_ms + 1, _PARTITION_LIMIT
    yield member.rebalance_timeout_ms + 1, _PARTITION_LIMIT  # -1: a member of KIP-848 that has not told it
    yield member.connections, _PARTITION_LIMIT
    standing = member.reconciliation
    if standing is not None:
        yield standing.epoch + 2, _PARTITION_LIMIT  # -2: a static member that may come back
        yield standing.previous_epoch + 2, _PARTITION_LIMIT
        yield standing.since_ms, _LIMIT


def _partitions(event: CollectedEvent) -> Iterator[PartitionId]:
    """Every partition that the event names."""
    if isinstance(event, TopicObserved | OffsetsListed | GroupObserved):
        places = event.partitions if isinstance(event, TopicObserved) else event.offsets
        for place in places:
            yield place.partition
    if isinstance(event, GroupObserved):
        for member in event.members:
            for entry in _held(member):
                yield from entry.partitions


def _held(member: Member) -> Iterator[TopicPartitions | IdPartitions]:
    yield from member.assigned
    yield from member.owned
    if member.reconciliation is not None:
        yield from _reconciled(member.reconciliation)


def _reconciled(standing: Reconciliation) -> Iterator[IdPartitions]:
    yield from standing.assigned
    yield from standing.revoking
    yield from standing.target or ()
