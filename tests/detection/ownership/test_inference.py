"""Which strategy explains the owners: golden vectors of the originals, and small groups by hand."""

import msgspec
import pytest

from monitor.assignors.vectors.kafka_zookeeper_cases import Case, group_of
from monitor.detection.ownership.inference import (
    Candidate,
    Fit,
    Place,
    best_fit,
    metaq_candidates,
    zookeeper_candidates,
)
from tests.assignors.golden import read

P0, P1, P2 = (Place("t", str(number)) for number in range(3))
EVEN = Candidate("even", {P0: ("a",), P1: ("b",), P2: ("a",)})
GREEDY = Candidate("greedy", {P0: ("a",), P1: ("a",), P2: ("a",)})
BROKEN = Candidate("broken", None)
LIKE_EVEN = Candidate("like even", EVEN.owners)


@pytest.mark.parametrize(
    ("candidates", "actual", "expected"),
    [
        pytest.param([EVEN, GREEDY], EVEN.owners, Fit("even", 0, ("even",), 7), id="one fits"),
        pytest.param([GREEDY, EVEN, LIKE_EVEN], EVEN.owners, Fit("even", 0, ("even", "like even"), 7), id="two fit"),
        pytest.param(
            [LIKE_EVEN, EVEN], EVEN.owners, Fit("like even", 0, ("like even", "even"), 7), id="the likelier is named"
        ),
        pytest.param([EVEN, GREEDY], {P0: ("a",), P1: ("a",)}, Fit("greedy", 1, (), 7), id="the nearest: one missing"),
        pytest.param(
            [EVEN, GREEDY], {P0: ("b",), P1: ("b",), P2: ("b",)}, Fit("even", 2, (), 7), id="the nearest: two of three"
        ),
        pytest.param(
            [GREEDY, EVEN],
            {P0: ("a",), P1: ("a", "b"), P2: ("a",)},
            Fit("greedy", 1, (), 7),
            id="two owners",
        ),
        pytest.param(
            [GREEDY], {**GREEDY.owners, Place("u", "0"): ("a",)}, Fit("greedy", 1, (), 7), id="a partition too many"
        ),
        pytest.param([BROKEN, EVEN], GREEDY.owners, Fit("even", 1, (), 7), id="one that fails cannot be it"),
        pytest.param([BROKEN], {}, None, id="none has an answer"),
        pytest.param([], {}, None, id="no candidates"),
        pytest.param([Candidate("x", {})], {}, Fit("x", 0, ("x",), 7), id="nothing to own"),
    ],
)
def test_the_strategy_that_explains_most(candidates, actual, expected):
    assert best_fit(candidates, actual, now_ms=7) == expected


@pytest.mark.parametrize(("strategy", "at_least"), [("default", 150), ("consishash", 150)])
def test_metaqs_own_assignments_fit_their_strategy(strategy, at_least):
    fitted = 0
    for vector in read(f"metaq.{strategy}"):
        case, expected = vector["input"], vector.get("expected", {})
        if not case["consumers"] or not set(case["consumers"]) <= expected.get("assignment", {}).keys():
            continue  # not everybody was asked, so the owners of some partitions are not in the vector
        candidates = metaq_candidates(case["topic"], case["partitions"], case["consumers"])
        actual = {}
        for consumer in dict.fromkeys(case["consumers"]):
            for partition in expected["assignment"][consumer]:
                actual.setdefault(Place(case["topic"], partition), set()).add(consumer)
        fit = best_fit(candidates, {place: tuple(sorted(names)) for place, names in actual.items()}, now_ms=1)
        assert strategy in fit.fitting, vector["id"]
        fitted += 1
    assert fitted >= at_least


def owners_of_threads(assignment):
    owners = {}
    for threads in assignment.values():
        for thread, topics in threads.items():
            for topic, numbers in topics.items():
                for number in numbers:
                    owners.setdefault(Place(topic, str(number)), set()).add(thread)
    return {place: tuple(sorted(names)) for place, names in owners.items()}


@pytest.mark.parametrize(("assignor", "at_least"), [("range", 150), ("roundrobin", 100)])
def test_the_zookeeper_consumers_own_assignments_fit_their_assignor(assignor, at_least):
    fitted = 0
    for vector in read(f"kafka08.{assignor}"):
        expected = vector.get("expected", {})
        if "assignment" not in expected or "errors" in expected:
            continue
        candidates = zookeeper_candidates(group_of(msgspec.convert(vector["input"], Case)))
        fit = best_fit(candidates, owners_of_threads(expected["assignment"]), now_ms=1)
        assert assignor in fit.fitting, vector["id"]
        fitted += 1
    assert fitted >= at_least


def test_the_older_round_robin_is_told_from_the_newer():
    told = 0
    for vector in read("kafka08.roundrobin"):
        older = vector.get("differs", {}).get("org.apache.kafka:kafka_2.11:0.8.2.2", {}).get("expected", {})
        if "assignment" in older and "errors" not in older:
            candidates = zookeeper_candidates(group_of(msgspec.convert(vector["input"], Case)))
            fit = best_fit(candidates, owners_of_threads(older["assignment"]), now_ms=1)
            assert "roundrobin of 0.8" in fit.fitting, vector["id"]
            told += "roundrobin" not in fit.fitting
    assert told >= 1


def test_of_a_real_choice_only_one_fits():
    """Eight partitions, three consumers: default gives runs of 3, 3 and 2."""
    partitions = [f"0-{number}" for number in range(8)]
    candidates = metaq_candidates("t", partitions, ["a", "b", "c"])
    runs = dict(zip(partitions, "aaabbbcc", strict=True))
    fit = best_fit(candidates, {Place("t", place): (owner,) for place, owner in runs.items()}, now_ms=1)
    assert fit == Fit("default", 0, ("default",), 1)
    runs["0-0"], runs["0-7"] = "c", "a"
    other = best_fit(candidates, {Place("t", place): (owner,) for place, owner in runs.items()}, now_ms=2)
    assert (other.candidate, other.differing, other.fitting, other.since_ms) == ("default", 2, (), 2)
