"""The chart of deploy/helm gives the objects of deploy/kubernetes, and refuses values that would give other ones.

Helm renders it; no cluster is asked. What the chart adds or does in another way is in ``plain`` and
``stateful_set_of``, each with its reason; everything else has to be equal.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from dashboards.kubernetes import kubernetes_files
from dashboards.runbooks import Options
from monitor.alert_rules import rules_file, rules_object
from monitor.alert_rules.options import RuleOptions
from monitor.config import load
from monitor.grafana.boards import BoardOptions, configured_boards
from monitor.grafana.objects import ObjectOptions, config_maps
from tests.repository.test_deploy_kubernetes import (
    MANIFESTS,
    loaded,
    objects,
    shown_in_the_guide,
)
from tests.repository.test_repository import PROJECT
from tests.support.helm import helm_program
from tests.support.helm_chart import CHART, OLDEST, Rendered, Values, assert_valid, helm, only, pod_of

ROOT = Path(__file__).parents[2]
EXAMPLE = (MANIFESTS / "base" / "groupwatch.toml").read_text(encoding="utf-8")
WATCHED = tuple(tomllib.loads(EXAMPLE)["clusters"])
"""The configuration that the chart has if the values name none."""

DEFAULTS: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
GUIDE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")

ADDED_LABELS: Final = {
    "app.kubernetes.io/instance",
    "app.kubernetes.io/component",
    "app.kubernetes.io/version",
    "app.kubernetes.io/managed-by",
    "helm.sh/chart",
}
"""Helm's conventions: several releases, and the collectors beside the job, must not choose each other's pods."""

COLLECT_TOML = """\
[clusters.prod]
bootstrap_servers = "broker1:9092"

[rocketmq.shop]
name_servers = "names:9876"
secret_key = "${file:/etc/groupwatch/rocketmq/secret}"
access_key = "groupwatch"
via = "prod"

[http]
bind = "0.0.0.0"
port = 9465
"""

FULL: Values = {
    "config": EXAMPLE + '\n[history]\nfolder = "/var/lib/groupwatch-history/tables"\n',
    "secrets": [{"name": "groupwatch-kafka", "folder": "kafka"}, {"name": "groupwatch-web", "folder": "web"}],
    "image": {"repository": "registry.example:5000/team/groupwatch", "digest": f"sha256:{'0' * 64}"},
    "pullSecrets": ["registry"],
    "persistence": {
        "checkpoint": {"storageClassName": "fast", "size": "20Gi"},
        "history": {"enabled": True, "size": "1.5Ti", "accessModes": ["ReadWriteOnce"]},
    },
    "service": {"annotations": {"a.example/b": "yes"}},
    "probes": {"scheme": "HTTPS"},
    "serviceAccount": {"annotations": {"a.example/role": "reader"}},
    "networkPolicy": {"egress": [{"ports": [{"protocol": "TCP", "port": 4317}]}]},
    "monitoring": {
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "endpoint": {"scheme": "https"}},
        "rules": {"enabled": True},
        "dashboards": {"enabled": True},
    },
    "collectors": {
        "enabled": True,
        "config": COLLECT_TOML,
        "only": ["rocketmq"],
        "secrets": [{"name": "rocketmq", "folder": "rocketmq"}],
        "egress": [{"ports": [{"protocol": "TCP", "port": 9876}]}],
    },
    "env": [{"name": "TZ", "value": "UTC"}],
    "podAnnotations": {"a.example/c": "1"},
    "podLabels": {"team": "streams"},
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "high",
}
MONITORED: Values = {"monitoring": {part: {"enabled": True} for part in ("serviceMonitor", "rules", "dashboards")}}


def plain(value: Any) -> Any:
    """An object without what every object of a release has: a namespace, and Helm's labels (also in selectors)."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: plain(each) for name, each in value.items() if name not in ADDED_LABELS}
    if "metadata" in kept:
        kept["metadata"].pop("namespace", None)
    return kept


# Every object of the kustomization


@pytest.mark.parametrize("kind", ["serviceaccount", "service", "networkpolicy"])
def test_the_objects_of_a_release_named_groupwatch_are_those_of_the_base(rendered, kind: str):
    base = loaded(f"base/{kind}.yaml")
    found = plain(only(rendered({}), base["kind"]))
    if kind == "networkpolicy":  # of the pod of `helm test`, too, which is selected by nothing else
        label = {"key": "app.kubernetes.io/component", "operator": "In", "values": ["job", "check"]}
        assert found["spec"]["podSelector"].pop("matchExpressions") == [label]
    assert found == base


def stateful_set_of(found: Rendered) -> dict[str, Any]:
    """Without what is Helm's way of something that kustomize does in another: see the asserts."""
    stateful = plain(only(found, "StatefulSet"))
    template = stateful["spec"]["template"]
    (container,) = template["spec"]["containers"]
    # A changed file is a new pod: there by the name of the ConfigMap, here by an annotation.
    assert re.fullmatch(r"[0-9a-f]{64}", template["metadata"].pop("annotations").pop("checksum/config"))
    # There by `images` of the kustomization. The policy is Kubernetes' default for a tag that is not "latest".
    container["image"], _, tag = container["image"].rpartition(":")
    assert tag == PROJECT["version"]
    assert container.pop("imagePullPolicy") == "IfNotPresent"
    return stateful


def test_the_pod_of_a_release_named_groupwatch_is_that_of_the_base(rendered):
    assert stateful_set_of(rendered({})) == loaded("base/statefulset.yaml")


def test_shards_are_those_of_the_component(rendered):
    expected, patch = loaded("base/statefulset.yaml"), loaded("sharded/shards.yaml")["spec"]
    (container,), (changes,) = (each["template"]["spec"].pop("containers") for each in (expected["spec"], patch))
    assert changes.pop("name") == container["name"]
    # As a strategic merge does it.
    container["env"] = changes.pop("env")
    container["readinessProbe"]["httpGet"] |= changes.pop("readinessProbe")["httpGet"]
    assert changes == {}
    pod = {**expected["spec"]["template"]["spec"], **patch.pop("template")["spec"], "containers": [container]}
    expected["spec"] |= patch
    expected["spec"]["template"]["spec"] = pod
    assert stateful_set_of(rendered({"shards": patch["replicas"]})) == expected


def test_the_configuration_is_that_of_the_base(rendered):
    (text,) = only(rendered({}), "ConfigMap", "groupwatch-config")["data"].values()
    assert text == EXAMPLE


def test_a_configuration_arrives_byte_by_byte(rendered):
    """Also what YAML, JSON and Go's templates have a meaning for."""
    text = f'{EXAMPLE}\n# <é> & \t"{{{{ .Values }}}}" \\n %d: |-\n\n  # end\n\n'
    assert only(rendered({"config": text}), "ConfigMap", "groupwatch-config")["data"]["groupwatch.toml"] == text


def test_the_monitor_is_that_of_the_component(rendered):
    monitor = plain(only(rendered(MONITORED), "ServiceMonitor"))
    # There the Service is always named groupwatch, and so is the job.
    assert monitor["spec"].pop("jobLabel") == "app.kubernetes.io/name"
    assert monitor == loaded("monitoring/servicemonitor.yaml")


def without_clusters(rule: dict[str, Any]) -> dict[str, Any]:
    """The rules of any deployment; those that name the clusters of the configuration come last."""
    *general, named = rule["spec"]["groups"]
    assert named["name"] == "groupwatch-clusters"
    return {**rule, "spec": {"groups": general}}


def test_each_cluster_of_the_configuration_has_a_rule_for_when_it_has_no_series(rendered):
    config = EXAMPLE + '\n[clusters."a.b-c"]\nbootstrap_servers = "b:9092"\n'
    names = tomllib.loads(config)["clusters"].keys()
    assert len(names) > 1
    rule = only(rendered({**MONITORED, "config": config}), "PrometheusRule")
    named = [group for group in rule["spec"]["groups"] if group["name"] == "groupwatch-clusters"]
    written = yaml.safe_load(rules_file(options=RuleOptions(clusters=tuple(names))))["groups"][-1]
    assert named == [written]


@pytest.mark.parametrize("text", [rules_file, rules_object], ids=["a rule file", "a PrometheusRule"])
def test_rules_of_a_file_are_rendered_as_they_are(rendered, text: Callable[..., str]):
    """They have a rule for each cluster already, and what the chart's own would not have."""
    options = RuleOptions(clusters=WATCHED, disabled=("GroupwatchLagOld",), labels={"team": "streaming"})
    config = EXAMPLE + '\n[alerts]\ndisabled = ["GroupwatchLagOld"]\n'
    rules = {"enabled": True, "file": text(options=options)}
    rule = only(rendered({"config": config, "monitoring": {"rules": rules}}), "PrometheusRule")
    assert rule["spec"] == yaml.safe_load(rules_file(options=options))


def test_settings_of_alerts_need_a_file_of_rules(refused):
    config = EXAMPLE + '\n[alerts]\ndisabled = ["GroupwatchLagOld"]\n'
    said = refused({"config": config, "monitoring": {"rules": {"enabled": True}}})
    assert "config: the chart cannot apply [alerts]. Run `groupwatch rules --config" in said


@pytest.mark.parametrize("text", ["groups: []", "no rules", "a: [", "spec: {}"])
def test_a_file_without_rules_is_refused(refused, text: str):
    said = refused({"monitoring": {"rules": {"enabled": True, "file": text}}})
    assert "monitoring.rules.file has no rules. Give it the output of `groupwatch rules`." in said


@pytest.mark.parametrize("clusters", [("another",), (*WATCHED, "gone")], ids=["one is missing", "one has gone"])
def test_rules_of_other_clusters_are_refused(refused, clusters: tuple[str, ...]):
    """A rule for a cluster that has gone would fire for ever, and nothing would tell of one without a rule."""
    text = rules_file(options=RuleOptions(clusters=clusters))
    said = refused({"config": EXAMPLE, "monitoring": {"rules": {"enabled": True, "file": text}}})
    assert f"monitoring.rules.file is of other clusters ({', '.join(sorted(clusters))}) than the configuration" in said


NAMED: Values = {"dashboards": {"name": "eu"}}


def test_dashboards_of_a_file_are_rendered_as_they_are(rendered):
    boards = configured_boards(BoardOptions(name="eu", page="https://ops.example.com"))
    texts = config_maps(boards, ObjectOptions(name="eu")).values()
    given = {"settings": NAMED, "monitoring": {"dashboards": {"enabled": True, "file": "---\n".join(texts)}}}
    found = {each["metadata"]["name"]: each for each in rendered(given) if each["kind"] == "ConfigMap"}
    for expected in map(yaml.safe_load, texts):
        assert found[expected["metadata"]["name"]]["data"] == expected["data"]


def test_settings_of_dashboards_need_a_file_of_them(refused):
    said = refused({"settings": NAMED, "monitoring": {"dashboards": {"enabled": True}}})
    assert "config: the chart cannot apply [dashboards]. Run `groupwatch dashboards --config" in said
    said = refused({"monitoring": {"dashboards": {"enabled": True, "file": "{}"}}})
    assert "monitoring.dashboards.file has no ConfigMaps." in said


def test_the_shipped_dashboards_link_to_the_external_address(rendered):
    settings = {"http": {"external_url": "https://ops.example.com/gw/"}}
    found = rendered({"settings": settings, "monitoring": {"dashboards": {"enabled": True}}})
    boards = configured_boards(BoardOptions(page="https://ops.example.com/gw"))
    maps = [each["data"] for each in found if each["kind"] == "ConfigMap" and "dashboard" in each["metadata"]["name"]]
    shown = {name: json.loads(text) for data in maps for name, text in data.items()}
    assert shown == {f"groupwatch-{name}.json": json.loads(text) for name, text in boards.items()}


def test_the_rules_and_the_dashboards_are_those_of_the_component(rendered):
    found = rendered(MONITORED)
    assert without_clusters(plain(only(found, "PrometheusRule"))) == loaded("monitoring/prometheusrule.yaml")
    dashboards = objects(MANIFESTS / "monitoring" / "dashboards.yaml")
    names = [each["metadata"]["name"] for each in dashboards]
    assert len(names) == 5
    assert [plain(only(found, "ConfigMap", name)) for name in names] == dashboards


def test_rules_and_dashboards_follow_the_label_that_the_configuration_names(rendered):
    label = Options(clusters=("prod",), cluster_label="kafka_cluster")
    config = EXAMPLE + '\n[metrics]\ncluster_label = "kafka_cluster"\n'
    found = rendered({**MONITORED, "config": config})
    manifests = {name: list(yaml.safe_load_all(text)) for name, text in kubernetes_files(label).items()}
    assert [plain(only(found, "PrometheusRule"))] == manifests["prometheusrule.yaml"]
    names = [each["metadata"]["name"] for each in manifests["dashboards.yaml"]]
    assert [plain(only(found, "ConfigMap", name)) for name in names] == manifests["dashboards.yaml"]


def test_nothing_else_is_made_by_default(rendered):
    kinds = sorted(each["kind"] for each in rendered({}))
    assert kinds == ["ConfigMap", "NetworkPolicy", "Pod", "Service", "Service", "ServiceAccount", "StatefulSet"]


# Other values


@pytest.mark.parametrize("values", [{}, {"shards": 3, **MONITORED}, FULL], ids=["default", "sharded", "full"])
def test_every_object_is_as_its_schema_wants_it(rendered, values: Values):
    assert_valid(rendered(values))


@pytest.mark.parametrize("values", [{}, FULL], ids=["default", "full"])
def test_helm_has_nothing_to_say_against_it(tmp_path: Path, values: Values):
    checked = helm("lint", tmp_path, values, "--strict")
    assert checked.returncode == 0, checked.stdout
    assert set(re.findall(r"\[(WARNING|ERROR)\].*", checked.stdout)) == set()


@pytest.mark.parametrize(("text", "port"), [(FULL["config"], 9464), (COLLECT_TOML, 9465)], ids=["job", "collectors"])
def test_the_configurations_here_are_such_as_groupwatch_reads(file, text: str, port: int):
    assert load(file(text)).http.port == port


def test_every_value_has_its_effect(rendered):
    found = rendered(FULL)
    stateful, pod = only(found, "StatefulSet")["spec"], pod_of(found)
    (container,) = pod["containers"]
    assert container["image"] == f"registry.example:5000/team/groupwatch@sha256:{'0' * 64}"
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    state, history = stateful["volumeClaimTemplates"]
    assert state["spec"] == {
        "accessModes": ["ReadWriteOncePod"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "20Gi"}},
    }
    assert history["spec"] == {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1.5Ti"}}}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {
        "state": "/var/lib/groupwatch",
        "history": "/var/lib/groupwatch-history",
        "config": "/etc/groupwatch/groupwatch.toml",
        "kafka": "/etc/groupwatch/kafka",
        "web": "/etc/groupwatch/web",
        "tmp": "/tmp",  # noqa: S108, RUF100 -- of the pod
    }
    secrets = {each["name"]: each["secret"] for each in pod["volumes"] if "secret" in each}
    assert secrets["web"] == {"secretName": "groupwatch-web", "defaultMode": 0o440}
    assert {container[f"{name}Probe"]["httpGet"]["scheme"] for name in ("startup", "liveness", "readiness")} == {
        "HTTPS"
    }
    assert container["env"] == FULL["env"]
    assert only(found, "Service")["metadata"]["annotations"] == {"a.example/b": "yes"}
    assert only(found, "ServiceAccount")["metadata"]["annotations"] == {"a.example/role": "reader"}
    assert only(found, "NetworkPolicy")["spec"]["egress"][-1] == {"ports": [{"protocol": "TCP", "port": 4317}]}
    assert stateful["template"]["metadata"]["annotations"]["a.example/c"] == "1"
    assert stateful["template"]["metadata"]["labels"]["team"] == "streams"
    for name in ("nodeSelector", "tolerations", "affinity", "priorityClassName"):
        assert pod[name] == FULL[name]
    monitor = only(found, "ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert monitor["spec"]["endpoints"][0]["scheme"] == "https"


def test_the_collectors_are_a_pod_of_their_own_that_nothing_of_the_job_chooses(rendered):
    found = rendered(FULL)
    deployment = only(found, "Deployment", "groupwatch-collectors")["spec"]
    (container,) = deployment["template"]["spec"]["containers"]
    assert container["args"] == ["collect", "--config", "/etc/groupwatch/collect.toml", "--only", "rocketmq"]
    assert container["ports"] == [{"name": "http", "containerPort": 9465}]
    assert only(found, "ConfigMap", "groupwatch-collectors-config")["data"] == {"collect.toml": COLLECT_TOML}
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == [
        "/etc/groupwatch/collect.toml",
        "/etc/groupwatch/rocketmq",
        "/tmp",  # noqa: S108, RUF100 -- of the pod
    ]
    policy = only(found, "NetworkPolicy", "groupwatch-collectors")["spec"]
    assert policy["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 9465}]
    assert policy["egress"][-1] == {"ports": [{"protocol": "TCP", "port": 9876}]}
    own, of_the_job = deployment["template"]["metadata"]["labels"], pod_labels(found)
    for kind in ("Service", "NetworkPolicy"):
        for name, labels, others in (("groupwatch", of_the_job, own), ("groupwatch-collectors", own, of_the_job)):
            spec = only(found, kind, name)["spec"]
            selector = {"matchLabels": spec["selector"]} if kind == "Service" else spec["podSelector"]
            assert is_selected(labels, selector)
            assert not is_selected(others, selector)
    monitored = only(found, "ServiceMonitor")["spec"]["selector"]["matchLabels"]
    scraped = [
        each["metadata"]["name"]
        for each in found
        if each["kind"] == "Service"
        and monitored.items() <= each["metadata"]["labels"].items()
        and each["spec"]["ports"][0]["name"] == only(found, "ServiceMonitor")["spec"]["endpoints"][0]["port"]
    ]
    assert sorted(scraped) == ["groupwatch", "groupwatch-collectors"], "each pod once, not by its other Service as well"


def is_selected(labels: dict[str, str], selector: dict[str, Any]) -> bool:
    """By a selector whose expressions are all of the operator ``In``."""
    expressions = [
        (each["key"], each["values"]) for each in selector.get("matchExpressions", []) if each["operator"] == "In"
    ]
    assert len(expressions) == len(selector.get("matchExpressions", []))
    return selector["matchLabels"].items() <= labels.items() and all(labels.get(key) in of for key, of in expressions)


def pod_labels(found: Rendered) -> dict[str, str]:
    labels: dict[str, str] = only(found, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    return labels


def test_the_pods_of_both_are_equally_restricted(rendered):
    found = rendered(FULL)
    for pod in (pod_of(found), only(found, "Deployment", "groupwatch-collectors")["spec"]["template"]["spec"]):
        base = loaded("base/statefulset.yaml")["spec"]["template"]["spec"]
        assert pod["securityContext"] == base["securityContext"]
        assert pod["containers"][0]["securityContext"] == base["containers"][0]["securityContext"]
        assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)


def test_a_changed_configuration_is_a_new_pod_and_an_equal_one_is_none(rendered):
    def annotation(config: str) -> str:
        template = only(rendered({"config": config}), "StatefulSet")["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/config"])

    text = EXAMPLE
    assert annotation(text) == annotation(text) != annotation(f"{text}\n[metrics]\nmax_series = 1000\n")


def test_the_port_of_the_configuration_is_that_of_everything(rendered):
    found = rendered({"config": EXAMPLE.replace("9464", "9999"), "service": {"port": 80}})
    assert pod_of(found)["containers"][0]["ports"] == [{"name": "http", "containerPort": 9999}]
    assert only(found, "NetworkPolicy")["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 9999}]
    assert only(found, "Service")["spec"]["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]


def test_a_checkpoint_elsewhere_needs_no_claim(rendered):
    config = EXAMPLE.replace("/var/lib/groupwatch/checkpoint", "s3a://bucket/checkpoint")
    found = rendered({"config": config, "persistence": {"checkpoint": {"enabled": False}}})
    assert "volumeClaimTemplates" not in only(found, "StatefulSet")["spec"]
    assert {"name": "state", "emptyDir": {}} in pod_of(found)["volumes"]
    for each in found:
        kubernetes_validate.validate(each, OLDEST, strict=True)


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("watch", "watch-groupwatch"),
        ("groupwatch-eu", "groupwatch-eu"),
        ("r" * 53, f"{'r' * 41}-groupwatch"),
    ],
)
def test_releases_beside_each_other_have_names_of_their_own(tmp_path: Path, release: str, name: str):
    """Kubernetes takes 63 characters for a pod's name with its number, and for a Service."""
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**MONITORED, "collectors": FULL["collectors"]}), encoding="utf-8")
    asked = [helm_program(), "template", release, CHART, f"--kube-version={OLDEST}", "--values", file]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    names = {each["metadata"]["name"] for each in found}
    assert {each for each in names if not each.startswith(name)} == set()
    assert max(len(each["metadata"]["name"]) for each in found if each["kind"] in ("Service", "StatefulSet")) <= 63
    assert only(found, "StatefulSet", name)["spec"]["serviceName"] == name
    kubernetes_validate.validate(only(found, "StatefulSet", name), OLDEST, strict=True)


def test_an_account_that_exists_is_taken(rendered):
    found = rendered({"serviceAccount": {"create": False, "name": "kafka-reader"}})
    assert [each for each in found if each["kind"] == "ServiceAccount"] == []
    assert pod_of(found)["serviceAccountName"] == "kafka-reader"


def test_with_required_client_certificates_only_the_port_is_probed(rendered):
    (container,) = pod_of(rendered({"probes": {"scheme": "TCP"}}))["containers"]
    assert container["livenessProbe"]["tcpSocket"] == {"port": "http"}
    assert "httpGet" not in container["readinessProbe"]


def test_the_values_of_the_guide_are_taken(rendered, tmp_path: Path):
    """With its configuration from a file, as the command there has it."""
    assert "--set-file config=groupwatch.toml" in GUIDE
    file = tmp_path / "groupwatch.toml"
    file.write_text(FULL["config"].replace("/tables", ""), encoding="utf-8")
    found = rendered(shown_in_the_guide("persistence"), "--set-file", f"config={file}")
    assert only(found, "ConfigMap", "groupwatch-config")["data"]["groupwatch.toml"] == file.read_text(encoding="utf-8")
    kinds = {each["kind"] for each in found}
    assert kinds >= {"PrometheusRule", "ServiceMonitor", "StatefulSet"}


# Refusals


CONFIG = EXAMPLE
MSK = CONFIG.replace("kafka-bootstrap.kafka.svc:9093", "b-1.msk:9093,b-2.msk:9098")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"replicas": 3}, "at '': additional properties 'replicas' not allowed"),
        ({"shards": 0}, "at '/shards': minimum: got 0, want 1"),
        ({"shards": "3"}, "at '/shards': got string, want integer"),
        ({"resources": {"limits": {"memory": "3 GB"}}}, "at '/resources/limits/memory': '3 GB' does not match"),
        ({"persistence": {"checkpoint": {"accessModes": ["ReadOnlyMany"]}}}, "/accessModes/0': value must be one of"),
        ({"secrets": [{"name": "a", "folder": "tmp"}]}, "at '/secrets/0/folder': 'not' failed"),
        ({"secrets": [{"name": "a"}]}, "at '/secrets/0': missing property 'folder'"),
        ({"image": {"tag": "a b"}}, "at '/image/tag': 'a b' does not match pattern"),
        ({"image": {"digest": "sha256:1"}}, "at '/image/digest'"),
        ({"config": {"clusters": {}}}, "at '/config': got object, want string"),
        ({"probes": {"scheme": "https"}}, "at '/probes/scheme': value must be one of 'HTTP', 'HTTPS', 'TCP'"),
        ({"env": [{"name": "GROUPWATCH_SHARD", "value": "1/2"}]}, "at '/env/0/name': 'not' failed"),
        ({"podLabels": {"app.kubernetes.io/name": "x"}}, "at '/podLabels/app.kubernetes.io~1name': false schema"),
        ({"collectors": {"only": ["kafka", "metaq"]}}, "at '/collectors/only/1': value must be one of"),
        ({"monitoring": {"serviceMonitor": {"interval": 15}}}, "/interval': got number, want string"),
        ({"monitoring": {"serviceMonitor": {"endpoint": {"path": "/"}}}}, "/endpoint/path': false schema"),
    ],
)
def test_wrong_values_are_refused_with_their_place(refused, values: Values, sentence: str):
    assert sentence in refused(values)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"config": "[clusters"}, "config is not valid TOML: "),
        ({"config": "[http]\n"}, "config has no table [clusters.NAME]."),
        ({"config": CONFIG.replace("0.0.0.0", "127.0.0.1")}, 'no probe would succeed. Set bind = "0.0.0.0" in [http].'),
        ({"config": CONFIG.replace('bind = "0.0.0.0"\n', "")}, "the port accepts only connections from the pod itself"),
        ({"config": CONFIG.replace("9464", "0")}, "port in [http] is 0, a port that nobody knows."),
        (
            {"config": CONFIG.replace("kafka/ca.crt", "web/ca.crt")},
            "refers to /etc/groupwatch/web/, which no entry of secrets",
        ),
        (
            {"secrets": []},
            "config refers to /etc/groupwatch/kafka/, which no entry of secrets provides.",
        ),
        ({"config": CONFIG.replace("kafka/ca.crt", "kafka")}, "refers to /etc/groupwatch/kafka, which no entry of"),
        ({"secrets": [{"name": "a", "folder": "kafka"}] * 2}, "secrets: two Secrets have the same folder."),
        ({"config": CONFIG.replace("/var/lib/groupwatch/", "/tmp/")}, "the checkpoint would not survive the pod."),
        ({"persistence": {"checkpoint": {"enabled": False}}}, "Set persistence.checkpoint.enabled, or checkpoint"),
        ({"persistence": {"history": {"enabled": True}}}, "persistence.history is mounted at /var/lib/groupwatch-hist"),
        ({"config": f'{CONFIG}[history]\nfolder = "/data"\n'}, "the recording would not survive the pod."),
        ({"config": f'{CONFIG}[history]\nfolder = "s3a://b/h"\n', "shards": 3}, "a share of the groups cannot record."),
        ({"config": CONFIG.replace("local[2]", "local[*]")}, "counts the cores of the node."),
        ({"config": CONFIG.replace('master = "local[2]"\n', "")}, "counts the cores of the node."),
        (
            {"resources": {"limits": {"cpu": 4}}},
            "config: master in [spark] is local[2], and resources.limits.cpu is 4.",
        ),
        ({"resources": {"limits": {"cpu": "900m"}}}, "local[2], and resources.limits.cpu is 900m. Keep them equal."),
        ({"collectors": {"enabled": True}}, "collectors.enabled needs collectors.config."),
        ({"collectors": {"enabled": True, "config": "[http]\n"}}, "collectors.config has no table [clusters.NAME]."),
        (
            {"config": MSK},
            "config: the network policy does not allow port 9098 of bootstrap_servers in [clusters.prod]. Add it to",
        ),
        ({"config": CONFIG, "networkPolicy": {"brokerPorts": [9092]}}, "does not allow port 9093 of bootstrap_servers"),
        ({"config": MSK, "networkPolicy": {"egress": [{"ports": [{"port": 443}]}]}}, "does not allow port 9098 of"),
        (
            {"collectors": {**FULL["collectors"], "config": COLLECT_TOML.replace("9092", "19092")}},
            "collectors.config: the network policy does not allow port 19092 of",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_the_other_values_is_refused(refused, values: Values, sentence: str):
    assert sentence in refused(values)


@pytest.mark.parametrize(
    "policy",
    [
        {"brokerPorts": [9093, 9098]},
        {"egress": [{"ports": [{"protocol": "TCP", "port": 9098}]}]},
        {"egress": [{"ports": [{"protocol": "TCP", "port": 9000, "endPort": 9100}]}]},
        {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
        {"egress": [{"ports": [{"port": "kafka"}]}]},
        {"enabled": False},
    ],
)
def test_brokers_may_have_any_port_that_the_network_policy_allows(rendered, policy: Values):
    assert rendered({"config": MSK, "networkPolicy": policy})


@pytest.mark.parametrize("cores", [2, "2", "2000m", 1.5, "1500m"])
def test_a_limit_is_compared_however_it_is_written(rendered, cores: object):
    assert rendered({"resources": {"limits": {"cpu": cores}}})


@pytest.mark.parametrize("master", ["spark://master:7077", "local[8]"])
def test_a_cluster_of_spark_has_cores_of_its_own_and_without_a_limit_any_number_fits(rendered, master: str):
    limits = {"cpu": None} if master.startswith("local") else {}
    assert rendered({"config": CONFIG.replace("local[2]", master), "resources": {"limits": limits}})


# The chart as a package


def test_the_chart_is_of_this_version_and_of_the_oldest_kubernetes():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (PROJECT["version"], PROJECT["version"])
    assert chart["description"] == PROJECT["description"]
    assert chart["kubeVersion"] == f">={OLDEST}.0-0"


def test_rules_and_dashboards_are_links_and_so_are_always_those_of_the_component():
    linked = {file.name: file.resolve() for file in (CHART / "files").iterdir() if file.is_symlink()}
    monitoring = {name: MANIFESTS / "monitoring" / name for name in ("dashboards.yaml", "prometheusrule.yaml")}
    assert linked == {**monitoring, "groupwatch.toml": MANIFESTS / "base" / "groupwatch.toml"}


def test_a_package_holds_what_the_links_lead_to(tmp_path: Path):
    packed = subprocess.run(
        [helm_program(), "package", CHART, "--destination", tmp_path], capture_output=True, text=True, check=False
    )
    assert packed.returncode == 0, packed.stderr
    (package,) = tmp_path.glob("groupwatch-*.tgz")
    assert package.stat().st_size < 200_000, "Helm keeps a release in a Secret of at most 1 MB"
    (values := tmp_path / "values.yaml").write_text(yaml.safe_dump(MONITORED), encoding="utf-8")
    asked = [helm_program(), "template", "groupwatch", package, f"--kube-version={OLDEST}", "--values", values]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found = [each for each in yaml.safe_load_all(done.stdout) if each]
    assert without_clusters(plain(only(found, "PrometheusRule"))) == loaded("monitoring/prometheusrule.yaml")


def test_every_value_is_in_the_schema_and_in_the_file_of_defaults():
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert differing_keys(DEFAULTS, schema) == []


def differing_keys(values: Values, schema: dict[str, Any], place: str = "") -> list[str]:
    """Where the closed objects of the schema have other keys than the defaults."""
    known = schema.get("properties", {}).keys() - {"global"}
    if schema.get("additionalProperties") is not False:
        return []
    found = [f"{place}/{name}" for name in sorted(known ^ values.keys())]
    for name in known & values.keys():
        if isinstance(values[name], dict):
            found += differing_keys(values[name], schema["properties"][name], f"{place}/{name}")
    return found
