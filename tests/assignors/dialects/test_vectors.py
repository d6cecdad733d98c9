"""Every answer of the published libraries that we have: replayed where the dialect is replayed, accepted everywhere."""

from __future__ import annotations

import json

import pytest

from monitor.assignors.dialects import DIALECTS, Exactness, ReplayedDialect
from tests.assignors.dialects.corruptions import KINDS, is_beyond_move, rate
from tests.assignors.dialects.golden import answer, families, original, read, refused_answers

SIZE = 320
REPLAYED = [name for name, row in DIALECTS.items() if row.exactness is not Exactness.CHECKED]


def test_every_dialect_has_its_vectors():
    assert {family: len(read(family)) for family in families()} == dict.fromkeys(sorted(DIALECTS), SIZE)


@pytest.mark.parametrize("family", REPLAYED)
def test_every_answer_of_a_replayed_dialect_is_the_librarys(family):
    rule = DIALECTS[family].rule
    assert isinstance(rule, ReplayedDialect)
    said = [(vector, answer(rule, vector)) for vector in read(family)]
    wrong = [(vector, ours) for vector, ours in said if ours != original(vector)]
    assert not wrong, report(wrong)


def report(wrong):
    vector, ours = wrong[0]
    ids = ", ".join(vector["id"] for vector, _ in wrong[:20])
    return f"{len(wrong)} differ: {ids}\n{json.dumps(vector)[:3000]}\nsaid: {json.dumps(ours)[:1000]}"


@pytest.mark.parametrize("family", families())
def test_every_answer_of_a_library_is_accepted(family):
    assert refused_answers(family, read(family)) == []


@pytest.mark.parametrize("family", families())
@pytest.mark.parametrize("kind", KINDS)
def test_a_corrupted_answer_is_refused(family, kind):
    """See ``corruptions`` for what counts."""
    found = rate(family, kind)
    assert found.counted > 0
    assert found.share() >= 0.95, f"{found.refused} of {found.counted}"


def by_hand(owned, **assignment):
    members = [{"id": name, "topics": ["t"], "owned": {"t": owned.get(name, [])}} for name in assignment]
    return {
        "id": f"by hand: {owned}, {assignment}",
        "shape": {"subscriptions": "same"},
        "input": {"topics": {"t": 9}, "members": members},
        "expected": {"assignment": {name: {"t": partitions} for name, partitions in assignment.items()}},
    }


@pytest.mark.parametrize(
    ("family", "vector", "counts"),
    [
        pytest.param("sarama.sticky", by_hand({}, C0=[0, 1], C1=[2]), False, id="sizes are exchanged: a tie"),
        pytest.param("sarama.sticky", by_hand({}, C0=[0], C1=[1]), True, id="as many as the owner"),
        pytest.param("sarama.sticky", by_hand({"C0": [0]}, C0=[0, 1], C1=[2]), True, id="it was the owner's alone"),
        pytest.param("franz-go.cooperative-sticky", by_hand({"C1": [0]}, C0=[0, 1], C1=[]), False, id="it goes home"),
        pytest.param(
            "sarama.cooperative-sticky", by_hand({"C0": [0]}, C0=[0, 1], C1=[]), True, id="it is not withheld"
        ),
        pytest.param("sarama.range", by_hand({}, C0=[0, 1], C1=[2]), True, id="the answer is known"),
    ],
)
def test_a_move_counts_if_it_breaks_a_promise(family, vector, counts):
    assert is_beyond_move(family, vector, "C0", "C1", ("t", 0)) is counts
