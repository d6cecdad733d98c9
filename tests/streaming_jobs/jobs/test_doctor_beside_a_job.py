"""What ``groupwatch doctor`` finds at once, a job with ``groups_from = "admin"`` finds after its grace times.

Real groups of five kinds: in most of them one thing is wrong, in some nothing. What only the job can know, as it reads
Connect's topic of configurations or has seen a group before, the doctor says that it does not know.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pytest
from kafka.admin import ConfigResource, ConfigResourceType

from monitor.demo.java.share_clients import ShareClients
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.scenarios.settings import BROKER
from tests.streaming_jobs.jobs import task_groups
from tests.streaming_jobs.jobs.task_groups import (
    SINK_FAILED,
    SINK_FINE,
    SINK_PAUSED,
    STREAMS_FINE,
    STREAMS_HUNG,
    STREAMS_WITHOUT_SOURCE,
    WORKERS,
    TaskGroups,
    running_task_groups,
)
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

# Nine kinds of groups that stand still, with Connect and Streams. tests/doctor/test_same_as_the_job.py compares, too.
pytestmark = [pytest.mark.broker, pytest.mark.jobs, pytest.mark.long]

CLUSTER: Final = "main"
READ, LEFT = "orders", "returns"
PARTITIONS: Final = range(4)
SILENCE_S: Final = 15.0
"""By default a minute. The groups that commit no more wait for records, and the others have none to wait for."""
GRACE_S: Final = 240.0
"""The silence, ends that are kept 20 s apart, and a slow machine."""
PROTOCOLS: Final = {
    "classic-fine": "classic",
    "classic-hung": "classic",
    "kip848-fine": "consumer",
    "kip848-hung": "consumer",
    "kip848-turned-away": "consumer",
}
HUNG: Final = ("classic-hung", "kip848-hung")
CONSUMERS: Final = (*PROTOCOLS, STREAMS_FINE, STREAMS_HUNG, SINK_FINE, SINK_PAUSED)
"""The groups that have read all records, before one thing goes wrong with some of them."""
GOING_ON: Final = tuple(group for group in CONSUMERS if group not in (*HUNG, STREAMS_HUNG, SINK_PAUSED))
SHARE: Final = "share-abandoned"

NOT_READY: Final = (STREAMS_WITHOUT_SOURCE, "orphaned", "not_ready")
NO_WORKERS: Final = (WORKERS.group, "orphaned", "no_workers")
PAUSED: Final = (SINK_PAUSED, "lag", "not_committing")
"""Only the job knows that it is on purpose."""
LEFT_ALONE: Final = (SINK_PAUSED, "unattended", "no_members")
"""The same sink, once its worker has ended."""
FOUND: Final = {
    ("abandoned", "lag", "not_committing"),
    ("classic-hung", "lag", "not_committing"),
    ("kip848-hung", "lag", "not_committing"),
    ("kip848-turned-away", "abandoned", "unsubscribed"),
    (SHARE, "unattended", "no_members"),
    (STREAMS_HUNG, "lag", "not_committing"),
    (SINK_FAILED, "unattended", "no_members"),
}
"""By both, from the first to the last."""

Found = tuple[str, str, str, tuple[str, ...]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """Two topics with ten records in each partition."""
    with EmbeddedKafka(BrokerSettings(properties=BROKER | task_groups.BROKER)) as broker:
        for topic in (READ, LEFT):
            create_topic(broker.bootstrap_servers, topic, len(PARTITIONS))
            produce(broker.bootstrap_servers, topic, dict.fromkeys(PARTITIONS, 10))
        yield broker


@pytest.fixture(scope="module")
def tasks(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TaskGroups]:
    """All groups. Records wait for some of them and not for others."""
    servers = kafka.bootstrap_servers
    commit(servers, "abandoned", READ, dict.fromkeys(PARTITIONS, 3))
    commit(servers, "kip848-turned-away", LEFT, {0: 2})
    commit(servers, SINK_FAILED, READ, dict.fromkeys(PARTITIONS, 10))
    share_and_leave(servers)
    with (
        running_crowd(servers) as crowd,
        running_task_groups(servers, READ, tmp_path_factory.mktemp("sinks")) as groups,
    ):
        eventually(lambda: all(has_read(servers, group, 10) for group in CONSUMERS), "commits at the end")
        for group in HUNG:
            crowd.tell("hang", name=group)
            crowd.await_event(0, "hanging", name=group)
        groups.hang_and_pause()
        produce(servers, READ, dict.fromkeys(PARTITIONS, 5))
        eventually(lambda: all(has_read(servers, group, 15) for group in GOING_ON), "commits at the new end")
        groups.await_failure()
        yield groups


@contextmanager
def running_crowd(servers: str) -> Iterator[Crowd]:
    """A member in each group of ``PROTOCOLS``."""
    with Crowd(servers) as crowd:
        for group, protocol in PROTOCOLS.items():
            crowd.tell("start", name=group, props={"group.protocol": protocol, "group.id": group}, topics=[READ])
        yield crowd


def share_and_leave(servers: str) -> None:
    """A share group reads all records, and those that come later wait for it."""
    with admin(servers) as client:
        earliest = {"share.auto.offset.reset": "earliest"}
        client.alter_configs([ConfigResource(ConfigResourceType.GROUP, SHARE, earliest)])
    with ShareClients(servers) as clients:
        clients.consume("c", SHARE, READ, strategy="", how="0")
        eventually(lambda: clients.count_received("c") == 10 * len(PARTITIONS), "all records were delivered")
        clients.leave("c")


def has_read(servers: str, group: str, offset: int) -> bool:
    """Whether a group has committed this offset in each partition."""
    with admin(servers) as client:
        committed = client.list_group_offsets(group)[group]
    return [each.offset for place, each in committed.items() if place.topic == READ] == [offset] * len(PARTITIONS)


@pytest.fixture(scope="module")
def job(kafka: EmbeddedKafka, tasks: TaskGroups, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    """It reads what Connect is to run, which the doctor does not."""
    table = {
        "bootstrap_servers": kafka.bootstrap_servers,
        "groups_from": "admin",
        "collect_interval_s": 2.0,
        "connect_configs": {WORKERS.group: WORKERS.configs_topic},
    }
    detection = {"commit_silence_s": SILENCE_S}
    with running(JobWithoutSpark(tmp_path_factory.mktemp("job"), {CLUSTER: table}, detection=detection)) as process:
        yield process


def examine(kafka: EmbeddedKafka) -> tuple[set[Found], Mapping[str, str]]:
    """What the doctor finds, and the groups that it does not judge, with the reasons."""
    command = [sys.executable, "-m", "monitor.cli", "doctor", "--bootstrap-server", kafka.bootstrap_servers, "--json"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 1, answer.stderr
    told = json.loads(answer.stdout)
    assert told["problems"] == []
    return set(map(as_found, told["findings"])), {each["group"]: each["reason"] for each in told["not_judged"]}


def found_by_job(job: JobProcess) -> set[Found]:
    return set(map(as_found, json.loads(job.get("/api/v1/findings"))))


def as_found(finding: dict[str, Any]) -> Found:
    places = tuple(f"{place['topic']}-{place['partition']}" for place in finding.get("partitions", ()))
    return finding["group"], finding["kind"], finding["reason"], places


def without_places(found: set[Found]) -> set[tuple[str, str, str]]:
    return {(group, kind, reason) for group, kind, reason, _ in found}


def not_of(group: str, found: set[Found]) -> set[Found]:
    return {each for each in found if each[0] != group}


def test_the_doctor_finds_what_a_job_finds_after_its_grace_times(
    kafka: EmbeddedKafka, tasks: TaskGroups, request: pytest.FixtureRequest
):
    """But for the paused sink, of which it cannot know that it is."""
    found, not_judged = examine(kafka)
    assert without_places(found) == FOUND | {NOT_READY, PAUSED}
    assert not_judged == {}
    job: JobProcess = request.getfixturevalue("job")
    expected = not_of(SINK_PAUSED, found)
    eventually(lambda: found_by_job(job) == expected, f"exactly {sorted(expected)}", GRACE_S)
    assert examine(kafka) == (found, {})


def test_of_what_has_ended_the_doctor_says_that_it_does_not_know_what_the_job_has_seen(
    kafka: EmbeddedKafka, tasks: TaskGroups, job: JobProcess
):
    """It is the last test: the Connect worker, and the instance whose source topic does not exist, end."""
    before = not_of(SINK_PAUSED, found_by_job(job))
    tasks.end_workers()
    expected = before | {(*NO_WORKERS, ())}
    eventually(lambda: found_by_job(job) == expected, f"exactly {sorted(expected)}")
    found, not_judged = examine(kafka)
    assert without_places(found) == FOUND | {LEFT_ALONE}
    assert not_judged == {
        STREAMS_WITHOUT_SOURCE: "no instance is left, and the topology needs missing, which does not exist",
        WORKERS.group: "no worker is left, and only Connect's topic of configurations names what they should run",
    }
