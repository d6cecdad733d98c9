"""Records of several logs, line by line, folded into the states of groups."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections import defaultdict
from typing import Final

import msgspec

from monitor.model import (
    ConnectConfigEvent,
    ConnectConfigsState,
    GroupEvent,
    GroupState,
    Phase,
)
from monitor.protocol.kafka.connect_configs import decode_connect_config
from monitor.protocol.kafka.share_state import decode_share_state
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.protocol.offsets_topic.logs import Log, LogNames
from monitor.protocol.wire.errors import DecodeError
from monitor.tracking.connect import fold_connect_configs
from monitor.tracking.group import fold_group

CLUSTER: Final = "captured"
"""The name of the cluster in all states."""


class RecordLine(msgspec.Struct, frozen=True):
    """A record of a log, key and value in base64; ``control``: it ends a transaction, and consumers never get it."""

    topic: str
    p: int
    o: int
    ts: int
    key: str | None = None
    value: str | None = None
    control: str | None = None


class UnreadRecord(msgspec.Struct, frozen=True):
    """A record that could not be read, and why."""

    topic: str
    p: int
    o: int
    error: str


class CapturedLogs:
    """Takes the records of logs, each log in its order, and has the states of the groups after them.

    Records of topics that are no logs of groups are left out.
    """

    def __init__(self, configs_topics: frozenset[str] = frozenset()) -> None:
        self._names = LogNames(connect_configs=configs_topics)
        self._events: dict[str, list[GroupEvent]] = defaultdict(list)
        self._config_events: dict[str, list[ConnectConfigEvent]] = defaultdict(list)
        self._groups: dict[str, GroupState] = {}
        self._configs: dict[str, ConnectConfigsState] = {}
        self.unread: list[UnreadRecord] = []
        """The records that could not be read."""

    def add(self, line: RecordLine) -> None:
        """Take one record."""
        if line.control is not None:
            return
        try:
            self._add(line.topic, _bytes(line.key), _bytes(line.value), line.ts)
        except DecodeError as error:
            self.unread.append(UnreadRecord(line.topic, line.p, line.o, str(error)))
        except Base64Error:
            self.unread.append(UnreadRecord(line.topic, line.p, line.o, "bad_base64"))

    def groups(self) -> list[GroupState]:
        """The groups that there are after the records so far, sorted by name."""
        for group, events in self._events.items():
            state = fold_group(CLUSTER, group, self._groups.pop(group, None), events)
            if state is not None:
                self._groups[group] = state
        self._events.clear()
        return [self._groups[name] for name in sorted(self._groups) if self._groups[name].phase is not Phase.UNSEEN]

    def configs(self) -> dict[str, ConnectConfigsState]:
        """The configurations of Connect clusters by their topics."""
        for topic, events in self._config_events.items():
            self._configs[topic] = fold_connect_configs(CLUSTER, topic, self._configs.get(topic), events)
        self._config_events.clear()
        return dict(self._configs)

    def _add(self, topic: str, key: bytes | None, value: bytes | None, timestamp_ms: int) -> None:
        match self._names.log_of(topic):
            case Log.OFFSETS:
                event = decode_record(key, value, timestamp_ms)
                if not isinstance(event, Foreign):
                    self._events[event.group].append(event)
            case Log.SHARE_STATE:
                share_event = decode_share_state(key, value, timestamp_ms)
                self._events[share_event.group].append(share_event)
            case Log.CONNECT_CONFIGS:
                config_event = decode_connect_config(key, value, timestamp_ms)
                if config_event is not None:
                    self._config_events[topic].append(config_event)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text.encode(), validate=True)
