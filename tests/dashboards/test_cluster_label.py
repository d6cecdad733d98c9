"""The label of the watched cluster where Prometheus has a ``cluster`` of its own, as rules and dashboards see it.

The cases are those of grafana/mimir #13583 (``cluster`` is Mimir's label of highly available pairs) and of target
labels (NVIDIA/dcgm-exporter #76, kubernetes/kubernetes #124277): Prometheus then names ours ``exported_cluster``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from dashboards.generate import generated_files
from dashboards.kubernetes import kubernetes_files
from dashboards.runbooks import Options, command_options
from monitor.alert_rules import RULES
from monitor.metrics.cluster_label import with_cluster_label
from monitor.metrics.specs import COUNTERS, HISTOGRAMS, KAFKA_EXPORTER, METRICS, OF_THE_JVM
from monitor.model.cluster_label import TAKEN_LABELS
from tests.dashboards.fed import exposed
from tests.dashboards.promtool import run_cases

KAFKA: Final = "kafka_cluster"
LABEL: Final = Options(cluster_label=KAFKA)
FILES: Final = generated_files()
RENAMED: Final = generated_files(LABEL)
NAMED: Final = Options(clusters=("prod", "staging"))

PLACES: Final = {
    "honored": ("cluster", '{{cluster="{}"}}'),
    "taken by the target": ("cluster", '{{cluster="k8s-a",exported_cluster="{}"}}'),
    "of another name": (KAFKA, '{{cluster="k8s-a",kafka_cluster="{}"}}'),
    "of another name, taken too": (KAFKA, '{{kafka_cluster="k8s-a",exported_kafka_cluster="{}"}}'),
    "as Prometheus renamed it": ("exported_cluster", '{{cluster="k8s-a",exported_cluster="{}"}}'),
}
"""The label that the rules are generated for, and how series of a Kafka cluster have it in Prometheus."""


def series(labels: str, family: str, values: str, more: str = "") -> Iterator[dict[str, str]]:
    """A family as two replicas of groupwatch expose it, with the same job."""
    for instance in ("a:1", "b:1"):
        own = f'{labels[:-1]},job="groupwatch",instance="{instance}"{more}}}'
        yield {"series": f"groupwatch_{family}{own}", "values": values}


def two_kafkas(place: str) -> list[dict[str, str]]:
    """Group g of both has lag since minute 0; members only in prod, where 5,000 records wait; 70 in staging."""
    prod, staging = place.format("prod"), place.format("staging")
    left = ',group="g",kind="unattended",reason="no_members"'
    return [
        *(each for labels in (prod, staging) for each in series(labels, "up", "1x30")),
        *(each for labels in (prod, staging) for each in series(labels, "ready", "1x30")),
        *series(prod, "group_lag_at_least_seconds", "0+60x30", ',group="g"'),
        *series(prod, "group_lag", "5000x30", ',group="g"'),
        *series(staging, "group_lag_at_least_seconds", "0+60x30", ',group="g"'),
        *series(staging, "group_lag", "70x30", ',group="g"'),
        *series(staging, "group_unattended_seconds", "0+60x30", ',group="g"'),
        *series(staging, "group_finding_oldest_seconds", "0+60x30", left),
    ]


def expected(name: str, labels: str, more: dict[str, str], told: tuple[str, str]) -> dict[str, Any]:
    """The alerts of both replicas."""
    summary, description = told
    notes = {"summary": summary, "description": description, "runbook": f"docs/runbooks.md#{name.lower()}"}
    own = {**dict(re.findall(r'(\w+)="([^"]*)"', labels)), **more, "group": "g", "job": "groupwatch"}
    alerts = [{"exp_labels": {**own, "instance": each}, "exp_annotations": notes} for each in ("a:1", "b:1")]
    return {"eval_time": "18m", "alertname": name, "exp_alerts": alerts}


@pytest.mark.parametrize(("label", "place"), PLACES.values(), ids=PLACES)
def test_a_group_without_members_mutes_no_group_of_another_kafka(tmp_path: Path, label: str, place: str):
    """And the numbers are those of that Kafka, once, although two replicas expose them."""
    behind = (
        "g of prod is 18m 0s behind, 5k records",
        "The oldest record of the lag of group g of cluster prod is at least that old. The group's page shows the "
        "partitions, and whether the group catches up.",
    )
    left = (
        "g of staging has had lag and no members for 18m 0s, 70 records",
        "Group g of cluster staging has no members, and producers have written records since its last activity. The "
        "alert does not fire for a group that is shut down while its topics receive no records.",
    )
    found = {"severity": "critical", "kind": "unattended", "reason": "no_members"}
    looks = [
        expected("GroupwatchLagOld", place.format("prod"), {"severity": "warning"}, behind),
        expected("GroupwatchGroupWithoutMembers", place.format("staging"), found, left),
        {"eval_time": "18m", "alertname": "GroupwatchClusterMissing", "exp_alerts": []},
        {"eval_time": "18m", "alertname": "GroupwatchDown", "exp_alerts": []},
    ]
    test = {"interval": "1m", "input_series": two_kafkas(place), "alert_rule_test": looks}
    rules = generated_files(NAMED._replace(cluster_label=label))["alerts.yml"]
    run_cases(tmp_path, rules, [test])


@pytest.mark.parametrize(("label", "place"), PLACES.values(), ids=PLACES)
def test_a_cluster_that_no_groupwatch_exposes_is_missing_whatever_its_label(tmp_path: Path, label: str, place: str):
    """Only prod is there."""
    given = list(series(place.format("prod"), "up", "1x20"))
    missing = {"eval_time": "15m", "expr": 'ALERTS{alertname="GroupwatchClusterMissing",alertstate="firing"}'}
    alert = '__name__="ALERTS",alertname="GroupwatchClusterMissing",alertstate="firing",severity="critical"'
    labels = f'{{{alert},{label}="staging"}}'
    test = {
        "interval": "1m",
        "input_series": given,
        "promql_expr_test": [{**missing, "exp_samples": [{"labels": labels, "value": 1}]}],
    }
    run_cases(tmp_path, generated_files(NAMED._replace(cluster_label=label))["alerts.yml"], [test])


def test_wherever_rules_ask_for_the_cluster_they_ask_for_what_prometheus_may_call_it():
    for rule in RULES:
        texts = (rule.expr, rule.summary, rule.description)
        lists = [
            found for text in texts for found in re.findall(r"\b(?:on|by) \(([^)]*)\)|\{(cluster=%q[^}]*)\}", text)
        ]
        for names in (re.findall(r"\w+", "".join(found)) for found in lists):
            assert ("cluster" in names) == ("exported_cluster" in names), rule.name
        shown = [set(re.findall(r"\$labels\.((?:exported_)?cluster)\b", text)) for text in texts]
        assert all(names in (set(), {"cluster", "exported_cluster"}) for names in shown), rule.name


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a document, and every name, each with where it is."""
    if isinstance(value, dict):
        for number, (name, inner) in enumerate(value.items()):
            yield f"{path}.#{number}", name
            yield from leaves(inner, f"{path}.{'*' if path.endswith('indexByName') else name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{number}]")
    else:
        yield path, str(value)


ASKS: Final = r"\.(expr|query|legendFormat|textFormat|titleFormat|url|indexByName\.#\d+)$"
"""The fields of a dashboard in which a label stands."""


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_a_dashboard_with_another_name_of_the_label_differs_in_queries_legends_and_links_alone(name: str):
    before, after = (dict(leaves(json.loads(files[name]))) for files in (FILES, RENAMED))
    assert before.keys() == after.keys()
    changed = {path for path in before if before[path] != after[path]}
    assert changed
    assert {path for path in changed if not re.search(ASKS, path)} == set()
    for path, text in after.items():
        if re.search(ASKS, path):  # what is left are variables: $cluster, var-cluster, and sentences have none here
            assert re.search(r"(?<![$\w-])cluster\b", text) is None, (path, text)


def test_rules_with_another_name_of_the_label_say_the_same():
    """Of sentences, templates change alone; of expressions, the label."""
    before, after = (
        [rule for group in yaml.safe_load(files["alerts.yml"])["groups"] for rule in group["rules"]]
        for files in (FILES, RENAMED)
    )
    for old, new in zip(before, after, strict=True):
        assert re.search(r"(?<!\w)cluster\b", new["expr"]) is None
        assert new["expr"].replace(KAFKA, "cluster") == old["expr"]
        for field in ("summary", "description"):
            plain = [re.sub(r"\{\{.*?\}\}", "#", rule["annotations"][field]) for rule in (old, new)]
            assert plain[0] == plain[1]
            templates = "".join(re.findall(r"\{\{.*?\}\}", new["annotations"][field]))
            assert re.search(r"(?<![\w-])cluster\b", templates) is None, templates


def test_manifests_have_the_same_rules_and_dashboards():
    manifests = kubernetes_files(LABEL)
    rules, boards = manifests["prometheusrule.yaml"], manifests["dashboards.yaml"]
    assert yaml.safe_load(rules)["spec"] == yaml.safe_load(RENAMED["alerts.yml"])
    written = [json.loads(*each["data"].values()) for each in yaml.safe_load_all(boards)]
    assert written == [json.loads(RENAMED[name]) for name in sorted(RENAMED) if name.endswith(".json")]


def test_what_is_renamed_is_not_renamed_again():
    assert {name: with_cluster_label(text, KAFKA) for name, text in RENAMED.items()} == RENAMED
    assert with_cluster_label("", "cluster") == ""
    assert generated_files(Options(cluster_label="cluster")) == FILES


def test_the_label_is_taken_from_the_command_line():
    assert command_options("dashboards.generate", ["--cluster-label", KAFKA]).cluster_label == KAFKA
    assert command_options("dashboards.generate", []).cluster_label == "cluster"


@pytest.mark.parametrize("name", ["__cluster", "1st", "kafka-cluster", "", "group", "met"])
def test_a_label_that_cannot_be_ends_with_a_sentence(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command_options("dashboards.generate", ["--cluster-label", name])
    assert ended.value.code == 2
    assert f"argument --cluster-label: {name!r} should be " in capsys.readouterr().err


def test_names_that_are_taken_are_those_of_the_tables_and_of_alerts():
    tables = (*METRICS, *KAFKA_EXPORTER, *HISTOGRAMS, *COUNTERS, *OF_THE_JVM)
    own = {label for spec in tables for label in spec.labels} - {"cluster"}
    assert own | {"le", "alertname", "instance", "job", "severity"} == TAKEN_LABELS


def heads(text: bytes) -> list[str]:
    """Everything but values: a series each, and the lines of families."""
    return [line if line.startswith("#") else line.rpartition(" ")[0] for line in text.decode().splitlines()]


def test_metrics_with_another_name_of_the_label_have_the_same_series_in_the_same_order():
    plain, renamed = heads(exposed(1)), heads(exposed(1, KAFKA))
    assert renamed == [line.replace('{cluster="', '{kafka_cluster="') for line in plain]
    assert not [line for line in renamed if re.search(r"[{,]cluster=", line)]
    assert len([line for line in renamed if KAFKA in line]) > 100
