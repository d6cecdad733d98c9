"""The lines of the command: records, and marks at which the groups are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from monitor.model import ConnectConfigsState, GroupState, traits_of
from monitor.protocol.kafka.connect_configs import CONFIGS_SUFFIX
from monitor.tracking.fold.captured_logs import CapturedLogs, RecordLine
from monitor.tracking.fold.group_view import view_group
from monitor.tracking.fold.partition_view import TopicEnds

DEFAULT_CONFIGS: Final = "connect-configs"
"""The topic of configurations that Connect's own example settings name."""

_NO_MARK: Final = msgspec.Raw()


class Mark(msgspec.Struct, frozen=True):
    """A point in the logs. ``topics`` are those that there are then; None: one that could not be described."""

    topics: dict[str, TopicEnds | None] = msgspec.field(default_factory=dict)


class _Line(msgspec.Struct):
    mark: msgspec.Raw = _NO_MARK


_LINES: Final = msgspec.json.Decoder(_Line)
_RECORDS: Final = msgspec.json.Decoder(RecordLine)
_MARKS: Final = msgspec.json.Decoder(Mark)


class LineError(Exception):
    """A line that is neither a record nor a mark; the message says what is wrong with it."""


def apply_line(logs: CapturedLogs, line: bytes) -> Iterator[bytes]:
    """Take a line; of a mark, the groups as they are then, one line each.

    Raises:
        LineError: The line is neither a record nor a mark.
    """
    try:
        label = _LINES.decode(line).mark
        if label == _NO_MARK:
            logs.add(_RECORDS.decode(line))
            return
        mark = _MARKS.decode(label if bytes(label).startswith(b"{") else line)
        named = msgspec.json.decode(label)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LineError(str(error)) from error
    yield from _groups(logs, mark, named.get("label") if isinstance(named, dict) else named)


def _groups(logs: CapturedLogs, mark: Mark, label: object) -> Iterator[bytes]:
    topics = {name: known for name, known in mark.topics.items() if known is not None and known.end}
    configs = logs.configs()
    for group in logs.groups():
        view = view_group(group, topics, _cluster_configs(group, configs))
        yield msgspec.json.encode({"mark": label, **msgspec.to_builtins(view)}) + b"\n"


def _cluster_configs(group: GroupState, configs: Mapping[str, ConnectConfigsState]) -> ConnectConfigsState | None:
    """The configurations of a Connect cluster, by the name of their topic: the group does not tell it."""
    if not traits_of(group).runs_connectors:
        return None
    return configs.get(f"{group.group}{CONFIGS_SUFFIX}", configs.get(DEFAULT_CONFIGS))
