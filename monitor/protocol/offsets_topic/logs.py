"""Which log a topic is, by its name."""

from __future__ import annotations

from enum import Enum, auto

from monitor.model import Value
from monitor.protocol.kafka.connect_configs import CONFIGS_SUFFIX
from monitor.protocol.kafka.connect_status import STATUS_SUFFIX
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC


class Log(Enum):
    """The logs whose records are known."""

    OFFSETS = auto()
    SHARE_STATE = auto()
    CONNECT_CONFIGS = auto()
    CONNECT_STATUS = auto()


class LogNames(Value):
    """Topics of Connect clusters whose names do not end as they usually do."""

    connect_configs: frozenset[str] = frozenset()
    connect_status: frozenset[str] = frozenset()

    def log_of(self, topic: str) -> Log | None:
        """The log that this topic is; None: none that is known.

        >>> LogNames().log_of("connect-configs"), LogNames().log_of("orders")
        (<Log.CONNECT_CONFIGS: 3>, None)
        """
        if topic == OFFSETS_TOPIC:
            return Log.OFFSETS
        if topic == SHARE_STATE_TOPIC:
            return Log.SHARE_STATE
        if topic in self.connect_configs:
            return Log.CONNECT_CONFIGS
        if topic in self.connect_status:
            return Log.CONNECT_STATUS
        if topic.endswith(CONFIGS_SUFFIX):
            return Log.CONNECT_CONFIGS
        return Log.CONNECT_STATUS if topic.endswith(STATUS_SUFFIX) else None
