"""A broker goes away, and partitions of the offsets topic take no commits: the cluster is at fault, and no owner is.

Two real brokers: see brokers_with_placed_offsets. The job's collector can go on, as its own topic needs one replica.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kafka import TopicPartition
from kafka.errors import KafkaError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.protocol.kafka.group_metadata import group_partition
from tests.push.webhook_receiver import Receiver, webhook_receiver
from tests.support.clients import admin, commit, produce, values_of
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


def group_in(partition: int, prefix: str = "reader") -> str:
    """A group whose commits are in that partition of four."""
    return next(name for name in (f"{prefix}-{n}" for n in range(100)) if group_partition(name, 4) == partition)


BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE = map(group_in, range(4))
WEBHOOK = group_in(2, "webhook")
"""The position of the webhook cannot be committed either, just when there is something to send."""

NOT_ENOUGH = "offsets_topic/not_enough_replicas"
NO_LEADER = "offsets_topic/no_leader"
FINDINGS = "groupwatch.findings"


@pytest.fixture(scope="module")
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with brokers_with_placed_offsets() as found:
        create_on(found[0].bootstrap_servers, "t", [(found[0].node_id,)])
        produce(found[0].bootstrap_servers, "t", {0: 10})
        for group in (BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE):
            commit(found[0].bootstrap_servers, group, "t", {0: 10})
        yield found


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture(scope="module")
def job(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], receiver: Receiver, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    folder: Path = tmp_path_factory.mktemp("job")
    cluster = {"bootstrap_servers": brokers[0].bootstrap_servers, "collect_interval_s": 1.0}
    webhook = {"url": receiver.url, "group": WEBHOOK}
    detection = {"commit_silence_s": SILENCE_S}
    made = JobProcess(folder, {"c": cluster}, detection=detection, webhook=webhook)
    with running(made) as process:
        process.await_ready()
        yield process


def of_cluster(job: JobProcess) -> dict[str, Any]:
    """The cluster's own findings, by their names."""
    (cluster,) = json.loads(job.get_any("/api/v1/clusters"))
    return {f"{each['kind']}/{each['reason']}": each for each in cluster.get("findings", ())}


def findings(job: JobProcess, group: str, field: str = "findings") -> list[str]:
    return [f"{each['kind']}/{each['reason']}" for each in job.group("c", group).get(field, ())]


def sent(receiver: Receiver) -> list[tuple[str, str, str]]:
    """What the webhook was sent, in order: the group ("" for the cluster), the finding, and what happened to it."""
    events = {each["id"]: each["data"] for each in map(json.loads, receiver.accepted())}
    return [(each["group"], f"{each['kind']}/{each['reason']}", each["event"]) for each in events.values()]


def position_of(broker: EmbeddedKafka, group: str) -> int | None:
    """How far a group has read the findings topic; None: nothing is known, as while its coordinator is away."""
    with suppress(KafkaError), admin(broker.bootstrap_servers) as client:
        kept = client.list_group_offsets(group).get(group, {}).get(TopicPartition(FINDINGS, 0))
        return None if kept is None else kept.offset
    return None


def test_who_cannot_commit_is_not_accused_and_is_once_it_could_again(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka], job: JobProcess, receiver: Receiver
):
    first, second = brokers
    job.await_metric("groupwatch_group_lag", 0, group=BOTH)
    eventually(lambda: position_of(first, WEBHOOK) is not None, "a position of the webhook")
    assert of_cluster(job) == {}
    second.kill()
    eventually(lambda: of_cluster(job).keys() == {NO_LEADER, NOT_ENOUGH}, "the cluster's findings")
    found = of_cluster(job)
    assert (found[NOT_ENOUGH]["partitions"], found[NOT_ENOUGH]["groups"]) == ([0, 1], 2)
    assert (found[NO_LEADER]["partitions"], found[NO_LEADER]["groups"]) == ([2], 2)
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
    blocked = samples.all("groupwatch_group_commits_blocked_seconds")
    assert (
        {BOTH, LED_BY_SECOND}
        <= {each.labels["group"] for each in blocked}
        <= {BOTH, LED_BY_SECOND, SECOND_ALONE, WEBHOOK}
    )
    accused = (FIRST_ALONE, "lag/not_committing", "opened")
    eventually(lambda: accused in sent(receiver), "the events of the webhook")
    of_fault = {("", NOT_ENOUGH, "opened"), ("", NO_LEADER, "opened")}
    assert {each for each in sent(receiver) if each[2] == "opened"} == {accused, *of_fault}
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
    after = (BOTH, "lag/not_committing", "opened")
    eventually(lambda: after in sent(receiver), "the finding that came back")
    ended = sent(receiver).index(("", NOT_ENOUGH, "closed"))
    assert ended < sent(receiver).index(after)
    assert {each for each in sent(receiver)[:ended] if each[0]} == {accused}
    end = len(values_of(first.bootstrap_servers, FINDINGS))
    eventually(lambda: (position_of(first, WEBHOOK) or 0) >= end, "a position that is kept again")
