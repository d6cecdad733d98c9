from __future__ import annotations

import pytest
from msgspec import ValidationError

from monitor.assignors.vectors.limits import CASE_ITEMS, check_size

MILLION = 10**6


@pytest.mark.parametrize(
    "case_input",
    [
        pytest.param({"topics": {f"t{number}": MILLION for number in range(5)}}, id="five million partitions"),
        pytest.param(
            {"topics": {"t": {"id": "x", "partitions": CASE_ITEMS}, "u": {"partitions": -1}}}, id="a broker's"
        ),
        pytest.param({"topics": {"t": [10**9, 3]}}, id="partitions by their numbers, however large"),
        pytest.param({"consumers": {"C0": {"subscription": {"t": CASE_ITEMS}}}}, id="five million threads"),
        pytest.param({"cids": ["a"] * 5, "virtual_nodes": MILLION}, id="five million points on the ring"),
        pytest.param({"cids": ["a"] * 5, "virtual_nodes": -1}, id="a negative number is for the original to refuse"),
        pytest.param({"kind": "integer", "values": [10**9], "capacity": 64}, id="a number that is only a key"),
        pytest.param({"members": [{"id": "C0", "generation": 2**31 - 1}], "topics": {}}, id="a late generation"),
        pytest.param(
            {"queues": ["q"] * 3000, "ask": [str(n) for n in range(3000)]}, id="3,000 clients share 3,000 queues"
        ),
        pytest.param([], id="another shape"),
        pytest.param(None, id="nothing"),
        pytest.param(
            {"topics": 7, "consumers": 7, "cids": 7, "virtual_nodes": "7", "config": {}, "ask": 7}, id="odd types"
        ),
        pytest.param(
            {"topics": {"t": None}, "consumers": {"C0": None, "C1": {"subscription": 3}}}, id="odd inner types"
        ),
    ],
)
def test_a_case_of_a_size_that_clusters_have_is_let_through(case_input):
    check_size(case_input)


@pytest.mark.parametrize(
    ("case_input", "what"),
    [
        ({"topics": {**{f"t{number}": MILLION for number in range(5)}, "one": 1}}, "partitions"),
        ({"topics": {"t": 10**12}}, "partitions"),
        ({"topics": {"t": {"id": "x", "partitions": CASE_ITEMS + 1}}}, "partitions"),
        (
            {"consumers": {"C0": {"subscription": {"t": CASE_ITEMS}}, "C1": {"subscription": {"t": 1}}}},
            "consumer threads",
        ),
        ({"cids": ["a"] * 5, "virtual_nodes": MILLION + 1}, "points of the hash ring"),
        ({"cids": [], "virtual_nodes": CASE_ITEMS + 1}, "points of the hash ring"),
        ({"kind": "integer", "values": [], "capacity": 10**12}, "places of the table"),
        ({"config": ["q"] * 2237, "ask": ["c"] * 2237}, "queues in the answer"),
        ({"queues": ["q"] * 2237, "ask": ["c"] * 2238}, "queues in the answer"),
    ],
)
def test_a_case_beyond_the_limit_is_refused(case_input, what):
    with pytest.raises(ValidationError, match=f"^Too large: more than 5000000 {what}$"):
        check_size(case_input)
