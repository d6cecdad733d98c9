"""The example of routes in a real Alertmanager: what says nothing new while something worse is active is held back."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from monitor.alert_rules import RULES
from monitor.demo.servers.prometheus import EmbeddedAlertmanager
from tests.support.job_process import eventually
from tests.support.programs import required

ROUTES = Path(__file__).parents[2] / "dashboards" / "compose" / "alertmanager.yml"


class Example(EmbeddedAlertmanager):
    """With the routes of the example."""

    def _configuration(self) -> dict[str, object]:
        configuration: dict[str, object] = yaml.safe_load(ROUTES.read_text(encoding="utf-8"))
        return configuration


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    required("prometheus-alertmanager", "prometheus-alertmanager")
    with Example() as alertmanager:
        yield alertmanager.url


def active(name: str, cluster: str, group: str = "", severity: str = "warning", shard: str = "a:1") -> dict[str, str]:
    of_group = {"group": group} if group else {}
    place = {"job": "groupwatch", "instance": shard}
    return {"alertname": name, "severity": severity, "cluster": cluster, **place, **of_group}


def of_itself(name: str, cluster: str, shard: str = "a:1") -> dict[str, str]:
    """An alert about groupwatch itself, with the severity that its rule has."""
    severity = next(rule.severity for rule in RULES if rule.name == name)
    return active(name, cluster, severity=severity, shard=shard)


def post(url: str, *alerts: dict[str, str]) -> None:
    body = json.dumps([{"labels": labels} for labels in alerts]).encode()
    request = urllib.request.Request(f"{url}/api/v2/alerts", body, {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=10).close()


def await_told(url: str, cluster: str, *expected: str) -> None:
    """Until of the alerts of a cluster exactly these are not held back, each as "group alert"."""

    def told() -> bool:
        with urllib.request.urlopen(f"{url}/api/v2/alerts?filter=cluster%3D%22{cluster}%22", timeout=10) as response:
            found = json.load(response)
        free = [alert["labels"] for alert in found if not alert["status"]["inhibitedBy"]]
        return {f"{labels.get('group', '-')} {labels['alertname']}" for labels in free} == set(expected)

    eventually(told, f"of {cluster}, {expected}", 20)


def test_of_a_cluster_that_cannot_be_read_nothing_is_told_of_groups_but_of_others_it_is(url: str):
    old = active("GroupwatchLagOld", "blind", "orders")
    dead = active("GroupwatchMemberDead", "blind", "orders", severity="critical")
    unread = of_itself("GroupwatchClusterUnread", "blind")
    post(url, old, dead, unread, active("GroupwatchLagOld", "seen", "orders"))
    await_told(url, "blind", "- GroupwatchClusterUnread")
    await_told(url, "seen", "orders GroupwatchLagOld")


@pytest.mark.parametrize("name", ["GroupwatchEvaluationOld", "GroupwatchNotReady"])
def test_while_nothing_is_judged_critical_alerts_about_groups_still_wake_somebody(url: str, name: str):
    cluster = f"hangs-{name.lower()}"
    old = active("GroupwatchLagOld", cluster, "orders")
    dead = active("GroupwatchMemberDead", cluster, "payments", severity="critical")
    post(url, old, dead, of_itself(name, cluster))
    await_told(url, cluster, f"- {name}", "payments GroupwatchMemberDead")


@pytest.mark.parametrize("name", ["GroupwatchClusterUnread", "GroupwatchEvaluationOld", "GroupwatchNotReady"])
def test_a_shard_that_is_blind_holds_back_nothing_that_another_tells(url: str, name: str):
    cluster = f"shards-{name.lower()}"
    own = active("GroupwatchLagOld", cluster, "orders")
    others = active("GroupwatchLagOld", cluster, "payments", shard="b:1")
    post(url, own, others, of_itself(name, cluster))
    await_told(url, cluster, f"- {name}", "payments GroupwatchLagOld")


def test_a_shard_that_is_away_holds_back_nothing_that_others_tell_and_nothing_holds_it_back(url: str):
    away = {"alertname": "GroupwatchShardAway", "severity": "critical", "cluster": "parts", "of": "3"}
    uneven = active("GroupwatchAssignmentUneven", "parts", "orders", severity="info")
    dead = active("GroupwatchMemberDead", "parts", "payments", severity="critical", shard="b:1")
    collector = of_itself("GroupwatchCollectorOld", "parts")
    post(url, away, uneven, dead, collector, of_itself("GroupwatchEvaluationOld", "parts", shard="b:1"))
    told = ("- GroupwatchShardAway", "orders GroupwatchAssignmentUneven", "payments GroupwatchMemberDead")
    await_told(url, "parts", *told, "- GroupwatchCollectorOld", "- GroupwatchEvaluationOld")


def test_what_is_blind_for_a_while_wakes_somebody():
    """Whoever is to be told of a dead member must not be told less as nobody judges."""
    names = {"GroupwatchClusterUnread", "GroupwatchEvaluationOld", "GroupwatchNotReady", "GroupwatchDown"}
    names |= {"GroupwatchShardAway"}
    assert {rule.severity.value for rule in RULES if rule.name in names} == {"critical"}


def test_who_is_woken_for_a_group_is_not_told_its_warnings_but_those_of_others(url: str):
    dead = active("GroupwatchMemberDead", "busy", "orders", severity="critical")
    storm = active("GroupwatchRebalanceStorm", "busy", "orders")
    other = active("GroupwatchRebalanceStorm", "busy", "payments")
    uneven = active("GroupwatchAssignmentUneven", "busy", "payments", severity="info")
    decode = active("GroupwatchDecodeErrors", "busy")
    post(url, dead, storm, other, uneven, decode)
    told = ("orders GroupwatchMemberDead", "payments GroupwatchRebalanceStorm", "- GroupwatchDecodeErrors")
    await_told(url, "busy", *told)
