"""The rules by which a tree keeps its shape; what it does to the order is asked of Java in ``test_java_order``."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.java.tree_bins import LIST_SIZE, BinKey, TreeBin, divide, fill

hash_codes = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=80)


def keys_of(numbers):
    return [BinKey(mixed, None, number) for number, mixed in enumerate(numbers)]


@given(hash_codes, st.integers(0, 80))
def test_no_key_is_lost(numbers, listed):
    keys = keys_of(numbers)
    assert sorted(fill(keys[:listed], keys[listed:])) == sorted(keys)


def test_eight_keys_are_a_list_and_nine_a_tree():
    assert fill([], keys_of(range(8))) == keys_of(range(8))
    assert isinstance(fill([], keys_of(range(9))), TreeBin)


def test_a_long_list_stays_a_list_until_a_key_comes():
    """It grew long while the table was smaller than 64."""
    assert fill(keys_of(range(10)), []) == keys_of(range(10))
    assert isinstance(fill(keys_of(range(10)), keys_of(range(11))[10:]), TreeBin)


@given(hash_codes, st.sampled_from([64, 128, 256]))
def test_halves_keep_the_order_or_are_trees(numbers, table):
    tree = TreeBin(keys_of(numbers))
    parts = divide(tree, table)
    assert sorted(key for part in parts for key in part) == sorted(tree)
    if len(parts) == 1:
        assert parts == [tree]
        return
    for part, side in zip(parts, (0, table), strict=True):
        expected = [key for key in tree if key.mixed & table == side]
        assert isinstance(part, TreeBin) == (len(expected) > LIST_SIZE)
        assert isinstance(part, TreeBin) or part == expected
