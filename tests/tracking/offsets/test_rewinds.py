"""Why a committed offset went back. Times are in milliseconds; a commits 105 at 90,000, and 100 at the end."""

from __future__ import annotations

import pytest

from monitor.model import (
    CommitPoint,
    CommitRun,
    GroupEvent,
    MembershipStored,
    OffsetCommitted,
    Rewind,
    RewindCause,
)
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state
from tests.support.builders import member


def generation(number: int, at_ms: int, *names: str) -> MembershipStored:
    """These members, the first of which has the partition; none: the group is empty."""
    who = tuple(member(name, ("t",), {"t": [0]} if name == names[0] else {}) for name in names)
    protocol, leader = ("range", names[0]) if names else (None, None)
    return MembershipStored("g", number, "consumer", protocol, leader, stored_ms=at_ms, members=who)


def commit(offset: int, at_ms: int) -> OffsetCommitted:
    return OffsetCommitted("g", "t", 0, offset, at_ms)


JOINED = generation(1, 10_000, "a")
FURTHER = commit(105, 90_000)


def fall(*events: GroupEvent) -> Rewind | None:
    state = fold_group("c", "g", None, events)
    assert state is not None
    assert decode_group_state(encode_state(state)) == state
    return state.offsets[0].last_rewind


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        pytest.param((JOINED, FURTHER, commit(100, 90_012)), RewindCause.OUT_OF_ORDER, id="two at once"),
        pytest.param((JOINED, FURTHER, commit(100, 91_000)), RewindCause.OUT_OF_ORDER, id="a second later"),
        pytest.param((JOINED, FURTHER, commit(100, 91_001)), RewindCause.UNKNOWN, id="the application goes back"),
        pytest.param(
            (JOINED, FURTHER, generation(2, 90_500, "b", "a"), commit(100, 90_900)),
            RewindCause.REBALANCE,
            id="another owner begins further back",
        ),
        pytest.param(
            (JOINED, FURTHER, generation(2, 95_000), commit(100, 95_500)), RewindCause.RESET, id="a reset while empty"
        ),
        pytest.param(
            (JOINED, FURTHER, generation(2, 95_000), generation(3, 96_000, "b"), commit(100, 99_000)),
            RewindCause.REBALANCE,
            id="a new owner of a group that was empty",
        ),
        pytest.param((FURTHER, commit(100, 90_012)), RewindCause.UNKNOWN, id="members are not known"),
    ],
)
def test_the_cause_is_what_the_log_shows(events: tuple[GroupEvent, ...], cause: RewindCause):
    assert fall(*events) == Rewind(events[-1].committed_ms, 105, 100, cause=cause)


@pytest.mark.parametrize("at_ms", [90_012, 91_001])
def test_a_run_of_commits_has_the_same_cause(at_ms: int):
    """The decoder tells when the commit before it was made."""
    points = (CommitPoint(90_000, 105), CommitPoint(at_ms, 100))
    last = Rewind(at_ms, 105, 100, before_ms=90_000)
    run = CommitRun("g", "t", 0, points[0], points, commits=2, rewinds=1, last_rewind=last, rewound=5, lowest=100)
    assert fall(JOINED, run) == fall(JOINED, FURTHER, commit(100, at_ms))


def test_a_run_that_begins_further_back_has_the_same_cause():
    points = (CommitPoint(90_012, 100), CommitPoint(90_500, 107))
    run = CommitRun("g", "t", 0, points[0], points, commits=2)
    assert fall(JOINED, FURTHER, run) == Rewind(90_012, 105, 100, cause=RewindCause.OUT_OF_ORDER)
