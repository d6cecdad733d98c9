"""Where the two logs of a group overlap in portions of a recording, these count as one; others stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.history.joined_portions import join_portions
from monitor.history.recorded import RecordedEvent, RecordedRow, RecordingError, encode_events, in_order
from monitor.history.replay import fold_group_rows
from monitor.model import (
    AnyEvent,
    CommitPoint,
    CommitRun,
    Entity,
    GroupDeleted,
    ListedOffset,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetsListed,
    RebalanceSampled,
)

LOGGED, SEEN = True, False
FAR_AHEAD = 10**15

Portion = tuple[Sequence[int], Sequence[int]]
"""The times of the group's log, and of what collectors saw."""


def row(number: int, position: int, *told: tuple[int, AnyEvent], name: str = "g") -> RecordedRow:
    events = encode_events([RecordedEvent(at_ms, event) for at_ms, event in told])
    return RecordedRow(number, Entity.GROUP, name, position, events)


def rows_of(portions: Sequence[Portion]) -> list[RecordedRow]:
    found = []
    for number, (logged, seen) in enumerate(portions, 1):
        own = [(at_ms, OffsetCommitted("g", "t", 0, at_ms, at_ms)) for at_ms in logged]
        collected = [(at_ms, OffsetsListed("c", "g", at_ms, (ListedOffset("t", 0, 1),))) for at_ms in seen]
        found += [row(number, 10**6 - number, *own)] if own else []
        found += [row(number, number, *collected)] if collected else []
    return found


@pytest.mark.parametrize(
    ("portions", "joined"),
    [
        ([([10, 20], [15]), ([30], [35])], [[1], [2]]),
        ([([], [50]), ([30], [])], [[1, 2]]),
        ([([50], []), ([], [30])], [[1, 2]]),
        ([([], [50]), ([], [60]), ([30, 70], []), ([80], [90])], [[1, 2, 3], [4]]),
        ([([], [50]), ([40], [45]), ([60], [70])], [[1, 2], [3]]),
        ([([FAR_AHEAD], [10]), ([20], [30]), ([40], [50])], [[1], [2], [3]]),
        ([([FAR_AHEAD], [10]), ([], [20]), ([30], [40])], [[1, 2], [3]]),
        ([([10], []), ([20], []), ([15], [])], [[1], [2], [3]]),
    ],
    ids=[
        "both as far",
        "the log is behind",
        "the collectors are behind",
        "by several portions",
        "the collectors are ahead in the first one",
        "an event of the log is dated ahead of the next one",
        "and a collector saw something before that one",
        "one log",
    ],
)
def test_portions_are_one_where_a_later_one_has_what_another_log_had_before(
    portions: list[Portion], joined: list[list[int]]
):
    found = join_portions(rows_of(portions), "g")
    assert [sorted({each.recorded_ms for each in own}) for own in found] == joined


@st.composite
def any_portions(draw: st.DrawFn) -> list[Portion]:
    """Two logs in their order, each cut anywhere; no two events have one time."""
    kinds = draw(st.lists(st.booleans(), max_size=12))
    logs = [[at_ms for at_ms, kind in enumerate(kinds, 1) if kind is log] for log in (LOGGED, SEEN)]
    cuts = [sorted(draw(st.lists(st.integers(0, len(log)), min_size=3, max_size=3))) for log in logs]
    spans = [zip([0, *own], [*own, len(log)], strict=True) for own, log in zip(cuts, logs, strict=True)]
    pieces = [[log[begin:end] for begin, end in span] for log, span in zip(logs, spans, strict=True)]
    return list(zip(*pieces, strict=True))


@given(any_portions())
def test_one_portion_after_the_other_is_in_the_order_of_time(portions: list[Portion]):
    times = [each.at_ms for own in join_portions(rows_of(portions), "g") for each in in_order(own)]
    assert times == sorted(at_ms for logs in portions for log in logs for at_ms in log)


def test_a_run_of_commits_is_of_the_time_of_its_first():
    """It begins at 10 s and ends at 60 s; the broker was asked at 30 s, in a portion before."""
    run = CommitRun("g", "t", 0, CommitPoint(10_000, 1), (CommitPoint(60_000, 6),), commits=2)
    answer = row(1, 0, (30_000, OffsetsListed("c", "g", 30_000, ())))
    assert len(join_portions([answer, row(2, 0, (60_000, run))], "g")) == 1


def test_rows_of_other_groups_join_nothing():
    answer = OffsetsListed("c", "h", 50, ())
    others = [row(1, 0, (50, answer), name="h"), row(2, 0, (30, GroupDeleted("h", 30)), name="h")]
    assert len(join_portions(others, "g")) == 2


def test_a_row_without_events_is_told_with_its_name():
    damaged = [RecordedRow(number, Entity.GROUP, "g", 0, b"\x91\xc1") for number in (1, 2)]
    with pytest.raises(RecordingError, match="a row of group 'g' has no events"):
        join_portions(damaged, "g")


def test_a_rebalance_that_was_seen_counts_though_the_log_of_its_group_is_recorded_later():
    """The group has its first generation at 1 s; a broker says at 9 s that it rebalances; both are read at 20 s."""
    sample = RebalanceSampled("c", "g", "PreparingRebalance", 9_000, 9_000, 1_000)
    stored = MembershipStored("g", 1, "consumer", "range", "a", 1_000, (Member("a"),))
    rows = [row(20_000, 5, (9_000, sample)), row(20_001, 0, (1_000, stored))]
    known = {at_ms: fold_group_rows("c", "g", None, rows, at_ms) for at_ms in (999, 8_999, 9_000)}
    seen = {at_ms: state and state.sampled and state.sampled.first_ms for at_ms, state in known.items()}
    assert seen == {999: None, 8_999: None, 9_000: 9_000}
    assert known[8_999] is not None
