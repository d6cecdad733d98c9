"""A broker goes away, and no owner is at fault: partitions of the offsets topic take no commits, one has no leader.

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
from tests.support.without_spark import JobWithoutSpark

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

SILENCE_S = 12


def group_in(partition: int, prefix: str = "reader") -> str:
    """A group whose commits are in that partition of four."""
    return next(name for name in (f"{prefix}-{n}" for n in range(100)) if group_partition(name, 4) == partition)


BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE = map(group_in, range(4))
LONELY = group_in(3, "lonely")
"""It can commit, and reads a topic that only the second broker has."""
WEBHOOK = group_in(2, "webhook")
"""The position of the webhook cannot be committed either, just when there is something to send."""

NOT_ENOUGH = "offsets_topic/not_enough_replicas"
NO_LEADER = "offsets_topic/no_leader"
UNREADABLE = "topics/no_leader"
FINDINGS = "groupwatch.findings"


@pytest.fixture
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with brokers_with_placed_offsets() as found:
        create_on(found[0].bootstrap_servers, "t", [(found[0].node_id,)])
        produce(found[0].bootstrap_servers, "t", {0: 10})
        for group in (BOTH, LED_BY_SECOND, SECOND_ALONE, FIRST_ALONE):
            commit(found[0].bootstrap_servers, group, "t", {0: 10})
        create_on(found[0].bootstrap_servers, "lonely", [(found[1].node_id,)])
        produce(found[0].bootstrap_servers, "lonely", {0: 15})
        commit(found[0].bootstrap_servers, LONELY, "lonely", {0: 15})
        yield found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as found:
        yield found


@pytest.fixture(
    params=[
        pytest.param(False, id="without-spark"),
        # what a recording has of such a fault is tested in tests/history/test_cluster_faults.py
        pytest.param(True, id="recorded", marks=pytest.mark.long),
    ]
)
def is_recorded(request: pytest.FixtureRequest) -> bool:
    """Whether the job records, which takes Spark."""
    return bool(request.param)


@pytest.fixture
def job(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka],
    receiver: Receiver,
    tmp_path: Path,
    is_recorded: bool,
) -> Iterator[JobProcess]:
    cluster = {"bootstrap_servers": brokers[0].bootstrap_servers, "collect_interval_s": 1.0}
    webhook = {"url": receiver.url, "group": WEBHOOK}
    detection = {"commit_silence_s": SILENCE_S}
    sections: dict[str, dict[str, Any]] = {"detection": detection, "webhook": webhook}
    if is_recorded:
        history = {"folder": str(tmp_path / "history"), "every_s": 5.0}
        made = JobProcess(tmp_path, {"c": cluster}, **sections, history=history)
    else:
        made = JobWithoutSpark(tmp_path, {"c": cluster}, **sections)
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


def recorded_findings(job: JobProcess, group: str) -> list[tuple[str, str]]:
    """The findings that the recording has of a group and of its cluster: which, and what happened to it."""
    story = json.loads(job.get_any(f"/api/v1/history/c/{group}?since=-15m"))
    return [(each["finding"], each["about"]) for each in story.get("happened", ()) if "finding" in each]


def position_of(broker: EmbeddedKafka, group: str) -> int | None:
    """How far a group has read the findings topic; None: nothing is known, as while its coordinator is away."""
    with suppress(KafkaError), admin(broker.bootstrap_servers) as client:
        kept = client.list_group_offsets(group).get(group, {}).get(TopicPartition(FINDINGS, 0))
        return None if kept is None else kept.offset
    return None


def let_records_wait(job: JobProcess, bootstrap: str) -> None:
    """The group that can commit has read one of six records that have just come."""
    produce(bootstrap, "lonely", {0: 6})
    job.await_metric("groupwatch_group_lag", 6, group=LONELY)
    commit(bootstrap, LONELY, "lonely", {0: 16})


def await_what_follows_of_the_leader(job: JobProcess, broker: int) -> None:
    """The group that can commit reads a partition without a leader, and the cluster's finding has the broker."""
    eventually(lambda: findings(job, LONELY, "subordinate") == ["lag/not_committing"], "what follows of the leader")
    assert findings(job, LONELY) == []
    group = job.group("c", LONELY)
    assert (group["subordinate"][0]["follows"], group["missed_brokers"]) == (UNREADABLE, [broker])
    assert of_cluster(job)[UNREADABLE]["sentence"] == (
        f"1 partition of lonely has no leader: 1 group cannot read it. Broker {broker} is away, and led it before."
    )


def assert_past_of_both(job: JobProcess) -> None:
    """What the recording has of a group that could not commit for a time."""
    of_past = [(NOT_ENOUGH, "opened"), (NOT_ENOUGH, "closed"), ("lag/not_committing", "opened")]
    eventually(lambda: recorded_findings(job, BOTH) == of_past, "the fault in the recording")
    assert {name for name, _ in recorded_findings(job, FIRST_ALONE)} == {"lag/not_committing"}
    report = json.loads(job.get_any(f"/api/v1/report/c/{BOTH}?since=-15m"))
    assert [f"{each['kind']}/{each['reason']}" for each in report["cluster_findings"]] == [NOT_ENOUGH]
    assert report["summary"][0].startswith("A fault of the cluster, from ")


def test_who_cannot_commit_is_not_accused_and_is_once_it_could_again(
    brokers: tuple[EmbeddedKafka, EmbeddedKafka],
    job: JobProcess,
    receiver: Receiver,
    is_recorded: bool,
):
    first, second = brokers
    job.await_metric("groupwatch_group_lag", 0, group=BOTH)
    eventually(lambda: position_of(first, WEBHOOK) is not None, "a position of the webhook")
    assert of_cluster(job) == {}
    let_records_wait(job, first.bootstrap_servers)
    second.kill()
    eventually(lambda: of_cluster(job).keys() == {NO_LEADER, NOT_ENOUGH, UNREADABLE}, "the cluster's findings")
    found = of_cluster(job)
    assert (found[NOT_ENOUGH]["partitions"], found[NOT_ENOUGH]["groups"]) == ([0, 1], 2)
    assert (found[NO_LEADER]["partitions"], found[NO_LEADER]["groups"]) == ([2], 2)
    assert found[NOT_ENOUGH]["sentence"] in job.log()
    produce(first.bootstrap_servers, "t", {0: 5})
    # The group that can commit shows that the time of patience is over.
    job.await_metric("groupwatch_group_findings", 1, group=FIRST_ALONE, kind="lag", reason="not_committing")
    eventually(lambda: findings(job, BOTH, "subordinate") == ["lag/not_committing"], "what follows")
    assert job.group("c", BOTH)["subordinate"][0]["follows"] == NOT_ENOUGH
    await_what_follows_of_the_leader(job, second.node_id)
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
    of_fault = {("", each, "opened") for each in (NOT_ENOUGH, NO_LEADER, UNREADABLE)}
    opened = {each for each in sent(receiver) if each[2] == "opened"}
    assert opened - {("", "brokers/away", "opened")} == {accused, *of_fault}, "on a slow machine, two minutes are over"
    second.start()
    await_leader(first.bootstrap_servers, 2)
    await_leader(first.bootstrap_servers, 0, "lonely")
    eventually(lambda: of_cluster(job) == {}, "the end of the cluster's findings")
    commit(first.bootstrap_servers, LED_BY_SECOND, "t", {0: 15})
    commit(first.bootstrap_servers, SECOND_ALONE, "t", {0: 15})
    job.await_metric("groupwatch_group_lag", 0, group=SECOND_ALONE)
    job.await_metric("groupwatch_group_findings", 1, group=BOTH, kind="lag", reason="not_committing")
    job.await_metric("groupwatch_group_findings", 1, group=LONELY, kind="lag", reason="not_committing")
    assert findings(job, BOTH, "subordinate") == findings(job, LONELY, "subordinate") == []
    assert findings(job, LED_BY_SECOND) == []
    assert f"its finding {NOT_ENOUGH} is over" in job.log()
    after = (BOTH, "lag/not_committing", "opened")
    eventually(lambda: after in sent(receiver), "the finding that came back")
    ended = sent(receiver).index(("", NOT_ENOUGH, "closed"))
    assert ended < sent(receiver).index(after)
    assert {each for each in sent(receiver)[:ended] if each[0]} == {accused}
    end = len(values_of(first.bootstrap_servers, FINDINGS))
    eventually(lambda: (position_of(first, WEBHOOK) or 0) >= end, "a position that is kept again")
    if is_recorded:
        assert_past_of_both(job)
