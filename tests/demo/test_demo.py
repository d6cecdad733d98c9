"""The demo as a newcomer and a script run it: a process of its own, real Kafka, real consumers, real Spark."""

from __future__ import annotations

import re
import socket
import subprocess
from typing import Any

import pytest

from tests.demo.demo_run import WATCHED_S, demo
from tests.support.beside import Beside
from tests.support.programs import required

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def demo_run(beside: Beside) -> dict[str, Any]:
    """One unattended run, and what its /metrics showed meanwhile; it began with the first test."""
    return beside.report("demo_run")


@pytest.fixture(scope="module")
def demo_interrupted(beside: Beside) -> dict[str, Any]:
    """A run that was interrupted when it was ready."""
    return beside.report("demo_interrupted")


def finding(demo_run: dict[str, Any], group: str, kind: str, reason: str) -> dict[str, Any] | None:
    (seen,) = [each for each in demo_run["groups"] if each["group"] == group]
    found = [each for each in seen.get("findings", []) if (each["kind"], each["reason"]) == (kind, reason)]
    return found[0] if found else None


def test_the_metrics_show_the_new_partitions_as_orphans_and_their_return_to_0(demo_run):
    assert demo_run["orphans_on_metrics"][0] == 0
    assert 3 in demo_run["orphans_on_metrics"], demo_run["timeline"]
    assert demo_run["orphans_on_metrics"][-1] == 0


def test_the_summary_tells_growth_orphans_and_healing(demo_run):
    orphaned = finding(demo_run, "orders", "orphaned", "grew")
    assert orphaned is not None
    assert orphaned["most"] == 3
    assert orphaned["ended_s"] is not None
    assert "orders" in orphaned["sentence"]
    (grown,) = [h for h in demo_run["timeline"] if h["what"] == "grow_topic"]
    assert grown["at_ms"] / 1000 - 2 < orphaned["first_s"] < orphaned["ended_s"] < WATCHED_S


def test_the_stuck_consumer_is_told_and_its_lag_rises_and_falls(demo_run):
    stuck = finding(demo_run, "reports", "lag", "not_committing")
    assert stuck is not None
    assert stuck["ended_s"] is not None
    (reports,) = [each for each in demo_run["groups"] if each["group"] == "reports"]
    assert reports["lag_most"] > 100
    assert reports["lag_last"] < reports["lag_most"] / 2


def test_the_healthy_group_has_no_finding(demo_run):
    (payments,) = [each for each in demo_run["groups"] if each["group"] == "payments"]
    assert payments.get("findings", []) == []


def test_no_group_drifts_from_what_its_assignor_gives(demo_run):
    assert [g["group"] for g in demo_run["groups"] if finding(demo_run, g["group"], "drift", "replayed")] == []


@pytest.fixture
def alerting(demo_run: dict[str, Any]) -> dict[str, Any]:
    """What its Prometheus and Alertmanager were seen to do."""
    required("prometheus", "prometheus")
    required("prometheus-alertmanager", "prometheus-alertmanager")
    seen: dict[str, Any] = demo_run["alerting"]
    return seen


def test_alertmanager_receives_the_alert_of_the_orphans_and_its_resolution(alerting):
    orphan = alerting["orphan"]
    assert orphan["labels"]["severity"] == "critical"
    assert orphan["labels"]["reason"] == "grew"
    assert re.fullmatch(
        r"orders of demo has had a partition without an owner for \d.*s \(grew, 3 partitions now\)",
        orphan["annotations"]["summary"],
    )
    assert orphan["status"]["state"] == "active"
    assert alerting["gone"]
    assert alerting["resolved"] >= 1


def test_prometheus_scrapes_all_the_time_and_evaluates_every_rule(alerting):
    asked = alerting["asked"]
    assert asked["scraped"] > 100
    assert asked["failed_scrapes"] == 0
    assert asked["unhealthy_rules"] == []


def test_the_healthy_group_and_groupwatch_itself_have_no_alert(alerting):
    fired = [tuple(each) for each in alerting["asked"]["fired"]]
    assert ("orders", "GroupwatchPartitionOrphaned") in fired
    assert ("reports", "GroupwatchPartitionStopped") in fired
    assert [name for group, name in fired if group in ("", "payments", "fraud-checks")] == []


def test_every_query_of_the_dashboards_gives_data_with_the_labels_that_are_shown(alerting):
    """But for those of tests.dashboards.demo_boards.SILENT, which have their reasons."""
    assert alerting["asked"]["board_faults"] == {}


def test_nothing_is_left_of_it(demo_run):
    assert demo_run["left"] == []
    assert not demo_run["listening"]


def test_nothing_of_it_listens_but_on_loopback(demo_run):
    """Kafka, Spark, the page and Prometheus."""
    assert demo_run["open"] == []
    assert {"java", "prometheus"} <= set(demo_run["programs"])


@pytest.mark.long
def test_ctrl_c_while_it_runs_ends_all_of_it(demo_interrupted):
    assert {"kafka.Kafka", "org.apache.spark.deploy.SparkSubmit"} <= set(demo_interrupted["started"])
    assert "Everything has ended" in demo_interrupted["log"]
    assert "Traceback" not in demo_interrupted["log"]
    assert demo_interrupted["left"] == []
    assert not demo_interrupted["listening"]


def test_a_running_job_explains_its_groups_and_what_they_would_be(demo_run):
    """Six partitions of payments are split by range over two members; a third one takes two of them."""
    asked = demo_run["asked"]
    assert "Its assignor is range (from the log); groupwatch replays it exactly." in asked["explain"]
    assert "2 members own 6 partitions." in asked["explain"]
    assert "range divides partitions 0-5 of payments among 2 members" in asked["partition"]
    assert " is 1st and gets 0-2." in asked["partition"]
    sizes = [(each["partitions_before"], each["partitions_after"]) for each in asked["what_if"]["members"][:2]]
    assert sizes == [(3, 2), (3, 2)]
    assert asked["what_if"]["members"][2]["member_id"] == "new-1"


def test_the_census_names_the_libraries_of_the_group_that_has_two(demo_run):
    counted = {tuple(each["libraries"]): each["members"] for each in demo_run["asked"]["census"]}
    assert counted[("java",)] == 1
    assert counted[("librdkafka",)] == 1


def test_the_commands_about_the_past_answer_for_the_finding_that_was_seen(demo_run):
    """They are run as they are printed: explain and report ask the job, backtest reads the recording."""
    past = demo_run["past"]
    assert past.keys() == {"explain", "report", "backtest"}
    assert re.search(r"3 partitions of orders \(4-6\) have no owner", past["explain"])
    assert past["report"].startswith("# Incident report: group orders of cluster demo")
    assert "have no owner" in past["report"]
    assert "Their owner, reports-worker-0 at /127.0.0.1, has committed no offset" in past["backtest"]


def test_a_taken_port_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = subprocess.run(
            demo(port), capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    assert ended.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use" in ended.stderr
    assert "Traceback" not in ended.stderr
