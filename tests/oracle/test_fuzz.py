"""We and the living original are asked the same random questions. ``make fuzz`` asks more of them."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_broker.share_simple import ShareSimpleAssignor
from monitor.assignors.kafka_broker.uniform import UniformAssignor
from monitor.assignors.vectors import kafka_broker_cases as kafka_broker
from monitor.assignors.vectors import kafka_client_cases as kafka_client
from monitor.assignors.vectors.answering import answer_line
from tests.oracle import fuzz
from tests.oracle.agreement import ours, shrink
from tests.oracle.cases import BROKER_FAMILIES, CLIENT_FAMILIES, random_cases
from tests.support.examples import example_count

SEED = 4
CASES = {**dict.fromkeys(CLIENT_FAMILIES, example_count(30)), **dict.fromkeys(BROKER_FAMILIES, example_count(15))}
"""1,800 of each client's in CI. ``make fuzz`` and ``make test-long`` ask about 10,000."""
MORE_CASES = {**dict.fromkeys(CLIENT_FAMILIES, 10_000), **dict.fromkeys(BROKER_FAMILIES, 4_000)}


@pytest.mark.parametrize(
    ("family", "cases"),
    [*CASES.items(), *(pytest.param(*more, marks=pytest.mark.long) for more in MORE_CASES.items())],
)
def test_we_say_what_the_original_says(family, cases, original, capsys):
    found = next(fuzz.disagreements(family, SEED, cases, original), None)
    with capsys.disabled():
        print(f"\n{family}: {cases} random cases, seed {SEED}", end="")  # noqa: T201 -- seeds are to be seen
    assert found is None, f"the case, for `python -m monitor.assignors`:\n{json.dumps(found)}"


@pytest.mark.parametrize("family", ["kafka.sticky", "kafka.cooperative-sticky"])
def test_members_can_be_given_in_the_order_of_the_originals_map(family, original):
    for case, _ in islice(random_cases(family, SEED, original.ask), 500):
        answer = original.ask({**case, "in_order": True})
        group = kafka_client.read_case(case["input"])
        assignor = kafka_client.assignor_of(family, group)
        assert in_order(assignor, kafka_client, group) == who_gets_what(answer), json.dumps(case)


@pytest.mark.parametrize(
    ("family", "assignor"),
    [("kafka.server.uniform", UniformAssignor()), ("kafka.server.share-simple", ShareSimpleAssignor())],
)
def test_members_can_be_given_in_the_order_of_the_coordinators_map(family, assignor, original):
    for case, _ in islice(random_cases(family, SEED, original.ask), 500):
        if "assignable" not in case["input"]:
            answer = original.ask({**case, "in_order": True})
            group = kafka_broker.read_case(case["input"])
            assert in_order(assignor, kafka_broker, group) == who_gets_what(answer), json.dumps(case)


def in_order(assignor, package, group):
    try:
        found = assignor.assign_in_order(package.members_of(group), package.topics_of(group))
    except AssignorError as error:
        return str(error)
    return {
        (of.member_id, topic.topic, topic.partitions) for of in found.members for topic in of.topics if topic.partitions
    }


def who_gets_what(answer):
    """Without members that get nothing: the brokers' assignors leave them out, or not."""
    if "error" in answer:
        return answer["error"]
    given = answer["expected"]["assignment"].items()
    return {(member, topic, tuple(at)) for member, topics in given for topic, at in topics.items() if at}


def test_a_disagreement_is_found_and_made_small(original, monkeypatch):
    """As if we did not know the order in which a HashMap has its members: it takes two members to see that."""

    def as_listed(case):
        return original.ask({**case, "in_order": True})

    monkeypatch.setattr(fuzz, "ours", as_listed)
    found = next(fuzz.disagreements("kafka.server.uniform", SEED, 200, original))
    assert len(found["input"]["members"]) == 2
    assert sum(topic["partitions"] for topic in found["input"]["topics"].values()) == 1
    assert found["expected"] == original.ask(found)["expected"] != found["ours"]["expected"]


def test_a_case_that_was_found_can_be_asked_again():
    members = [{"id": "b", "topics": ["t"]}, {"id": "a", "topics": ["t"]}]
    found = {"id": "x", "assignor": "kafka.range", "input": {"topics": {"t": 3}, "members": members}, "ours": {}}
    reply = json.loads(answer_line(json.dumps(found).encode()))
    assert reply == {"id": "x", "answer": {"assignment": {"a": {"t": [0, 1]}, "b": {"t": [2]}}}}


def test_our_mistakes_are_answers_of_another_kind():
    """So that they can never agree with the original's."""
    assert ours({"assignor": "kafka.range", "input": {"topics": {"t": -1}, "members": []}}).keys() == {"invalid"}
    assert ours({"assignor": "kafka.range", "input": None}).keys() == {"invalid"}


def test_shrinking_leaves_what_matters():
    racks = {"t": [["a"], ["b"], ["a"]]}
    members = [{"id": str(number), "topics": ["t", "u"], "rack": "a"} for number in range(4)]
    case = {
        "id": "x",
        "assignor": "kafka.range",
        "input": {"topics": {"t": 3, "u": 1}, "members": members, "racks": racks},
    }

    def fails(candidate):
        group = candidate["input"]
        return group["topics"].get("t", 0) >= 2 and any("rack" in member for member in group["members"])

    member = shrink(case, fails)["input"]["members"]
    assert shrink(case, fails)["input"] == {"topics": {"t": 2}, "members": [{"id": "3", "topics": [], "rack": "a"}]}
    assert len(member) == 1
    assert len(case["input"]["members"]) == 4
