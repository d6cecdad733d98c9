"""Bodies of RocketMQ's answers, as values. What we do not need of them is passed over, whatever a version adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

import msgspec

from monitor.model import TopicExpression, Value
from monitor.model.expressions import ALL_RECORDS
from monitor.protocol.rocketmq.json import decode_json
from monitor.protocol.wire.errors import DecodeError

MAX_QUEUES: Final = 65_536
"""Queues of a topic at one broker; a broker that speaks of more is not believed."""

MASTER: Final = "0"
"""The id of a broker that takes writes; others are its slaves."""

READABLE: Final = 4
WRITABLE: Final = 2
"""The bits of a topic's permission at a broker that let it be read and written (PermName)."""

POP: Final = "POP"

_QueueId = Annotated[int, msgspec.Meta(ge=-1, le=MAX_QUEUES)]
_QueueCount = Annotated[int, msgspec.Meta(ge=0, le=MAX_QUEUES)]
_Long = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Wire = TypeVar("Wire")
Entry = TypeVar("Entry")


# --- what the answers tell --------------------------------------------------------------------------------------------


class Queue(Value, order=True):
    """A queue of a topic: it is at one broker, whose queues of that topic are numbered. -1: all of them (POP)."""

    topic: str
    broker: str
    number: int


class BrokerAddress(Value):
    """Where to ask a broker: ``host:port`` of its master, or of its first slave if there is no master."""

    broker: str
    address: str
    is_master: bool = True


class RouteQueues(Value):
    """A topic's queues at one broker, numbered from 0: how many consumers may read, and producers write."""

    broker: str
    readable: int
    writable: int = 0


class Connection(Value):
    """A consumer's connection to a broker. ``address`` is ``host:port`` of the client."""

    client_id: str
    address: str = ""
    language: str = ""
    version: int | None = None


class GroupConnections(Value):
    """A group's connections to one broker; topics and modes are those of its newest heartbeat there.

    ``topics`` are sorted. ``is_broadcasting``: every member reads every queue.
    """

    connections: tuple[Connection, ...] = ()
    topics: tuple[str, ...] = ()
    is_broadcasting: bool = False
    consume_type: str = ""


class RunningInfo(Value):
    """What a member says of itself: ``topics`` it subscribes to (sorted), queues it holds and pops from (sorted).

    ``expressions`` are of the topics of which it does not want all records. ``in_flight`` are the records that it has
    taken by POP and not acknowledged; None: it reads no topic by POP.

    ``properties`` are those of the consumer, by their Java names.
    """

    topics: tuple[str, ...] = ()
    expressions: tuple[TopicExpression, ...] = ()
    held: tuple[Queue, ...] = ()
    popped: tuple[Queue, ...] = ()
    in_flight: int | None = None
    properties: Mapping[str, str] = {}


class QueueRange(Value):
    """The first offset that a queue still has and the one that its next record gets.

    ``updated_ms`` is when its newest record was stored, by the broker's clock; 0: it has none.
    """

    queue: Queue
    earliest: int
    end: int
    updated_ms: int = 0


class CommittedOffset(Value):
    """An offset that a broker keeps for a group, of one of its own queues."""

    group: str
    topic: str
    number: int
    offset: int


class RequestMode(Value):
    """How a group is to read a topic (``POP`` or ``PULL``), if its members leave that to the broker."""

    group: str
    topic: str
    mode: str


# --- what they look like ----------------------------------------------------------------------------------------------


class _Camel(msgspec.Struct, rename="camel"):
    pass


class _QueueKey(_Camel):
    topic: str
    broker_name: str
    queue_id: _QueueId


_Table = list[tuple[_QueueKey, Entry]] | dict[str, Entry]
"""A map by queues. The other form is that of an empty one."""


class _BrokerData(_Camel):
    broker_name: str
    broker_addrs: dict[str, str] = {}


class _QueueData(_Camel):
    broker_name: str
    read_queue_nums: _QueueCount
    perm: int
    write_queue_nums: _QueueCount = 0


class _Route(_Camel):
    queue_datas: list[_QueueData] = []


class _ClusterInfo(_Camel):
    broker_addr_table: dict[str, _BrokerData] = {}


class _Groups(_Camel):
    subscription_group_table: dict[str, object] = {}


class _Connection(_Camel):
    client_id: str
    client_addr: str | None = None
    language: str | None = None
    version: _Long | None = None


class _Subscription(_Camel):
    topic: str
    sub_string: str | None = None
    tags_set: list[str] | None = None
    expression_type: str | None = None


class _Connections(_Camel):
    connection_set: list[_Connection] = []
    subscription_table: dict[str, _Subscription] = {}
    message_model: str | None = None
    consume_type: str | None = None


class _HeldQueue(_Camel):
    droped: bool = False  # as RocketMQ spells it
    wait_ack_count: _Long = 0


class _RunningInfo(_Camel):
    properties: dict[str, object] = {}
    subscription_set: list[_Subscription] = []
    mq_table: _Table[_HeldQueue] = {}
    mq_pop_table: _Table[_HeldQueue] = {}


class _TopicOffset(_Camel):
    min_offset: _Long
    max_offset: _Long
    last_update_timestamp: _Long = 0


class _TopicStats(_Camel):
    offset_table: _Table[_TopicOffset] = {}


class _Offsets(_Camel):
    offset_table: dict[str, dict[_QueueId, _Long]] = {}


class _Mode(_Camel):
    mode: str


class _Modes(_Camel):
    message_request_mode_map: dict[str, dict[str, _Mode]] = {}


# --- from the one to the other ----------------------------------------------------------------------------------------


def brokers_in(body: bytes) -> tuple[BrokerAddress, ...]:
    """106: where to ask each broker, by name; those without any address are left out."""
    brokers = sorted(_read(body, _ClusterInfo).broker_addr_table.items())
    return tuple(_address(name, data.broker_addrs) for name, data in brokers if data.broker_addrs)


def route_in(body: bytes) -> tuple[RouteQueues, ...]:
    """105: a topic's queues, broker by broker, sorted by the broker's name."""
    queues = _read(body, _Route).queue_datas
    found = [
        RouteQueues(
            broker=each.broker_name,
            readable=each.read_queue_nums if each.perm & READABLE else 0,
            writable=each.write_queue_nums if each.perm & WRITABLE else 0,
        )
        for each in queues
    ]
    return tuple(sorted(found, key=lambda each: each.broker))


def groups_in(body: bytes) -> tuple[str, ...]:
    """201: the names of the configured groups, sorted."""
    return tuple(sorted(_read(body, _Groups).subscription_group_table))


def connections_in(body: bytes) -> GroupConnections:
    """203: a group's connections, by client id and address."""
    found = _read(body, _Connections)
    connections = [
        Connection(client_id=c.client_id, address=c.client_addr or "", language=c.language or "", version=c.version)
        for c in found.connection_set
    ]
    return GroupConnections(
        connections=tuple(sorted(connections, key=lambda each: (each.client_id, each.address))),
        topics=tuple(sorted(found.subscription_table)),
        is_broadcasting=found.message_model == "BROADCASTING",
        consume_type=found.consume_type or "",
    )


def running_info_in(body: bytes) -> RunningInfo:
    """307: what a member says of itself."""
    found = _read(body, _RunningInfo)
    return RunningInfo(
        topics=tuple(sorted({each.topic for each in found.subscription_set})),
        expressions=_expressions(found.subscription_set),
        held=_held_queues(found.mq_table),
        popped=_held_queues(found.mq_pop_table),
        in_flight=_in_flight(found.mq_pop_table),
        properties={name: value for name, value in found.properties.items() if isinstance(value, str)},
    )


def _expressions(subscriptions: list[_Subscription]) -> tuple[TopicExpression, ...]:
    """The expressions by topic. Tags are a set, so their order is none of the client's; ``*`` selects everything."""
    named = {each.topic: _expression(each) for each in subscriptions}
    return tuple(TopicExpression(topic, text) for topic, text in sorted(named.items()) if text not in ("", ALL_RECORDS))


def _expression(subscription: _Subscription) -> str:
    text = (subscription.sub_string or "").strip()
    if subscription.expression_type not in (None, "", "TAG"):
        return f"{subscription.expression_type}: {text}"
    return " || ".join(sorted(set(subscription.tags_set or ()))) or text


def topic_stats_in(body: bytes) -> tuple[QueueRange, ...]:
    """202: the range of each queue of a topic at one broker, sorted by queue."""
    ranges = [
        QueueRange(
            queue=_queue(key),
            earliest=max(found.min_offset, 0),
            end=max(found.max_offset, 0),
            updated_ms=max(found.last_update_timestamp, 0),
        )
        for key, found in _entries(_read(body, _TopicStats).offset_table)
    ]
    return tuple(sorted(ranges, key=lambda each: each.queue))


def offsets_in(body: bytes) -> tuple[CommittedOffset, ...]:
    """43: all offsets that a broker keeps, by group, topic and queue. Neither name may hold the ``@`` between them."""
    offsets = [
        CommittedOffset(group=group, topic=topic, number=number, offset=offset)
        for key, table in _read(body, _Offsets).offset_table.items()
        for topic, at, group in [key.rpartition("@")]
        if at
        for number, offset in table.items()
        if offset >= 0
    ]
    return tuple(sorted(offsets, key=lambda each: (each.group, each.topic, each.number)))


def request_modes_in(body: bytes) -> tuple[RequestMode, ...]:
    """402: how groups are to read topics, by topic and group; what is not named is pulled."""
    topics = sorted(_read(body, _Modes).message_request_mode_map.items())
    return tuple(
        RequestMode(group=group, topic=topic, mode=each.mode)
        for topic, groups in topics
        for group, each in sorted(groups.items())
    )


def _read(body: bytes, wire: type[Wire]) -> Wire:
    try:
        return msgspec.convert(decode_json(body), wire, str_keys=True)
    except (msgspec.ValidationError, RecursionError) as broken:
        raise DecodeError("bad_event", 0, "body") from broken


def _address(name: str, addresses: Mapping[str, str]) -> BrokerAddress:
    first = min(addresses, key=lambda number: (len(number), number))
    return BrokerAddress(broker=name, address=addresses[first], is_master=first == MASTER)


def _entries(table: list[tuple[_QueueKey, Entry]] | dict[str, Entry]) -> list[tuple[_QueueKey, Entry]]:
    """The entries of a map by queues; a text cannot be a queue."""
    if isinstance(table, list):
        return table
    if table:
        raise DecodeError("bad_event", 0, "body")
    return []


def _in_flight(table: list[tuple[_QueueKey, _HeldQueue]] | dict[str, _HeldQueue]) -> int | None:
    counts = [max(held.wait_ack_count, 0) for _, held in _entries(table)]
    return sum(counts) if counts else None


def _held_queues(table: list[tuple[_QueueKey, _HeldQueue]] | dict[str, _HeldQueue]) -> tuple[Queue, ...]:
    """A queue that is dropped has been taken away; only what was fetched of it before may still be under way."""
    return tuple(sorted(_queue(key) for key, each in _entries(table) if not each.droped))


def _queue(key: _QueueKey) -> Queue:
    return Queue(topic=key.topic, broker=key.broker_name, number=key.queue_id)


# Brokers are read by several threads. msgspec looks at a type when it first reads one, and ends the process if two
# threads do so at once (seen with 0.22: 7 of 25 starts with eight threads). So it looks at all of them here.
for _body in (_Route, _ClusterInfo, _Groups, _Connections, _RunningInfo, _TopicStats, _Offsets, _Modes):
    msgspec.json.Decoder(_body)
