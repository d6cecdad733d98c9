"""What the doctor finds at once, the job finds after its grace times.

The events are those that the job's collectors write to a real broker. They are folded and judged by the job's bucket,
which knows no Spark. The clock is the test's: two minutes are more than the silence of one that the rules wait for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing

import msgspec
import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from monitor.collectors.kafka.admin_reader import AdminReader
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.polling import PollingCollector
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.detection import DetectionSettings, evaluate
from monitor.doctor.examination import Examination, first_answer
from monitor.doctor.reader import ClusterReader
from monitor.doctor.target import target_cluster
from monitor.model import Entity, GroupsListed, PassCompleted, TopicObserved, TopicState
from monitor.protocol.events_topic import decode_event
from monitor.tracking.topic import catalog_of
from streaming_jobs.buckets.bucket import Bucket, EventRow
from tests.doctor.clock import Clock
from tests.support.clients import commit, create_topic, produce, values_of
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker

Found = tuple[str, str, str, tuple[TopicPartition, ...], tuple[str, ...]]


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    """Of four groups, ``stuck`` has lag and a member, ``behind`` lag and none; ``idle`` and ``fine`` have no lag."""
    with EmbeddedKafka() as broker, ExitStack() as stack:
        servers = broker.bootstrap_servers
        create_topic(servers, "orders", 2)
        produce(servers, "orders", {0: 5, 1: 5})
        for name, offset in (("stuck", 2), ("idle", 5)):
            consumer = stack.enter_context(
                closing(KafkaConsumer("orders", bootstrap_servers=servers, group_id=name, enable_auto_commit=False))
            )
            eventually(
                lambda own=consumer: own.poll(timeout_ms=200) is not None and len(own.assignment()) == 2,
                "an assignment",
            )
            consumer.commit({TopicPartition("orders", p): OffsetAndMetadata(offset, "", -1) for p in (0, 1)})
        commit(servers, "behind", "orders", {0: 1, 1: 5})
        commit(servers, "fine", "orders", {0: 5, 1: 5})
        yield broker


def test_the_doctor_finds_at_once_what_the_job_finds_after_its_grace_times(kafka: EmbeddedKafka):
    clock = Clock()
    found = found_by_doctor(kafka, clock)
    assert {(name, kind) for name, kind, *_ in found} == {("behind", "lag"), ("stuck", "lag")}
    assert found == found_by_job(kafka, clock)


def found_by_doctor(kafka: EmbeddedKafka, clock: Clock) -> list[Found]:
    reader = ClusterReader(target_cluster(kafka.bootstrap_servers, None), clock)
    try:
        diagnosis = first_answer(Examination(reader, "c"), wait=clock.wait)
    finally:
        reader.close()
    return sorted((each.group, each.kind, each.reason, each.partitions, each.members) for each in diagnosis.findings)


def found_by_job(kafka: EmbeddedKafka, clock: Clock) -> list[Found]:
    """By the events of the job's collectors, polled now and every ten seconds for two minutes."""
    cluster = ClusterSettings(name="c", bootstrap_servers=kafka.bootstrap_servers, groups_from="admin")
    topics = KafkaCatalogCollector(cluster, clock)
    groups = PollingCollector("c", AdminReader(cluster, clock), cluster, 10.0, clock)
    try:
        for _ in range(13):
            topics.collect()
            groups.collect()
            clock.wait(10)
    finally:
        topics.close()
        groups.close()
    bucket, completed = folded_events(values_of(kafka.bootstrap_servers, cluster.events_topic))
    states = [state for state in bucket.states.values() if isinstance(state, TopicState)]
    catalog = catalog_of("c", completed.pass_ms, states)
    verdicts = [evaluate(state, catalog, clock.now_ms, DetectionSettings()) for state in bucket.groups().values()]
    return sorted(
        (verdict.group, each.kind, each.reason, each.partitions, each.members)
        for verdict in verdicts
        for each in verdict.findings
    )


def folded_events(values: list[bytes]) -> tuple[Bucket, PassCompleted]:
    """The job's states after these records, each folded as a micro-batch of its own."""
    bucket, newest = Bucket("c"), None
    for number, value in enumerate(values):
        match event := decode_event(value):
            case PassCompleted():
                entity, name, newest = Entity.PASS, "", event
            case GroupsListed():
                entity, name = Entity.LISTING, event.source.value
            case TopicObserved():
                entity, name = Entity.TOPIC, event.topic
            case _:
                entity, name = Entity.GROUP, event.group
        bucket.fold_all([EventRow(0, entity, name, msgspec.msgpack.encode([event]))], number)
    assert bucket.failures == {}
    assert newest is not None
    return bucket, newest
