"""Orders of Java's hash maps. Where a list stands in a test, OpenJDK 17 was asked for it by a small program."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.java.hash import (
    integer_hash,
    string_hash,
    string_hashes,
    uuid_hash,
)
from monitor.assignors.java.hash_map import iterate
from monitor.assignors.java.order import (
    hash_map_order,
    hash_set_copy_order,
    lazy_hash_map_order,
    set_copy_capacity,
    string_key,
    table_size,
)
from monitor.assignors.java.uuid import Uuid, parse_uuid
from tests.assignors.golden import read

VECTORS = [vector for vector in read("java.order") if vector["input"]["kind"] == "string"]
CROWDED_MAPS = Path(__file__).parents[2] / "fixtures" / "java_crowded_maps.jsonl"
HASH_OF = {"string": string_hash, "integer": integer_hash, "uuid": uuid_hash}


def equal_hashes(count):
    """Strings that all have one hash code, in their order: AaAaAa, AaAaBB, AaBBAa, ..."""
    length = max((count - 1).bit_length(), 1)
    return ["".join(parts) for parts in product(["Aa", "BB"], repeat=length)][:count]


def test_sort_order_is_javas():
    wrong = [v["id"] for v in VECTORS if sorted(v["input"]["values"], key=string_key) != v["expected"]["sorted"]]
    assert wrong == []


def test_code_points_would_sort_differently():
    assert any(sorted(vector["input"]["values"]) != vector["expected"]["sorted"] for vector in VECTORS)


def test_an_empty_map_has_no_order():
    assert hash_map_order([]) == hash_set_copy_order([]) == hash_map_order([], capacity=0) == []
    assert iterate(np.empty(0, np.int64)).positions.tolist() == []


def test_of_equal_keys_the_first_counts():
    assert hash_map_order(["q", "a", "q", "b", "a"]) == ["q", "a", "b"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], id="two crowded keys only make the table larger, up to 64"),
        pytest.param(11, [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10], id="then the list becomes a tree, its root comes first"),
        pytest.param(12, [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11], id="a greatest key is chained in last"),
    ],
)
def test_equal_hash_codes_in_rising_order(count, expected):
    keys = equal_hashes(64)[:count]
    assert [keys.index(key) for key in hash_map_order(keys)] == expected


def test_equal_hash_codes_in_no_order():
    names = equal_hashes(64)
    put = [4, 1, 13, 16, 7, 11, 12, 8, 5, 10, 19, 6, 18, 17, 0, 14, 15, 3, 9, 2]
    expected = [11, 4, 1, 3, 2, 0, 13, 16, 14, 15, 17, 7, 12, 8, 5, 6, 10, 9, 19, 18]
    assert [names.index(key) for key in hash_map_order([names[number] for number in put])] == expected


LEAST = -2147450880  # its mixed hash code is the least that there is; its place is the first
OTHERS = list(range(1, 41))
CROWDED = [0, 320, 640, 64, 384, 704, 128, 448, 768, 192, 512, 832, 256, 576]


def test_a_tree_is_ordered_by_hash_codes_too():
    expected = [320, 0, 640, 64, 384, 704, 128, 192, 256, 448, 512, 576, 768, 832]
    assert hash_map_order(CROWDED, integer_hash, capacity=64) == expected


def test_a_tree_is_divided_when_the_table_doubles():
    """Both halves have seven keys and are trees again; with 49 keys the table of 64 places is full."""
    expected = [384, 0, 640, 128, 256, 512, 768, *OTHERS, 320, 64, 704, 192, 448, 576, 832]
    assert hash_map_order([*CROWDED, *OTHERS], integer_hash, capacity=64) == expected


def test_halves_of_six_or_less_are_lists_again():
    """The map of 64 places grows to 256 while 100 keys of other places come."""
    others = [64 * 20 + 1 + (number * 67 + 3) % 4096 for number in range(100)]
    expected = [0, 256, 512, 768, 320, 64, 576, 832, 384, 640, 128, 704, 192, 448]
    order = hash_map_order([*CROWDED, *others], integer_hash, capacity=64)
    assert [key for key in order if key in CROWDED] == expected


def test_half_a_tree_grows_on():
    """It has seven keys, fewer than a list needs to become a tree; the new one is chained in behind its parent, 0."""
    order = hash_map_order([*CROWDED, *OTHERS, LEAST], integer_hash, capacity=64)
    assert order[:8] == [384, 0, LEAST, 640, 128, 256, 512, 768]


def test_a_list_that_was_a_tree_becomes_a_tree_again():
    """The six keys of the first place are a list in another order than they came in; the ninth makes 640 the root."""
    put = [*CROWDED[:12], *OTHERS, 1408, 1024, 1152, 1280, LEAST]
    first_places = [
        hash_map_order(put[:52], integer_hash, capacity=64)[:7],
        hash_map_order(put[:-2], integer_hash, capacity=64)[:10],
        hash_map_order(put, integer_hash, capacity=64)[:12],
    ]
    assert first_places == [
        [0, 640, 384, 128, 512, 768, 1],
        [640, 0, 384, 128, 512, 768, 1408, 1024, 1152, 1],
        [640, 0, LEAST, 384, 128, 512, 768, 1408, 1024, 1152, 1280, 1],
    ]


def test_a_tree_of_uuids():
    """All twelve have the hash code 5; Uuids are Comparable."""
    keys = [Uuid(number * 7 % 12 - 6, (number * 7 % 12 - 6) ^ 5) for number in range(12)]
    expected = [
        *("AAAAAAAAAAEAAAAAAAAABA", "__________z_________-Q", "__________r__________w", "AAAAAAAAAAMAAAAAAAAABg"),
        *("__________7_________-w", "__________3_________-A", "AAAAAAAAAAUAAAAAAAAAAA", "AAAAAAAAAAQAAAAAAAAAAQ"),
        *("AAAAAAAAAAAAAAAAAAAABQ", "____________________-g", "__________v__________g", "AAAAAAAAAAIAAAAAAAAABw"),
    ]
    assert list(map(str, hash_map_order(keys, uuid_hash, capacity=64))) == expected


MAPS = [
    pytest.param(asked, id=f"{number}-{asked['kind']}-{len(asked['keys'])}")
    for number, asked in enumerate(map(json.loads, CROWDED_MAPS.read_text().splitlines()))
]


@pytest.mark.parametrize("asked", MAPS)
def test_crowded_maps_iterate_as_in_java(asked):
    """Random keys that crowd in few places, some of them through several doublings of the table."""
    keys = [parse_uuid(key) for key in asked["keys"]] if asked["kind"] == "uuid" else asked["keys"]
    hash_of = HASH_OF[asked["kind"]]
    number_of = {key: number for number, key in enumerate(keys)}
    found = hash_map_order(keys, hash_of, asked["capacity"])
    assert [number_of[key] for key in found] == asked["map"]
    assert [number_of[key] for key in hash_set_copy_order(keys, hash_of)] == asked["copy_of_list"]
    assert [number_of[key] for key in hash_set_copy_order(found, hash_of)] == asked["copy_of_map"]


@pytest.mark.parametrize("asked", MAPS)
def test_crowded_maps_would_be_wrong_without_trees(asked):
    """Otherwise the maps above would pass with lists alone: sort by place and nothing else."""
    keys = [parse_uuid(key) for key in asked["keys"]] if asked["kind"] == "uuid" else asked["keys"]
    hashes = [HASH_OF[asked["kind"]](key) % 2**32 for key in keys]
    last = table_size(len(keys), asked["capacity"]) - 1
    assert sorted(range(len(keys)), key=lambda number: (hashes[number] ^ hashes[number] >> 16) & last) != asked["map"]


def test_a_list_with_repetitions_makes_the_copys_table_larger():
    """Thirteen entries, three keys: 32 places, where a and q no longer meet."""
    assert hash_set_copy_order(["a", "q"] * 6 + ["b"]) == ["a", "b", "q"]


@pytest.mark.parametrize(
    ("size", "table"), [(0, 16), (11, 16), (12, 32), (13, 32), (24, 64), (47, 64), (48, 128), (12_582_912, 2**25)]
)
def test_a_copys_table_is_for_one_key_more(size, table):
    assert table_size(0, set_copy_capacity(size)) == table


def topic_id_partitions():
    """The million partitions of ../shared/assignors/speed-of-the-originals.md."""
    uuids = [Uuid(number, (number * 0x9E3779B97F4A7C15 + 2**63) % 2**64 - 2**63) for number in range(1, 1001)]
    return (31 * np.array(list(map(uuid_hash, uuids)))[:, None] + np.arange(1000)).ravel()


def topic_partitions():
    topics = string_hashes([f"topic-{number:04d}" for number in range(40)])
    return (31 * (31 + np.arange(500)) + topics[:, None]).ravel()


LARGE = {
    "topic id partitions": (topic_id_partitions, None, 0x40DDE6C0),
    "topic partitions": (topic_partitions, None, 0x84185121),
    "integers that crowd until the table has 2^15 places": (
        lambda: np.array([int(f"{number:032b}"[::-1], 2) for number in range(30_000)]),
        None,
        0xE83D7914,
    ),
    "a million integers": (lambda: np.arange(1_000_000) * 0x9E3779B9, None, 0x29274A7),
    "4096 strings of one hash code": (
        lambda: string_hashes(equal_hashes(4096)),
        [string_key(key) for key in equal_hashes(4096)].__getitem__,
        0x991895EB,
    ),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_maps_iterate_as_in_java(name):
    """The CRC-32 is that of the keys' numbers in Java's order, four bytes each."""
    make, natural_of, crc = LARGE[name]
    hashes = make()
    found = iterate(hashes, natural_of)
    assert zlib.crc32(found.positions.astype(">u4").tobytes()) == crc
    assert found.decided


def numbered_topics(topics):
    hashes = string_hashes([f"topic-{number}" for number in range(topics)])
    return (31 * (31 + np.arange(8)) + hashes[:, None]).ravel()


def test_numbered_topics_can_have_no_order_of_their_own():
    """topic-20 and 0, topic-10 and 1 have equal hash codes: two maps of one JVM were seen to iterate differently."""
    assert iterate(numbered_topics(40)).decided
    assert not iterate(numbered_topics(100)).decided


def test_undecided_places_keep_the_order_in_which_keys_came():
    hashes = np.array([7, 64 + 7] * 6, np.int64)
    found = iterate(hashes, capacity=64)
    assert found.positions.tolist() == list(range(12))
    assert not found.decided


def test_a_list_is_decided_however_long_it_is():
    """Ten keys of equal hash codes make the table larger twice; only the eleventh makes a tree."""
    assert iterate(np.zeros(10, np.int64)).decided
    assert not iterate(np.zeros(11, np.int64)).decided
    assert iterate(np.arange(11) * 64).decided


def test_a_class_that_is_comparable_decides():
    """Integers that stand for strings, in falling order: the order of the strings has to be told."""
    names = equal_hashes(64)[:-17:-1]
    expected = [3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    assert hash_map_order(range(16), lambda _: 2112, natural=lambda number: string_key(names[number])) == expected
    assert hash_map_order(range(16), lambda _: 2112) == list(range(16))


few_hashes = st.lists(st.integers(-4, 4).map(lambda number: number * 4096), max_size=60)
any_hashes = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=200)
capacities = st.none() | st.integers(0, 300)


@given(few_hashes | any_hashes, capacities)
def test_every_key_is_iterated_once_place_by_place(hashes, capacity):
    order = iterate(np.array(hashes, np.int64), capacity=capacity).positions.tolist()
    assert sorted(order) == list(range(len(hashes)))
    words = [hashes[number] % 2**32 for number in order]
    places = [(word ^ word >> 16) & (table_size(len(hashes), capacity) - 1) for word in words]
    if not places or max(Counter(places).values()) == 1:
        assert places == sorted(places)


@given(few_hashes | any_hashes, capacities)
def test_hash_codes_alone_give_the_order_of_the_keys(hashes, capacity):
    """Also with keys of 32 bits, and with signs or without."""
    order = hash_map_order(range(len(hashes)), hashes.__getitem__, capacity)
    assert iterate(np.array(hashes, np.int32), capacity=capacity).positions.tolist() == order
    assert iterate(np.array(hashes, np.int64) % 2**32, capacity=capacity).positions.tolist() == order


@pytest.mark.parametrize(
    ("calls", "order"),
    [
        ("a q b", "q a b"),
        ("a i q y b j r z", "q a r b y i z j"),
        ("a b c d e f i", "i a b c d e f"),
        ("a b c d e f i a", "a b c d e f i"),
        ("a b c d e f g i", "a b c d e f g i"),
    ],
    ids=["a new key comes first", "as a table doubles", "not yet doubled", "doubled by a known key", "by a new key"],
)
def test_maps_filled_by_compute_if_absent_iterate_as_in_java(calls, order):
    """By Java 17, in a ``new HashMap(8)``."""
    assert lazy_hash_map_order(calls.split(), capacity=8) == order.split()
