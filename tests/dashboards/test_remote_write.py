"""Two real replicas of Prometheus with external labels, and what they write to a third: the recipe of docs/alerts.md.

In grafana/mimir #13583, ``cluster`` of the first series of a request is taken for that of the pair of replicas. Two
variants: series get another label while they are sent, as prometheus/prometheus #5726 advises those who have Kafka
clusters (grafana/k8s-monitoring-helm #202 has the same wish); and series are federated with ``honor_labels``, as in
verrazzano/verrazzano #1149.
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

from dashboards.alert_table import PAGE
from monitor.alert_rules import DEMO, rules_file
from monitor.demo.servers.prometheus import EmbeddedAlertmanager, EmbeddedPrometheus
from monitor.metrics.cluster_label import with_cluster_label
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

RENAMED: Final = "honored"
"""The job whose series keep their own cluster under another name; those of all others lose it."""

(_WRITTEN,) = re.findall(r"```yaml\n(write_relabel_configs:\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
RELABELLING: Final[list[Job]] = yaml.safe_load(_WRITTEN.replace("groupwatch;", f"{RENAMED};"))["write_relabel_configs"]
"""As the page has them, for another job."""


class Around(NamedTuple):
    """A groupwatch, the servers that both replicas tell, and the replicas; one server gets relabelled series."""

    target: str
    receiver: EmbeddedPrometheus
    relabelled: EmbeddedPrometheus
    alertmanager: EmbeddedAlertmanager
    replicas: tuple[EmbeddedPrometheus, ...] = ()


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
        second = {"url": f"{self._around.relabelled.url}/api/v1/write", "write_relabel_configs": RELABELLING}
        recipe["remote_write"].append(second)
        recipe["alerting"] |= own["alerting"]
        return recipe | {"rule_files": own["rule_files"]}


class Receiver(EmbeddedPrometheus):
    """What others write is all that it has."""

    def _command(self) -> list[str]:
        return [*super()._command(), "--web.enable-remote-write-receiver"]


class Central(EmbeddedPrometheus):
    """It federates the series of another one, whose labels go before its own."""

    def __init__(self, other: EmbeddedPrometheus, name: str = "groupwatch") -> None:
        super().__init__([])
        self._other, self._name = other, name

    def _configuration(self) -> dict[str, object]:
        address = self._other.url.removeprefix("http://")
        own = job("federated", address, honors=True, labels={"cluster": "central"})
        own |= {"metrics_path": "/federate", "params": {"match[]": [f'groupwatch_up{{job="{self._name}"}}']}}
        return super()._configuration() | {"scrape_configs": [own]}


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
        relabelled = running.enter_context(Receiver([]))
        servers = Around(renamed, receiver, relabelled, running.enter_context(EmbeddedAlertmanager()))
        jobs = [
            job("honored", plain, honors=True, labels=taken),
            job("overruled", plain, honors=False, labels=taken),
            job("bare", plain, honors=False),
        ]
        replicas = tuple(running.enter_context(Replica(name, jobs, servers)) for name in ("r1", "r2"))
        eventually(lambda: scrapes(receiver.url) >= SCRAPES, "enough samples of both replicas", 120)
        yield servers._replace(replicas=replicas)


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


KEPT: Final = {(EXTERNAL, "main"), (EXTERNAL, "starting")}


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        pytest.param("groupwatch", KEPT, id="our label has another name"),
        pytest.param(RENAMED, KEPT, id="and is renamed first"),
        pytest.param("bare", {(EXTERNAL, None)}, id="and is lost: two Kafka clusters collide"),
    ],
)
def test_the_label_is_overwritten_while_series_are_sent(around: Around, name: str, kept: set[tuple[str, str | None]]):
    def seen() -> bool:
        return labels_of(around.relabelled.url, f'groupwatch_up{{job="{name}"}}', "cluster", KAFKA) == kept

    eventually(seen, "the clusters of the receiver", 60)


def test_series_without_a_kafka_cluster_get_none_where_the_label_is_renamed(around: Around):
    found = labels_of(around.relabelled.url, f'groupwatch_build_info{{job="{RENAMED}"}}', "cluster", KAFKA)
    assert found == {(EXTERNAL, None)}


def test_federated_series_have_both_labels(around: Around):
    """The label ``cluster`` of the one that federates is dropped."""
    with Central(around.replicas[0]) as central:
        own = 'groupwatch_up{job="groupwatch"}'
        eventually(lambda: labels_of(central.url, own, "cluster", KAFKA) == KEPT, "both Kafka clusters", 60)


def test_federated_series_without_another_name_have_one_label_only(around: Around):
    """It is that of Kafka: neither the external label nor that of the target takes its place."""
    with Central(around.replicas[0], "bare") as central:
        own, kept = 'groupwatch_up{job="bare"}', {("main", None), ("starting", None)}
        eventually(lambda: labels_of(central.url, own, "cluster", KAFKA) == kept, "both Kafka clusters", 60)
