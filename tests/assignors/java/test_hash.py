"""Java's hash codes. All numbers were printed by OpenJDK 17 and the classes of Kafka 4.3.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.java.hash import (
    string_hash,
    string_hashes,
    topic_id_partition_hash,
    topic_partition_hash,
    uuid_hash,
)
from monitor.assignors.java.uuid import Uuid

STRINGS = {
    "": 0,
    "a": 97,
    "topic-0": -1139260654,
    "consumer-1-09e85d71-757e-546e-b075-a0678000ba92": 1881285806,
    "\uffee": 65518,
    "\U0001f600": 1772899,
    "消费者0": 871098684,
    "\ud800": 55296,
    "polygenelubricants": -2147483648,
}
UUIDS = [
    # uuid, its hash code, that of its partition 3, that of its partition 2147483647
    (Uuid(0, 0), 0, 3, 2147483647),
    (Uuid(-1, 0), 0, 3, 2147483647),
    (Uuid(0, -1), 0, 3, 2147483647),
    (Uuid(-(2**63), 7), -2147483641, -2147483428, 216),
    (Uuid(2**63 - 1, -7), -2147483642, -2147483459, 185),
    (Uuid(1, -7046029254386353131), -511900243, 1310961654, -836521998),
    (Uuid(-6074127483198385956, -3455724072918920832), -941780701, 869569344, -1277914308),
]


def test_strings_one_by_one():
    assert {text: string_hash(text) for text in STRINGS} == STRINGS


def test_strings_at_once():
    assert string_hashes(list(STRINGS)).tolist() == list(STRINGS.values())
    assert string_hashes([]).tolist() == []


@given(st.lists(st.text(st.characters() | st.characters(categories=["Cs"]))))
def test_both_ways_agree(texts):
    assert string_hashes(texts).tolist() == [string_hash(text) for text in texts]


@pytest.mark.parametrize(
    ("topic", "partition", "expected"),
    [
        ("topic-0", 0, -1139259693),
        ("topic-0", -1, -1139259724),
        ("polygenelubricants", 2147483647, 930),
        ("\U0001f600", 7, 1774077),
    ],
)
def test_topic_partitions(topic, partition, expected):
    assert topic_partition_hash(topic, partition) == expected


@pytest.mark.parametrize(("uuid", "expected", "of_three", "of_last"), UUIDS)
def test_uuids_and_their_partitions(uuid, expected, of_three, of_last):
    assert uuid_hash(uuid) == expected
    assert topic_id_partition_hash(uuid, 3) == of_three
    assert topic_id_partition_hash(uuid, 2147483647) == of_last
