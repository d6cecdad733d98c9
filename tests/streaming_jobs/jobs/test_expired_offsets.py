"""Committed offsets that a real broker deletes after a minute: what is told before, and what stays afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import admin, commit, create_topic, member, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

EXPIRES_AFTER_A_MINUTE = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A topic whose first two partitions have 150 records, the third 100."""
    with EmbeddedKafka(BrokerSettings(properties=EXPIRES_AFTER_A_MINUTE)) as kafka:
        create_topic(kafka.bootstrap_servers, "t", 3)
        produce(kafka.bootstrap_servers, "t", {0: 150, 1: 150, 2: 100})
        commit(kafka.bootstrap_servers, "first", "t", {0: 0})
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    brokers = {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}
    polled = brokers | {"groups_from": "admin", "events_topic": "groupwatch.polled", "findings_topic": ""}
    clusters = {"test": brokers, "polled": polled}
    with running(JobWithoutSpark(tmp_path_factory.mktemp("job"), clusters)) as started:
        yield started


def group(job: JobProcess, name: str, cluster: str = "test") -> dict[str, Any]:
    """The group as the API has it; nothing if there is none."""
    try:
        found: dict[str, Any] = json.loads(job.get(f"/api/v1/groups/{cluster}/{name}"))
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return {}
        raise
    return found


def findings(job: JobProcess, name: str, cluster: str = "test") -> dict[str, dict[str, Any]]:
    """The findings about committed offsets, by reason."""
    found = group(job, name, cluster).get("findings", [])
    return {each["reason"]: each for each in found if each["kind"] == "offsets"}


def known_to_the_broker(bootstrap: str) -> set[str]:
    with admin(bootstrap) as client:
        return {each["group_id"] for each in client.list_groups()}


def test_expiring_offsets_are_forecast_told_when_they_have_expired_and_resolved(bootstrap: str, job: JobProcess):
    """A group that an administrator deletes before its offsets expire is accused of nothing."""
    with member(bootstrap, "left", "t") as consumer:
        commit_as_member(consumer, {0: 100, 1: 100, 2: 100})
    commit(bootstrap, "alone", "t", {0: 100})
    commit(bootstrap, "deleted", "t", {0: 100})
    commit(bootstrap, "none", "t", {0: 100})
    commit(bootstrap, "none", "t", {0: -2})
    eventually(lambda: "invalid" in findings(job, "none"), "the finding of -2")
    eventually(lambda: group(job, "deleted").get("lag") == 50, "the group that will be deleted")
    assert findings(job, "left") == {}
    with admin(bootstrap) as client:
        client.delete_groups(["deleted"])
    for name in ("left", "alone"):
        eventually(lambda name=name: "expire" in findings(job, name), f"the forecast of {name}")
    assert {"left", "alone"} <= known_to_the_broker(bootstrap)
    due_ms = group(job, "left")["offsets_expire_ms"]
    for name in ("left", "alone"):
        eventually(lambda name=name: "expired" in findings(job, name), f"the expiry of {name}")
        assert "expire" not in findings(job, name)
    assert known_to_the_broker(bootstrap).isdisjoint({"left", "alone", "deleted"})
    expired = group(job, "left")["expired_offsets"]
    assert [(each["partition"], each["offset"], each["lag"]) for each in expired] == [
        (0, 100, 50),
        (1, 100, 50),
        (2, 100, 0),
    ]
    assert all(0 <= each["deleted_ms"] - due_ms <= 5_000 for each in expired)
    assert [each["partition"] for each in findings(job, "left")["expired"]["partitions"]] == [0, 1]
    assert group(job, "deleted") == {}
    eventually(lambda: findings(job, "none").keys() == {"expired"}, "that -2 has expired")
    assert [(each["partition"], each["offset"]) for each in group(job, "none")["expired_offsets"]] == [(0, 100)]
    commit(bootstrap, "left", "t", {0: 150, 1: 150, 2: 100})
    eventually(lambda: findings(job, "left") == {}, "that it is resolved")
    assert group(job, "left").get("lag") == 0
    assert "expired" in findings(job, "alone")


def commit_as_member(consumer: KafkaConsumer, offsets: dict[int, int]) -> None:
    consumer.commit({TopicPartition("t", p): OffsetAndMetadata(o, "", -1) for p, o in offsets.items()})


def test_a_commit_of_minus_one_is_told_until_the_next_commit(bootstrap: str, job: JobProcess):
    """Brokers store it, and return it as no committed offset. The admin API has it, too."""
    commit(bootstrap, "below", "t", {0: 100, 1: 50})
    for cluster in ("test", "polled"):
        eventually(lambda cluster=cluster: group(job, "below", cluster).get("lag") == 150, f"the group in {cluster}")
    commit(bootstrap, "below", "t", {0: -1})
    for cluster in ("test", "polled"):
        told = eventually(lambda cluster=cluster: findings(job, "below", cluster).get("invalid"), f"{cluster}")
        assert "committed -1 in 1 partition of t (0)" in told["sentence"]
        assert "The last offset before was 100, with a lag of at least 50 records" in told["sentence"]
        seen = group(job, "below", cluster)
        assert (seen.get("lag"), seen["lag_at_least"], seen["uncommitted_partitions"]) == (None, 100, 1)
        assert [row.get("committed") for row in seen["partitions"] if row["partition"] < 2] == [None, 50]
    commit(bootstrap, "below", "t", {0: 100})
    for cluster in ("test", "polled"):
        eventually(lambda cluster=cluster: "invalid" not in findings(job, "below", cluster), "that it is resolved")
        assert group(job, "below", cluster)["lag"] == 150
