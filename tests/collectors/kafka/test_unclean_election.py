"""What polls show of an unclean leader election: on three real brokers, one of them only to keep the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import KafkaError

from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection import DetectionSettings, evaluate
from monitor.model import EndFall, OffsetCommitted, TopicState
from monitor.tracking.group import fold_group
from monitor.tracking.topic import fold_topic
from tests.support.builders import catalog
from tests.support.clients import produce
from tests.support.job_process import eventually

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.jobs, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]

SETTINGS = BrokerSettings(
    heap_mb=256,
    offsets_topic_partitions=1,
    properties={"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": "500"},
)
SECOND = 1_000


class Polls:
    """The topic as polls show it, folded; each poll is dated by the test, so that none has to be waited for."""

    def __init__(self, first: EmbeddedKafka) -> None:
        self._first = first
        self.state: TopicState | None = None

    @contextmanager
    def admin(self) -> Iterator[KafkaAdminClient]:
        """A new client each time: none that remembers a broker that is away."""
        client = KafkaAdminClient(**self._first.client_settings())
        try:
            yield client
        finally:
            client.close()

    def poll(self, second: int) -> tuple[int | None, EndFall | None]:
        """The end, and the truncation as far as it is confirmed."""
        at_ms = second * SECOND
        with self.admin() as admin:
            topics = observe_topics(admin, StableOffsets(), cluster="c", pass_ms=at_ms, observed_ms=at_ms)
        (event,) = [each for each in topics if each.topic == "trunc"]
        self.state = fold_topic("c", "trunc", self.state, [event])
        assert self.state is not None
        (partition,) = self.state.partitions
        return event.partitions[0].end, partition.truncation

    def is_led_alone_by(self, broker: EmbeddedKafka) -> bool:
        """Not while the client asks a broker that is down."""
        try:
            with self.admin() as admin:
                (topic,) = admin.describe_topics(["trunc"])
        except KafkaError:
            return False
        (partition,) = topic["partitions"]
        return (partition["leader_id"], partition["isr_nodes"]) == (broker.node_id, [broker.node_id])


def test_a_new_leader_without_the_newest_records_has_truncated_the_log_and_their_commit_is_beyond_its_end():
    """Both replicas have 300 records, then one alone gets 200 more and dies; the other one comes back without them."""
    with ExitStack() as stack:
        first = stack.enter_context(EmbeddedKafka(SETTINGS))
        fuller, emptier = (stack.enter_context(EmbeddedKafka(SETTINGS, beside=first)) for _ in range(2))
        polls = Polls(first)
        configs = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
        replicas = {0: [fuller.node_id, emptier.node_id]}
        with polls.admin() as admin:
            admin.create_topics([NewTopic("trunc", replica_assignments=replicas, topic_configs=configs)])
        produce(first.bootstrap_servers, "trunc", {0: 300})
        assert polls.poll(10) == (300, None)
        emptier.kill()
        eventually(lambda: polls.is_led_alone_by(fuller), "the replica that is away left the ISR")
        produce(first.bootstrap_servers, "trunc", {0: 200})
        assert polls.poll(20) == (500, None)
        fuller.kill()
        emptier.start()
        eventually(lambda: polls.is_led_alone_by(emptier), "an unclean election")
        eventually(lambda: polls.poll(30)[0] == 300, "an answer of the new leader")
        fall = EndFall(from_ms=20 * SECOND, at_ms=30 * SECOND, before=500, after=300)
        assert polls.poll(40) == (300, fall)
    committed = OffsetCommitted("g", "trunc", 0, 480, 5 * SECOND)
    group = fold_group("c", "g", None, [committed])
    assert group is not None
    assert polls.state is not None
    verdict = evaluate(group, catalog(polls.state), 41 * SECOND, DetectionSettings())
    assert (verdict.lag, [(found.reason, found.since_ms) for found in verdict.findings]) == (
        None,
        [("beyond_end", 30 * SECOND)],
    )
    sentence = verdict.findings[0].sentence
    assert "committed 480, which is 180 records beyond the end of the log (300)" in sentence
