"""Recorded events are cut at an instant: what came later is left out, also of commits that were put together."""

from __future__ import annotations

import pytest

from monitor.history.recorded import (
    RecordedEntity,
    RecordedEvent,
    RecordedRow,
    RecordedSettings,
    RecordingError,
    decode_events,
    decode_settings,
    encode_events,
    encode_settings,
    until,
)
from monitor.model import CommitPoint, CommitRun, MembershipStored, OffsetCommitted, Rewind

RUN = CommitRun(
    group="g",
    topic="t",
    partition=0,
    first=CommitPoint(100, 5),
    points=(CommitPoint(150, 7), CommitPoint(200, 6), CommitPoint(300, 9)),
    commits=8,
    rewinds=1,
    last_rewind=Rewind(200, 7, 6),
    rewound=1,
)
JOINED = MembershipStored("g", 1, "consumer", "range", "m", stored_ms=180)


def cut(at_ms: int) -> list:
    return list(until([RecordedEvent(300, RUN), RecordedEvent(180, JOINED)], at_ms))


def test_all_that_has_happened_is_as_it_was():
    assert cut(300) == [RUN, JOINED]


@pytest.mark.parametrize(
    ("at_ms", "points", "rewinds"),
    [
        (299, (CommitPoint(150, 7), CommitPoint(200, 6)), 1),
        (199, (CommitPoint(150, 7),), 0),
        (149, (CommitPoint(100, 5),), 0),
    ],
)
def test_of_commits_that_were_put_together_those_are_left_that_had_been_made(at_ms, points, rewinds):
    run, *rest = cut(at_ms)
    assert (run.points, run.rewinds, run.commits) == (points, rewinds, len(points))
    assert rest == ([JOINED] if at_ms >= 180 else [])


@pytest.mark.parametrize(
    ("at_ms", "point"),
    [(1_099, None), (1_100, CommitPoint(1_100, 12)), (1_399, CommitPoint(1_300, 16)), (1_499, CommitPoint(1_400, 18))],
)
def test_commits_that_are_not_named_are_taken_to_have_come_evenly(at_ms: int, point: CommitPoint | None):
    """Of 7 commits, the first and the newest 2 are named: 4 came between 1,000 and 1,500 ms."""
    first, named = CommitPoint(1_000, 10), (CommitPoint(1_500, 20), CommitPoint(1_600, 30))
    run = CommitRun(group="g", topic="t", partition=0, first=first, points=named, commits=7)
    [known] = until([RecordedEvent(1_600, run)], at_ms)
    assert known.points == ((first,) if point is None else (first, point))


def test_what_begins_later_is_not_there():
    assert cut(99) == []


def test_events_and_settings_are_what_they_were():
    events = [RecordedEvent(1, OffsetCommitted("g", "t", 0, 5, 1)), RecordedEvent(180, JOINED)]
    row = RecordedRow(1, RecordedEntity.GROUP, "g", 0, encode_events(events))
    assert decode_events(row) == events
    settings = RecordedSettings(connect_topics={"connect": "configs"})
    assert decode_settings(encode_settings(settings)) == settings


@pytest.mark.parametrize("damaged", [b"", b"\xc1", b"\x91\x92\x01", b"\x93\x01\x02\x03"])
def test_damaged_bytes_are_told_with_the_name(damaged: bytes):
    with pytest.raises(RecordingError, match="row of group 'g'"):
        decode_events(RecordedRow(1, RecordedEntity.GROUP, "g", 0, damaged))
    with pytest.raises(RecordingError, match="row of settings"):
        decode_settings(damaged)
