"""Two real replicas of Prometheus with external labels, and what they write to a third: the recipe of docs/alerts.md.

In grafana/mimir #13583, ``cluster`` of the first series of a request is taken for that of the pair of replicas.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

import pytest
import yaml

from dashboards.alerts import DEMO, rules_file
from dashboards.alerts.table import PAGE
from dashboards.cluster_label import with_cluster_label
from monitor.demo.servers.prometheus import EmbeddedAlertmanager, EmbeddedPrometheus
from tests.dashboards.boards import get
from tests.dashboards.fed import exposed, target
from tests.support.answering import Answer, answering
from tests.support.job_process import eventually
from tests.support.programs import required

KAFKA: Final = "kafka_cluster"

(RECIPE,) = re.findall(r"```yaml\n(# prometheus.yml of a replica\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
"""The configuration of a replica, as the page has it."""

EXTERNAL: Final = "k8s-a"
"""What both replicas call the Kubernetes cluster that they are in."""

SCRAPES: Final = 4
"""Of each job by each replica: the rules of the demo wait for seconds."""

RULES: Final = with_cluster_label(rules_file(DEMO), KAFKA)

Job = dict[str, Any]


class Around(NamedTuple):
    """What there is around replicas: a groupwatch, and the servers that both of them tell."""

    target: str
    receiver: EmbeddedPrometheus
    alertmanager: EmbeddedAlertmanager


class Replica(EmbeddedPrometheus):
    """That of the recipe with another name, target, receiver and pace, and with jobs that are no part of it."""

    def __init__(self, name: str, others: Sequence[Job], around: Around) -> None:
        super().__init__([], RULES, around.alertmanager)
        self._name, self._others, self._around = name, others, around

    def _configuration(self) -> dict[str, object]:
        recipe: dict[str, Any] = yaml.safe_load(RECIPE)
        own: dict[str, Any] = super()._configuration()
        recipe["global"] |= own["global"]
        recipe["global"]["external_labels"]["__replica__"] = self._name
        recipe["scrape_configs"][0]["static_configs"][0]["targets"] = [self._around.target]
        recipe["scrape_configs"] += self._others
        recipe["remote_write"][0]["url"] = f"{self._around.receiver.url}/api/v1/write"
        recipe["alerting"] |= own["alerting"]
        return recipe | {"rule_files": own["rule_files"]}


class Receiver(EmbeddedPrometheus):
    """What others write is all that it has."""

    def _command(self) -> list[str]:
        return [*super()._command(), "--web.enable-remote-write-receiver"]


def job(name: str, address: str, *, honors: bool, labels: Mapping[str, str] | None = None) -> Job:
    """A target of groupwatch's, which may have labels, and whether its own labels go before those."""
    static = [{"targets": [address], "labels": dict(labels or {})}]
    return {"job_name": name, "honor_labels": honors, "static_configs": static}


@pytest.fixture(scope="module")
def around() -> Iterator[Around]:
    """All of it, once the receiver has enough of both replicas."""
    required("prometheus", "prometheus")
    required("prometheus-alertmanager", "prometheus-alertmanager")
    taken = {"cluster": EXTERNAL}
    with ExitStack() as running:
        text = exposed(1)  # made once: of these jobs labels alone are looked at
        answer = Answer(headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}, body=text)
        plain = running.enter_context(answering(lambda _path, _body: answer))
        renamed = running.enter_context(target(KAFKA))
        receiver = running.enter_context(Receiver([], RULES))
        servers = Around(renamed, receiver, running.enter_context(EmbeddedAlertmanager()))
        jobs = [
            job("honored", plain, honors=True, labels=taken),
            job("overruled", plain, honors=False, labels=taken),
            job("bare", plain, honors=False),
        ]
        for name in ("r1", "r2"):
            running.enter_context(Replica(name, jobs, servers))
        eventually(lambda: scrapes(receiver.url) >= SCRAPES, "enough samples of both replicas", 120)
        yield servers


@pytest.fixture
def url(around: Around) -> str:
    return around.receiver.url


def scrapes(url: str) -> int:
    """Of the replica and job that has written the fewest samples."""
    found = get(url, "query", query="count_over_time(groupwatch_build_info[5m])")["result"]
    return min((int(each["value"][1]) for each in found), default=0) if len(found) == 8 else 0


def labels_of(url: str, series: str, *names: str) -> set[tuple[str | None, ...]]:
    found = get(url, "query", query=f"last_over_time({series}[5m])")["result"]
    return {tuple(each["metric"].get(name) for name in names) for each in found}


def test_with_its_own_name_every_series_of_a_replica_has_the_cluster_of_the_replica(url: str):
    everything = '{job="groupwatch",__name__!~"ALERTS.*"}'
    assert labels_of(url, everything, "cluster", "__replica__") == {(EXTERNAL, "r1"), (EXTERNAL, "r2")}
    series = 'groupwatch_up{job="groupwatch"}'
    assert labels_of(url, series, KAFKA, "exported_cluster") == {("main", None), ("starting", None)}


@pytest.mark.parametrize("name", ["honored", "bare"])
def test_without_it_series_have_other_clusters_than_that_of_the_replica(url: str, name: str):
    """The incident: an external label does not overwrite one that a series has."""
    found = labels_of(url, f'{{job="{name}",__name__!~"ALERTS.*"}}', "cluster")
    assert found == {(EXTERNAL,), ("main",), ("starting",)}  # k8s-a of groupwatch_build_info, up and the like


def test_a_label_of_the_target_takes_the_name_if_labels_are_not_honored(url: str):
    found = labels_of(url, 'groupwatch_up{job="overruled"}', "cluster", "exported_cluster")
    assert found == {(EXTERNAL, "main"), (EXTERNAL, "starting")}


def test_alerts_are_those_of_either_replica_and_name_the_kafka_cluster(url: str):
    """A group whose members have left: muted for the lag, told by its own alert, of each replica."""
    firing = f'ALERTS{{alertstate="firing",job="groupwatch",group="left",{KAFKA}="main"}}'
    told = {("GroupwatchGroupWithoutMembers", EXTERNAL, replica) for replica in ("r1", "r2")}
    names = ("alertname", "cluster", "__replica__")
    eventually(lambda: told <= labels_of(url, firing, *names), "the alerts of both replicas", 60)
    assert labels_of(url, firing, *names) == told


def test_alertmanager_takes_the_alerts_of_both_replicas_for_one(around: Around):
    """As the label that tells them apart is dropped."""

    def told() -> list[dict[str, str]]:
        address = f"{around.alertmanager.url}/api/v2/alerts?filter=job%3Dgroupwatch&filter=group%3Dleft"
        with urllib.request.urlopen(address, timeout=10) as response:
            return [alert["labels"] for alert in json.load(response)]

    (labels,) = eventually(told, "the alert", 60)
    assert (labels["alertname"], labels["cluster"], labels[KAFKA]) == (
        "GroupwatchGroupWithoutMembers",
        EXTERNAL,
        "main",
    )
    assert "__replica__" not in labels
