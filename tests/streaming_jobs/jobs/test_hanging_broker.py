"""One of two brokers hangs: what the other leads is watched on, what it leads is marked, and nobody is accused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

from monitor.collectors.kafka.events_writer import events_topic_plan
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.protocol.kafka.group_metadata import group_partition
from tests.paused import hanging
from tests.support.clients import LOG, admin, commit, create_topic, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.several_brokers import create_on, two_brokers

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]

COMMITTED: Final = "groupwatch_partition_committed_offset"
EVENTS: Final = "groupwatch.events"
AGAIN_WITHIN_S: Final = 15
"""What docs/architecture.md promises. A busy machine may take three times as long in a test."""


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with two_brokers() as both:
        first = both[0].bootstrap_servers
        create_on(first, "read", [(1,), (2,)])
        produce(first, "read", {0: 9, 1: 9})
        with admin(first) as client:
            plan = events_topic_plan(client)
        create_on(first, EVENTS, [(1,)], **plan["configs"])
        commit(first, "any", "read", {0: 0})
        yield both


@pytest.fixture(scope="module")
def other() -> Iterator[EmbeddedKafka]:
    """Another cluster."""
    with EmbeddedKafka() as broker:
        create_topic(broker.bootstrap_servers, "elsewhere", 1)
        commit(broker.bootstrap_servers, "apart", "elsewhere", {0: 0})
        yield broker


@pytest.fixture(scope="module")
def job(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], other: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    both = ",".join(broker.bootstrap_servers for broker in brokers)
    clusters = {"two": {"bootstrap_servers": both}, "other": {"bootstrap_servers": other.bootstrap_servers}}
    # On a busy machine the story takes minutes, in which each group commits once or twice: that is no finding here.
    detection = {"commit_silence_s": 600}
    with running(JobProcess(tmp_path_factory.mktemp("job"), clusters, detection=detection)) as process:
        yield process


def groups_by_leader(bootstrap: str) -> dict[int, str]:
    """A group for each broker that leads a partition of the log of offsets."""
    with admin(bootstrap) as client:
        (log,) = client.describe_topics([LOG])
    leaders = {each["partition_index"]: each["leader_id"] for each in log["partitions"]}
    names = [f"group-{number}" for number in range(9)]
    return {leaders[group_partition(name, len(leaders))]: name for name in names}


def listed(job: JobProcess, group: str) -> dict[str, Any]:
    groups = json.loads(job.get("/api/v1/groups"))
    return next(each for each in groups if each["group"] == group)


def test_groups_of_the_other_brokers_are_watched_on(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], other: EmbeddedKafka, job: JobProcess
):
    first, second = brokers
    near, far = (groups_by_leader(first.bootstrap_servers)[each.node_id] for each in brokers)
    for group in (near, far):
        commit(first.bootstrap_servers, group, "read", {0: 1})
    for group in (near, far, "apart"):
        job.await_metric(COMMITTED, 0 if group == "apart" else 1, group=group)
    name = f"broker 2 ({second.bootstrap_servers})"
    with hanging(second):
        began_s = time.monotonic()
        commit(first.bootstrap_servers, near, "read", {0: 2})
        job.await_metric(COMMITTED, 2, group=near)
        assert time.monotonic() - began_s < 3 * AGAIN_WITHIN_S
        reason = eventually(lambda: listed(job, far).get("unjudged"), "that the other group is marked")
        assert f"of {LOG} has not been read since 20" in reason
        assert name in reason
        sign = f"Cluster two: 1 of 2 partitions of {LOG} has not been read since 20"
        eventually(lambda: sign in job.log(), "a line of the log")
        assert listed(job, near).get("unjudged") is None
        commit(other.bootstrap_servers, "apart", "elsewhere", {0: 1})
        job.await_metric(COMMITTED, 1, group="apart")
        job.await_metric("groupwatch_up", 1, cluster="two")  # polls leave the broker out, too
        assert "Cluster two: " in job.get("/")
        assert job.metrics().value(COMMITTED, group=far, partition="0") == 1
        assert json.loads(job.get("/api/v1/findings")) == []
    commit(first.bootstrap_servers, far, "read", {0: 3})
    job.await_metric(COMMITTED, 3, group=far)
    assert listed(job, far).get("unjudged") is None


def test_a_job_reads_the_partitions_that_the_log_of_offsets_has_got(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], job: JobProcess
):
    """It is the last test: the log has more partitions then."""
    first = brokers[0]
    job.await_metric(COMMITTED, 0, group="any")
    with admin(first.bootstrap_servers, "__admin_client") as client:
        client.create_partitions({LOG: 5})
    eventually(lambda: f"{LOG} has 5 partitions now instead of 2" in job.log(), "the new partitions")
    for broker in brokers:
        broker.kill()
    for broker in brokers:
        broker.start()
    moved = next(name for name in map("moved-{}".format, range(20)) if group_partition(name, 5) > 1)
    commit(first.bootstrap_servers, moved, "read", {0: 1})
    job.await_metric(COMMITTED, 1, group=moved)
