"""Batches of share state: combined offset by offset as the share coordinator does it, cut, bounded, and compared."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import ShareBatch
from monitor.tracking.share import batches as module
from monitor.tracking.share.batches import (
    Change,
    changes_between,
    combine_batches,
    cut_batches,
    merge_batches,
    replace_batches,
)
from tests.oracle.original import Original


def batch(first, last, state=0, deliveries=1):
    return ShareBatch(first, last, state, deliveries)


def by_offset(batches):
    """What the rule says, offset by offset: the highest delivery count wins, then the highest state."""
    found = {}
    for each in batches:
        for offset in range(each.first, each.last + 1):
            rank = each.deliveries, each.state
            found[offset] = max(found.get(offset, rank), rank)
    return found


def is_canonical(batches):
    """Sorted, without overlaps, and no two that could be one."""
    return all(one.last < other.first for one, other in pairwise(batches)) and not any(
        one.last + 1 == other.first and (one.state, one.deliveries) == (other.state, other.deliveries)
        for one, other in pairwise(batches)
    )


def some_batches(most=8, highest=30):
    ranges = st.tuples(st.integers(0, highest), st.integers(0, 8))
    return st.lists(
        st.builds(
            lambda place, state, deliveries: batch(place[0], place[0] + place[1], state, deliveries),
            ranges,
            st.sampled_from([0, 2, 4]),
            st.integers(0, 3),
        ),
        max_size=most,
    )


@given(some_batches())
def test_at_each_offset_the_batch_of_the_highest_rank_counts(batches):
    combined = combine_batches(batches)
    assert by_offset(combined) == by_offset(batches)
    assert is_canonical(combined)


@given(some_batches(), some_batches(most=4))
def test_an_update_is_combined_with_what_is_known(known, new):
    known = combine_batches(known)
    merged = merge_batches(known, new)
    assert by_offset(merged.batches) == by_offset([*known, *new])
    assert is_canonical(merged.batches)
    assert changed_offsets(merged.changes) == differences(known, merged.batches)


@given(some_batches(), some_batches())
def test_a_snapshot_takes_the_place_of_what_was_known(known, new):
    known = combine_batches(known)
    merged = replace_batches(known, new)
    assert by_offset(merged.batches) == by_offset(new)
    assert changed_offsets(merged.changes) == differences(known, merged.batches)


def changed_offsets(changes):
    found = {}
    for change in changes:
        before = change.before and (change.before.deliveries, change.before.state)
        for offset in range(change.now.first, change.now.last + 1):
            assert offset not in found
            found[offset] = before, (change.now.deliveries, change.now.state)
    return found


def differences(before, after):
    was, now = by_offset(before), by_offset(after)
    return {offset: (was.get(offset), rank) for offset, rank in now.items() if was.get(offset) != rank}


@given(some_batches(), st.integers(-1, 40))
def test_what_lies_before_the_start_is_cut_off(batches, start):
    batches = combine_batches(batches)
    kept = {offset: rank for offset, rank in by_offset(batches).items() if offset >= start}
    assert by_offset(cut_batches(batches, start)) == kept


def test_a_release_of_records_that_were_not_delivered_does_not_lower_their_count():
    known = (batch(0, 9, 0, 2),)
    assert merge_batches(known, [batch(0, 9, 0, 1)]).batches == known
    assert merge_batches(known, [batch(4, 4, 4, 2)]).batches == (
        batch(0, 3, 0, 2),
        batch(4, 4, 4, 2),
        batch(5, 9, 0, 2),
    )


def test_pieces_of_a_change_are_told_apart_by_what_they_were():
    before = (batch(0, 3, 0, 1), batch(6, 9, 2, 1))
    assert list(changes_between(before, (batch(2, 7, 4, 2),))) == [
        Change(batch(2, 3, 4, 2), before[0]),
        Change(batch(4, 5, 4, 2), None),
        Change(batch(6, 7, 4, 2), before[1]),
    ]


def test_the_batches_of_a_forged_log_do_not_grow_without_limit(monkeypatch):
    monkeypatch.setattr(module, "MAX_BATCHES", 3)
    known = ()
    for offset in (8, 0, 2, 4, 6):
        known = merge_batches(known, [batch(offset, offset)]).batches
    assert known == (batch(0, 0), batch(2, 2), batch(4, 4))
    assert replace_batches((), [batch(offset, offset) for offset in (0, 2, 4, 6)]).batches == known


# --- the original -----------------------------------------------------------------------------------------------------


def random_updates(seed, count):
    """Known batches, an update and a start offset; states and counts as brokers write them, and any."""
    rng = random.Random(seed)
    for _ in range(count):
        known = combine_batches([random_batch(rng) for _ in range(rng.randrange(8))])
        yield known, [random_batch(rng) for _ in range(rng.randrange(5))], rng.choice([-1, 0, rng.randrange(40)])


def random_batch(rng):
    first = rng.randrange(40)
    return batch(first, first + rng.choice([0, 0, 1, 3, 10]), rng.choice([0, 2, 4]), rng.randrange(4))


@pytest.fixture(scope="module")
def ask():
    with Original(program="ShareState") as jvm:
        yield lambda request: jvm.send(request)["batches"]


def listed(batches):
    return [[each.first, each.last, each.state, each.deliveries] for each in batches]


def test_updates_are_combined_as_the_share_coordinator_combines_them(ask):
    """It leaves some pairs that could be one batch; which of them, depends on the order in which it met them."""
    for known, new, start in random_updates(seed=5, count=3_000):
        told = [ShareBatch(*each) for each in ask({"known": listed(known), "new": listed(new), "start": start})]
        assert all(one.last < other.first for one, other in pairwise(told))
        assert by_offset(cut_batches(merge_batches(known, new).batches, start)) == by_offset(told), (known, new, start)
