"""A broker goes away, and partitions of the offsets topic take no commits: the cluster is at fault, and no owner is.

Two real brokers: see brokers_with_placed_offsets. The job's collector can go on, as its own topic needs one replica.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.protocol.kafka.group_metadata import group_partition
from tests.support.clients import commit, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.several_brokers import await_leader, brokers_with_placed_offsets, create_on

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.jobs,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

SILENCE_S = 12


def group_in(partition: int) -> str:
    """A group whose commits are in that partition of four."""
    return next(name for name in map("reader-{}".format, range(100)) if group_partition(name, 4) == partition)


BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE = map(group_in, range(4))
NOT_ENOUGH = "offsets_topic/not_enough_replicas"


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with brokers_with_placed_offsets() as found:
        create_on(found[0].bootstrap_servers, "t", [(found[0].node_id,)])
        produce(found[0].bootstrap_servers, "t", {0: 10})
        for group in (BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE):
            commit(found[0].bootstrap_servers, group, "t", {0: 10})
        yield found


@pytest.fixture(scope="module")
def job(brokers: tuple[EmbeddedKafka, EmbeddedKafka], tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    folder: Path = tmp_path_factory.mktemp("job")
    cluster = {"bootstrap_servers": brokers[0].bootstrap_servers, "collect_interval_s": 1.0}
    with running(JobProcess(folder, {"c": cluster}, detection={"commit_silence_s": SILENCE_S})) as process:
        process.await_ready()
        yield process


def of_cluster(job: JobProcess) -> dict[str, Any]:
    """The cluster's own findings, by their names."""
    (cluster,) = json.loads(job.get_any("/api/v1/clusters"))
    return {f"{each['kind']}/{each['reason']}": each for each in cluster.get("findings", ())}


def findings(job: JobProcess, group: str, field: str = "findings") -> list[str]:
    return [f"{each['kind']}/{each['reason']}" for each in job.group("c", group).get(field, ())]


def test_who_cannot_commit_is_not_accused_and_is_once_it_could_again(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], job: JobProcess
):
    first, second = brokers
    job.await_metric("groupwatch_group_lag", 0, group=BOTH)
    assert of_cluster(job) == {}
    second.kill()
    eventually(lambda: of_cluster(job).keys() == {"offsets_topic/no_leader", NOT_ENOUGH}, "the cluster's findings")
    found = of_cluster(job)
    assert (found[NOT_ENOUGH]["partitions"], found[NOT_ENOUGH]["groups"]) == ([0, 1], 2)
    assert (found["offsets_topic/no_leader"]["partitions"], found["offsets_topic/no_leader"]["groups"]) == ([2], 1)
    assert found[NOT_ENOUGH]["sentence"] in job.log()
    produce(first.bootstrap_servers, "t", {0: 5})
    # The group that can commit shows that the time of patience is over.
    job.await_metric("groupwatch_group_findings", 1, group=FIRST_ALONE, kind="lag", reason="not_committing")
    eventually(lambda: findings(job, BOTH, "subordinate") == ["lag/not_committing"], "what follows")
    assert job.group("c", BOTH)["subordinate"][0]["follows"] == NOT_ENOUGH
    assert findings(job, BOTH) == []
    samples = job.metrics()
    assert {each.labels["group"] for each in samples.all("groupwatch_group_findings")} == {FIRST_ALONE}
    assert samples.value("groupwatch_cluster_own_finding_groups", reason="not_enough_replicas") == 2
    second.start()
    await_leader(first.bootstrap_servers, 2)
    eventually(lambda: of_cluster(job) == {}, "the end of the cluster's findings")
    commit(first.bootstrap_servers, LED_BY_SECOND, "t", {0: 15})
    commit(first.bootstrap_servers, SECOND_ALONE, "t", {0: 15})
    job.await_metric("groupwatch_group_lag", 0, group=SECOND_ALONE)
    job.await_metric("groupwatch_group_findings", 1, group=BOTH, kind="lag", reason="not_committing")
    assert findings(job, BOTH, "subordinate") == []
    assert findings(job, LED_BY_SECOND) == []
    assert f"its finding {NOT_ENOUGH} is over" in job.log()
