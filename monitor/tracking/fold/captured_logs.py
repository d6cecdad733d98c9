"""Records of several logs, line by line, folded into the states of groups."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections import defaultdict
from operator import attrgetter
from typing import Final

import msgspec

from monitor.model import (
    ConnectConfigEvent,
    ConnectConfigsState,
    Entity,
    GroupEvent,
    GroupState,
    Phase,
)
from monitor.protocol.kafka.connect_configs import decode_connect_config
from monitor.protocol.kafka.share_state import decode_share_state
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.protocol.offsets_topic.logs import Log, LogNames
from monitor.protocol.wire.errors import DecodeError
from monitor.tracking.cluster_fold import ClusterFold, Key

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

    def __init__(self, configs_topics: frozenset[str] = frozenset(), fold: ClusterFold | None = None) -> None:
        """Fold into ``fold``, which may take other events of the cluster, too; None: into one of their own."""
        self._names = LogNames(connect_configs=configs_topics)
        self._events: dict[Key, list[GroupEvent | ConnectConfigEvent]] = defaultdict(list)
        self._fold = ClusterFold(CLUSTER) if fold is None else fold
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
        self._fold_events()
        groups = (state for state in self._fold.states.values() if isinstance(state, GroupState))
        return sorted((group for group in groups if group.phase is not Phase.UNSEEN), key=attrgetter("group"))

    def configs(self) -> dict[str, ConnectConfigsState]:
        """The configurations of Connect clusters by their topics."""
        self._fold_events()
        states = self._fold.states.items()
        return {name: state for (_, name), state in states if isinstance(state, ConnectConfigsState)}

    def _fold_events(self) -> None:
        for (entity, name), events in self._events.items():
            self._fold.take(entity, name, events)
        self._events.clear()

    def _add(self, topic: str, key: bytes | None, value: bytes | None, timestamp_ms: int) -> None:
        match self._names.log_of(topic):
            case Log.OFFSETS:
                event = decode_record(key, value, timestamp_ms)
                if not isinstance(event, Foreign):
                    self._events[Entity.GROUP, event.group].append(event)
            case Log.SHARE_STATE:
                share_event = decode_share_state(key, value, timestamp_ms)
                self._events[Entity.GROUP, share_event.group].append(share_event)
            case Log.CONNECT_CONFIGS:
                config_event = decode_connect_config(key, value, timestamp_ms)
                if config_event is not None:
                    self._events[Entity.CONNECT, topic].append(config_event)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text.encode(), validate=True)
