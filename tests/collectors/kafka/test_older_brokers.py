"""What is requested of brokers before Kafka 3.7, and what is not of newer ones. tests/systems has a real broker."""

from __future__ import annotations

from typing import Any

import pytest
from kafka.admin import ConfigResource
from kafka.protocol.api_key import ApiKey

from monitor.collectors.kafka.offsets_topic import observe_offsets_topic
from monitor.model.offsets_topic import OffsetsTopicSeen, ReplicasSeen

KAFKA_3_6, KAFKA_3_7 = 15, 16
"""The newest version of their fetch requests."""


class Brokers:
    """A cluster whose offsets topic has one partition, with these replicas, all of which are in sync."""

    def __init__(self, fetch: int, minimum: int | None, *replicas: int) -> None:
        self.fetch, self.minimum, self.replicas, self.asked = fetch, minimum, list(replicas), 0

    def api_versions(self) -> dict[ApiKey, tuple[int, int]]:
        return {ApiKey.Fetch: (4, self.fetch)}

    def describe_topics(self, topics: list[str]) -> list[dict[str, Any]]:
        partition = {"partition_index": 0, "leader_id": 1, "isr_nodes": self.replicas, "replica_nodes": self.replicas}
        return [{"name": topics[0], "error_code": 0, "partitions": [partition]}]

    def describe_configs(self, resources: list[ConfigResource], config_filter: str) -> dict[str, Any]:
        self.asked += 1
        values = {} if self.minimum is None else {"min.insync.replicas": {"value": str(self.minimum)}}
        return {"topic": {resources[0].name: values}}


ONE = ReplicasSeen(0, 1, (1,), (1,))


@pytest.mark.parametrize(
    ("brokers", "seen", "asked"),
    [
        pytest.param(
            Brokers(KAFKA_3_6, 2, 1),
            OffsetsTopicSeen(1, (ONE,), 2, needs_all_of_them=True),
            1,
            id="one replica, two needed: Yolean/kubernetes-kafka #139",
        ),
        pytest.param(Brokers(KAFKA_3_6, 2, 1, 2), OffsetsTopicSeen(1, needs_all_of_them=True), 1, id="two of two"),
        pytest.param(Brokers(KAFKA_3_6, 1, 1), OffsetsTopicSeen(1, needs_all_of_them=True), 1, id="one is enough"),
        pytest.param(Brokers(KAFKA_3_6, None, 1), OffsetsTopicSeen(1, needs_all_of_them=True), 1, id="not permitted"),
        pytest.param(Brokers(KAFKA_3_7, 2, 1), OffsetsTopicSeen(1), 0, id="newer: nothing is requested"),
    ],
)
def test_the_minimum_is_requested_of_brokers_that_do_not_cap_it(brokers: Brokers, seen: OffsetsTopicSeen, asked: int):
    assert observe_offsets_topic(brokers) == seen
    assert brokers.asked == asked
