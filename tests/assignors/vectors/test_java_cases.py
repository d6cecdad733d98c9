from __future__ import annotations

import pytest
from msgspec import ValidationError

from monitor.assignors import AssignorError
from monitor.assignors.vectors.java_cases import answer
from tests.assignors.golden import read

VECTORS = read("java.order")


@pytest.mark.parametrize("kind", ["string", "integer", "uuid", "topic-partition", "topic-id-partition"])
def test_golden_vectors(kind):
    vectors = [vector for vector in VECTORS if vector["input"]["kind"] == kind]
    assert len(vectors) == 50
    wrong = [v["id"] for v in vectors if answer("java.order", v["input"]) != v["expected"]]
    assert wrong == []


def test_nothing_in_nothing_out():
    found = answer("java.order", {"kind": "topic-partition", "values": []})
    assert found == {"hash": [], "iteration": [], "hashset_copy_iteration": []}


def test_equal_values_are_one_key_and_are_all_sorted():
    found = answer("java.order", {"kind": "integer", "values": [3, 1, 3]})
    assert found == {"hash": [3, 1, 3], "iteration": [1, 3], "hashset_copy_iteration": [1, 3], "sorted": [1, 3, 3]}


@pytest.mark.parametrize(
    "case",
    [
        None,
        [],
        {},
        {"kind": "string"},
        {"kind": "long", "values": []},
        {"kind": "string", "values": "a"},
        {"kind": "string", "values": [1]},
        {"kind": "string", "values": [None]},
        {"kind": "integer", "values": ["1"]},
        {"kind": "integer", "values": [True]},
        {"kind": "integer", "values": [1.5]},
        {"kind": "integer", "values": [2**31]},
        {"kind": "integer", "values": [], "capacity": 2**31},
        {"kind": "uuid", "values": ["a"]},
        {"kind": "uuid", "values": [7]},
        {"kind": "topic-partition", "values": [["t"]]},
        {"kind": "topic-partition", "values": [["t", 0, 0]]},
        {"kind": "topic-partition", "values": [[0, "t"]]},
        {"kind": "topic-partition", "values": [["t", 2**31]]},
        {"kind": "topic-id-partition", "values": [["t", 0]]},
        {"kind": "topic-id-partition", "values": [{"t": 0}]},
    ],
)
def test_what_is_no_case_is_refused(case):
    with pytest.raises(ValidationError):
        answer("java.order", case)


def test_another_family_is_refused():
    with pytest.raises(ValidationError, match=r"kafka\.range"):
        answer("kafka.range", {"kind": "string", "values": []})


def test_a_negative_capacity_is_javas_error():
    with pytest.raises(AssignorError, match=r"^IllegalArgumentException: Illegal initial capacity: -1$"):
        answer("java.order", {"kind": "string", "values": [], "capacity": -1})
