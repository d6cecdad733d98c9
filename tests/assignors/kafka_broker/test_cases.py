"""Cases of the command: what is refused, and what the original leaves out of its answer."""

from __future__ import annotations

import pytest
from msgspec import ValidationError

from monitor.assignors.errors import AssignorError
from monitor.assignors.vectors.kafka_broker_cases import answer, assignable_of, members_of, read_case, topics_of
from monitor.model import Member, TopicPartitions, TopicShape
from tests.assignors.kafka_broker.groups import UUIDS

UNIFORM, RANGE, SHARE = "kafka.server.uniform", "kafka.server.range", "kafka.server.share-simple"


def case(*members, **topics):
    return {
        "topics": {name: {"id": UUIDS[name], "partitions": count} for name, count in topics.items()},
        "members": [{"id": name, "topics": asked, **more} for name, asked, more in members],
    }


def test_a_case_has_all_that_the_coordinator_knows():
    seen = case(("C0", ["t", "gone"], {"instance": "i", "assigned": {"t": [2, 0], "u": []}}), t=3)
    seen |= {"assignable": {"t": [1]}, "subscription_type": "HETEROGENEOUS"}
    read = read_case(seen)
    held = (TopicPartitions("t", (2, 0)), TopicPartitions("u", ()))
    assert members_of(read) == [Member(member_id="C0", topics=("t", "gone"), instance_id="i", assigned=held)]
    assert topics_of(read) == [TopicShape(topic="t", partitions=3, topic_id=UUIDS["t"])]
    assert assignable_of(read) == (TopicPartitions("t", (1,)),)
    assert assignable_of(read_case(case())) is None


@pytest.mark.parametrize(
    ("assignor", "asked", "said"),
    [
        (UNIFORM, [], {}),
        (UNIFORM, ["gone"], {}),
        (SHARE, [], {}),
        (SHARE, ["gone"], {"C0": {}}),
        (RANGE, [], {"C0": {}}),
        (RANGE, ["gone"], {"C0": {}}),
    ],
)
def test_where_the_original_computes_nothing_members_are_absent(assignor, asked, said):
    """Asked of kafka-group-coordinator 4.3.1."""
    assert answer(assignor, case(("C0", asked, {}), t=2)) == {"assignment": said}


def test_a_topic_that_a_member_has_without_partitions_stays():
    seen = case(("a", ["t", "u"], {"assigned": {"u": []}}), ("b", ["t", "u"], {}), t=2, u=0)
    assert answer(UNIFORM, seen) == {"assignment": {"a": {"t": [0], "u": []}, "b": {"t": [1]}}}


def test_members_are_put_into_a_map_in_the_order_of_the_case():
    """The map has a before b whatever came first; q and a have one place in it. Asked of the original."""
    seen = case(("b", ["t"], {}), ("a", ["t"], {}), t=3)
    assert answer(UNIFORM, seen) == {"assignment": {"a": {"t": [0]}, "b": {"t": [1, 2]}}}
    assert answer(SHARE, seen) == {"assignment": {"a": {"t": [0, 2]}, "b": {"t": [1]}}}
    seen = case(("q", ["t"], {}), ("a", ["t"], {}), t=3)
    assert answer(UNIFORM, seen) == {"assignment": {"q": {"t": [0]}, "a": {"t": [1, 2]}}}
    assert answer(SHARE, seen) == {"assignment": {"q": {"t": [0, 2]}, "a": {"t": [1]}}}


def test_the_subscription_type_of_the_case_counts():
    seen = case(("a", ["t"], {}), ("b", ["u"], {}), t=2, u=2)
    both = {"assignment": {"a": {"t": [0]}, "b": {"t": [1]}}}
    assert answer(UNIFORM, seen | {"subscription_type": "HOMOGENEOUS"}) == both
    assert answer(UNIFORM, seen) == {"assignment": {"a": {"t": [0, 1]}, "b": {"u": [0, 1]}}}


def test_only_a_topic_that_is_asked_for_has_to_have_metadata():
    assert answer(RANGE, case(("a", ["u"], {}), t=-1, u=1)) == {"assignment": {"a": {"u": [0]}}}
    with pytest.raises(AssignorError, match="Members are subscribed to topic AAAAAAAAAAEAAAAAAAAAAQ which"):
        answer(SHARE, case(("a", ["u", "t"], {}), t=-1, u=1))


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param([], "Expected `object`", id="no object"),
        pytest.param({}, "missing required field", id="nothing in it"),
        pytest.param(case(t=-2), "Expected `int` >= -1", id="a negative count"),
        pytest.param(case(t=2**31), "Expected `int` <= 2147483647", id="more than Java can count"),
        pytest.param(case(("a", "t", {})), "Expected `array`", id="a subscription that is a text"),
        pytest.param(case(("a", ["t"], {"assigned": {"t": [-1]}})), "Expected `int` >= 0", id="a negative partition"),
        pytest.param(case(("a", [], {}), ("a", [], {})), "Two members have the same id", id="a member twice"),
        pytest.param({"topics": {"t": {"id": "AAAA", "partitions": 1}}, "members": []}, r"topics", id="a short Uuid"),
        pytest.param(
            {"topics": {name: {"id": UUIDS["t"], "partitions": 1} for name in "tu"}, "members": []},
            "Two topics have the same id",
            id="a Uuid twice",
        ),
        pytest.param(case() | {"subscription_type": "SOME"}, "Invalid enum value", id="a third subscription type"),
        pytest.param(case() | {"assignable": {"t": ["0"]}}, "Expected `int`", id="a partition that is a text"),
    ],
)
def test_what_is_no_case_is_refused(seen, why):
    for assignor in (UNIFORM, RANGE, SHARE):
        with pytest.raises(ValidationError, match=why):
            answer(assignor, seen)


@pytest.mark.parametrize("name", ["kafka.uniform", "kafka.server.", "kafka.server.Range", ""])
def test_other_families_are_refused(name):
    with pytest.raises(ValidationError, match="No such assignor of Kafka's broker"):
        answer(name, case())


@pytest.mark.parametrize("assignor", [UNIFORM, RANGE, SHARE])
def test_names_can_be_anything(assignor):
    names = ["", "\ud800", "\x00", "\U0001f600", "a" * 10_000]
    seen = case(*((name, ["t"], {"instance": name}) for name in names), t=len(names))
    given = answer(assignor, seen)["assignment"]
    assert sorted(given[name]["t"] for name in names) == [[number] for number in range(len(names))]
