"""The requests of a poll to RocketMQ's brokers and name servers, and their responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from monitor.collectors.errors import ConnectionFailed, PermissionMissing
from monitor.collectors.rocketmq.connection import RocketMQConnection
from monitor.model import Value
from monitor.protocol.rocketmq import requests
from monitor.protocol.rocketmq.frame import Frame
from monitor.protocol.rocketmq.requests import RefusalCode, Request, RequestCode
from monitor.protocol.rocketmq.responses import (
    BrokerAddress,
    CommittedOffset,
    GroupConnections,
    QueueRange,
    RequestMode,
    RouteQueues,
    brokers_in,
    connections_in,
    groups_in,
    offsets_in,
    request_modes_in,
    route_in,
    topic_stats_in,
)
from monitor.protocol.wire.errors import DecodeError

Decoded = TypeVar("Decoded")

_ACL_4: Final = "AclException"
"""The text with which 4.9 denies access; the code is that of any error."""

_NO_MEMBERS: Final = RefusalCode.CONSUMER_NOT_ONLINE
_NO_TOPIC: Final = RefusalCode.TOPIC_NOT_EXIST
_NOT_IN_4: Final = RefusalCode.NOT_SUPPORTED


class Survey(Value):
    """What a broker knows of the requested groups: which clients are connected, and which topics they consume by POP.

    ``groups`` are those that are configured there, live or not; ``live`` the ones with connections.
    """

    groups: tuple[str, ...]
    live: Mapping[str, GroupConnections]
    modes: tuple[RequestMode, ...]


def brokers(server: RocketMQConnection) -> tuple[BrokerAddress, ...]:
    """All brokers that a name server knows. Raises like ``survey``."""
    return _request_one(server, requests.cluster_info(), brokers_in)


def routes(server: RocketMQConnection, topics: Sequence[str]) -> dict[str, tuple[RouteQueues, ...]]:
    """The queues of the topics that a name server knows, by topic. Raises like ``survey``."""
    answers = _request_many(server, [requests.route(topic) for topic in topics], route_in, _NO_TOPIC)
    return {topic: answer for topic, answer in zip(topics, answers, strict=True) if answer is not None}


def survey(broker: RocketMQConnection, is_watched: Callable[[str], bool]) -> Survey:
    """What a broker knows of the watched groups.

    Raises:
        ConnectionFailed: it does not answer, or not so that it could be understood.
        PermissionMissing: it does not let us ask.
    """
    groups = tuple(
        group for group in _request_one(broker, requests.subscription_groups(), groups_in) if is_watched(group)
    )
    modes = _request_many(broker, [requests.request_modes()], request_modes_in, _NOT_IN_4)[0]
    return Survey(groups=groups, live=connections(broker, groups), modes=modes or ())


def connections(broker: RocketMQConnection, groups: Sequence[str]) -> dict[str, GroupConnections]:
    """The connections of the groups that have any. Raises like ``survey``."""
    answers = _request_many(broker, [requests.connections(group) for group in groups], connections_in, _NO_MEMBERS)
    return {group: answer for group, answer in zip(groups, answers, strict=True) if answer and answer.connections}


def offsets(broker: RocketMQConnection) -> tuple[CommittedOffset, ...]:
    """All offsets that a broker keeps. Raises like ``survey``."""
    return _request_one(broker, requests.all_offsets(), offsets_in)


def ranges(broker: RocketMQConnection, topics: Sequence[str]) -> list[QueueRange]:
    """The first and the end offsets of a broker's queues of these topics. Raises like ``survey``."""
    answers = _request_many(broker, [requests.topic_stats(topic) for topic in topics], topic_stats_in, _NO_TOPIC)
    return [each for answer in answers if answer is not None for each in answer]


def ranges_if_allowed(broker: RocketMQConnection, topics: Sequence[str]) -> list[QueueRange] | None:
    """As ``ranges``, of topics without which the rest is known; None: the broker refuses one of the requests.

    With ACL, a retry topic belongs to its group, so a user may see the topics of a cluster and not these.
    """
    answers = broker.ask([requests.topic_stats(topic) for topic in topics])
    if any(answer.code not in (0, _NO_TOPIC) for answer in answers):
        return None
    try:
        return [each for answer in answers if not answer.code for each in topic_stats_in(answer.body)]
    except DecodeError:
        return None


def _request_one(connection: RocketMQConnection, request: Request, decode: Callable[[bytes], Decoded]) -> Decoded:
    return _decode_response(connection, request, connection.ask([request])[0], decode)


def _request_many(
    connection: RocketMQConnection, wanted: Sequence[Request], decode: Callable[[bytes], Decoded], absent: RefusalCode
) -> list[Decoded | None]:
    """The answers to the requests; None for one that was refused with a code that says that there is no such thing."""
    return [
        None if answer.code == absent else _decode_response(connection, request, answer, decode)
        for request, answer in zip(wanted, connection.ask(wanted), strict=True)
    ]


def _decode_response(
    connection: RocketMQConnection, request: Request, answer: Frame, decode: Callable[[bytes], Decoded]
) -> Decoded:
    name = RequestCode(request.code).name
    if answer.code == RefusalCode.NO_PERMISSION or _ACL_4 in (answer.remark or ""):
        raise PermissionMissing(f"{connection} refuses {name}: the access key is wrong or lacks the permission.")
    if answer.code:
        raise ConnectionFailed(f"{connection} refuses {name} (code {answer.code}).")
    try:
        return decode(answer.body)
    except DecodeError as error:
        raise ConnectionFailed(f"{connection} sent an undecodable response to {name} ({error}).") from None
