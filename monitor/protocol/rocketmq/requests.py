"""The requests that reading a RocketMQ cluster takes, by the names of its RequestCode.

None of them changes anything. What each answers is decoded in :mod:`monitor.protocol.rocketmq.responses`.
"""

from __future__ import annotations

from enum import IntEnum

from msgspec import field

from monitor.model import Value


class RequestCode(IntEnum):
    """The codes of requests (RequestCode of RocketMQ)."""

    GET_ALL_CONSUMER_OFFSET = 43
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_CONSUMER_RUNNING_INFO = 307
    GET_ALL_MESSAGE_REQUEST_MODE = 402


class RefusalCode(IntEnum):
    """The codes of answers that mean something to a reader (ResponseCode of RocketMQ)."""

    NOT_SUPPORTED = 3
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    CONSUMER_NOT_ONLINE = 206


class Request(Value):
    """A request: its code, and its fields, which are all texts."""

    code: RequestCode
    fields: dict[str, str] = field(default_factory=dict)


def cluster_info() -> Request:
    """To a name server: all brokers and their addresses."""
    return Request(code=RequestCode.GET_BROKER_CLUSTER_INFO)


def route(topic: str) -> Request:
    """To a name server: the brokers and queues of a topic. The field makes it write the numbers of brokers as JSON."""
    return Request(code=RequestCode.GET_ROUTEINFO_BY_TOPIC, fields={"topic": topic, "acceptStandardJsonOnly": "true"})


def subscription_groups() -> Request:
    """To a broker: all groups that are configured, live or not."""
    return Request(code=RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)


def all_offsets() -> Request:
    """To a broker: the committed offsets of all groups."""
    return Request(code=RequestCode.GET_ALL_CONSUMER_OFFSET)


def request_modes() -> Request:
    """To a broker of 5.x: which groups are to read which topics by POP. 4.9 does not support it."""
    return Request(code=RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)


def connections(group: str) -> Request:
    """To a broker: a group's connections, and the newest subscription that came by one of them."""
    return Request(code=RequestCode.GET_CONSUMER_CONNECTION_LIST, fields={"consumerGroup": group})


def topic_stats(topic: str) -> Request:
    """To a broker: the first and the end offset of each of its queues of a topic."""
    return Request(code=RequestCode.GET_TOPIC_STATS_INFO, fields={"topic": topic})


def running_info(group: str, client_id: str) -> Request:
    """To a broker, which asks the member and waits up to 10 s for it (Broker2Client): all that it says of itself."""
    fields = {"consumerGroup": group, "clientId": client_id, "jstackEnable": "false"}
    return Request(code=RequestCode.GET_CONSUMER_RUNNING_INFO, fields=fields)
