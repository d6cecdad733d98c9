"""A cluster with passwords and ACLs: exactly the documented grants are enough, and one less is told in a sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    NewTopic,
    ResourcePattern,
    ResourceType,
)

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.job_process import JobProcess, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

PASSWORD = "watcher-secret"  # noqa: S105, RUF100 -- of a broker that lives for a test
GRANTS = (
    (ResourceType.TOPIC, "__consumer_offsets", ACLResourcePatternType.LITERAL, ("DESCRIBE", "READ")),
    (ResourceType.TOPIC, "groupwatch.events", ACLResourcePatternType.LITERAL, ("CREATE", "DESCRIBE", "READ", "WRITE")),
    (ResourceType.TOPIC, "*", ACLResourcePatternType.LITERAL, ("DESCRIBE",)),
)
"""What the README tells an administrator to grant."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    users = {"admin": "admin-secret", "watcher": PASSWORD}
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("admin",))) as broker:
        client = KafkaAdminClient(**broker.client_settings("admin"))
        client.create_topics([NewTopic("guarded", 1, 1)])
        client.wait_for_topics(["guarded"])
        client.close()
        place = TopicPartition("guarded", 0)
        consumer = KafkaConsumer(group_id="guarded", **broker.client_settings("admin"))
        consumer.assign([place])
        consumer.commit({place: OffsetAndMetadata(0, "", -1)})
        consumer.close(autocommit=False)
        yield broker


def grant(broker: EmbeddedKafka, *grants: tuple[Any, ...], user: str = "watcher") -> None:
    client = KafkaAdminClient(**broker.client_settings("admin"))
    acls = [
        ACL(f"User:{user}", "*", ACLOperation[operation], ACLPermissionType.ALLOW, ResourcePattern(kind, name, pattern))
        for kind, name, pattern, operations in grants
        for operation in operations
    ]
    answer = client.create_acls(acls)
    client.close()
    assert answer["failed"] == []


def clusters(broker: EmbeddedKafka, password: str, user: str = "watcher") -> dict[str, dict[str, Any]]:
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{login} username="{user}" password="{password}";',
    }
    return {
        "guarded": {
            "bootstrap_servers": broker.bootstrap_servers,
            "collect_interval_s": 0.5,
            "client": properties,
        }
    }


def refused(folder: Path, broker: EmbeddedKafka) -> str:
    """What ``groupwatch run`` says; it must not start."""
    job = JobProcess(folder, clusters(broker, PASSWORD))
    command = [sys.executable, "-m", "monitor.cli", "run", "--config", str(job.config)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == 2, ended.stderr
    assert PASSWORD not in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr
    (line,) = ended.stderr.strip().splitlines()
    return line


def test_each_missing_grant_is_one_sentence_and_together_they_are_enough(kafka: EmbeddedKafka, tmp_path: Path):
    """No grant on a group is needed: groupwatch's consumers assign themselves."""
    for number, (sign, given) in enumerate([("__consumer_offsets", GRANTS[:1]), ("groupwatch.events", GRANTS[1:])]):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert sign in refused(folder, kafka)
        grant(kafka, *given)

    secret = tmp_path / "password"
    secret.write_text(f"{PASSWORD}\n", encoding="utf-8")
    with running(JobProcess(tmp_path, clusters(kafka, f"${{file:{secret}}}"))) as job:
        samples = job.await_metric(
            "groupwatch_partition_committed_offset", 0, cluster="guarded", group="guarded", partition="0"
        )
        assert samples.value("groupwatch_partition_end_offset", cluster="guarded", topic="guarded", partition="0") == 0
        assert PASSWORD not in job.log() + job.get("/") + samples.text
