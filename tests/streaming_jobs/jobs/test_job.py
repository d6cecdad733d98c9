"""The job on a real broker with real clients, read as Prometheus and people read it."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import pytest
from kafka import OffsetAndMetadata, TopicPartition
from kafka.admin import OffsetSpec
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from monitor.collectors.kafka.findings_topic import FindingsTopic
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from tests.support.clients import admin, commit, create_topic, member, produce
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]


@pytest.fixture(scope="module")
def bootstrap(broker: EmbeddedKafka) -> str:
    # The offsets topic exists once a group has committed.
    name = f"first-{uuid.uuid4().hex[:8]}"
    create_topic(broker.bootstrap_servers, name, 1)
    commit(broker.bootstrap_servers, name, name, {0: 0})
    return broker.bootstrap_servers


@pytest.mark.jobs  # it starts a job and a broker of its own
def test_two_clusters_in_one_job_and_one_that_is_away(bootstrap: str, topic: str, tmp_path: Path):
    commit(bootstrap, topic, topic, {0: 0})
    with EmbeddedKafka() as other:
        create_topic(other.bootstrap_servers, "elsewhere", 1)
        commit(other.bootstrap_servers, "far", "elsewhere", {0: 0})
        clusters = {
            "near": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5},
            "far": {"bootstrap_servers": other.bootstrap_servers, "collect_interval_s": 0.5},
        }
        named = {"cluster_label": "kafka_cluster"}
        with running(JobProcess(tmp_path, clusters, metrics=named)) as job:
            job.await_metric(
                "groupwatch_partition_committed_offset", 0, kafka_cluster="far", group="far", partition="0"
            )
            other.kill()
            commit(bootstrap, topic, topic, {1: 0})
            own = {"kafka_cluster": "near", "group": topic, "partition": "1"}
            job.await_metric("groupwatch_partition_committed_offset", 0, **own)
            assert re.search(r'[{,]cluster="', job.metrics().text) is None
            assert job.group("far", "far")["group"] == "far"


METRICS = {
    "compat": ["kafka_exporter"],
    "owner_info": True,
    "max_series": 1_000_000,
    "deny_groups": ["denied-.*"],
    "overrides": [{"groups": "coarse-.*", "detail": "topic"}],
}


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory):
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    impatient = {"groups": "leaves-out-.*", "commit_silence_s": 3}
    sections = {"detection": {"lag_records": 100, "overrides": [impatient]}, "metrics": METRICS}
    with running(JobProcess(tmp_path_factory.mktemp("job"), clusters, **sections)) as process:
        yield process


@pytest.fixture
def topic(bootstrap: str) -> str:
    name = f"topic-{uuid.uuid4().hex[:8]}"
    create_topic(bootstrap, name, 3)
    return name


def test_offsets_ends_and_lag_equal_what_the_admin_client_reports(job: JobProcess, bootstrap: str, topic: str):
    produce(bootstrap, topic, {0: 5, 1: 7})
    commit(bootstrap, topic, topic, {0: 5, 1: 3, 2: 0})
    job.await_metric("groupwatch_partition_lag", 4, group=topic, partition="1")

    with admin(bootstrap) as client:
        committed = client.list_group_offsets({topic: None})[topic]
        ends = client.list_partition_offsets({TopicPartition(topic, p): OffsetSpec.LATEST for p in range(3)})
    samples = job.metrics()
    for place, offset in committed.items():
        labels = {"cluster": "test", "topic": topic, "partition": str(place.partition)}
        end = ends[place].offset
        assert samples.value("groupwatch_partition_committed_offset", group=topic, **labels) == offset.offset
        assert samples.value("groupwatch_partition_end_offset", **labels) == end
        assert samples.value("groupwatch_partition_lag", group=topic, **labels) == end - offset.offset
    assert samples.value("groupwatch_group_lag", group=topic) == 4


def test_series_are_as_the_configuration_chooses_and_findings_are_not(job: JobProcess, bootstrap: str, topic: str):
    """The rules go to the executors: sums of topics, no series at all, the names of kafka_exporter, OpenMetrics."""
    produce(bootstrap, topic, {0: 150, 1: 7})
    coarse, denied = f"coarse-{topic}", f"denied-{topic}"
    for group in (topic, coarse, denied):
        commit(bootstrap, group, topic, {0: 0, 1: 3})
    job.await_metric("groupwatch_topic_lag", 154, group=coarse, topic=topic)
    samples = job.await_metric("kafka_consumergroup_lag_sum", 154, consumergroup=topic, topic=topic)
    assert samples.value("kafka_consumergroup_lag", consumergroup=topic, topic=topic, partition="1") == 4
    assert samples.value("kafka_topic_partition_current_offset", topic=topic, partition="0") == 150
    assert samples.all("groupwatch_partition_lag", group=coarse) == []
    assert {s.value for s in samples.all("groupwatch_series_left_out", cluster="test")} == {0}
    assert "behind" in {finding["reason"] for finding in job.group("test", denied)["findings"]}
    assert denied not in job.metrics().text
    assert job.metrics().value("groupwatch_cluster_findings", kind="lag", reason="behind") >= 3
    preferred = urllib.request.Request(f"{job.url}/metrics", headers={"Accept": "application/openmetrics-text"})
    with urllib.request.urlopen(preferred, timeout=30) as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    assert families["groupwatch_group_redelivered_records"].type == "counter"


def test_durations_of_micro_batches_and_passes_and_the_process_are_told(job: JobProcess):
    before = job.await_metric("groupwatch_ready", 1, cluster="test").value("groupwatch_micro_batch_seconds_count") or 0
    samples = eventually(
        lambda: (seen := job.metrics()).value("groupwatch_micro_batch_seconds_count", cluster="test") > before and seen,
        "another micro-batch",
    )
    assert samples.value("groupwatch_collector_pass_seconds_count", cluster="test", collector="kafka", name="test") > 0
    assert samples.value("groupwatch_scrape_seconds_count") > 0
    assert samples.value("process_cpu_seconds_total") > 0
    # those of the JVM: this driver has some 30 files and 20 threads
    assert samples.value("groupwatch_jvm_threads") > 50
    assert 200 < samples.value("groupwatch_jvm_open_fds") < samples.value("groupwatch_jvm_max_fds")


def test_lag_falls_with_a_commit_and_rises_with_records(job: JobProcess, bootstrap: str, topic: str):
    produce(bootstrap, topic, {0: 4})
    commit(bootstrap, topic, topic, {0: 1})
    job.await_metric("groupwatch_group_lag", 3, group=topic)
    commit(bootstrap, topic, topic, {0: 4})
    job.await_metric("groupwatch_group_lag", 0, group=topic)
    produce(bootstrap, topic, {0: 2})
    job.await_metric("groupwatch_group_lag", 2, group=topic)


def test_members_owners_and_expected_owners_are_shown(job: JobProcess, bootstrap: str, topic: str):
    with member(bootstrap, topic, topic) as consumer:
        job.await_metric("groupwatch_group_members", 1, group=topic)
        newest = consumer.group_metadata().generation_id  # one that joins before it knows the topic joins again
        verdict = eventually(lambda: (seen := job.group("test", topic))["generation"] == newest and seen, "its newest")
        (only,) = verdict["members"]
        assert only["topics"] == [topic]
        assert {p["partition"]: (p["owners"], p["expected"]) for p in verdict["partitions"]} == {
            partition: ([only["member_id"]], only["member_id"]) for partition in range(3)
        }
        assert verdict["assignor"] == "range"
        owners = job.metrics().all("groupwatch_partition_owner_info", group=topic, topic=topic)
        assert {s.labels["partition"]: s.labels["member_id"] for s in owners} == {
            str(partition): only["member_id"] for partition in range(3)
        }
        assert consumer.assignment() == {TopicPartition(topic, p) for p in range(3)}
    job.await_metric("groupwatch_group_state", 1, group=topic, state="empty")


def test_a_partition_that_its_owner_never_commits_hides_the_lag_and_is_told(
    job: JobProcess, bootstrap: str, topic: str
):
    """Records go on to come to partition 1. Its owner commits partition 0 alone; partition 2 has no records.

    It polls all the time, and may take 15 s between two polls. Its silence counts from then on.
    """
    group = f"leaves-out-{topic}"
    produce(bootstrap, topic, {1: 5})
    with member(bootstrap, group, topic, silence_limit_s=15) as consumer:

        def found() -> dict[str, Any] | None:
            consumer.poll(timeout_ms=0)
            consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(0, "", -1)})
            produce(bootstrap, topic, {1: 1})
            findings = job.group("test", group).get("findings", ())
            return next((each for each in findings if (each["kind"], each["reason"]) == ("uncommitted", "never")), None)

        job.await_metric("groupwatch_group_members", 1, group=group)
        never = eventually(found, "the partition that its owner never commits", pause_s=1.0)
        assert [place["partition"] for place in never["partitions"]] == [1]
        assert (never["severity"], len(never["members"])) == ("warning", 1)

        verdict, samples = job.group("test", group), job.metrics()
        assert (verdict.get("lag"), verdict["lag_at_least"], verdict["uncommitted_partitions"]) == (None, 0, 1)
        assert samples.value("groupwatch_group_lag", group=group) is None
        assert samples.value("groupwatch_group_lag_at_least", group=group) == 0
        assert samples.value("groupwatch_group_uncommitted_partitions", group=group) == 1
        assert samples.value("groupwatch_group_uncommitted_records", group=group) > 5
        assert "<dd>unknown, at least 0</dd>" in job.get(f"/groups/test/{group}")

        place = TopicPartition(topic, 1)
        consumer.commit({place: OffsetAndMetadata(consumer.end_offsets([place])[place], "", -1)})
        job.await_metric("groupwatch_group_lag", 0, group=group)
        assert not [each for each in job.group("test", group).get("findings", ()) if each["kind"] == "uncommitted"]


def test_a_grown_topic_orphans_its_new_partitions_and_heals_with_the_members_refresh(
    job: JobProcess, bootstrap: str, topic: str
):
    with member(bootstrap, topic, topic):
        job.await_metric("groupwatch_group_members", 1, group=topic)
        with admin(bootstrap) as client:
            client.create_partitions({topic: 5})
        samples = job.await_metric("groupwatch_group_orphaned_partitions", 2, group=topic, reason="grew")
        assert samples.value("groupwatch_group_drifted_partitions", group=topic, kind="replayed") == 0
        assert samples.value("groupwatch_group_drifted_partitions", group=topic, kind="current") == 2
        (finding,) = [f for f in job.group("test", topic)["findings"] if f["kind"] == "orphaned"]
        assert [p["partition"] for p in finding["partitions"]] == [3, 4]
    with member(bootstrap, topic, topic):  # a new member has new metadata
        samples = job.await_metric("groupwatch_group_orphaned_partitions", 0, group=topic, reason="grew")


def test_a_kip_848_group_shows_its_members_and_owners(job: JobProcess, bootstrap: str, topic: str):
    """Real consumers of the Java client; their records name topics by id, which only the collector can resolve."""
    with Crowd(bootstrap) as crowd:
        for name in ("one", "two"):
            since = crowd.seen()
            props = {"group.id": topic, "group.protocol": "consumer"}
            crowd.tell("start", name=name, topics=[topic], props=props)
            crowd.await_event(since, "assigned", name=name)
        job.await_metric("groupwatch_group_members", 2, group=topic)
        job.await_metric("groupwatch_group_state", 1, group=topic, state="stable")
        verdict = job.group("test", topic)
        assert (verdict["kind"], verdict["assignor"], verdict["expectation"]) == ("kafka-consumer", "uniform", "target")
        assert {p["partition"]: p["owners"] for p in verdict["partitions"]} == {
            p["partition"]: [p["expected"]] for p in verdict["partitions"]
        }
        assert sorted(member["partitions"] for member in verdict["members"]) == [1, 2]
        assert f"<dt>Epoch</dt><dd>{verdict['generation']}" in job.get(f"/groups/test/{topic}")
        since = crowd.seen()
        crowd.tell("close", name="one")
        crowd.await_event(since, "closed", name="one")
        job.await_metric("groupwatch_group_members", 1, group=topic)
        job.await_metric("groupwatch_group_orphaned_partitions", 0, group=topic, reason="pending")
        job.await_metric("groupwatch_group_state", 1, group=topic, state="stable")


def test_the_series_of_a_deleted_group_vanish(job: JobProcess, bootstrap: str, topic: str):
    commit(bootstrap, topic, topic, {0: 0})
    job.await_metric("groupwatch_partition_committed_offset", 0, group=topic, partition="0")
    with admin(bootstrap) as client:
        client.delete_groups([topic])
    eventually(lambda: f'group="{topic}"' not in job.metrics().text, "the end of the deleted group's series")


def test_a_deleted_topic_leaves_the_catalog(job: JobProcess, bootstrap: str, topic: str):
    job.await_metric("groupwatch_partition_end_offset", 0, topic=topic, partition="2")
    with admin(bootstrap) as client:
        client.delete_topics([topic])
    eventually(lambda: f'topic="{topic}"' not in job.metrics().text, "the end of the deleted topic's series")


def run_config(tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    config = tmp_path / "groupwatch.toml"
    config.write_text(f'{text}\n[spark]\ncheckpoint = "{tmp_path}/checkpoint"\n[http]\nport = 0\n', encoding="utf-8")
    command = [sys.executable, "-m", "monitor.cli", "run", "--config", str(config)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)


def test_a_wrong_address_is_one_sentence_and_exit_code_2(tmp_path: Path):
    (closed,) = free_ports(1)
    ended = run_config(tmp_path, f'[clusters.prod]\nbootstrap_servers = "127.0.0.1:{closed}"')
    assert ended.returncode == 2
    assert f"127.0.0.1:{closed}" in ended.stderr
    assert "prod" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_the_findings_topic_says_what_the_api_says(bootstrap: str, job: JobProcess, topic: str):
    produce(bootstrap, topic, {0: 102})
    commit(bootstrap, topic, topic, {0: 1})

    def told() -> dict[tuple[str, str], str]:
        records = FindingsTopic(ClusterSettings(name="test", bootstrap_servers=bootstrap)).read()
        return {(r.kind, r.reason): r.event.value for r in records if r.group == topic}

    def found() -> set[tuple[str, str]]:
        return {(finding["kind"], finding["reason"]) for finding in job.group("test", topic).get("findings", [])}

    eventually(lambda: "opened" in told().values(), "a finding about a group that nobody reads for")
    assert eventually(lambda: (seen := found()) and told().keys() >= seen and seen, "the same findings")
    with admin(bootstrap) as client:
        client.delete_groups([topic])
    eventually(lambda: set(told().values()) == {"closed"}, "all of them closed with the end of the group")
