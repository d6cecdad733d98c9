"""The values of the topic ``groupwatch.events``: what the collectors saw, as JSON that console tools can show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from monitor.model import (
    CollectedEvent,
    GroupObserved,
    GroupsListed,
    OffsetsListed,
    PartitionId,
    PassCompleted,
    RebalanceSampled,
    TopicObserved,
)
from monitor.protocol.errors import DecodeError
from monitor.protocol.json_value import decoded_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final[msgspec.json.Decoder[CollectedEvent]] = msgspec.json.Decoder(
    TopicObserved | PassCompleted | OffsetsListed | RebalanceSampled | GroupObserved | GroupsListed
)
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
        DecodeError: No value, no JSON, or no event whose numbers are in range. The position is always 0; the cause
            tells more.
    """
    if data is None:
        raise DecodeError("null_value", 0)
    event = decoded_json(_DECODER, data)
    if not all(0 <= number < limit for number, limit in _numbers(event)):
        raise DecodeError("bad_event", 0)
    return event


def _numbers(event: CollectedEvent) -> Iterator[tuple[int, int]]:
    """Every number of the event with the limit below which it must stay (JSON has no largest integer)."""
    if isinstance(event, OffsetsListed):
        yield event.asked_ms, _LIMIT
        for listed in event.offsets:
            yield from _of_partition(listed.partition)
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
        yield from _of_partition(seen.partition)
        yield seen.earliest or 0, _LIMIT
        yield seen.end or 0, _LIMIT
        yield seen.stable or 0, _LIMIT


def _of_group(event: GroupObserved) -> Iterator[tuple[int, int]]:
    yield event.pass_ms, _LIMIT
    yield event.observed_ms, _LIMIT
    yield event.generation or 0, _LIMIT
    yield event.target_epoch or 0, _LIMIT
    for offset in event.offsets:
        yield from _of_partition(offset.partition)
        yield offset.offset, _LIMIT
        yield offset.committed_ms or 0, _LIMIT
    for member in event.members:
        yield member.connections, _PARTITION_LIMIT
        for entry in (*member.assigned, *member.owned):
            for partition in entry.partitions:
                yield from _of_partition(partition)


def _of_partition(partition: PartitionId) -> Iterator[tuple[int, int]]:
    if isinstance(partition, int):
        yield partition, _PARTITION_LIMIT
