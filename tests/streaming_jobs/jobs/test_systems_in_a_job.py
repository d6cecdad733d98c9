"""What collectors read of whole groups, in a job on a real broker: as groups of a system, and of the Kafka cluster.

The readers are the test's own (system_job.py). The tests tell one story in their order; a job's start is what takes the
time. No group has ever committed an offset in this Kafka, so there is no offsets topic to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kafka import KafkaProducer
from msgspec.structs import replace

from monitor.collectors.polling import PollingCollector
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.model import (
    GroupKind,
    GroupObserved,
    Member,
    ObservedOffset,
    PartitionObserved,
    Source,
    TopicObserved,
    TopicPartitions,
)
from monitor.protocol.events_topic import encode_event
from tests.streaming_jobs.jobs.system_job import FileReader, SystemJob, SystemJobWithoutSpark, tell
from tests.support.clients import create_topic, produce
from tests.support.job_process import Samples, eventually

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

LAG = "groupwatch_partition_lag"
JUDGED = "groupwatch_last_evaluation_timestamp_seconds"
UP = "groupwatch_up"
QUEUES = ("broker-a-0", "broker-a-1", "broker-b-0")


def of_rocketmq(cluster: str, group: str, *offsets: int) -> SourceSnapshot:
    """Three queues with 100 records each, all held by one client that has committed so far."""
    seen = tuple(PartitionObserved(partition=queue, earliest=0, end=100) for queue in QUEUES)
    member = Member(
        member_id="10.0.0.1@7",
        topics=("pay",),
        assigned=(TopicPartitions("pay", QUEUES),),
        assignor="AllocateMessageQueueAveragely",
    )
    read = GroupObserved(
        cluster=cluster,
        group=group,
        kind=GroupKind.ROCKETMQ,
        source=Source.SYSTEM,
        pass_ms=0,
        observed_ms=0,
        members=(member,),
        offsets=tuple(ObservedOffset("pay", queue, offset) for queue, offset in zip(QUEUES, offsets, strict=True)),
    )
    topic = TopicObserved(cluster=cluster, topic="pay", pass_ms=0, observed_ms=0, partitions=seen)
    return SourceSnapshot(source=Source.SYSTEM, topics=(topic,), groups=(read,))


def of_kafka(kind: GroupKind, source: Source, group: str, *offsets: int) -> SourceSnapshot:
    """A group of the Kafka cluster, without members, that has committed so far."""
    read = GroupObserved(
        cluster="kafka",
        group=group,
        kind=kind,
        source=source,
        pass_ms=0,
        observed_ms=0,
        offsets=tuple(ObservedOffset("read", partition, offset) for partition, offset in enumerate(offsets)),
    )
    return SourceSnapshot(source=source, groups=(read,))


MANAGED = of_kafka(GroupKind.CLASSIC, Source.ADMIN, "managed", 15, 20)
QUERY = of_kafka(GroupKind.SPARK, Source.CHECKPOINT, "query", 20, 1)
PAYERS = of_rocketmq("orders", "payers", 70, 100, 0)


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka() as kafka:
        create_topic(kafka.bootstrap_servers, "read", 2)
        produce(kafka.bootstrap_servers, "read", {0: 20, 1: 30})
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SystemJob]:
    folder = tmp_path_factory.mktemp("job")
    for name, reading in {"kafka": MANAGED, "etl": QUERY, "orders": PAYERS}.items():
        tell(folder, name, reading)
    made = SystemJobWithoutSpark(
        folder,
        {"kafka": {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0, "groups_from": "admin"}},
        spark={"trigger_s": 1.0, "buckets": 2},
        rocketmq={
            "orders": {"name_servers": "localhost:1", "interval_s": 1.0},
            "far": {"name_servers": "localhost:1", "interval_s": 1.0, "collect": False},
        },
        spark_queries={"etl": {"interval_s": 1.0, "checkpoints": {"query": "/nowhere"}}},
    )
    with made:
        eventually(lambda: made.status("/healthz") == 200, f"an answer; see {made.log_file}")
        yield made


def collect_far(bootstrap: str, folder: Path, is_seen: Callable[[], bool], what: str) -> None:
    """Read the system that the job does not read, as another process would, until that is seen."""
    carrier = ClusterSettings(name="kafka", bootstrap_servers=bootstrap)
    with closing(PollingCollector("far", FileReader(folder / "far.json"), carrier, 10.0)) as collector:

        def read_again() -> bool:
            collector.collect()
            return is_seen()

        eventually(read_again, what)


def groups_of(samples: Samples) -> set[str]:
    return {each.labels["group"] for each in samples.all("groupwatch_group_state")}


def lags(samples: Samples, **labels: str) -> dict[str, float]:
    return {sample.labels["partition"]: sample.value for sample in samples.all(LAG, **labels)}


def test_groups_of_a_system_have_lag_by_the_names_of_their_partitions(job: SystemJob):
    samples = job.await_metric(LAG, 30, cluster="orders", group="payers", topic="pay", partition="broker-a-0")
    assert lags(samples, cluster="orders") == {"broker-a-0": 30, "broker-a-1": 0, "broker-b-0": 100}
    assert samples.value("groupwatch_group_lag", cluster="orders", group="payers") == 130
    assert samples.value("groupwatch_group_members", cluster="orders", group="payers") == 1
    assert samples.value("groupwatch_partition_end_offset", cluster="orders", partition="broker-b-0") == 100
    verdict = job.group("orders", "payers")
    assert verdict["kind"] == "rocketmq"
    assert {each["partition"]: each["owners"] for each in verdict["partitions"]} == {
        queue: ["10.0.0.1@7"] for queue in QUEUES
    }
    assert "payers" in job.get("/")
    assert "broker-b-0" in job.get("/groups/orders/payers")


def test_groups_of_a_kafka_are_read_from_answers_and_checkpoints_where_there_is_no_log(job: SystemJob):
    samples = job.await_metric(LAG, 5, cluster="kafka", group="managed", partition="0")
    assert lags(samples, group="managed") == {"0": 5, "1": 10}
    samples = job.await_metric(LAG, 29, cluster="kafka", group="query", partition="1")
    assert lags(samples, group="query") == {"0": 0, "1": 29}
    assert {job.group("kafka", group)["kind"] for group in ("managed", "query")} == {"kafka-classic", "spark"}


def test_the_collectors_tell_how_they_go(job: SystemJob):
    of_orders = {"cluster": "orders", "collector": "rocketmq", "name": "orders"}
    job.await_metric("groupwatch_collector_up", 1, cluster="kafka", collector="spark", name="etl")
    samples = job.await_metric("groupwatch_collector_up", 1, **of_orders)
    assert (samples.value("groupwatch_collector_passes_total", result="complete", **of_orders) or 0) > 0
    assert samples.value("groupwatch_collector_pass_duration_seconds", **of_orders) is not None
    known = {
        (s.labels["cluster"], s.labels["collector"], s.labels["name"]) for s in samples.all("groupwatch_collector_up")
    }
    assert known == {
        ("kafka", "kafka", "kafka"),
        ("kafka", "kafka-admin", "kafka"),
        ("kafka", "spark", "etl"),
        ("orders", "rocketmq", "orders"),
    }


def test_what_is_read_elsewhere_is_awaited(job: SystemJob, bootstrap: str, tmp_path: Path):
    eventually(lambda: job.status("/readyz") == 200, "that the others do not wait for it")
    assert "\nfar: " in job.get("/readyz")
    assert job.metrics().value("groupwatch_ready", cluster="far") == 0
    tell(tmp_path, "far", of_rocketmq("far", "distant", 1, 2, 3))
    collect_far(bootstrap, tmp_path, lambda: bool(lags(job.metrics(), cluster="far")), "what another process reads")
    assert lags(job.metrics(), cluster="far") == {"broker-a-0": 99, "broker-a-1": 98, "broker-b-0": 97}
    job.await_metric("groupwatch_ready", 1, cluster="far")


def test_an_event_that_is_none_of_the_clusters_is_counted_and_the_others_are_read(job: SystemJob, bootstrap: str):
    named = replace(of_rocketmq("kafka", "hostile", 1, 2, 3).topics[0], topic="read", pass_ms=1)
    newer = replace(PAYERS.groups[0], version=2)
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for event in (named, newer):
        producer.send("groupwatch.events", key=b"", value=encode_event(event), partition=0)
    producer.close(timeout=30)
    job.await_metric("groupwatch_decode_errors_total", 1, cluster="kafka", reason="bad_event")
    job.await_metric("groupwatch_decode_errors_total", 1, cluster="orders", reason="newer_version")
    tell(job.folder, "orders", of_rocketmq("orders", "payers", 71, 100, 0))
    job.await_metric(LAG, 29, cluster="orders", group="payers", partition="broker-a-0")
    tell(job.folder, "kafka", of_kafka(GroupKind.CLASSIC, Source.ADMIN, "managed", 16, 20))
    job.await_metric(LAG, 4, cluster="kafka", group="managed", partition="0")


def test_a_system_that_is_away_is_told_and_its_groups_grow_stale_until_it_is_back(job: SystemJob):
    tell(job.folder, "orders", of_rocketmq("orders", "payers", 71, 100, 0))
    job.await_metric(LAG, 29, cluster="orders", group="payers", partition="broker-a-0")
    tell(job.folder, "orders", None)
    job.await_metric(UP, 0, cluster="orders")
    # a little later: a pass that has failed ends when its connections are closed
    samples = job.await_metric("groupwatch_collector_up", 0, cluster="orders", collector="rocketmq", name="orders")
    assert (samples.value(UP, cluster="kafka"), samples.value(UP, cluster="orders")) == (1, 0)
    assert "orders does not answer." in job.get("/")

    def is_stale() -> Samples | None:
        samples = job.metrics()
        others = samples.value(JUDGED, cluster="kafka") or 0
        return samples if others - (samples.value(JUDGED, cluster="orders") or 0) > 5 else None

    stale = eventually(is_stale, "groups that are no longer judged, while others are")
    assert lags(stale, group="payers") == {"broker-a-0": 29, "broker-a-1": 0, "broker-b-0": 100}
    tell(job.folder, "orders", of_rocketmq("orders", "payers", 100, 100, 99))
    samples = job.await_metric(LAG, 1, cluster="orders", group="payers", partition="broker-b-0")
    job.await_metric(UP, 1, cluster="orders")


def test_a_group_that_is_no_longer_listed_disappears_with_its_series(job: SystemJob):
    ending = {"query", "payers"}
    eventually(lambda: groups_of(job.metrics()) >= ending | {"managed"}, "all groups")
    staying = groups_of(job.metrics()) - ending
    tell(job.folder, "orders", SourceSnapshot(source=Source.SYSTEM))
    tell(job.folder, "etl", SourceSnapshot(source=Source.CHECKPOINT))

    def is_gone() -> Samples | None:
        samples = job.metrics()
        return samples if groups_of(samples) == staying else None

    samples = eventually(is_gone, "the end of two groups")
    assert lags(samples, cluster="orders") == {}
    assert job.status("/api/v1/groups/orders/payers") == 404

    def has_no_topic() -> bool:
        return not job.metrics().all("groupwatch_partition_end_offset", cluster="orders")

    eventually(has_no_topic, "the end of the topic")
    assert job.metrics().value("groupwatch_partition_end_offset", cluster="kafka", topic="read", partition="0") == 20


@pytest.mark.long  # the rule itself is tested in tests/readiness/test_first_pass.py
def test_after_a_restart_incomplete_readings_are_enough_here_and_elsewhere_to_show_what_is_known(
    job: SystemJob, bootstrap: str, tmp_path: Path
):
    tell(job.folder, "orders", of_rocketmq("orders", "payers", 90, 100, 0))
    job.await_metric(LAG, 10, cluster="orders", group="payers", partition="broker-a-0")
    assert job.stop() == 0
    said = ("One broker does not answer.",)
    tell(job.folder, "orders", replace(of_rocketmq("orders", "payers", 95, 100, 0), complete=False, problems=said))
    tell(tmp_path, "far", replace(of_rocketmq("far", "distant", 9, 2, 3), complete=False, problems=said))
    job.start()
    eventually(lambda: job.status("/healthz") == 200, "an answer")
    samples = job.await_metric(LAG, 5, cluster="orders", group="payers", partition="broker-a-0")
    assert samples.value(UP, cluster="orders") == 0
    collect_far(
        bootstrap,
        tmp_path,
        lambda: lags(job.metrics(), cluster="far").get("broker-a-0") == 91,
        "what another process reads, but for what did not answer",
    )


def test_what_a_complete_reading_warns_of_is_shown_while_the_system_is_up(
    job: SystemJob, bootstrap: str, tmp_path: Path
):
    said = ("One node is out of date.",)
    tell(job.folder, "orders", replace(of_rocketmq("orders", "payers", 95, 100, 0), problems=said))
    job.await_metric(UP, 1, cluster="orders")
    eventually(lambda: said[0] in job.get("/"), "the warning on the page")
    eventually(lambda: said[0] in job.log(), "the warning in the log")
    # of the system that is read elsewhere, too, something has to come for that
    tell(tmp_path, "far", of_rocketmq("far", "distant", 1, 2, 3))
    collect_far(bootstrap, tmp_path, lambda: job.status("/readyz") == 200, "that the job is ready all the same")
