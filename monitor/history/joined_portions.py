"""The portions of a group, joined where one of its two logs was read further than the other.

While a backlog is read, a portion may have what collectors saw of a group in an hour of which a later portion has the
group's own log. A job that reads both logs as they are written folds them by their times. So these portions are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf
from typing import Final, NamedTuple, get_args

import msgspec

from monitor.history.recorded import RecordedRow, damaged_row
from monitor.model import CollectedEvent, CommitPoint, Entity


class _EventHead(msgspec.Struct):
    """Of an event, its kind; of a run of commits, the first one. The rest is not decoded."""

    event: str
    first: CommitPoint | None = None


class _RecordHead(msgspec.Struct, array_like=True):
    """Of a recorded event, when its record was written and the head."""

    at_ms: int
    event: _EventHead


_HEADS: Final = msgspec.msgpack.Decoder(list[_RecordHead])


_SEEN: Final = frozenset(kind.__struct_config__.tag for kind in get_args(CollectedEvent))
"""What collectors write, by its kind."""


class _Times(NamedTuple):
    """When the first and the last event of a log in a portion had begun (ms since the epoch)."""

    first_ms: float = inf
    last_ms: float = -inf


class _LogTimes(NamedTuple):
    """The times of the group's log in a portion, and of what collectors saw of the group."""

    logged: _Times
    seen: _Times


def join_portions(rows: Iterable[RecordedRow], group: str) -> list[list[RecordedRow]]:
    """The rows of each portion, oldest first. Where the group's two logs overlap, several portions are one.

    Rows of other entities come with those of the group.

    Raises:
        RecordingError: a row has no events.
    """
    by_number: dict[int, list[RecordedRow]] = defaultdict(list)
    for row in rows:
        by_number[row.recorded_ms].append(row)
    portions = [by_number[number] for number in sorted(by_number)]
    if len(portions) <= 1:
        return portions
    joined = [portions[0]]
    for portion, is_apart in zip(portions[1:], _are_apart([_times_of(each, group) for each in portions]), strict=True):
        if is_apart:
            joined.append(portion)
        else:
            joined[-1] = [*joined[-1], *portion]
    return joined


def _are_apart(times: Sequence[_LogTimes]) -> list[bool]:
    """Of each portion but the first: whether all of both logs in it and later ones is behind all before it."""
    logged, seen = _borders([each.logged for each in times]), _borders([each.seen for each in times])
    return [
        seen_last < logged_first and logged_last <= seen_first
        for (logged_last, logged_first), (seen_last, seen_first) in zip(logged, seen, strict=True)
    ]


def _borders(times: Sequence[_Times]) -> list[tuple[float, float]]:
    """Between two portions each: when the last event of a log before had begun, and when the first one behind.

    An event that is ahead of one behind it has the time of that, as in monitor.history.recorded.in_order.
    """
    latest = list(accumulate((each.last_ms for each in times), max))
    earliest = list(accumulate((each.first_ms for each in reversed(times)), min))[::-1]
    return [(min(before, behind), behind) for before, behind in zip(latest, earliest[1:], strict=False)]


def _times_of(portion: Iterable[RecordedRow], group: str) -> _LogTimes:
    logged: list[int] = []
    seen: list[int] = []
    for row in portion:
        if row.entity is Entity.GROUP and row.name == group:
            for head in _heads_of(row):
                begun_ms = head.at_ms if head.event.first is None else head.event.first.committed_ms
                (seen if head.event.event in _SEEN else logged).append(begun_ms)
    return _LogTimes(_ends_of(logged), _ends_of(seen))


def _ends_of(times: Sequence[int]) -> _Times:
    return _Times(min(times), max(times)) if times else _Times()


def _heads_of(row: RecordedRow) -> list[_RecordHead]:
    try:
        return _HEADS.decode(row.events)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged_row(row) from error
