"""Names in RocketMQ that say what something is."""

from __future__ import annotations

from typing import Final

RETRY_PREFIX: Final = "%RETRY%"
"""Records that a group could not process come back in a topic of its own, which every member subscribes."""

DEAD_LETTER_PREFIX: Final = "%DLQ%"
"""Records that a group gave up are in a topic of its own, which no member subscribes by itself."""

_SYSTEM_TOPICS: Final = frozenset(
    {
        "TBW102",
        "SCHEDULE_TOPIC_XXXX",
        "BenchmarkTest",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRACE_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
        "SELF_TEST_TOPIC",
        "OFFSET_MOVED_EVENT",
        "CHECKPOINT_TOPIC",
    }
)
"""TopicValidator of RocketMQ 5.5."""

_SYSTEM_GROUPS: Final = frozenset(
    {
        "DEFAULT_CONSUMER",
        "TOOLS_CONSUMER",
        "SCHEDULE_CONSUMER",
        "FILTERSRV_CONSUMER",
        "__MONITOR_CONSUMER",
        "SELF_TEST_C_GROUP",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_OWNER",
        "CID_ONSAPI_PULL",
    }
)
"""MixAll.isSysConsumerGroupPullMessage of RocketMQ 5.5."""


def is_topic(name: str) -> bool:
    """Whether it is a topic of users: neither RocketMQ's own nor a retry topic.

    >>> [is_topic(name) for name in ("orders", "%RETRY%billing", "rmq_sys_REVIVE_LOG_x", "TBW102", "%DLQ%billing")]
    [True, False, False, False, True]
    """
    return not name.startswith((RETRY_PREFIX, "rmq_sys_", "RMQ_SYS_")) and name not in _SYSTEM_TOPICS


def is_group(name: str) -> bool:
    """Whether it is a group of users.

    >>> [is_group(name) for name in ("billing", "CID_RMQ_SYS_TRANS", "TOOLS_CONSUMER")]
    [True, False, False]
    """
    return not name.startswith("CID_RMQ_SYS_") and name not in _SYSTEM_GROUPS


def is_proxy_client(client_id: str) -> bool:
    """Whether the client came by the proxy's gRPC: its id is ``host@pid@index@nanoseconds in base 36``.

    Other clients are ``ip@instance``, and may have a unit's name and ``STREAM`` behind that (ClientConfig).

    >>> [is_proxy_client(each) for each in ("vm@17763@0@dn0bae06aod0", "10.0.0.1@17763#8125", "10.0.0.1@lite@STREAM")]
    [True, False, False]
    """
    host, *numbers = client_id.rsplit("@", 3)
    if not host or len(numbers) < 3 or not numbers[2]:
        return False
    is_count = all(number.isascii() and number.isdigit() for number in numbers[:2])
    return is_count and set(numbers[2]) <= set("0123456789abcdefghijklmnopqrstuvwxyz")


def class_name(shown: str | None) -> str | None:
    """The class of an object that Java shows as ``package.Class@hash``, without package.

    >>> class_name("org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@257530de")
    'AllocateMessageQueueAveragely'
    """
    if not shown:
        return None
    return shown.partition("@")[0].rpartition(".")[2] or None
