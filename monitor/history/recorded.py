"""Recorded events: what a log told of an entity, each with the time of its record, and how it is cut at an instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import accumulate, pairwise, takewhile
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from monitor.detection.thresholds.overrides import DetectionRules
from monitor.messages.names import shown
from monitor.model import (
    MOST,
    AnyEvent,
    CollectedEvent,
    CommitPoint,
    CommitRun,
    Entity,
    InnerJump,
    Rewind,
    Standstill,
    Value,
)
from monitor.model.commit_history import RECENT
from monitor.tracking.offsets.jumps import pace_of

EVENTS_VERSION: Final = 1
"""The version of the recorded events. A recording of another one is refused, never guessed at."""


SETTINGS_VERSION: Final = 1
"""The version of recorded settings. It rises when a threshold is renamed, removed or gets another meaning."""


class RecordedEvent(msgspec.Struct, array_like=True, frozen=True):
    """An event, and when the record that tells it was written (ms since the epoch)."""

    at_ms: int
    event: AnyEvent

    @property
    def begun_ms(self) -> int:
        """When it had begun to happen: of a run of commits, the first of them."""
        return self.event.first.committed_ms if isinstance(self.event, CommitRun) else self.at_ms


class RecordedSettings(Value):
    """By what groups were judged: the thresholds, and which topic has the configurations of which Connect cluster."""

    rules: DetectionRules = DetectionRules()
    connect_topics: dict[str, str] = msgspec.field(default_factory=dict)


class RecordedPasses(NamedTuple):
    """The passes of collectors over a cluster that were recorded at once: when the first and the last one happened."""

    first_ms: int
    last_ms: int
    recorded_ms: int


class RecordedRow(Value):
    """Some events of one entity, in the order of its log.

    ``recorded_ms`` names the portion in which they were recorded: portions follow one another. Within a portion,
    ``position`` orders the rows of an entity.
    """

    recorded_ms: int
    entity: Entity
    name: str
    position: int
    events: bytes


class RecordingError(Exception):
    """A recording that cannot be read; the text is one sentence that says why."""


class NotRecordedError(RecordingError):
    """What is asked for is not in the recording."""


_ENCODER: Final = msgspec.msgpack.Encoder()
_EVENTS: Final = msgspec.msgpack.Decoder(list[RecordedEvent])
_SETTINGS: Final = msgspec.msgpack.Decoder(RecordedSettings)
_NAMES: Final = msgspec.msgpack.Decoder(dict[str, Any])


def recorded_name(name: str) -> str:
    """The name under which something is recorded: what no text can hold of it is replaced.

    >>> recorded_name("a" + chr(0xDCFF))
    'a?'
    """
    return name.encode("utf-8", "replace").decode("utf-8")


def encode_events(events: Sequence[RecordedEvent]) -> bytes:
    """Recorded events as bytes."""
    return _ENCODER.encode(events)


def encode_settings(settings: RecordedSettings) -> bytes:
    """Settings as bytes, with their version and with every threshold: a later default is another one."""
    return _ENCODER.encode({"version": SETTINGS_VERSION} | _complete(settings))


def _complete(value: Any) -> Any:  # noqa: ANN401 -- any value of a setting
    """The value with the fields that have their default, too."""
    if isinstance(value, msgspec.Struct):
        return {name: _complete(each) for name, each in msgspec.structs.asdict(value).items()}
    return [_complete(each) for each in value] if isinstance(value, tuple) else value


def decode_events(row: RecordedRow) -> list[RecordedEvent]:
    """The events of a row.

    Raises:
        RecordingError: the bytes are none.
    """
    try:
        return _EVENTS.decode(row.events)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged_row(row) from error


def damaged_row(row: RecordedRow) -> RecordingError:
    """That a row cannot be decoded."""
    return RecordingError(f"The recording is damaged: a row of {row.entity} {row.name!r} has no events.")


def in_order(rows: Iterable[RecordedRow]) -> list[RecordedEvent]:
    """The events of an entity in one portion, or in some that follow one another, by the times of its two logs.

    Those of its log have their order, and what collectors saw has its own.

    A position says nothing of another log. So the two come by their times, as a job reads them, which knows all but the
    newest second of both: what a collector saw of a group need not be about one that the log had not told of yet.

    Raises:
        RecordingError: a row has no events.
    """
    events = [event for row in sorted(rows, key=attrgetter("recorded_ms", "position")) for event in decode_events(row)]
    logged = [each for each in events if not isinstance(each.event, CollectedEvent)]
    if len(logged) in (0, len(events)):
        return events
    seen = [each for each in events if isinstance(each.event, CollectedEvent)]
    return [event for _, event in merge(_with_times(logged), _with_times(seen), key=itemgetter(0))]


def _with_times(events: Sequence[RecordedEvent]) -> list[tuple[int, RecordedEvent]]:
    """The events of one log with their times; one that is ahead of a record behind it has the time of that."""
    latest = list(accumulate((event.at_ms for event in reversed(events)), min))
    return [(min(event.begun_ms, at_ms), event) for event, at_ms in zip(events, reversed(latest), strict=True)]


def is_readable(row: RecordedRow) -> bool:
    """Whether its events can be decoded."""
    try:
        decode_events(row)
    except RecordingError:
        return False
    return True


def settings_in_force(recorded: Sequence[tuple[int, bytes]], at_ms: int) -> bytes | None:
    """Of settings with their times, those of an instant; before the first ones, these. None: there are none.

    >>> settings_in_force([(5, b"a"), (9, b"b")], 8), settings_in_force([(5, b"a")], 1), settings_in_force([], 1)
    (b'a', b'a', None)
    """
    ordered = sorted(recorded)
    by_then = [settings for recorded_ms, settings in ordered if recorded_ms <= at_ms]
    return by_then[-1] if by_then else ordered[0][1] if ordered else None


def decode_settings(data: bytes) -> RecordedSettings:
    """Recorded settings. Those without a version omit what had its default: it is the default of now.

    Raises:
        RecordingError: the bytes are none, or another version of groupwatch wrote them.
    """
    try:
        found = _NAMES.decode(data)
        version = found.pop("version", 0)
        if version not in (0, SETTINGS_VERSION):
            raise RecordingError(
                f"The recording has thresholds of version {version}; this groupwatch reads version {SETTINGS_VERSION}."
            )
        settings = _SETTINGS.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError("The recording is damaged: a row of settings has none.") from error
    unknown = sorted(_unknown_names(found, _complete(settings)))
    if unknown:
        raise RecordingError(f"The recording has a threshold that this groupwatch does not know: {shown(unknown[0])}.")
    return settings


def _unknown_names(found: Any, known: Any) -> Iterator[str]:  # noqa: ANN401 -- parts of recorded settings
    """The names in recorded settings that became no field."""
    if isinstance(found, dict) and isinstance(known, dict):
        yield from found.keys() - known.keys()
        for name in found.keys() & known.keys():
            yield from _unknown_names(found[name], known[name])
    elif isinstance(found, list) and isinstance(known, list):
        for each, own in zip(found, known, strict=False):
            yield from _unknown_names(each, own)


def unknown_events(version: int) -> RecordingError:
    """That a recording has events of another version."""
    return RecordingError(
        f"The recording has events of version {version}; this groupwatch reads version {EVENTS_VERSION}."
    )


def until(events: Iterable[RecordedEvent], at_ms: int) -> Iterator[AnyEvent]:
    """What of the events had happened by an instant. Of a run of commits these are the ones that it still names."""
    for recorded in events:
        event = recorded.event
        if recorded.at_ms <= at_ms:
            yield event
        elif isinstance(event, CommitRun) and recorded.begun_ms <= at_ms:
            yield _cut(event, at_ms)


def _cut(run: CommitRun, at_ms: int) -> CommitRun:
    """The run without what was committed later; see :func:`_estimated_commits` for what it does not name."""
    named = tuple([point for point in run.points if point.committed_ms <= at_ms])
    points = (*(named or (run.first,)), *_estimated_commits(run, at_ms))
    second = run.second if run.second is not None and run.second.committed_ms <= at_ms else None
    fastest = run.fastest if _unnamed_count(run) > 0 else _fastest_until(run, at_ms)
    known = replace(_with_rewinds_until(run, at_ms), second=second, fastest=fastest, lowest=_lowest_until(run, at_ms))
    jumps, standstill = tuple(_jumps_until(run, at_ms)), _standstill_until(run, points)
    return replace(known, points=points, commits=len(points), standstill=standstill, jumps=jumps)


def _fastest_until(run: CommitRun, at_ms: int) -> int:
    """The fastest pace by an instant inside a run that names all of its commits."""
    steps = [(before, after) for before, after in pairwise(_named_commits(run)) if after.committed_ms <= at_ms]
    jumps = {run.second, *[CommitPoint(jump.at_ms, jump.offset) for jump in run.jumps]}
    return max(
        [
            pace_of(after.offset - before.offset, after.committed_ms - before.committed_ms)
            for before, after in steps
            if after not in jumps
        ],
        default=0,
    )


def _lowest_until(run: CommitRun, at_ms: int) -> int | None:
    """The lowest offset by an instant behind the first commit, up to the first jump; None: none went back by then."""
    fall = run.first_rewind or run.last_rewind
    if fall is None or fall.at_ms > at_ms:
        return None
    if run.last_rewind is not None and run.last_rewind.at_ms <= at_ms:
        return run.lowest
    until_ms = min([at_ms, *[jump.at_ms - 1 for jump in run.jumps[:1]]])
    offsets = [point.offset for point in _named_commits(run)[1:] if point.committed_ms <= until_ms]
    return min([*offsets, *([fall.after] if fall.at_ms <= until_ms else [])], default=None)


def _jumps_until(run: CommitRun, at_ms: int) -> Iterator[InnerJump]:
    """The jumps inside the run by an instant, the newest one with what refuted it by then, as far as that is named."""
    known = [jump for jump in run.jumps if jump.at_ms <= at_ms]
    yield from known[:-1]
    for newest in known[-1:]:
        later = [point.offset for point in run.points if newest.at_ms < point.committed_ms <= at_ms]
        lowest = min([newest.offset, *later])
        yield newest if newest.lowest is None else replace(newest, lowest=lowest if lowest < newest.offset else None)


def _standstill_until(run: CommitRun, points: Sequence[CommitPoint]) -> Standstill | None:
    """That of the newest of these commits. The beginning of that of a whole run is known exactly."""
    same = list(takewhile(lambda point: point.offset == points[-1].offset, reversed(points)))
    if len(same) == 1:
        return None
    since_ms, whole = same[-1].committed_ms, run.standstill
    return Standstill(since_ms if whole is None else min(since_ms, whole.since_ms), len(same))


def _with_rewinds_until(run: CommitRun, at_ms: int) -> CommitRun:
    """The run with the rewinds by an instant that it names: of several, the first and the last one.

    A run that names all of its commits shows every rewind.
    """
    first, last = run.first_rewind, run.last_rewind
    if last is None or last.at_ms <= at_ms:
        return run
    if _unnamed_count(run) <= 0:
        return _with_rewinds(run, [each for each in _rewinds_of((run.first, *run.points)) if each.at_ms <= at_ms])
    return _with_rewinds(run, [first] if first is not None and first.at_ms <= at_ms else [])


def _rewinds_of(commits: Sequence[CommitPoint]) -> Iterator[Rewind]:
    for before, after in pairwise(commits):
        if after.offset < before.offset:
            yield Rewind(after.committed_ms, before.offset, after.offset, before_ms=before.committed_ms)


def _with_rewinds(run: CommitRun, rewinds: Sequence[Rewind]) -> CommitRun:
    return replace(
        run,
        rewinds=len(rewinds),
        last_rewind=rewinds[-1] if rewinds else None,
        rewound=min(MOST, sum(each.before - each.after for each in rewinds)),
        first_rewind=rewinds[0] if len(rewinds) > 1 else None,
    )


def _estimated_commits(run: CommitRun, at_ms: int) -> tuple[CommitPoint, ...]:
    """The newest commits by an instant that the run does not name, as if they had come evenly; oldest first.

    A run names its first commit, the last one of each slot and the newest ones. Without an estimate of those between
    two of them, a member that commits every second would seem to stand still for most of a minute.
    """
    found = list(holes(run))
    within = [(start, end) for start, end in found if start.committed_ms <= at_ms < end.committed_ms]
    if not within:
        return ()
    start, end = within[-1]
    span_ms, more = end.committed_ms - start.committed_ms, max(0, end.offset - start.offset)
    steps = 1 + round(
        _unnamed_count(run) * span_ms / sum(each.committed_ms - before.committed_ms for before, each in found)
    )
    newest = (at_ms - start.committed_ms) * steps // span_ms
    estimated = [
        CommitPoint(start.committed_ms + span_ms * step // steps, start.offset + more * step // steps)
        for step in range(max(1, newest - RECENT + 1), newest + 1)
    ]
    return (*(() if start in (run.first, *run.points) else (start,)), *estimated)


def _unnamed_count(run: CommitRun) -> int:
    """How many commits of a run it does not name."""
    return run.commits - len(_named_commits(run))


def _named_commits(run: CommitRun) -> tuple[CommitPoint, ...]:
    """The commits that a run names, in the order of the log; the first one may be among its points."""
    return run.points if run.first == run.points[0] else (run.first, *run.points)


def holes(run: CommitRun) -> Iterator[tuple[CommitPoint, CommitPoint]]:
    """The pairs of commits that a run names between which there may be others; their times rise.

    Where commits went back, a hole ends at the offset before that, and another one begins at the offset after it.
    """
    if _unnamed_count(run) <= 0:
        return
    named = (run.first, *run.points[: max(1, len(run.points) - RECENT + 1)])
    for start, end in pairwise(named):
        rewinds = [
            rewind
            for rewind in (run.first_rewind, run.last_rewind)
            if rewind is not None and start.committed_ms < rewind.at_ms <= end.committed_ms
        ]
        starts = (start, *[CommitPoint(rewind.at_ms, rewind.after) for rewind in rewinds])
        ends = (*[CommitPoint(rewind.at_ms, rewind.before) for rewind in rewinds], end)
        yield from [hole for hole in zip(starts, ends, strict=True) if hole[0].committed_ms < hole[1].committed_ms]
