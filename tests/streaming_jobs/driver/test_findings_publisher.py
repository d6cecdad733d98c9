"""Findings on their way out: across restarts, while the topic is away, and in shards."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka.errors import TopicAuthorizationFailedError
from msgspec import UNSET

from monitor.collectors.kafka.findings_topic import FindingsTopic
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.detection.finding_changes import KEPT_CLOSED_MS
from monitor.model import ALL_GROUPS, FindingRecord, Shard
from streaming_jobs.driver import findings_publisher
from streaming_jobs.driver.findings_publisher import FindingsPublisher
from streaming_jobs.ingest.sharding import shard_of
from tests.detection.test_finding_changes import IDLE, NOT_WRITABLE, ORPHANED, summary
from tests.support.brokers import SOON_BACK
from tests.support.clients import admin
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker


@pytest.fixture
def cluster(broker: EmbeddedKafka, topic_name: str) -> ClusterSettings:
    return settings(broker, topic_name)


def settings(broker: EmbeddedKafka, name: str) -> ClusterSettings:
    return ClusterSettings(name="c", bootstrap_servers=broker.bootstrap_servers, findings_topic=f"f-{name}")


def in_topic(cluster: ClusterSettings) -> dict[tuple[str, str], FindingRecord]:
    return {(record.group, record.kind): record for record in FindingsTopic(cluster).read()}


@pytest.fixture
def out(cluster: ClusterSettings) -> Iterator[FindingsPublisher]:
    made = FindingsPublisher(cluster, ALL_GROUPS)
    yield made
    made.close()


def test_what_ended_while_no_job_ran_is_closed_by_the_next_one(cluster: ClusterSettings, out: FindingsPublisher):
    out.publish([summary(ORPHANED, IDLE)], 1)
    out.close()
    following = FindingsPublisher(cluster, ALL_GROUPS)
    following.publish([summary(IDLE)], 9)
    following.close()
    seen = {kind: (record.event.value, record.at_ms) for (_, kind), record in in_topic(cluster).items()}
    assert seen == {"orphaned": ("closed", 9), "idle_members": ("opened", 1)}


def test_findings_have_the_address_of_the_page_from_when_it_is_set(cluster: ClusterSettings, out: FindingsPublisher):
    """That it is set is no news of a finding that is open."""
    out.publish([summary(ORPHANED)], 1)
    out.close()
    following = FindingsPublisher(cluster, ALL_GROUPS, external_url="https://ops.example.com")
    following.publish([summary(ORPHANED, IDLE)], 9)
    following.close()
    seen = {kind: (record.at_ms, record.page_url) for (_, kind), record in in_topic(cluster).items()}
    assert seen == {"orphaned": (1, UNSET), "idle_members": (9, "https://ops.example.com/groups/c/g")}


def test_another_clusters_findings_in_the_same_topic_stay(cluster: ClusterSettings, out: FindingsPublisher):
    out.publish([summary(ORPHANED)], 1)
    other = FindingsPublisher(cluster.model_copy(update={"name": "other"}), ALL_GROUPS)
    other.publish([], 2)
    other.close()
    assert [record.event.value for record in in_topic(cluster).values()] == ["opened"]


def test_each_shard_closes_its_own(cluster: ClusterSettings):
    shards = [Shard(number=1, of=2), Shard(number=2, of=2)]
    groups = {shard_of(name, 2): name for name in map(str, range(100))}
    for number in (1, 2):
        way = FindingsPublisher(cluster, shards[number - 1])
        way.publish([summary(ORPHANED, group=groups[number])], number)
        way.close()
    again = FindingsPublisher(cluster, shards[0])
    again.publish([], 3)
    again.close()
    assert {group: record.event.value for (group, _), record in in_topic(cluster).items()} == {
        groups[1]: "closed",
        groups[2]: "opened",
    }


def test_findings_of_a_cluster_are_closed_by_the_shard_that_takes_over(cluster: ClusterSettings):
    """Two shards publish one each, and then one job watches all groups."""
    for number in (1, 2):
        way = FindingsPublisher(cluster, Shard(number=number, of=2))
        way.publish([], number, [NOT_WRITABLE])
        way.close()
    found = {record.shard: (record.event.value, record.group, record.kind) for record in FindingsTopic(cluster).read()}
    assert found == dict.fromkeys((1, 2), ("opened", "", "offsets_topic"))
    alone = FindingsPublisher(cluster, ALL_GROUPS)
    alone.publish([], 3, [NOT_WRITABLE])
    alone.close()
    left = {record.shard: record.event.value for record in FindingsTopic(cluster).read()}
    assert left == {1: "opened", 2: "closed"}


def test_without_a_topic_nothing_is_told(broker: EmbeddedKafka):
    silent = ClusterSettings(name="c", bootstrap_servers="127.0.0.1:1", findings_topic="")
    way = FindingsPublisher(silent, ALL_GROUPS)
    way.publish([summary(ORPHANED)], 1)
    assert way.problem is None


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is tried again without a pause."""
    monkeypatch.setattr(findings_publisher, "FIRST_PAUSE_MS", 0)
    monkeypatch.setattr(findings_publisher, "LONGEST_PAUSE_MS", 0)


def deleted(cluster: ClusterSettings) -> None:
    with admin(cluster.bootstrap_servers) as client:
        client.delete_topics([cluster.findings_topic])
        eventually(lambda: cluster.findings_topic not in client.list_topics(), "the end of the topic")


@pytest.mark.usefixtures("at_once")
def test_what_is_open_is_told_again_in_a_new_topic(cluster: ClusterSettings, out: FindingsPublisher):
    out.publish([summary(ORPHANED)], 1)
    deleted(cluster)

    def healed() -> bool:
        out.publish([summary(ORPHANED, IDLE)], 2)
        return out.problem is None

    eventually(healed, "a topic that can be written")
    assert {kind: record.event.value for (_, kind), record in in_topic(cluster).items()} == {
        "orphaned": "opened",
        "idle_members": "opened",
    }


@pytest.mark.usefixtures("at_once")
def test_what_is_outdated_and_opens_again_while_nothing_can_be_written_stays_open(
    cluster: ClusterSettings, out: FindingsPublisher, monkeypatch: pytest.MonkeyPatch
):
    out.publish([summary(ORPHANED)], 1)
    out.publish([summary()], 2)
    with monkeypatch.context() as away:
        away.setattr(FindingsTopic, "write", refuse)
        out.publish([summary()], 3 + KEPT_CLOSED_MS)
        out.publish([summary(ORPHANED)], 4 + KEPT_CLOSED_MS)
        assert out.problem is not None
    out.publish([summary(ORPHANED)], 5 + KEPT_CLOSED_MS)
    assert [record.event.value for record in in_topic(cluster).values()] == ["opened"]


@pytest.mark.parametrize("error", [ValueError("odd"), TopicAuthorizationFailedError()])
def test_whatever_fails_micro_batches_go_on(
    cluster: ClusterSettings, out: FindingsPublisher, monkeypatch: pytest.MonkeyPatch, error: Exception
):
    def fail(_topic: FindingsTopic) -> None:
        raise error

    monkeypatch.setattr(FindingsTopic, "read", fail)
    out.publish([summary(ORPHANED)], 1)
    assert out.problem is not None
    assert type(error).__name__.removesuffix("Error") in out.problem


def refuse(*_: object) -> None:
    raise TopicAuthorizationFailedError


def test_once_closed_it_tells_no_more(cluster: ClusterSettings, out: FindingsPublisher):
    out.publish([summary(ORPHANED)], 1)
    out.close()
    out.publish([summary()], 2)
    assert [record.event.value for record in in_topic(cluster).values()] == ["opened"]


@pytest.mark.usefixtures("at_once")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_while_the_broker_is_away_news_wait_in_their_order(tmp_path: Path, topic_name: str):
    with EmbeddedKafka(BrokerSettings(properties=SOON_BACK), data_dir=tmp_path) as kafka:
        cluster = settings(kafka, topic_name)
        way = FindingsPublisher(cluster, ALL_GROUPS)
        way.publish([summary(ORPHANED)], 1)
        kafka.kill()
        way.publish([summary(IDLE)], 2)
        assert way.problem is not None
        assert f"not written to {cluster.findings_topic}" in way.problem
        way.publish([summary()], 3)
        kafka.start()
        way.publish([summary()], 4)
        assert way.problem is None
        way.close()
        seen = {kind: (record.event.value, record.at_ms) for (_, kind), record in in_topic(cluster).items()}
    assert seen == {"orphaned": ("closed", 2), "idle_members": ("closed", 3)}
    gc.collect()  # kafka-python leaves the sockets of failed connections to it: let it warn here, where it is ignored
