"""The demo with all systems, as a person runs it: their groups are shown, with what is wrong with them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.demo.demo_run import ROOT, run_with

pytestmark = [pytest.mark.systems, pytest.mark.timeout(600)]
watched = pytest.mark.long
"""By the clock, with Spark. Each system has its story in another file, and a job in CI (test_systems_in_a_job.py)."""

GROUPS = {
    "demo-rocketmq": {"invoices", "emails", "exports"},
    "demo-kafka-0.10": {"clicks", "searches"},
    "demo-metaq": {"alerts", "audits"},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The summary of a run that ends by itself, the groups that its API listed, and what was left of it."""
    return run_with(tmp_path_factory.mktemp("demo"), "rocketmq,zookeeper,metaq", 60)


@watched
def test_every_system_is_a_cluster_with_its_groups(run: dict[str, Any]):
    assert run["ready"]
    shown = {cluster: {group for of, group in run["listed"] if of == cluster} for cluster in GROUPS}
    assert shown == GROUPS


@watched
def test_two_strategies_in_a_group_of_rocketmq_are_told(run: dict[str, Any]):
    (emails,) = [each for each in run["groups"] if each["group"] == "emails"]
    assert {(each["kind"], each["reason"]) for each in emails["findings"]} == {
        ("double_owned", "mixed_strategy"),
        ("orphaned", "mixed_strategy"),
    }


@watched
def test_healthy_groups_have_no_finding_and_a_killed_member_neither(run: dict[str, Any]):
    healthy = {"invoices", "clicks", "alerts", "searches"}
    assert [each for each in run["groups"] if each["group"] in healthy and each.get("findings")] == []


@watched
def test_what_happens_is_told(run: dict[str, Any]):
    told = [each["sentence"] for each in run["timeline"] if each["what"] == "systems"]
    assert "member 2 of searches (Kafka 0.10, ZooKeeper) is killed" in told


@watched
def test_nothing_is_left_of_it(run: dict[str, Any]):
    assert run["left"] == []
    assert not run["listening"]


def test_a_system_that_the_demo_does_not_know_is_told_in_a_sentence():
    command = [sys.executable, "-m", "monitor.cli", "demo", "--with", "rabbitmq"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    told = " ".join(ended.stderr.replace("│", " ").split())  # it is drawn in a box
    assert "no such system: rabbitmq; there are rocketmq, zookeeper, metaq, share, streams, connect" in told
