"""What stays of the commits of a partition: the newest ten, and the last one of each minute before."""

from hypothesis import given
from hypothesis import strategies as st

from monitor.model import CommitPoint
from monitor.model.commit_history import RECENT, SLOT_MS, SLOTS, columns_of, extend, newest_in, points_of, thin

STEPS = st.sampled_from([0, 1_000, 20_000, SLOT_MS, 3 * SLOT_MS, -SLOT_MS, -1])
COMMITS = st.lists(STEPS, max_size=80).map(
    lambda steps: [CommitPoint(1_000_000 + sum(steps[: n + 1]), n) for n in range(len(steps))]
)


def by_the_rule(commits):
    """The rule in the words of the module, over the whole log."""
    older, recent = commits[:-RECENT], commits[-RECENT:]
    slot = [commit.committed_ms // SLOT_MS for commit in commits]
    ends = [commit for index, commit in enumerate(older) if slot[index] != slot[index + 1]]
    return (*ends[-SLOTS:], *recent)


@given(COMMITS)
def test_what_stays_is_what_the_rule_says(commits):
    assert points_of(extend(b"", commits)) == by_the_rule(commits)


@given(COMMITS, st.data())
def test_a_log_may_be_cut_anywhere(commits, data):
    cut = data.draw(st.integers(0, len(commits)))
    assert extend(extend(b"", commits[:cut]), commits[cut:]) == extend(b"", commits)


@given(COMMITS, COMMITS)
def test_thinning_a_run_first_changes_nothing(before, run):
    history = extend(b"", before)
    assert extend(history, thin(run)) == extend(history, run)


@given(COMMITS)
def test_a_history_is_bounded_and_ends_with_the_newest(commits):
    history = extend(b"", commits)
    assert len(history) <= 16 * (RECENT + SLOTS)
    assert newest_in(history) == (commits[-1] if commits else None)


@given(COMMITS)
def test_the_columns_are_the_commits_that_stay(commits):
    times, offsets = columns_of(extend(b"", commits))
    assert tuple(CommitPoint(*pair) for pair in zip(times, offsets, strict=True)) == by_the_rule(commits)
