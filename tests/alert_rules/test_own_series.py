"""The rules of two deployments in one Prometheus: each fires for its own clusters only, whatever label these have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.alert_rules.rule_files import configured
from tests.dashboards.promtool import promtool

CLUSTERS: Final = {"first": ("prod", "eu.west"), "second": ("staging", "euxwest")}
"""By deployment. The second of the first is no expression that the second of the other one matches."""

LABELED: Final = {
    "honored": '{label}="{name}"',
    "taken by the target": '{label}="k8s",exported_{label}="{name}"',
    "taken by a target with the name of another cluster": '{label}="prod",exported_{label}="{name}"',
}
FIRED: Final = "count by (alertname, deployment, cluster, exported_cluster, instance) " + (
    '(ALERTS{alertstate="firing",alertname!="GroupwatchClusterMissing"})'
)


def rules_of(folder: Path, deployment: str, more: str = "") -> str:
    """The rules of a deployment, whose alerts have a label with its name."""
    clusters = "".join(f'[clusters."{name}"]\nbootstrap_servers = "b:1"\n' for name in CLUSTERS[deployment])
    return configured(folder, f'{clusters}[alerts]\nlabels = {{ deployment = "{deployment}" }}\n{more}')


def given(labeled: str) -> dict[str, str]:
    """No cluster can be read, the collector of each fails, and each job has too many open files."""
    found = {}
    for deployment, names in CLUSTERS.items():
        of_job = f'instance="{deployment}",job="j"'
        found[f"groupwatch_jvm_open_fds{{{of_job}}}"] = "90x40"
        found[f"groupwatch_jvm_max_fds{{{of_job}}}"] = "100x40"
        for name in names:
            labels = labeled.format(label="cluster", name=name)
            found[f"groupwatch_up{{{labels},{of_job}}}"] = "0x40"
            found[f'groupwatch_collector_up{{{labels},collector="c",name="n",instance="collectors",job="j"}}'] = "0x40"
    return found


def expected(labeled: str) -> list[dict[str, Any]]:
    """Each alert once, by the deployment whose cluster or job it is about."""
    found = []
    for deployment, names in CLUSTERS.items():
        own = f'deployment="{deployment}"'
        found.append(f'alertname="GroupwatchFileDescriptors",{own},instance="{deployment}"')
        for name in names:
            labels = labeled.format(label="cluster", name=name)
            found.append(f'alertname="GroupwatchClusterUnread",{own},{labels},instance="{deployment}"')
            found.append(f'alertname="GroupwatchCollectorFailing",{own},{labels},instance="collectors"')
    return [{"labels": f"{{{labels}}}", "value": 1} for labels in found]


@pytest.mark.parametrize("labeled", LABELED.values(), ids=LABELED)
def test_two_files_beside_each_other_fire_each_for_its_own_clusters(tmp_path: Path, labeled: str):
    for deployment in CLUSTERS:
        (tmp_path / f"{deployment}.yml").write_text(rules_of(tmp_path, deployment), encoding="utf-8")
    test = {
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in given(labeled).items()],
        "promql_expr_test": [{"expr": FIRED, "eval_time": "30m", "exp_samples": expected(labeled)}],
    }
    file = tmp_path / "alerts_test.yml"
    files = [f"{deployment}.yml" for deployment in CLUSTERS]
    file.write_text(json.dumps({"rule_files": files, "evaluation_interval": "1m", "tests": [test]}), encoding="utf-8")
    promtool("test", "rules", str(file))


def test_the_label_of_the_settings_is_the_one_that_is_matched(tmp_path: Path):
    text = rules_of(tmp_path, "second", '[metrics]\ncluster_label = "kafka_cluster"\n')
    own = r"(groupwatch_up{kafka_cluster=~\"euxwest|staging\",exported_kafka_cluster=\"\"}"
    assert f"(groupwatch_ready == 0) and on (kafka_cluster, exported_kafka_cluster) {own}" in text


def test_where_no_alert_would_tell_that_names_differ_the_rules_match_all_clusters(tmp_path: Path):
    assert "and on (cluster, exported_cluster) (groupwatch_up{" not in rules_of(
        tmp_path, "first", 'disabled = ["GroupwatchClusterMissing"]\n'
    )
