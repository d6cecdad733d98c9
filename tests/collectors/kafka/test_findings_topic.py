"""The findings topic on a real broker: made, written, read after a restart."""

from __future__ import annotations

import msgspec
import pytest
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType

from monitor.collectors.errors import ConnectionFailed, FindingsTopicReplaced
from monitor.collectors.kafka.findings_topic import FindingsTopic
from monitor.config import ClusterSettings
from monitor.demo.servers.ports import free_ports
from monitor.model import FindingNews, FindingOutdated
from tests.protocol.test_findings_topic import RECORD
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

OTHER = msgspec.structs.replace(RECORD, id="aa", group="other")
CLOSED = msgspec.structs.replace(RECORD, event=FindingNews.CLOSED, at_ms=9)


@pytest.fixture
def watched(broker, topic_name) -> ClusterSettings:
    return ClusterSettings(name="c", bootstrap_servers=broker.bootstrap_servers, findings_topic=f"f-{topic_name}")


@pytest.fixture
def findings(watched: ClusterSettings):
    topic = FindingsTopic(watched)
    yield topic
    topic.close()


def test_the_topic_is_made_compacted(watched, findings, admin):
    assert findings.read() == ()
    resource = ConfigResource(ConfigResourceType.TOPIC, watched.findings_topic)
    described = admin.describe_configs([resource])
    assert "'compact'" in str(described)


def test_the_newest_record_of_each_finding_is_read(watched, findings):
    findings.read()
    findings.write([RECORD, OTHER])
    findings.write([CLOSED])
    again = FindingsTopic(watched)
    assert sorted(again.read(), key=lambda record: record.id) == [CLOSED, OTHER]


def test_what_was_removed_is_not_read(watched, findings):
    findings.read()
    findings.write([RECORD, OTHER, FindingOutdated(RECORD.id)])
    assert findings.read() == (OTHER,)


def test_what_others_write_there_is_passed_over(watched, findings):
    findings.read()
    with KafkaProducer(bootstrap_servers=watched.bootstrap_servers) as producer:
        for key, value in ((b"k", b"{"), (b"l", b"[]"), (b"\xff", None)):
            producer.send(watched.findings_topic, key=key, value=value).get(30)
    findings.write([RECORD])
    assert findings.read() == (RECORD,)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_broker(topic_name):
    (port,) = free_ports(1)
    away = ClusterSettings(name="c", bootstrap_servers=f"127.0.0.1:{port}", findings_topic=topic_name)
    with pytest.raises(ConnectionFailed, match="no broker answers"):
        FindingsTopic(away).read()


def test_a_topic_that_was_made_anew_is_noticed(watched, findings, admin):
    findings.read()
    findings.write([RECORD, OTHER])
    admin.delete_topics([watched.findings_topic])
    again = FindingsTopic(watched)
    eventually(lambda: again.read() == (), "the new topic")
    with pytest.raises(FindingsTopicReplaced, match="deleted and created again"):
        findings.write([CLOSED])
