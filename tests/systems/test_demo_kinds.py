"""The demo with further kinds of groups, as a person runs it: what goes wrong in each is found, and put right."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.demo_run import run_with

# By the clock, with Spark. Each kind of group has tests of its own: tests/kind_churn, test_share_groups.py, ...
pytestmark = [pytest.mark.systems, pytest.mark.long, pytest.mark.timeout(600)]

FINDINGS = [
    ("labels", "poison", "last_try"),
    ("labels", "poison", "given_up"),
    ("labels", "lag", "stalled"),
    ("payment-counts", "dead_member", "silent"),
    ("connect-cluster", "orphaned", "delay"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run in which each of them goes wrong once."""
    return run_with(tmp_path_factory.mktemp("demo"), "share,streams,connect", 100)


def found(run: dict[str, Any], group: str) -> dict[tuple[str, str], dict[str, Any]]:
    (seen,) = [each for each in run["groups"] if each["group"] == group]
    return {(each["kind"], each["reason"]): each for each in seen.get("findings", [])}


def test_all_groups_are_of_the_demos_kafka(run: dict[str, Any]):
    assert run["ready"]
    assert {cluster for cluster, _ in run["listed"]} == {"demo"}
    shown = {group for _, group in run["listed"]}
    assert {"labels", "payment-counts", "connect-cluster", "connect-archive"} < shown


@pytest.mark.parametrize(("group", "kind", "reason"), FINDINGS)
def test_what_goes_wrong_is_found(run: dict[str, Any], group: str, kind: str, reason: str):
    assert (kind, reason) in found(run, group), run["timeline"]


def test_a_record_is_given_up_after_its_last_try(run: dict[str, Any]):
    labels = found(run, "labels")
    last_try, given_up = labels["poison", "last_try"], labels["poison", "given_up"]
    assert last_try["first_s"] < given_up["first_s"]
    assert last_try["ended_s"] is not None
    assert given_up["ended_s"] is None, "it is reported for an hour"
    assert ": 1 so far, the newest with offset" in given_up["sentence"]


def test_the_dead_instance_is_one_of_two_and_its_tasks_are_taken_over(run: dict[str, Any]):
    dead = found(run, "payment-counts")["dead_member", "silent"]
    assert dead["most"] == 3, "half of the six partitions"
    assert dead["ended_s"] is not None


def test_connect_waits_for_the_killed_worker_and_then_gives_its_tasks_to_the_other(run: dict[str, Any]):
    delay = found(run, "connect-cluster")["orphaned", "delay"]
    assert delay["most"] == 2, "half of the four tasks"
    assert "Connect waits until" in delay["sentence"]
    assert delay["ended_s"] is not None


@pytest.mark.parametrize("group", ["connect-archive", "payments"])
def test_a_group_beside_them_has_no_finding(run: dict[str, Any], group: str):
    assert found(run, group) == {}


def test_each_happening_is_told(run: dict[str, Any]):
    told = [each["sentence"] for each in run["timeline"] if each["what"] == "systems"]
    assert told[:4] == [
        "labels gets a record that its members release each time",
        "an instance of payment-counts (Kafka Streams) is killed",
        "a worker of connect-cluster (Kafka Connect) is killed",
        "the members of labels stop polling but stay",
    ]


def test_nothing_is_left_of_it(run: dict[str, Any]):
    assert run["left"] == []
    assert not run["listening"]
