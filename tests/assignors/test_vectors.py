from __future__ import annotations

import random

import pytest

from tests.assignors.vectors import answer, is_right, read

FAMILIES = ["kafka.range", "kafka.roundrobin"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_the_originals(family):
    vectors = read(family)
    assert len(vectors) == 250
    assert [vector["id"] for vector in vectors if not is_right(vector)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_do_not_depend_on_the_order_of_the_input(family):
    shuffle = random.Random(20).shuffle
    for vector in read(family):
        before = answer(vector)
        shuffle(vector["input"]["members"])
        for member in vector["input"]["members"]:
            shuffle(member["topics"])
        topics = list(vector["input"]["topics"].items())
        shuffle(topics)
        vector["input"]["topics"] = dict(topics)
        assert answer(vector) == before, vector["id"]


def test_vectors_with_racks_need_them():
    """Otherwise the vectors would pass without the rack-aware path."""
    needing = 0
    for vector in read("kafka.range"):
        vector["input"].pop("racks", None)
        needing += not is_right(vector)
    assert needing >= 20
