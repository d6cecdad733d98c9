from __future__ import annotations

from collections import Counter

from monitor.assignors.java_order import hash_map_order, string_hash, string_key
from tests.assignors.vectors import read

VECTORS = read("java.order.string")


def test_sort_order_is_javas():
    wrong = [v["id"] for v in VECTORS if sorted(v["input"]["values"], key=string_key) != v["expected"]["sorted"]]
    assert wrong == []


def test_code_points_would_sort_differently():
    assert any(sorted(vector["input"]["values"]) != vector["expected"]["sorted"] for vector in VECTORS)


def test_lone_surrogates_have_a_place_and_a_hash():
    assert string_key("a") < string_key("\ud800") < string_key("\U0001f600") < string_key("\udfff")
    assert string_hash("\ud800") == 0xD800


def test_hash_codes_are_javas():
    wrong = [v["id"] for v in VECTORS if [string_hash(text) for text in v["input"]["values"]] != v["expected"]["hash"]]
    assert wrong == []


def fullest_place(vector):
    """The most keys in one place of the finished table, by Java's own hash codes."""
    hashes = dict(zip(vector["input"]["values"], vector["expected"]["hash"], strict=True)).values()
    table = next(size for size in (2**n for n in range(4, 32)) if len(hashes) <= 0.75 * size)
    return max(Counter((number ^ (number % 2**32 >> 16)) % table for number in hashes).values())


def test_hash_maps_iterate_as_in_java():
    """Except where a place becomes a tree, beyond eight keys: a stated limit."""
    lists = [v for v in VECTORS if "capacity" not in v["input"] and fullest_place(v) <= 8]
    assert len(lists) >= 15
    wrong = [v["id"] for v in lists if hash_map_order(v["input"]["values"]) != v["expected"]["iteration"]]
    assert wrong == []
