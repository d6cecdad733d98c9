"""Which counts: the newest commit in the log, or the broker's answer."""

from hypothesis import given
from hypothesis import strategies as st

from monitor.model import ListedOffset, OffsetCommitted, OffsetDeleted, OffsetsListed
from monitor.model.commit_attempts import CLOCK_MARGIN_MS
from monitor.tracking.group import fold_group
from monitor.tracking.serialization import decode_group_state, encode_state


def commit(offset, at_ms, partition=0):
    return OffsetCommitted(group="g", topic="t", partition=partition, offset=offset, committed_ms=at_ms)


def listed(asked_ms, *offsets):
    """The answer: an offset for each partition from 0 on; None where the broker knows none."""
    entries = [ListedOffset(topic="t", partition=p, offset=o) for p, o in enumerate(offsets) if o is not None]
    return OffsetsListed(cluster="c", group="g", asked_ms=asked_ms, offsets=tuple(entries))


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


def counting(state):
    return {known.partition: known.offset for known in state.offsets} if state else {}


def test_an_aborted_commit_is_put_right():
    state = fold(commit(10, 1_000), commit(200, 60_000), listed(70_000, 10))
    assert counting(state) == {0: 10}
    assert counting(fold(commit(30, 80_000), state=state)) == {0: 30}  # the next commit counts at once


def test_an_answer_that_may_be_older_than_the_commit_changes_nothing():
    assert counting(fold(commit(200, 60_000), listed(60_000 + CLOCK_MARGIN_MS, 10))) == {0: 200}
    assert counting(fold(commit(200, 60_000), listed(60_001 + CLOCK_MARGIN_MS, 10))) == {0: 10}


def test_the_newest_answer_counts_in_whatever_order_they_come():
    assert counting(fold(commit(200, 1_000), listed(20_000, 10), listed(15_000, 7))) == {0: 10}


def test_an_answer_dated_by_a_clock_that_was_an_hour_ahead_overrules_nothing_once_the_clock_was_set_back():
    hour = 3_600_000
    state = fold(commit(200, 1_000), listed(hour, 10), listed(20_000, 10))
    assert counting(fold(commit(30, 30_000), state=state)) == {0: 30}


def test_a_commit_that_the_broker_does_not_know_is_unconfirmed_until_it_does():
    state = fold(commit(300, 1_000), listed(10_000, None))
    assert counting(state) == {}
    assert [(known.partition, known.offset) for known in state.unconfirmed] == [(0, 300)]
    committed = fold(listed(20_000, 300), state=state)
    assert (counting(committed), committed.unconfirmed) == ({0: 300}, ())


def test_an_answer_about_what_the_log_has_not_told_is_left():
    """It may be older than the deletion of the group, and nothing would ever delete it again."""
    assert fold(listed(10_000, 5)) is None
    assert fold(commit(1, 1), OffsetDeleted(group="g", topic="t", partition=0), listed(10_000, 5)) is None


def test_a_deleted_offset_is_deleted_whatever_the_broker_said():
    state = fold(commit(300, 1_000), listed(10_000, 10), OffsetDeleted(group="g", topic="t", partition=0))
    assert state is None


def test_a_later_commit_starts_from_the_log_and_not_from_the_answer():
    """Was it a rewind? The log says: 200, then 150."""
    (known,) = fold(commit(200, 1_000), listed(10_000, 10), commit(150, 20_000)).offsets
    assert (known.rewinds, known.last_rewind.before, known.last_rewind.after) == (1, 200, 150)


# No commit has the time 0: the state of a group has it for what has not happened.
COMMITS = st.lists(st.builds(commit, st.integers(0, 5), st.integers(1, 40_000), st.integers(0, 2)), max_size=6)
ANSWERS = st.lists(
    st.builds(listed, st.integers(1, 40_000), *[st.none() | st.integers(0, 5)] * 3),
    max_size=3,
    unique_by=lambda a: a.asked_ms,
)


@given(COMMITS, ANSWERS, st.data())
def test_neither_log_has_to_come_first(commits, answers, data):
    """Once a partition is known, what counts does not depend on which log was read first."""
    known = [commit(0, 1, partition) for partition in range(3)]
    order = data.draw(st.permutations([*["commit"] * len(commits), *["answer"] * len(answers)]))
    left = {"commit": list(commits), "answer": list(answers)}
    mixed = [left[kind].pop(0) for kind in order]
    together = fold(*mixed, state=fold(*known))
    apart = fold(*answers, state=fold(*commits, state=fold(*known)))
    assert (together.offsets, together.unconfirmed) == (apart.offsets, apart.unconfirmed)


@given(COMMITS, ANSWERS)
def test_a_stored_state_goes_on_as_if_it_had_never_been_stored(commits, answers):
    state = fold(*commits, *answers)
    if state is not None:
        assert decode_group_state(encode_state(state)) == state
        again = commit(3, 90_000)
        assert fold(again, state=decode_group_state(encode_state(state))) == fold(*commits, *answers, again)
