"""Mutated records of share state, Kafka Streams and Connect, and what each must give: a value or a typed error."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from monitor.kinds.share import share_progress
from monitor.model import ShareGroupState
from monitor.protocol.kafka.connect_configs import decode_connect_config
from monitor.protocol.kafka.connect_protocol import connect_worker, read_connect_assignment, read_connect_metadata
from monitor.protocol.kafka.connect_status import read_status
from monitor.protocol.kafka.consumer_protocol import read_assignment, read_subscription
from monitor.protocol.kafka.records import read_record
from monitor.protocol.kafka.records.classic import GroupMetadataValue
from monitor.protocol.kafka.share_state import decode_share_state
from monitor.protocol.kafka.streams_user_data import (
    read_assignment_info,
    read_subscription_info,
    streams_client,
    streams_notice,
)
from monitor.protocol.offsets_topic import decode_record
from monitor.protocol.offsets_topic.logs import LogNames
from monitor.protocol.offsets_topic.topic_record import topic_record_json
from monitor.tracking.share.partitions import ShareDraft
from tests.protocol.mutations import mutated
from tests.support.kind_captures import key_of, records, value_of


@dataclass(frozen=True, slots=True)
class Mutant:
    """Bytes of one format: a record's topic with key and value, or the bytes inside a member (``key`` empty)."""

    topic: str
    key: bytes
    value: bytes | None


MEMBER_FORMATS = ("streams subscription", "streams assignment", "connect metadata", "connect assignment")


def captured() -> list[Mutant]:
    """The captured records, and what is inside the members of Streams and Connect groups."""
    whole = [
        Mutant(record["topic"], key_of(record), value_of(record))
        for record in records()
        if "control" not in record and LogNames().log_of(record["topic"]) is not None
    ]
    return whole + [part for record in whole for part in _members(record)]


def mutants(count: int, seed: int) -> Iterator[Mutant]:
    """That many mutated ones; every format is met about equally often."""
    source = random.Random(seed)
    by_format: dict[tuple[str, bytes], list[Mutant]] = {}
    for each in captured():
        kind = each.key[:2] if each.topic.startswith("__") else each.key[:4]
        by_format.setdefault((each.topic.rpartition("-")[2], kind), []).append(each)
    pools = list(by_format.values())
    for _ in range(count):
        pool = source.choice(pools)
        chosen, other = source.choice(pool), source.choice(source.choice(pools))
        key, value = chosen.key, chosen.value
        if key and source.random() < 0.2:
            key = mutated(source, key, other.key)
        if value is not None:
            value = mutated(source, value, other.value or b"")
        yield Mutant(chosen.topic, key, value)


def read_mutant(mutant: Mutant) -> str:
    """Read it in every way that there is; "value", or raises DecodeError. Any other exception is a defect."""
    if mutant.topic in MEMBER_FORMATS:
        _READ_MEMBER[mutant.topic](mutant.value or b"")
        return "value"
    log = LogNames().log_of(mutant.topic)
    assert log is not None
    topic_record_json(log, mutant.key, mutant.value)  # raises DecodeError like what is below, or is JSON
    if mutant.topic == "__consumer_offsets":
        decode_record(mutant.key, mutant.value, 0)
    elif mutant.topic == "__share_group_state":
        _fold(mutant)
    elif mutant.topic.endswith("-configs"):
        decode_connect_config(mutant.key, mutant.value)
    else:
        read_status(mutant.key.decode("utf-8", "replace"), mutant.value)
    return "value"


def _fold(mutant: Mutant) -> None:
    """A state that can be read can be folded, and tells how far the group is."""
    event = decode_share_state(mutant.key, mutant.value, 5)
    draft = ShareDraft(None)
    draft.apply(event)
    draft.apply(event)
    for partition in (draft.freeze() or ShareGroupState()).partitions:
        progress = share_progress(partition, 100, 10)
        assert progress.lag is None or progress.lag >= 0


def _read_streams_subscription(data: bytes) -> None:
    streams_client(data)  # never raises
    read_subscription_info(data)


def _read_streams_assignment(data: bytes) -> None:
    streams_notice(data)  # never raises
    read_assignment_info(data)
    read_assignment_info(data, with_hosts=True)


def _read_connect_metadata(data: bytes) -> None:
    connect_worker(data, b"", "sessioned")  # never raises
    read_connect_metadata(data, incremental=False)
    read_connect_metadata(data, incremental=True)


def _read_connect_assignment(data: bytes) -> None:
    connect_worker(_SOME_METADATA, data, "sessioned")  # never raises
    read_connect_assignment(data, incremental=True)
    read_connect_assignment(data, incremental=False)


_SOME_METADATA = bytes.fromhex("0001 0001 75 0000000000000000")

_READ_MEMBER: dict[str, Callable[[bytes], None]] = {
    "streams subscription": _read_streams_subscription,
    "streams assignment": _read_streams_assignment,
    "connect metadata": _read_connect_metadata,
    "connect assignment": _read_connect_assignment,
}


def _members(record: Mutant) -> Iterator[Mutant]:
    if record.topic != "__consumer_offsets" or record.key[:2] != b"\0\2" or record.value is None:
        return
    value = read_record(record.key, record.value).value
    assert isinstance(value, GroupMetadataValue)
    for member in value.members:
        if value.protocol == "stream":
            yield Mutant("streams subscription", b"", read_subscription(member.subscription).message.user_data)
            yield Mutant("streams assignment", b"", read_assignment(member.assignment).message.user_data)
        elif value.protocol_type == "connect":
            yield Mutant("connect metadata", b"", member.subscription)
            yield Mutant("connect assignment", b"", member.assignment)
