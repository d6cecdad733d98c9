"""Findings on their way to a webhook: from a real topic to a real receiver, also while one of them is away."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

import msgspec
import pytest
from kafka import TopicPartition

from monitor.collectors.kafka import findings_feed
from monitor.collectors.kafka.findings_feed import FindingsFeed
from monitor.collectors.kafka.findings_topic import FindingsTopic
from monitor.config import ClusterSettings, WebhookSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import FindingNews, FindingOutdated, FindingRecord
from streaming_jobs.driver import findings_webhook
from streaming_jobs.driver.findings_webhook import FindingsOf, FindingsWebhook, stop_all
from tests.protocol.test_findings_topic import RECORD
from tests.push.webhook_receiver import Receiver, webhook_receiver
from tests.support.clients import admin
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker


def finding(group: str, event: str = "opened", at_ms: int = 1, cluster: str = "c") -> FindingRecord:
    name = id_of(group, cluster)
    return msgspec.structs.replace(RECORD, id=name, cluster=cluster, group=group, event=FindingNews(event), at_ms=at_ms)


def id_of(group: str, cluster: str = "c") -> str:
    """By docs/findings.md: a hash of cluster, group, kind and reason."""
    return blake2b(
        json.dumps([cluster, group, "orphaned", "grew"]).replace(", ", ",").encode(), digest_size=16
    ).hexdigest()


@pytest.fixture
def cluster(broker: EmbeddedKafka, topic_name: str) -> ClusterSettings:
    return ClusterSettings(name="c", bootstrap_servers=broker.bootstrap_servers, findings_topic=f"f-{topic_name}")


@pytest.fixture
def topic(cluster: ClusterSettings) -> Iterator[FindingsTopic]:
    made = FindingsTopic(cluster)
    made.read()
    yield made
    made.close()


@pytest.fixture
def process() -> ProcessMetrics:
    return ProcessMetrics()


def group_of(cluster: ClusterSettings) -> str:
    return f"webhook-{cluster.findings_topic}"


@contextmanager
def sending(
    cluster: ClusterSettings,
    url: str,
    process: ProcessMetrics,
    systems: tuple[str, ...] = (),
    secret: str | None = None,
) -> Iterator[FindingsWebhook]:
    """A webhook that tries again at once; between its failures is a tenth of a second."""
    feed = FindingsFeed(cluster, group_of(cluster))
    settings = WebhookSettings.model_validate({"url": url, "secret": secret})
    webhook = FindingsWebhook(FindingsOf(cluster.name, systems), settings, feed, process, lambda _failures, _asked: 0.1)
    webhook.start()
    try:
        yield webhook
    finally:
        stop_all([webhook])


def begin(cluster: ClusterSettings) -> list[FindingRecord]:
    """A first start that ends at once: from then on, the group has a position."""
    feed = FindingsFeed(cluster, group_of(cluster))
    try:
        return feed.read(1_000)
    finally:
        feed.close()


def ids(receiver: Receiver) -> list[str]:
    """The accepted events: the group, and what happened."""
    events = [json.loads(body) for body in receiver.accepted()]
    return [f"{event['data']['group']} {event['data']['event']}" for event in events]


def test_what_is_open_is_sent_first_and_then_what_happens(cluster, topic, process):
    topic.write([finding("a"), finding("b"), finding("a", "closed", 2), finding("c"), FindingOutdated(id_of("d"))])
    with webhook_receiver() as receiver, sending(cluster, receiver.url, process):
        receiver.wait_for(2)
        topic.write([finding("a", "opened", 3), finding("b", "closed", 4)])
        receiver.wait_for(4)
        assert ids(receiver) == ["b opened", "c opened", "a opened", "b closed"]


def test_what_happens_while_the_receiver_is_away_is_sent_when_it_is_back(cluster, topic, process, caplog):
    (port,) = free_ports(1)
    assert begin(cluster) == []
    with caplog.at_level(logging.INFO), sending(cluster, f"http://127.0.0.1:{port}/secret", process):
        topic.write([finding("a"), finding("b"), finding("a", "closed", 2)])
        eventually(lambda: "which is tried again" in caplog.text, "an attempt in vain")
        with webhook_receiver(port) as receiver:
            receiver.wait_for(3)
            assert ids(receiver) == ["a opened", "b opened", "a closed"]
    assert "secret" not in caplog.text
    assert f"findings wait for the webhook http://127.0.0.1:{port}, which is tried again" in caplog.text


def test_an_event_is_tried_until_it_is_accepted_or_rejected_and_the_order_stays(cluster, topic, process):
    with webhook_receiver() as receiver:
        receiver.statuses = [503, 401, 204, 422]
        with sending(cluster, receiver.url, process):
            topic.write([finding("a"), finding("b"), finding("c")])
            receiver.wait_for(5)
        assert [request.status for request in receiver.requests] == [503, 401, 204, 422, 204]
        assert ids(receiver) == ["a opened", "c opened"]
        assert len({request.headers["webhook-id"] for request in receiver.requests[:3]}) == 1
    text = process.text()
    for result, count in (("delivered", 2), ("failed", 2), ("rejected", 1)):
        assert f'groupwatch_webhook_delivery_seconds_count{{cluster="c",result="{result}"}} {count}\n' in text


def test_a_record_that_is_no_event_does_not_hold_up_the_next(cluster, topic, process, caplog):
    """As anyone could write it who may write to the topic."""
    assert begin(cluster) == []
    with webhook_receiver() as receiver, sending(cluster, receiver.url, process):
        topic.write([finding("b", "opened", 2**63 - 1), finding("c")])
        receiver.wait_for(1)
        assert ids(receiver) == ["c opened"]
    assert "about the group b is not sent to the webhook: its time is out of range" in caplog.text


def test_what_a_writer_to_the_topic_says_of_another_cluster_is_neither_signed_nor_sent(
    cluster, topic, process, caplog, monkeypatch
):
    """Nor what has an id of its own, which would open and close a finding beside the true one."""
    assert begin(cluster) == []
    other = finding("payments", "closed", cluster="prod")
    named, unknown = finding("payments"), finding("payments")
    forged = [
        other,
        msgspec.structs.replace(other, cluster="c"),
        msgspec.structs.replace(named, id="0" * 32),
        msgspec.structs.replace(unknown, kind="all clear"),
    ]
    with webhook_receiver() as receiver, sending(cluster, receiver.url, process, ("old",), "0123456789abcdef"):
        topic.write([*forged, finding("payments"), finding("legacy", cluster="old")])
        receiver.wait_for(2)
        monkeypatch.setattr(findings_webhook, "SKIPPED_LINE_S", 0.0)
        topic.write([other, finding("last")])
        receiver.wait_for(3)
    assert ids(receiver) == ["payments opened", "legacy opened", "last opened"]
    sources = [json.loads(body)["source"].rpartition("/")[2] for body in receiver.accepted()]
    assert sources == ["c", "old", "c"]
    lines = [record.getMessage() for record in caplog.records if "is not sent" in record.getMessage()]
    start = "Cluster c: a record of the findings topic about the group payments is not sent to the webhook: it names a"
    assert [line.startswith(start) for line in lines] == [True, True], lines
    assert lines[1].endswith("(3 others were not sent since the last such line)")
    text = process.text()
    for reason, count in (("foreign", 2), ("forged", 3), ("unreadable", 0)):
        assert f'groupwatch_webhook_skipped_records_total{{cluster="c",reason="{reason}"}} {count}\n' in text


def test_a_job_continues_where_the_last_one_was_accepted(cluster, topic, process):
    """What happens while no job runs is sent by the next one, also if it is over by then."""
    with webhook_receiver() as receiver:
        with sending(cluster, receiver.url, process):
            topic.write([finding("a")])
            receiver.wait_for(1)
        topic.write([finding("b"), finding("b", "closed", 2)])
        with sending(cluster, receiver.url, process):
            eventually(lambda: "b closed" in ids(receiver), "what happened meanwhile", 30)
        assert [*dict.fromkeys(ids(receiver))] == ["a opened", "b opened", "b closed"]


def test_a_removed_finding_is_passed_over_and_is_no_lag(cluster, topic, process):
    """Otherwise groupwatch would report its own group as not committing."""
    assert begin(cluster) == []
    place = TopicPartition(cluster.findings_topic, 0)
    with webhook_receiver() as receiver, sending(cluster, receiver.url, process):
        topic.write([finding("a"), finding("a", "closed", 2)])
        receiver.wait_for(2)
        topic.write([FindingOutdated(id_of("a"))])
        with admin(cluster.bootstrap_servers) as client:

            def committed() -> int:
                kept = client.list_group_offsets(group_of(cluster))[group_of(cluster)]
                return kept[place].offset

            eventually(lambda: committed() == 3, "the end of the topic as position", 30)


def test_a_position_that_kafka_forgets_while_the_receiver_is_away_is_kept_again(cluster, topic, process, monkeypatch):
    """A finding closes before the receiver is back, and another job starts: without a position, it would be lost."""
    monkeypatch.setattr(findings_feed, "RENEW_AFTER_S", 0.0)
    assert begin(cluster) == []
    (port,) = free_ports(1)
    with sending(cluster, f"http://127.0.0.1:{port}", process), admin(cluster.bootstrap_servers) as client:
        topic.write([finding("a"), finding("a", "closed", 2)])
        attempts = 'groupwatch_webhook_delivery_seconds_count{cluster="c",result="failed"} '
        eventually(lambda: attempts in process.text(), "an attempt that failed")
        client.delete_group_offsets(group_of(cluster), [TopicPartition(cluster.findings_topic, 0)])

        def kept() -> bool:
            return bool(client.list_group_offsets(group_of(cluster)).get(group_of(cluster)))

        eventually(kept, "a position", 30)
    with webhook_receiver(port) as receiver, sending(cluster, receiver.url, process):
        receiver.wait_for(2)
        assert ids(receiver) == ["a opened", "a closed"]


def test_a_first_job_that_delivers_nothing_loses_nothing(cluster, topic, process):
    """A finding is open at the first start, and closes while no job runs."""
    topic.write([finding("a")])
    begin(cluster)
    topic.write([finding("a", "closed", 2), finding("b")])
    with webhook_receiver() as receiver, sending(cluster, receiver.url, process):
        receiver.wait_for(3)
        assert ids(receiver) == ["a opened", "a closed", "b opened"]
