"""The demo with all systems, as a person runs it: their groups are shown, with what is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest

from monitor.demo.servers.ports import free_ports
from tests.demo.demo_run import MARK, ROOT, left_of, marked, read, running_demo
from tests.support.job_process import eventually

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]

GROUPS = {
    "demo-rocketmq": {"invoices", "emails", "exports"},
    "demo-kafka-0.10": {"clicks", "searches"},
    "demo-metaq": {"alerts", "audits"},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The summary of a run that ends by itself, the groups that its API listed, and what was left of it."""
    folder = tmp_path_factory.mktemp("demo")
    summary, log, mark = folder / "summary.json", folder / "demo.log", str(uuid.uuid4())
    (port,) = free_ports(1)
    options = ("--with", "rocketmq,zookeeper,metaq", "--duration", "60", "--json-summary", str(summary))
    listed: set[tuple[str, str]] = set()
    with running_demo(port, log, *options, **{MARK: mark}) as process:
        while process.poll() is None:
            listed |= groups_listed(port)
            time.sleep(2)
    assert process.returncode == 0, log.read_text(errors="replace")[-3000:]
    eventually(lambda: not marked(mark), "the end of everything the demo started", 30)
    told: dict[str, Any] = json.loads(summary.read_text())
    return told | {"listed": listed} | left_of(process, port)


def groups_listed(port: int) -> set[tuple[str, str]]:
    status, text = read(port, "/api/v1/groups")
    return {(each["cluster"], each["group"]) for each in json.loads(text)} if status == 200 else set()


def test_every_system_is_a_cluster_with_its_groups(run: dict[str, Any]):
    assert run["ready"]
    shown = {cluster: {group for of, group in run["listed"] if of == cluster} for cluster in GROUPS}
    assert shown == GROUPS


def test_two_strategies_in_a_group_of_rocketmq_are_told(run: dict[str, Any]):
    (emails,) = [each for each in run["groups"] if each["group"] == "emails"]
    assert {(each["kind"], each["reason"]) for each in emails["findings"]} == {
        ("double_owned", "mixed_strategy"),
        ("orphaned", "mixed_strategy"),
    }


def test_healthy_groups_have_no_finding_and_a_killed_member_neither(run: dict[str, Any]):
    healthy = {"invoices", "clicks", "alerts", "searches"}
    assert [each for each in run["groups"] if each["group"] in healthy and each.get("findings")] == []


def test_what_happens_is_told(run: dict[str, Any]):
    told = [each["sentence"] for each in run["timeline"] if each["what"] == "systems"]
    assert "member 2 of searches (Kafka 0.10, ZooKeeper) is killed" in told


def test_nothing_is_left_of_it(run: dict[str, Any]):
    assert run["left"] == []
    assert not run["listening"]


def test_a_system_that_the_demo_does_not_know_is_told_in_a_sentence():
    command = [sys.executable, "-m", "monitor.cli", "demo", "--with", "rabbitmq"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    told = " ".join(ended.stderr.replace("│", " ").split())  # it is drawn in a box
    assert "no such system: rabbitmq; there are rocketmq, zookeeper, metaq" in told
