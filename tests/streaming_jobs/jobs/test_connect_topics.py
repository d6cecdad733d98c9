"""Topics of configurations of Connect are added to a job and taken away again, with the same checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.job_process import JobProcess, eventually, running

# Four starts of a job, one after the other: more than three minutes.
pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.long]

CONFIGS, GROUP = "some-configs", "connect-s3"


def test_a_topic_is_read_from_the_start_at_which_it_is_named_until_the_one_at_which_it_is_not(tmp_path: Path):
    with EmbeddedKafka(BrokerSettings()) as broker:
        login = broker.client_settings()
        client = KafkaAdminClient(**login)
        client.create_topics([NewTopic("orders", 1, 1), NewTopic(CONFIGS, 1, 1)])
        client.wait_for_topics(["orders", CONFIGS])
        client.close()
        producer = KafkaProducer(**login)
        producer.send(CONFIGS, key=b"connector-s3", value=b'{"properties":{"name":"s3"}}')
        producer.send(CONFIGS, key=b"target-state-s3", value=b'{"state":"PAUSED","state.v2":"STOPPED"}')
        producer.close(timeout=30)
        consumer = KafkaConsumer(group_id=GROUP, enable_auto_commit=False, **login)
        consumer.assign([TopicPartition("orders", 0)])
        consumer.commit({TopicPartition("orders", 0): OffsetAndMetadata(0, "", -1)})
        consumer.close(autocommit=False)
        table = {"bootstrap_servers": broker.bootstrap_servers, "collect_interval_s": 2.0}
        assert sink_at(tmp_path, table) is None
        named = {"connect_configs": {"workers": CONFIGS, "others": "not-there"}}
        sink = sink_at(tmp_path, table | named)
        assert sink is not None
        assert (sink["connector"], sink["state"]) == ("s3", "STOPPED")
        log = (tmp_path / "groupwatch.log").read_text(encoding="utf-8")
        assert "The topic of configurations of the Connect cluster 'others' is not read." in log
        assert sink_at(tmp_path, table) is None


def sink_at(folder: Path, table: dict[str, object]) -> dict[str, str] | None:
    """What a job with this configuration, and the checkpoint of the one before, says of the group's connector."""
    with running(JobProcess(folder, {"main": table})) as job:
        job.await_metric("groupwatch_group_state", 1, group=GROUP, state="offsets_only")
        if "connect_configs" in table:
            eventually(lambda: job.group("main", GROUP).get("sink"), "the connector of the group")
        found: dict[str, str] | None = job.group("main", GROUP).get("sink")
        return found
