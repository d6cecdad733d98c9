"""What a case of Kafka's client becomes before a strategy sees it."""

from __future__ import annotations

import pytest
from msgspec import ValidationError

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.assignors.vectors.kafka_client_cases import answer, assignor_of, members_of, read_case, topics_of
from monitor.model import Member, TopicPartitions, TopicShape


def test_a_member_has_all_that_its_subscription_carried():
    case = read_case(
        {
            "topics": {},
            "members": [
                {
                    "id": "C0",
                    "topics": ["t", "gone"],
                    "instance": "",
                    "rack": "r0",
                    "generation": 7,
                    "owned": {"t": [2, 0], "u": []},
                    "user_data": "AAAAAA==",
                    "user_data_means": "not looked at",
                },
                {"id": "", "topics": []},
            ],
        }
    )
    everything = Member(
        member_id="C0",
        topics=("t", "gone"),
        instance_id="",
        rack="r0",
        generation=7,
        owned=(TopicPartitions("t", (2, 0)), TopicPartitions("u", ())),
        user_data=bytes(4),
    )
    assert members_of(case) == [everything, Member(member_id="")]


def test_topics_have_their_racks_and_their_order():
    racks = {"u": [["a", None], []], "somewhere else": [["b"]]}
    case = read_case({"topics": {"u": 2, "t": 0}, "members": [], "racks": racks})
    assert topics_of(case) == [
        TopicShape(topic="u", partitions=2, racks=(("a", None), ())),
        TopicShape(topic="t", partitions=0),
    ]


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_families_are_the_assignors_of_that_name(name):
    case = read_case({"topics": {}, "members": []})
    assert assignor_of(f"kafka.{name}", case).name == name


@pytest.mark.parametrize("name", ["kafka.server.range", "range", "kafka.Range", "kafka.", ""])
def test_other_families_are_refused(name):
    with pytest.raises(ValidationError, match="No such assignor of Kafka's clients"):
        answer(name, {"topics": {}, "members": []})


def test_an_assignor_object_is_as_experienced_as_the_case_says():
    case = {"topics": {}, "members": []}
    for name, kind in [("kafka.sticky", StickyAssignor), ("kafka.cooperative-sticky", CooperativeStickyAssignor)]:
        assert assignor_of(name, read_case(case)) == kind(seen_generation=-1)
        assert assignor_of(name, read_case(case | {"instance_max_generation": 3})) == kind(seen_generation=3)


def test_the_original_throws_what_it_throws():
    with pytest.raises(AssignorError, match="CircularIterator can only be used on non-empty lists"):
        answer("kafka.roundrobin", {"topics": {"t": 1}, "members": []})
