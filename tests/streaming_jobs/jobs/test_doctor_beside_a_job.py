"""What ``groupwatch doctor`` finds at once, a job with ``groups_from = "admin"`` finds after its grace times.

Real groups of three kinds: in most of them one thing is wrong, in some nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from kafka.admin import ConfigResource, ConfigResourceType

from monitor.demo.java.share_clients import ShareClients
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.scenarios.settings import BROKER
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.crowd import Crowd
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

CLUSTER: Final = "main"
READ, LEFT = "orders", "returns"
PARTITIONS: Final = range(4)
GRACE_S: Final = 240.0
"""A minute without a commit, ends that are kept 20 s apart, and a slow machine."""
PROTOCOLS: Final = {
    "classic-fine": "classic",
    "classic-hung": "classic",
    "kip848-fine": "consumer",
    "kip848-hung": "consumer",
    "kip848-turned-away": "consumer",
}
SHARE: Final = "share-abandoned"
FOUND: Final = {
    ("abandoned", "lag", "not_committing"),
    ("classic-hung", "lag", "not_committing"),
    ("kip848-hung", "lag", "not_committing"),
    ("kip848-turned-away", "abandoned", "unsubscribed"),
    (SHARE, "unattended", "no_members"),
}

Found = tuple[str, str, str, tuple[str, ...]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """Two topics, in which records wait for some groups and not for others."""
    with ExitStack() as stack:
        broker = stack.enter_context(EmbeddedKafka(BrokerSettings(properties=BROKER)))
        servers = broker.bootstrap_servers
        for topic in (READ, LEFT):
            create_topic(servers, topic, len(PARTITIONS))
            produce(servers, topic, dict.fromkeys(PARTITIONS, 10))
        commit(servers, "abandoned", READ, dict.fromkeys(PARTITIONS, 3))
        commit(servers, "kip848-turned-away", LEFT, {0: 2})
        share_and_leave(servers)
        crowd = stack.enter_context(Crowd(servers))
        for group, protocol in PROTOCOLS.items():
            crowd.tell("start", name=group, props={"group.protocol": protocol, "group.id": group}, topics=[READ])
        eventually(lambda: all(has_read(servers, group, 10) for group in PROTOCOLS), "commits at the end")
        for group in ("classic-hung", "kip848-hung"):
            crowd.tell("hang", name=group)
            crowd.await_event(0, "hanging", name=group)
        produce(servers, READ, dict.fromkeys(PARTITIONS, 5))
        going_on = [group for group in PROTOCOLS if not group.endswith("-hung")]
        eventually(lambda: all(has_read(servers, group, 15) for group in going_on), "commits at the new end")
        yield broker


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


def found_by_doctor(kafka: EmbeddedKafka) -> set[Found]:
    command = [sys.executable, "-m", "monitor.cli", "doctor", "--bootstrap-server", kafka.bootstrap_servers, "--json"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert answer.returncode == 1, answer.stderr
    told = json.loads(answer.stdout)
    assert (told["not_judged"], told["problems"]) == ([], [])
    return set(map(as_found, told["findings"]))


def found_by_job(job: JobProcess) -> set[Found]:
    return set(map(as_found, json.loads(job.get("/api/v1/findings"))))


def as_found(finding: dict[str, Any]) -> Found:
    places = tuple(f"{place['topic']}-{place['partition']}" for place in finding["partitions"])
    return finding["group"], finding["kind"], finding["reason"], places


def test_the_doctor_finds_what_a_job_finds_after_its_grace_times(kafka: EmbeddedKafka, tmp_path: Path):
    found = found_by_doctor(kafka)
    assert {(group, kind, reason) for group, kind, reason, _ in found} == FOUND
    table = {"bootstrap_servers": kafka.bootstrap_servers, "groups_from": "admin", "collect_interval_s": 2.0}
    with running(JobProcess(tmp_path, {CLUSTER: table})) as job:
        eventually(lambda: found_by_job(job) == found, f"exactly {sorted(found)}", GRACE_S)
        assert found_by_doctor(kafka) == found
