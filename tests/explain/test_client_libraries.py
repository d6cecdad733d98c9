"""What explain says of the client libraries of a group: known defects of captured groups, and other leaders."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.group import explain_group
from monitor.explain.statements import About, Statement
from monitor.model import GroupState, WireForm
from tests.detection.ownership import test_client_libraries as captures
from tests.support.builders import NOW, catalog, group, member, topic

DEFECTS = {
    "kafkajs.default.diff": ["Known defect of KafkaJS (2.2.4): Its leader assigns only the topics"],
    "kafkajs.default.same": [],
    "platformatic.default.diff": ["Known defect of @platformatic/kafka (1.35.0 to 2.12.1): Its leader assigns only"],
    "platformatic-1.35.default.same": ["Known defect of @platformatic/kafka (before 2.12): It sends subscription"],
    "kafka-go.default.same": ["Known defect of kafka-go (0.4.51): It sends subscription version 1 without"],
    "librdkafka.cooperative-sticky.diff": ["Known defect of librdkafka (2.15.0, 2.16.1): Its cooperative-sticky can"],
    "librdkafka.cooperative-sticky.same": [],
    "aiokafka.sticky.same": ["Known defect of aiokafka (0.14.0): Several consumers in one process share"],
    "kafka-python.roundrobin.same": [],
    "franz-go.cooperative-sticky.diff": [],
}
"""How the known defects begin that explain lists, from the table of the libraries and the groups' subscriptions."""


def clients_told(state: GroupState, topics) -> list[Statement]:
    """What is said of the client libraries, but not which one each member uses."""
    explained = explain_group(GroupInputs(group=state, catalog=topics, now_ms=NOW))
    return [each for each in explained.statements if each.about is About.CLIENTS]


@pytest.mark.parametrize("name", sorted(DEFECTS))
def test_the_known_defects_that_can_show_in_a_group_are_listed(name: str):
    stored_ms = captures.captured()[name]["timestamp_ms"]
    topics = captures.topics_seen(stored_ms - captures.HOUR_MS, stored_ms + captures.LATER_MS)
    said = [each.sentence for each in clients_told(captures.state_of(name), topics) if "defect" in each.sentence]
    assert len(said) == len(DEFECTS[name])
    assert all(sentence.startswith(start) for sentence, start in zip(said, DEFECTS[name], strict=True))


TWELVE = catalog(topic("t", 12))
SARAMA = {"client_id": "sarama", "wire": WireForm(subscription_version=1, assignment_version=0)}
MIXED = group(
    member("C0", ["t"], {"t": [0, 3, 6, 9]}, client_id="consumer-1"),
    member("C1", ["t"], {"t": [1, 4, 7, 10]}, client_id="consumer-2"),
    member("C2", ["t"], {"t": [2, 5, 8, 11]}, **SARAMA),
    protocol="roundrobin",
)


def test_what_each_library_would_move_as_the_leader_is_told():
    """Sarama deals t-0, t-1, t-10, t-11, t-2 ... out by name, so only the partitions 0 and 1 keep their owners."""
    (mixed,) = clients_told(MIXED, TWELVE)
    assert mixed.sentence.startswith("The members use 2 client libraries (Kafka's Java client 2, Sarama 1).")
    assert mixed.evidence == (
        "With a leader of Kafka's Java client: no partition would move.",
        "With a leader of Sarama: 10 partitions would move.",
    )


def test_of_an_assignor_without_one_result_nothing_is_predicted():
    (mixed,) = clients_told(replace(MIXED, protocol="sticky"), TWELVE)
    assert "With a leader of Sarama: the result of its sticky cannot be predicted." in mixed.evidence


def test_a_group_with_one_library_has_nothing_to_tell():
    members = tuple(replace(each, **SARAMA) for each in MIXED.members)
    assert clients_told(replace(MIXED, members=members), TWELVE) == []
