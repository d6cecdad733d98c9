"""The logs of the captured streams groups of the broker (KIP-1071), record by record."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec.structs import replace

from monitor.model import GroupKind, GroupState
from monitor.protocol.offsets_topic import decode_record
from monitor.tracking.group import fold_group
from tests.support.kind_captures import key_of, records, value_of

_FIRST_KEY = 17
"""From this type on the offsets topic's keys are those of streams groups (``StreamsGroupMetadataKey``)."""

Logged = tuple[str, Any]
"""A record's key, and what groupwatch reads in the record."""


@cache
def streams_logs() -> dict[str, tuple[Logged, ...]]:
    """The records of each group, in the order of its log."""
    groups: dict[str, list[Logged]] = {}
    for record in records():
        if (
            record["topic"] == "__consumer_offsets"
            and "control" not in record
            and record["decoded"]["id"] >= _FIRST_KEY
        ):
            event: Any = decode_record(key_of(record), value_of(record), record["ts"])
            groups.setdefault(event.group, []).append((record["key"], event))
    return {name: tuple(log) for name, log in groups.items() if _is_streams(log)}


def after_each(log: tuple[Logged, ...] | list[Logged]) -> Iterator[tuple[Any, GroupState | None]]:
    """Each event, with the group as it is after that."""
    state: GroupState | None = None
    for _, event in log:
        state = fold_group("c", "g", state, [replace(event, group="g")])
        yield event, state


def _is_streams(log: list[Logged]) -> bool:
    return any(getattr(event, "kind", None) is GroupKind.STREAMS for _, event in log)
