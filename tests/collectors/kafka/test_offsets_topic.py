"""What a poll sees of the offsets topic: on two real brokers, of which one goes away."""

from __future__ import annotations

import pytest

from monitor.collectors.kafka.offsets_topic import observe_offsets_topic
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.model.offsets_topic import OffsetsTopicSeen, ReplicasSeen
from tests.support.clients import admin
from tests.support.job_process import eventually
from tests.support.several_brokers import await_leader, brokers_with_placed_offsets

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,  # several brokers
    # kafka-python leaves the sockets of failed connections to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]


def seen(broker: EmbeddedKafka) -> OffsetsTopicSeen | None:
    """By a new client each time: none that remembers a broker that is away."""
    with admin(broker.bootstrap_servers) as client:
        return observe_offsets_topic(client)


def test_partitions_lack_replicas_or_a_leader_while_a_broker_is_away():
    with brokers_with_placed_offsets() as (first, second):
        eventually(lambda: seen(first) == OffsetsTopicSeen(4), "all replicas in sync")
        second.kill()
        one, two = first.node_id, second.node_id
        below = (
            ReplicasSeen(0, leader=one, in_sync=(one,), replicas=(one, two)),
            ReplicasSeen(1, leader=one, in_sync=(one,), replicas=(two, one)),
        )
        eventually(lambda: (found := seen(first)) and found.degraded[:2] == below, "what is left of the first two")
        found = eventually(lambda: seen(first), "the topic")
        assert (found.partitions, found.min_in_sync) == (4, 2)
        assert [(each.partition, each.leader, each.replicas) for each in found.degraded[2:]] == [(2, -1, (two,))]
        second.start()
        await_leader(first.bootstrap_servers, 2)
        eventually(lambda: seen(first) == OffsetsTopicSeen(4), "all replicas in sync again")
