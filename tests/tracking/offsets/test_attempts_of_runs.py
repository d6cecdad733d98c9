"""Attempts do not depend on where the log is cut into runs: single commits compared with runs of the decoder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import CommittedOffset, Event, ListedOffset, OffsetsListed
from monitor.model.commit_history import RECENT
from monitor.tracking.group import fold_group
from tests.support.commit_runs import Commit, run_of, single
from tests.support.examples import example_count


def listing(asked_ms: int, offset: int | None) -> OffsetsListed:
    offsets = () if offset is None else (ListedOffset(topic="t", partition=0, offset=offset),)
    return OffsetsListed(cluster="c", group="g", asked_ms=asked_ms, offsets=offsets)


def known_of(events: Sequence[Event]) -> CommittedOffset:
    state = fold_group("c", "g", None, events)
    assert state is not None
    (known,) = (*state.offsets, *state.unconfirmed)
    return known


Part = tuple[list[Commit], OffsetsListed | None]
"""Commits that are read together, and the listing behind them."""


@st.composite
def logs(draw: st.DrawFn) -> list[Part]:
    """Few offsets, which a listing may name or not; a listing may be older than the commits before it."""
    at_ms, parts = 1_000_000, []
    steps = st.sampled_from([1, 1_000, 5_000, 30_000, 61_000])
    for _ in range(draw(st.integers(1, 8))):
        commits = []
        for step_ms in draw(st.lists(steps, min_size=1, max_size=RECENT)):
            at_ms += step_ms
            commits.append((at_ms, draw(st.integers(0, 4))))
        listed = draw(st.booleans())
        asked_ms = at_ms + draw(st.sampled_from([-9_000, -3_000, 0, 3_000, 9_000]))
        parts.append((commits, listing(asked_ms, draw(st.none() | st.integers(0, 4))) if listed else None))
    return parts


@settings(max_examples=example_count(10))
@given(logs())
def test_runs_that_name_all_their_commits_count_as_single_commits(parts):
    singly = [event for commits, listed in parts for event in (*single(commits), listed) if event is not None]
    in_runs = [event for commits, listed in parts for event in (*run_of(commits), listed) if event is not None]
    assert known_of(in_runs) == known_of(singly)


@given(
    st.lists(st.sampled_from([1, 700, 5_000, 30_000]), min_size=1, max_size=150),
    st.lists(st.integers(0, 150), max_size=6),
)
def test_a_loop_is_counted_the_same_wherever_it_is_cut(steps, cuts):
    """A run leaves out commits between its first and its newest ten: none of them is the listed one."""
    commits, at_ms = [], 100_000
    for number, step_ms in enumerate(steps):
        at_ms += step_ms
        commits.append((at_ms, 60 + number))
    before = [*single([(1_000, 50)]), listing(10_000, 50), listing(90_000, 50)]
    bounds = sorted({0, *(cut for cut in cuts if cut < len(commits)), len(commits)})
    runs = [event for start, end in pairwise(bounds) for event in run_of(commits[start:end])]
    singly, in_runs = known_of([*before, *single(commits)]), known_of([*before, *runs])
    assert in_runs.attempts == singly.attempts == len(commits)
    assert in_runs.attempts_since_ms == singly.attempts_since_ms
    assert in_runs.third_attempt_ms >= singly.third_attempt_ms, "never sooner"


def test_only_what_follows_the_listed_offset_in_a_run_is_an_attempt():
    before = [*single([(1_000, 50)]), listing(10_000, 50), listing(90_000, 50)]
    commits = [(100_000, 60), (101_000, 61), (102_000, 50), (103_000, 62), (104_000, 63), (105_000, 64), (106_000, 65)]
    known = known_of([*before, *run_of(commits)])
    assert (known.attempts, known.attempts_since_ms, known.third_attempt_ms) == (4, 103_000, 105_000)
