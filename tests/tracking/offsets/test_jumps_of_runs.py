"""Which jump is kept, and how fast a group was, is the same however its commits are combined into runs."""

from collections.abc import Iterator
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.model import CommitRun, GroupState, Member, MembershipStored
from monitor.model.events import Event
from monitor.model.jumps import Jump
from monitor.tracking.group import fold_group
from tests.support.commit_runs import Commit, run_of, single
from tests.support.examples import example_count

HOUR = 3_600_000


def fold(*events: Event) -> GroupState:
    state = fold_group("c", "g", None, events)
    assert state is not None
    return state


def stored(generation: int, *members: str, at_ms: int = 0) -> MembershipStored:
    own = tuple(Member(member_id=member) for member in members)
    return MembershipStored(
        group="g",
        generation=generation,
        protocol_type="consumer",
        protocol="range" if members else None,
        leader=members[0] if members else None,
        members=own,
        stored_ms=at_ms,
    )


def jump_of(state: GroupState) -> Jump | None:
    (known,) = state.offsets
    return known.jump


STEPS = st.tuples(
    st.integers(0, 2_000) | st.integers(3_000, 90_000) | st.integers(HOUR // 4, HOUR),
    st.integers(0, 99) | st.integers(100, 20_000) | st.integers(-30_000, 0) | st.just(10**6),
)
"""After how long, and by how many offsets."""

PIECES = st.lists(st.lists(STEPS, min_size=1, max_size=30), min_size=1, max_size=4)


def commits_of(pieces: list[list[tuple[int, int]]]) -> Iterator[list[Commit]]:
    """The commits of each piece: their times rise, as those of one coordinator do."""
    times = accumulate(after_ms for piece in pieces for after_ms, _ in piece)
    offsets = accumulate((by for piece in pieces for _, by in piece), lambda at, by: max(0, at + by))
    made = zip(times, offsets, strict=True)
    for piece in pieces:
        yield [next(made) for _ in piece]


@given(PIECES, st.sampled_from([(), ("m",)]))
@settings(max_examples=example_count(3))
def test_the_same_jump_is_kept_and_the_same_pace_is_known(pieces, members):
    """Between two pieces, a generation is stored: the first commit after it may jump over what members left out."""
    runs: list[Event] = []
    commits: list[Event] = []
    for generation, piece in enumerate(commits_of(pieces), start=1):
        before = stored(generation, *members, at_ms=piece[0][0])
        runs += [before, *run_of(piece)]
        commits += [before, *single(piece)]
    of_runs, of_commits = fold(*runs), fold(*commits)
    assert (of_runs.offsets, of_runs.fastest) == (of_commits.offsets, of_commits.fastest)


def test_a_jump_inside_of_a_run_names_the_commits_around_it():
    """Ten records a second, then 90,000 in one: the run has 13 commits, and the jump is the twelfth."""
    steady = [(1_000 * n, 10 * n) for n in range(11)]
    (run,) = run_of([*steady, (11_000, 90_100), (12_000, 90_110)])
    assert isinstance(run, CommitRun)
    (inner,) = run.jumps
    assert (inner.before_ms, inner.before, inner.at_ms, inner.offset) == (10_000, 100, 11_000, 90_100)
    assert (inner.preceding, inner.recent_since_ms, inner.lowest) == (10, 1_000, None)
    assert jump_of(fold(run)) == Jump(100, 10_000, 90_100, 11_000, 10_000, False, 1_000)


def test_a_lower_commit_later_in_the_run_refutes_the_jump():
    steady = [(1_000 * n, 10 * n) for n in range(11)]
    (run,) = run_of([*steady, (11_000, 90_100), (12_000, 90_110), (13_000, 110)])
    assert isinstance(run, CommitRun)
    assert run.jumps[0].lowest == 110
    assert jump_of(fold(run)) is None


def test_a_jump_is_forgotten_with_the_first_commit_that_is_more_than_an_hour_later():
    jumping = [(0, 0), (1_000, 500)]
    at_the_hour, after = (1_000 + HOUR, 500), (1_001 + HOUR, 500)
    assert jump_of(fold(*single([*jumping, at_the_hour]))) == Jump(0, 0, 500, 1_000, 0, False, 0)
    assert jump_of(fold(*single([*jumping, at_the_hour, after]))) is None
    assert jump_of(fold(*run_of([*jumping, at_the_hour, after]))) is None


def test_what_is_committed_while_there_are_no_members_shows_no_pace():
    """An administrator resets offsets; commits by single records and in a run."""
    reset = [(1_000 * n, 50 * n) for n in range(1, 5)]
    for events in (single(reset), run_of(reset)):
        state = fold(stored(1, "m"), stored(2, at_ms=500), *events)
        assert (state.fastest, jump_of(state)) == (0, None)


def test_the_fastest_pace_of_forged_offsets_can_be_stored():
    """Some 2^61 records more in 0.1 s each time are no jump, and 2^64 a second."""
    forged = [(100 * n, 2**61 * n) for n in range(4)]
    for events in (single(forged), run_of(forged)):
        assert fold(*events).fastest == 2**62


GENTLE = st.tuples(st.integers(200, 5_000), st.integers(1, 99))
LEAPS = st.tuples(st.integers(0, 5_000), st.integers(10**6, 10**9))


@given(st.lists(GENTLE, min_size=3, max_size=20), st.lists(st.tuples(LEAPS, GENTLE, GENTLE), max_size=5), st.booleans())
@settings(max_examples=example_count(3))
def test_jumps_are_no_reading(gentle, leaps, is_run):
    """Fewer than 100 records each time: at most 495 a second, however far and often the group jumps between them."""
    steps = [*gentle, *(step for leap in leaps for step in leap)]
    times, offsets = (accumulate(column) for column in zip(*steps, strict=True))
    commits = list(zip(times, offsets, strict=True))
    state = fold(stored(1, "m"), *(run_of(commits) if is_run else single(commits)))
    assert state.fastest <= 512


SINCE = 1_700_000_000_000


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [[(0, 0), (1, 10), (2, 20), (3, 20_020)], [(4, 1_020_020), (64, 1_020_110), (65, 1_020_210), (66, 30_000)]],
            id="a commit refutes the two newest of three jumps, which have taken the place of the first one",
        ),
        pytest.param(
            [
                [(0, 0), (0.05, 1_020_000)],
                [(3_600.05, 1_040_000), (3_600.05, 1_045_000)],
                [(3_600.05, 1_045_000), (3_632.05, 1_050_010)],
            ],
            id="the second commit of a run forgets a jump of more than an hour ago",
        ),
    ],
)
def test_jumps_that_were_kept_otherwise_in_a_run(pieces):
    """Seconds and offsets; a reviewer found them."""
    made = [[(SINCE + round(at_s * 1_000), offset) for at_s, offset in piece] for piece in pieces]
    expected = fold(*[event for piece in made for event in single(piece)])
    assert jump_of(fold(*[event for piece in made for event in run_of(piece)])) == jump_of(expected)
