"""Recorded events are cut at an instant: what came later is left out, also of commits that were put together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from monitor.detection.thresholds.overrides import DetectionRules, Override
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.history.recorded import (
    RecordedEvent,
    RecordedRow,
    RecordedSettings,
    RecordingError,
    decode_events,
    decode_settings,
    encode_events,
    encode_settings,
    in_order,
    until,
)
from monitor.model import (
    CommitPoint,
    CommitRun,
    Entity,
    GroupKind,
    GroupObserved,
    MembershipStored,
    OffsetCommitted,
    Rewind,
    Source,
    Standstill,
)
from monitor.tracking.group import fold_group

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
OBSERVED = GroupObserved("c", "g", GroupKind.CLASSIC, Source.ADMIN, 90, 90)


def cut(at_ms: int) -> list:
    return list(until([RecordedEvent(300, RUN), RecordedEvent(180, JOINED)], at_ms))


def test_all_that_has_happened_is_as_it_was():
    assert cut(300) == [RUN, JOINED]


@pytest.mark.parametrize(
    ("at_ms", "points", "rewinds"),
    [
        (299, (CommitPoint(150, 7), CommitPoint(200, 6)), 1),
        (199, (CommitPoint(150, 7),), 0),
        (109, (CommitPoint(100, 5),), 0),
    ],
)
def test_of_commits_that_were_put_together_those_are_left_that_had_been_made(at_ms, points, rewinds):
    run, *rest = cut(at_ms)
    assert (run.points, run.rewinds, run.commits) == (points, rewinds, len(points))
    assert rest == ([JOINED] if at_ms >= 180 else [])


@pytest.mark.parametrize(
    ("at_ms", "newest"),
    [(1_099, None), (1_100, CommitPoint(1_100, 12)), (1_399, CommitPoint(1_300, 16)), (1_499, CommitPoint(1_400, 18))],
)
def test_commits_that_are_not_named_are_taken_to_have_come_evenly(at_ms: int, newest: CommitPoint | None):
    """Of 7 commits, the first and the newest 2 are named: 4 came between 1,000 and 1,500 ms."""
    first, named = CommitPoint(1_000, 10), (CommitPoint(1_500, 20), CommitPoint(1_600, 30))
    run = CommitRun(group="g", topic="t", partition=0, first=first, points=named, commits=7)
    [known] = until([RecordedEvent(1_600, run)], at_ms)
    evenly = [CommitPoint(1_000 + 100 * step, 10 + 2 * step) for step in range(5)]
    assert known.points == tuple([point for point in evenly if newest and point.offset <= newest.offset] or [first])


def a_commit_a_second(*named: int, **fields: object) -> CommitRun:
    """A commit of one record each second from 0 to 75 s, of which the first and these are named."""
    points = tuple([CommitPoint(second * 1_000, second) for second in named])
    run = CommitRun(group="g", topic="t", partition=0, first=CommitPoint(0, 0), points=points, commits=76)
    return replace(run, **fields)


@pytest.mark.parametrize("at_s", range(1, 75))
@pytest.mark.parametrize("border", [(), (13,), (1,), (64,)])
def test_the_end_of_a_slot_leaves_no_hole_behind_it(border: tuple[int, ...], at_s: int):
    """A history names the last commit of each minute as well."""
    [known] = until([RecordedEvent(75_000, a_commit_a_second(*border, *range(66, 76)))], at_s * 1_000)
    newest = known.points[-1]
    assert at_s - 2 <= newest.offset <= at_s
    assert at_s * 1_000 - 2_000 < newest.committed_ms <= at_s * 1_000
    offsets = [point.offset for point in known.points]
    assert offsets == sorted(offsets)


def test_commits_that_went_back_are_taken_to_have_come_evenly_before_and_after():
    """To 20 s from 0 to 20 records, back to 5, and on."""
    points = tuple([CommitPoint(second * 1_000, second - 15) for second in range(66, 76)])
    once = {"points": points, "rewinds": 1, "last_rewind": Rewind(20_000, 19, 5), "rewound": 14}
    run = a_commit_a_second(**once)
    for at_s in (*range(1, 20), *range(21, 66)):
        [known] = until([RecordedEvent(75_000, run)], at_s * 1_000)
        assert abs(known.points[-1].offset - (at_s if at_s < 20 else at_s - 15)) <= 2, at_s
        assert abs(known.points[-1].committed_ms - at_s * 1_000) <= 1_500, at_s
        assert known.rewinds == (at_s > 20)


def test_of_several_rewinds_the_first_is_known_before_the_last():
    first, last = Rewind(10_000, 9, 4), Rewind(50_000, 40, 30)
    run = a_commit_a_second(*range(66, 76), rewinds=3, first_rewind=first, last_rewind=last, rewound=5 + 10 + 2)
    cut = {at_s: next(until([RecordedEvent(75_000, run)], at_s * 1_000)) for at_s in (9, 11, 49, 51)}
    assert [(each.rewinds, each.last_rewind, each.rewound) for each in cut.values()] == [
        (0, None, 0),
        (1, first, 5),
        (1, first, 5),
        (3, last, 17),
    ]
    assert cut[11].points[-1].offset == 4
    assert 30 <= cut[51].points[-1].offset <= 33


def test_what_begins_later_is_not_there():
    assert cut(99) == []


def test_events_and_settings_are_what_they_were():
    events = [RecordedEvent(1, OffsetCommitted("g", "t", 0, 5, 1)), RecordedEvent(180, JOINED)]
    row = RecordedRow(1, Entity.GROUP, "g", 0, encode_events(events))
    assert decode_events(row) == events
    settings = RecordedSettings(connect_topics={"connect": "configs"})
    assert decode_settings(encode_settings(settings)) == settings


@pytest.mark.parametrize("damaged", [b"", b"\xc1", b"\x91\x92\x01", b"\x93\x01\x02\x03"])
def test_damaged_bytes_are_told_with_the_name(damaged: bytes):
    with pytest.raises(RecordingError, match="row of group 'g'"):
        decode_events(RecordedRow(1, Entity.GROUP, "g", 0, damaged))
    with pytest.raises(RecordingError, match="row of settings"):
        decode_settings(damaged)


def written(**thresholds: Any) -> bytes:
    """Settings as a groupwatch wrote them whose thresholds had these names."""
    return msgspec.msgpack.encode({"version": 1, "rules": {"default": thresholds}, "connect_topics": {}})


def test_settings_keep_every_threshold_so_that_a_later_default_does_not_change_them():
    names = {field.name for field in msgspec.structs.fields(DetectionSettings)}
    found = msgspec.msgpack.decode(encode_settings(RecordedSettings()))
    assert found["version"] == 1
    assert found["rules"]["default"].keys() == names
    override = Override(groups="g", settings=DetectionSettings(commit_silence_ms=5_000))
    found = msgspec.msgpack.decode(encode_settings(RecordedSettings(DetectionRules(overrides=(override,)))))
    assert found["rules"]["overrides"][0]["settings"].keys() == names


def test_settings_without_a_version_are_read_and_those_of_another_one_are_refused():
    assert decode_settings(b"\x80") == RecordedSettings()
    assert decode_settings(written(commit_silence_ms=5_000)).rules.default.commit_silence_ms == 5_000
    with pytest.raises(RecordingError, match=r"^The recording has thresholds of version 2; this groupwatch reads"):
        decode_settings(msgspec.msgpack.encode({"version": 2}))


def test_a_threshold_that_is_gone_is_told_and_not_left_out():
    with pytest.raises(RecordingError, match=r"a threshold that this groupwatch does not know: patience_ms\."):
        decode_settings(written(patience_ms=5))


def test_of_commits_that_are_all_named_every_rewind_is_known_at_its_time():
    """Nine commits, of which four go back; the run names the first and the last of these."""
    offsets = (20, 15, 16, 11, 30, 25, 26, 21, 40)
    points = tuple([CommitPoint(1_000 * second, offset) for second, offset in enumerate(offsets)])
    falls = {"rewinds": 4, "first_rewind": Rewind(1_000, 20, 15), "last_rewind": Rewind(7_000, 26, 21), "rewound": 20}
    run = CommitRun(group="g", topic="t", partition=0, first=points[0], points=points, commits=9, **falls)
    cut = {at_s: next(until([RecordedEvent(8_000, run)], at_s * 1_000)) for at_s in (0, 2, 4, 6)}
    assert {at_s: (each.rewinds, each.rewound, each.last_rewind) for at_s, each in cut.items()} == {
        0: (0, 0, None),
        2: (1, 5, Rewind(1_000, 20, 15, before_ms=0)),
        4: (2, 10, Rewind(3_000, 16, 11, before_ms=2_000)),
        6: (3, 15, Rewind(5_000, 30, 25, before_ms=4_000)),
    }


@pytest.mark.parametrize(
    ("at_s", "expected"),
    [(0, None), (1, None), (2, None), (3, Standstill(2_000, 2)), (5, Standstill(2_000, 4)), (9, Standstill(2_000, 8))],
)
def test_a_run_that_is_cut_has_stood_since_the_same_instant(at_s: int, expected: Standstill | None):
    """The offset moves at 1 and at 2 s, and is repeated each second until 9 s."""
    points = tuple([CommitPoint(1_000 * second, 10 + min(second, 2)) for second in range(10)])
    whole = Standstill(2_000, 8)
    run = CommitRun("g", "t", 0, first=points[0], points=points, commits=10, standstill=whole)
    [cut] = until([RecordedEvent(9_000, run)], at_s * 1_000)
    assert isinstance(cut, CommitRun)
    assert cut.standstill == expected


@pytest.mark.parametrize("at_s", [5, 30, 70, 75])
def test_an_offset_that_stood_for_the_whole_of_a_run_has_stood_since_its_beginning(at_s: int):
    """76 commits, of which the first and the newest ten are named."""
    points = tuple([CommitPoint(1_000 * second, 5) for second in range(66, 76)])
    whole = Standstill(0, 76)
    run = CommitRun("g", "t", 0, first=CommitPoint(0, 5), points=points, commits=76, standstill=whole)
    state = fold_group("c", "g", None, until([RecordedEvent(75_000, run)], at_s * 1_000))
    assert state is not None
    [known] = state.offsets
    assert known.standstill is not None
    assert known.standstill.since_ms == 0


@pytest.mark.parametrize("ahead_ms", [150, 10**14], ids=["none is ahead", "one of the log is far ahead"])
def test_an_event_that_is_dated_ahead_holds_back_only_itself(ahead_ms: int):
    """The log has events of 150 (or far ahead), 200 and 300; a collector saw others at 180 and 250."""
    logged = [RecordedEvent(at_ms, JOINED) for at_ms in (ahead_ms, 200, 300)]
    seen = [RecordedEvent(at_ms, OBSERVED) for at_ms in (180, 250)]
    rows = [RecordedRow(1, Entity.GROUP, "g", place, encode_events(own)) for place, own in ((7, logged), (0, seen))]
    times = [each.at_ms for each in in_order(rows)]
    expected = [150, 180, 200, 250, 300] if ahead_ms == 150 else [180, ahead_ms, 200, 250, 300]
    assert times == expected
