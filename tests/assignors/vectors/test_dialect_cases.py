"""The command's lines for assignors of other libraries."""

from __future__ import annotations

import json

import pytest

from monitor.assignors.dialects import DIALECTS
from monitor.assignors.vectors.answering import Remarks, answer_line
from monitor.assignors.vectors.dialect_cases import CHECKED_FAMILIES, describe
from monitor.model import TopicPartition
from monitor.model.evidence import Refusal, RefusalReason
from tests.assignors.dialects.golden import families, read
from tests.assignors.vectors.test_command import run, start

MEMBERS = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["t"]}]
EVEN = {"assignment": {"C0": {"t": [0]}, "C1": {"t": [1]}}}
SWAPPED = {"assignment": {"C0": {"t": [1]}, "C1": {"t": [0]}}}
UNEVEN = {"assignment": {"C0": {"t": [0, 1]}, "C1": {}}}


def case(assignor, leader=None, **keys):
    group = {"topics": {"t": 2}, "members": MEMBERS} | ({"leader": leader} if leader else {})
    return {"id": "x", "assignor": assignor, "input": group, **keys}


def reply(line, remarks=None):
    return json.loads(answer_line(json.dumps(line).encode(), remarks))


def test_every_vector_is_answered_and_its_answer_accepted():
    vectors = [vector for family in families() for vector in read(family)[:40]]
    for vector, said in zip(vectors, run(vectors), strict=True):
        assert said["id"] == vector["id"]
        assert "invalid" not in said
        if "expected" in vector:
            assert said["accepted"] is True
            assert "refused" not in said
        checked = vector["assignor"] in CHECKED_FAMILIES
        assert said.get("answer") == (None if checked else vector.get("expected"))


def test_checked_families_are_those_without_an_answer_of_their_own():
    assert {
        "sarama.sticky",
        "sarama.cooperative-sticky",
        "kafka-go.rack-affinity",
        "franz-go.sticky",
        "franz-go.cooperative-sticky",
    } == set(CHECKED_FAMILIES)


@pytest.mark.parametrize("key", ["given", "expected"])
def test_an_assignment_that_is_given_is_judged(key):
    assert reply(case("sarama.range", **{key: EVEN})) == {"id": "x", "answer": EVEN, "accepted": True}
    assert reply(case("sarama.range", **{key: SWAPPED})) == {
        "id": "x",
        "answer": EVEN,
        "accepted": False,
        "refused": "Partition 0 of t belongs to C1, and should belong to C0.",
    }


def test_what_is_given_comes_before_what_is_expected():
    assert reply(case("sarama.range", given=SWAPPED, expected=EVEN))["accepted"] is False


@pytest.mark.parametrize("nothing", [{}, {"expected": None}, {"expected": {"error": "?"}}, {"given": []}])
def test_without_an_assignment_nothing_is_judged(nothing):
    assert reply(case("sarama.range", **nothing)) == {"id": "x", "answer": EVEN}


def test_an_assignor_that_is_checked_needs_an_assignment():
    said = reply(case("sarama.sticky"))
    assert said.keys() == {"id", "invalid"}
    assert "checked and not replayed" in said["invalid"]
    assert '"given": {"assignment":' in said["invalid"]
    assert reply(case("sarama.sticky", given=EVEN)) == {"id": "x", "accepted": True}
    assert reply(case("sarama.sticky", given=UNEVEN)) == {
        "id": "x",
        "accepted": False,
        "refused": "Partition 0 of t can move from C0 to make the group more even: C1 has fewer.",
    }


def test_a_failure_of_the_original_refuses_every_assignment():
    members = [{"id": "C0", "topics": ["t"]}, {"id": "C1", "topics": ["u"]}]
    line = case("kafka-python.roundrobin", given=EVEN) | {"input": {"topics": {"t": 1, "u": 2}, "members": members}}
    said = reply(line)
    assert said == {
        "id": "x",
        "error": "KeyError: (None, 'C1')",
        "accepted": False,
        "refused": "The original fails for this group: KeyError: (None, 'C1').",
    }


@pytest.mark.parametrize("leader", [None, "C9"])
def test_a_leader_that_is_no_member_is_a_fault_of_the_case(leader):
    for line in (case("kafkajs.RoundRobinAssigner", leader), case("kafkajs.RoundRobinAssigner", leader, given=EVEN)):
        said = reply(line)
        assert said == {"id": "x", "invalid": f"The leader {leader!r} is no member of the group - at `$.leader`"}
    assert reply(case("kafkajs.RoundRobinAssigner", "C0"))["answer"] == EVEN


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"assignment": []}, "Expected `object`, got `array` - at `$.assignment`"),
        ({"assignment": {"C0": {"t": [-1]}}}, "Expected `int` >= 0 - at `$.assignment[...][...][0]`"),
        ({"assignment": {"C0": {"t": "0"}}}, "Expected `array`, got `str` - at `$.assignment[...][...]`"),
    ],
)
def test_an_assignment_of_another_form_is_invalid(given, why):
    assert reply(case("sarama.range", given=given)) == {"id": "x", "invalid": why}


def test_options_are_those_of_all_assignors():
    remarks = Remarks(quirks=True, order_sensitive=True)
    plain = reply(case("kafkajs.RoundRobinAssigner", "C0"), remarks)
    assert (plain["quirks"], plain["order_sensitive"]) == ([], False)
    strangers = case("kafkajs.RoundRobinAssigner", "C0") | {
        "input": {"topics": {"t": 2}, "members": [MEMBERS[0], {"id": "C1", "topics": []}], "leader": "C0"}
    }
    assert reply(strangers, remarks)["quirks"] == ["not_subscribed"]
    mixed = [MEMBERS[0] | {"instance": "i"}, MEMBERS[1], {"id": "C2", "topics": ["t"], "instance": "h"}]
    torn = case("kafka-python.range") | {"input": {"topics": {"t": 3}, "members": mixed}}
    assert reply(torn, remarks)["order_sensitive"] is True


def test_help_names_the_dialects():
    with start("--help") as process:
        text = process.stdout.read().decode()
        assert process.wait() == 0
    for word in (*DIALECTS, '"given"', '"expected"', '"accepted"', '"refused"', '"leader"', "checked and not replayed"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("reason", RefusalReason)
def test_every_reason_is_one_short_sentence(reason):
    full = Refusal(reason, TopicPartition("t", 3), "C0", "C1", "KeyError: 'x'")
    for refusal in (full, Refusal(reason, TopicPartition("t", 3), "C0"), Refusal(reason)):
        sentence = describe(refusal)
        assert sentence.endswith(".")
        assert len(sentence.split()) <= 25
    assert "3 of t" in describe(full) or "KeyError" in describe(full)
