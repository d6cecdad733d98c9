"""The webhook sends while a broker is away that its position needs: on two real brokers, without a job."""

from __future__ import annotations

import logging
from contextlib import suppress

import pytest
from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from monitor.collectors.kafka import findings_feed
from monitor.collectors.kafka.findings_feed import FindingsFeed
from monitor.collectors.kafka.findings_topic import FindingsTopic
from monitor.config import ClusterSettings, WebhookSettings
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.protocol.kafka.group_metadata import group_partition
from streaming_jobs.driver.findings_webhook import FindingsOf, FindingsWebhook, stop_all
from tests.push.webhook_receiver import webhook_receiver
from tests.streaming_jobs.driver.test_findings_webhook import finding, ids
from tests.support.clients import admin
from tests.support.job_process import eventually
from tests.support.several_brokers import await_leader, brokers_with_placed_offsets

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,  # several brokers
    # kafka-python leaves the sockets of failed connections to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

TOPIC = "groupwatch.findings"


def group_in(partition: int) -> str:
    """A group whose position is in that partition of four."""
    return next(name for name in map("hook-{}".format, range(100)) if group_partition(name, 4) == partition)


def position_of(bootstrap: str, group: str) -> int | None:
    """The committed position; None: there is none, or its coordinator is away."""
    with suppress(KafkaError), admin(bootstrap) as client:
        kept = client.list_group_offsets(group).get(group, {}).get(TopicPartition(TOPIC, 0))
        return None if kept is None else kept.offset
    return None


def test_events_are_sent_while_the_position_cannot_be_committed_and_it_is_committed_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Partition 2 loses its leader, and partition 0 its second replica; two have to be in sync."""
    monkeypatch.setattr(findings_feed, "KEEP_AGAIN_S", 1.0)
    groups = group_in(2), group_in(0)
    with brokers_with_placed_offsets() as (first, second):
        bootstrap = first.bootstrap_servers
        cluster = ClusterSettings(name="c", bootstrap_servers=bootstrap, findings_topic=TOPIC)
        topic = FindingsTopic(cluster)
        topic.read()
        with webhook_receiver() as at_leaderless, webhook_receiver() as at_degraded:
            receivers = at_leaderless, at_degraded
            webhooks = [
                FindingsWebhook(
                    FindingsOf("c"),
                    WebhookSettings.model_validate({"url": receiver.url}),
                    FindingsFeed(cluster, group),
                    ProcessMetrics(),
                    lambda _failures, _asked: 0.1,
                )
                for group, receiver in zip(groups, receivers, strict=True)
            ]
            for webhook in webhooks:
                webhook.start()
            try:
                topic.write([finding("a")])
                for group in groups:
                    eventually(lambda group=group: position_of(bootstrap, group) == 1, "a position")
                second.kill()
                eventually(lambda: _is_written(topic), "a findings topic that needs one replica in sync")
                for receiver in receivers:
                    eventually(lambda receiver=receiver: "b opened" in ids(receiver), "an event")
                    assert [*dict.fromkeys(ids(receiver))] == ["a opened", "b opened"]
                eventually(lambda: caplog.text.count("events go on, and a restart repeats them") >= 2, "two lines")
                second.start()
                await_leader(bootstrap, 2)
                for group in groups:
                    eventually(lambda group=group: (position_of(bootstrap, group) or 0) >= 2, "the position of now")
            finally:
                stop_all(webhooks)
                topic.close()
        assert not any(record.levelno > logging.WARNING for record in caplog.records)


def _is_written(topic: FindingsTopic) -> bool:
    """The leader of the topic may have been the broker that is away."""
    try:
        topic.write([finding("b")])
    except KafkaError:
        topic.close()
        return False
    return True


def test_one_replica_in_sync_is_enough_for_the_topic_that_groupwatch_creates():
    with brokers_with_placed_offsets() as (first, _):
        FindingsTopic(ClusterSettings(name="c", bootstrap_servers=first.bootstrap_servers)).read()
        with admin(first.bootstrap_servers) as client:
            described = client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, TOPIC)])["topic"][TOPIC]
    assert described["min.insync.replicas"]["value"] == "1"
