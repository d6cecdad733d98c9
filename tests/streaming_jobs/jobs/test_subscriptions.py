"""Real members with nothing to read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from kafka import KafkaConsumer

from monitor.demo.servers.broker import EmbeddedKafka
from tests.support.clients import admin, commit, create_topic
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

NOTHING = "subscription/nothing_to_read"
MISSING = "subscription/missing_topics"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka() as kafka:
        for topic in ("orders", "gone"):
            create_topic(kafka.bootstrap_servers, topic, 2)
        commit(kafka.bootstrap_servers, "first", "orders", {0: 0})  # the job waits for the offsets topic
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    with running(JobProcess(tmp_path_factory.mktemp("job"), clusters, detection={"commit_silence_s": 5})) as started:
        yield started


def findings(job: JobProcess, group: str) -> dict[str, str]:
    found: dict[str, Any] = json.loads(job.get_any(f"/api/v1/groups/test/{group}"))
    return {f"{each['kind']}/{each['reason']}": each["sentence"] for each in found.get("findings", ())}


def consumer(bootstrap: str, group: str, *topics: str, **more: Any) -> KafkaConsumer:
    return KafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id=group,
        auto_offset_reset="earliest",
        session_timeout_ms=30_000,
        **more,
    )


def joined(bootstrap: str, group: str, *topics: str, **more: Any) -> KafkaConsumer:
    """A consumer that is in the group; its heartbeats go on beside the test."""
    started = consumer(bootstrap, group, *topics, **more)
    eventually(lambda: started.poll(timeout_ms=200) or started._coordinator.generation_if_stable(), f"{group} joins")
    return started


def test_members_without_a_topic_and_such_that_lack_one(bootstrap: str, job: JobProcess):
    with ExitStack() as stack:
        for group, *topics in (("typo", "order"), ("partly", "orders", "order"), ("fine", "orders"), ("late", "late")):
            stack.enter_context(closing(joined(bootstrap, group, *topics)))
        typo = eventually(lambda: findings(job, "typo").get(NOTHING), "the finding of the misspelled topic")
        assert "It subscribes to order, which does not exist" in typo
        assert "order (orders)" in typo
        assert "to order, which" in eventually(lambda: findings(job, "partly").get(MISSING), "the finding of a part")
        assert NOTHING not in findings(job, "partly")
        assert findings(job, "fine").keys() & {NOTHING, MISSING} == set()
        eventually(lambda: findings(job, "late").get(NOTHING), "the finding of the topic to come")
        create_topic(bootstrap, "late", 1)
        eventually(lambda: NOTHING not in findings(job, "late"), "the topic has come")


def test_a_topic_that_is_deleted_under_its_group(bootstrap: str, job: JobProcess):
    with closing(joined(bootstrap, "bereft", "gone", metadata_max_age_ms=1_000)) as member, admin(bootstrap) as client:
        eventually(lambda: json.loads(job.get_any("/api/v1/groups/test/bereft")).get("members"), "the group is known")
        assert findings(job, "bereft").keys() & {NOTHING, MISSING} == set()
        client.delete_topics(["gone"])

        def told() -> str | None:
            member.poll(timeout_ms=100)
            return findings(job, "bereft").get(NOTHING)

        assert "It subscribes to gone, which does not exist" in eventually(told, "the finding of the deleted topic")
