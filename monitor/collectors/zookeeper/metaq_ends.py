"""The end offsets of MetaQ's partitions, by the text protocol of its brokers: one short connection to each master."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from monitor.collectors.zookeeper.base import Ends, PartitionEnds
from monitor.model import TopicPartition, Value
from monitor.protocol.metaq_text import (
    OK,
    Head,
    PartitionOffsets,
    decode_head,
    decode_offsets,
    stats_offsets_request,
)
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.zookeeper.groups import SeenBroker, SeenTree

RESPONSE_LIMIT_S: Final = 3.0
"""For one broker, from the connection to the last byte."""

MAX_PARALLEL: Final = 16
"""So many brokers are queried at a time."""

_OPAQUE: Final = 16
_NEVER_WRITTEN: Final = PartitionEnds(earliest=0, end=0)


class BrokerFailed(Exception):  # noqa: N818 - it reads as what happened
    """A broker gave no usable answer; the text is the end of a sentence."""


class _BrokerResponse(Value):
    """What came of asking one broker; ``failure`` None: it answered."""

    broker: SeenBroker
    offsets: tuple[PartitionOffsets, ...] = ()
    failure: str | None = None


class MetaQEnds:
    """Asks every master that is there. What a broker does not say leaves its partitions without ends."""

    def of(self, seen: SeenTree) -> Ends:
        """The first and the next byte of every partition.

        A broker names only partitions that were ever written, so what it leaves out is empty.
        """
        with ThreadPoolExecutor(MAX_PARALLEL, thread_name_prefix="metaq-ends") as pool:
            answers = list(pool.map(_request_offsets, seen.brokers))
        told = {answer.broker.broker: _ends_by_partition(answer) for answer in answers if answer.failure is None}
        ends = {}
        for topic in seen.topics:
            for partition in topic.partitions:
                place = TopicPartition(topic.topic, partition)
                broker = str(partition).partition("-")[0]
                if broker in told:
                    ends[place] = told[broker].get(place, _NEVER_WRITTEN)
        return Ends(ends=ends, problems=(*_failures(answers), *_without_master(seen)))

    def close(self) -> None:
        """Nothing stays open."""


def broker_offsets(address: str, limit_s: float = RESPONSE_LIMIT_S) -> tuple[PartitionOffsets, ...]:
    """What one broker says of all its partitions.

    Args:
        address: ``host:port``.
        limit_s: seconds from the connection to the last byte.

    Raises:
        BrokerFailed: it gave no usable answer.
    """
    deadline_s = time.monotonic() + limit_s
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=limit_s) as connection:
            connection.sendall(stats_offsets_request(_OPAQUE))
            return _receive(connection, deadline_s)
    except TimeoutError:
        raise BrokerFailed(f"did not answer within {limit_s:g} s") from None
    except (OSError, OverflowError, UnicodeError) as error:  # the last: a name that no name server could know
        raise BrokerFailed(f"cannot be reached ({getattr(error, 'strerror', None) or error})") from None
    except DecodeError as error:
        raise BrokerFailed(f"gave a response that cannot be decoded ({error})") from None


def _receive(connection: socket.socket, deadline_s: float) -> tuple[PartitionOffsets, ...]:
    data = bytearray()
    head: Head | None = None
    while head is None or len(data) < head.size + head.length:
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection.settimeout(left_s)
        chunk = connection.recv(1 << 16)
        if not chunk:
            raise BrokerFailed("closed the connection within its response")
        data += chunk
        head = decode_head(bytes(data[:256])) if head is None else head
    if head.status != OK or head.opaque != _OPAQUE:
        raise BrokerFailed(f"refused the request (status {head.status})")
    return decode_offsets(bytes(data[head.size : head.size + head.length]))


def _request_offsets(broker: SeenBroker) -> _BrokerResponse:
    try:
        return _BrokerResponse(broker=broker, offsets=broker_offsets(broker.address, RESPONSE_LIMIT_S))
    except BrokerFailed as failure:
        return _BrokerResponse(broker=broker, failure=str(failure))


def _ends_by_partition(answer: _BrokerResponse) -> dict[TopicPartition, PartitionEnds]:
    broker = answer.broker.broker
    return {
        TopicPartition(each.topic, f"{broker}-{each.partition}"): PartitionEnds(earliest=each.earliest, end=each.end)
        for each in answer.offsets
    }


def _failures(answers: Iterable[_BrokerResponse]) -> list[str]:
    return [
        f"Broker {answer.broker.broker} at {answer.broker.address} {answer.failure}: the ends of its partitions are"
        " not known."
        for answer in answers
        if answer.failure is not None
    ]


def _without_master(seen: SeenTree) -> list[str]:
    """Brokers that offer topics, as their slaves go on doing, and have no master to ask."""
    offering = {str(partition).partition("-")[0] for topic in seen.topics for partition in topic.partitions}
    missing = sorted(offering - {broker.broker for broker in seen.brokers})
    return [f"Broker {broker} has no master: the end offsets of its partitions are unknown." for broker in missing]
