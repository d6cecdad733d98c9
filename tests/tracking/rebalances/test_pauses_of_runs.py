"""What rebalances cost is the same however commits are combined into runs."""

from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import GroupState
from monitor.model.events import Event
from monitor.tracking.group import fold_group
from tests.support.commit_runs import Commit, run_of, single
from tests.support.examples import example_count
from tests.tracking.offsets.test_jumps_of_runs import stored

USUAL: list[Commit] = [(1_000 * n, 10 * n) for n in range(1, 7)]
"""Enough commits to know what is usual."""

STEPS = st.tuples(st.integers(0, 3) | st.integers(1_000, 20_000), st.sampled_from([0, 0, 10, -5]))
"""After how long, and by how many offsets. Many commits repeat an offset."""

PIECES = st.lists(
    st.tuples(st.integers(0, 20_000), st.integers(1, 400_000), st.lists(STEPS, min_size=1, max_size=30)),
    min_size=1,
    max_size=4,
)
"""How long after a commit a generation ends, how long after that the next commit comes, and those behind it."""


def fold(*events: Event) -> GroupState:
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state


def costs(state: GroupState) -> list[tuple[int, int, int]]:
    rebalances = [(each.paused_partitions, each.pause_ms, each.burst_records) for each in state.history]
    return [*rebalances, (0, state.pause_ms, state.burst_records)]


def both(pieces: list[list[Commit]], ends: list[int]) -> tuple[GroupState, GroupState]:
    """As runs, and singly: the generations after the first one end before the pieces."""
    runs: list[Event] = [stored(1, "a"), *run_of(USUAL)]
    commits: list[Event] = [stored(1, "a"), *single(USUAL)]
    for number, (piece, ended_ms) in enumerate(zip(pieces, ends, strict=True), start=2):
        before = stored(number, "a", f"b{number}", at_ms=ended_ms)
        runs += [before, *run_of(piece)]
        commits += [before, *single(piece)]
    return fold(*runs), fold(*commits)


@given(PIECES)
@settings(max_examples=example_count(3))
def test_the_pauses_of_runs_are_those_of_single_commits(pieces):
    """A member that joins a generation commits later than that was stored."""
    at_ms, offset = USUAL[-1]
    made, ends = [], []
    for before_ms, after_ms, steps in pieces:
        ends.append(at_ms + before_ms)
        times = list(accumulate((by for by, _ in steps[1:]), initial=ends[-1] + after_ms))
        offsets = list(accumulate((by for _, by in steps), lambda at, by: max(0, at + by), initial=offset))[1:]
        made.append(list(zip(times, offsets, strict=True)))
        at_ms, offset = made[-1][-1]
    of_runs, of_commits = both(made, ends)
    assert costs(of_runs) == costs(of_commits)
