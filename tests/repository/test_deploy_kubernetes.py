"""The manifests of deploy/kubernetes are what Kubernetes takes, and fit groupwatch, the image and each other.

No cluster is asked: the objects are held against Kubernetes' own schemas, of the oldest version that they want and of a
newer one. Kustomize (of kubectl) puts them together where it is installed; everything else is tested without it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from dashboards.generate import FOLDER as GENERATED
from dashboards.kubernetes import FOLDER, kubernetes_files
from monitor.config import load
from monitor.config.settings import shard_of_text
from monitor.grafana.boards import SHIPPED
from streaming_jobs.jobs import cluster_watch
from streaming_jobs.runtime import session
from tests.support.helm_chart import NEWER, OF_THE_OPERATOR, OLDEST
from tests.support.programs import required

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "deploy" / "kubernetes"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
OBJECTS = sorted(file for file in MANIFESTS.rglob("*.yaml") if file.name not in {"kustomization.yaml", "shards.yaml"})


def objects(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def loaded(name: str) -> dict[str, Any]:
    (only,) = objects(MANIFESTS / name)
    return only


STATEFUL_SET = loaded("base/statefulset.yaml")
POD = STATEFUL_SET["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


@pytest.mark.parametrize("version", [OLDEST, NEWER])
@pytest.mark.parametrize("file", OBJECTS, ids=lambda file: str(file.relative_to(MANIFESTS)))
def test_every_object_is_as_its_schema_wants_it(file: Path, version: str):
    for each in objects(file):
        if each["apiVersion"] != OF_THE_OPERATOR:  # which brings its schemas along as objects of the cluster
            kubernetes_validate.validate(each, version, strict=True)


def test_a_wrong_key_would_be_found():
    wrong = {**STATEFUL_SET, "spec": {**STATEFUL_SET["spec"], "replica": 1}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, OLDEST, strict=True)


@pytest.mark.parametrize("folder", ["base", "monitoring", "sharded"])
def test_every_file_that_a_kustomization_names_exists_and_no_other_lies_beside_it(folder: str):
    said = yaml.safe_load((MANIFESTS / folder / "kustomization.yaml").read_text(encoding="utf-8"))
    generated = [name for each in said.get("configMapGenerator", []) for name in each["files"]]
    named = {*said.get("resources", []), *generated, *(patch["path"] for patch in said.get("patches", []))}
    assert [name for name in named if not (MANIFESTS / folder / name).exists()] == []
    beside = {file.name for file in (MANIFESTS / folder).iterdir()} - {"kustomization.yaml", "secret.example.yaml"}
    assert beside == {name for name in named if not name.startswith("..")}


def put_together(folder: Path) -> list[dict[str, Any]]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed; what it would read is tested without it")
    put = subprocess.run([kubectl, "kustomize", folder], capture_output=True, text=True, check=False)
    assert put.returncode == 0, put.stderr
    together = list(yaml.safe_load_all(put.stdout))
    for each in together:
        if each["apiVersion"] != OF_THE_OPERATOR:
            kubernetes_validate.validate(each, OLDEST, strict=True)
    return together


def shown_in_the_guide(kind: str) -> dict[str, Any]:
    """The one example of docs/deployment.md that has this key at its top."""
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    shown = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)]
    (only,) = [each for each in shown if kind in each]
    return only


@pytest.fixture
def kustomization(tmp_path: Path):
    """Writes the kustomization of the guide with some of its components, in a folder beside a copy of deploy."""

    def written(components: list[str], **more: object) -> Path:
        shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
        shown = shown_in_the_guide("components")
        assert [Path(each).name for each in shown["components"]] == ["monitoring", "sharded"]
        chosen = [each for each in shown["components"] if Path(each).name in components]
        folder = tmp_path / "mine"
        folder.mkdir()
        said = yaml.safe_dump({**shown, "components": chosen, **more})
        (folder / "kustomization.yaml").write_text(said, encoding="utf-8")
        return folder

    return written


OF_MONITORING = ["ConfigMap"] * 5 + ["PrometheusRule", "ServiceMonitor"]


@pytest.mark.parametrize("components", [[], ["monitoring"], ["sharded"], ["monitoring", "sharded"]], ids="+".join)
def test_kustomize_puts_them_together(kustomization, components: list[str]):
    objects = put_together(kustomization(components))
    assert {each["metadata"].get("namespace", "groupwatch") for each in objects} == {"groupwatch"}
    kinds = sorted(each["kind"] for each in objects)
    base = ["ConfigMap", "Namespace", "NetworkPolicy", "Service", "ServiceAccount", "StatefulSet"]
    assert kinds == sorted([*base, *(OF_MONITORING if "monitoring" in components else [])])
    together = {each["kind"]: each for each in objects}
    stateful = together["StatefulSet"]["spec"]
    volumes = {volume["name"]: volume for volume in stateful["template"]["spec"]["volumes"]}
    assert re.fullmatch(r"groupwatch-config-[0-9a-z]{10}", volumes["config"]["configMap"]["name"])
    (container,) = stateful["template"]["spec"]["containers"]
    assert container["image"].startswith("groupwatch:")
    assert stateful["replicas"] == (3 if "sharded" in components else 1)
    assert stateful["template"]["metadata"]["labels"]["app.kubernetes.io/version"] == "0.1.0"
    assert stateful["selector"]["matchLabels"] == {"app.kubernetes.io/name": "groupwatch"}
    assert "labels" not in stateful["volumeClaimTemplates"][0]["metadata"]
    assert {each["metadata"]["labels"]["app.kubernetes.io/part-of"] for each in objects} == {"groupwatch"}
    # Shards wait for the first, which is rolled out last.
    waits_for = "/healthz" if "sharded" in components else "/readyz"
    assert container["readinessProbe"] == {
        "httpGet": {"path": waits_for, "port": "http"},
        "periodSeconds": 10,
        "timeoutSeconds": 5,
    }


def test_the_base_can_be_applied_by_itself():
    assert "StatefulSet" in {each["kind"] for each in put_together(MANIFESTS / "base")}


def test_with_tls_the_probes_speak_it_and_find_the_files_of_the_secret(kustomization):
    objects = put_together(kustomization(["monitoring", "sharded"], **shown_in_the_guide("patches")))
    (pod,) = [each["spec"]["template"]["spec"] for each in objects if each["kind"] == "StatefulSet"]
    (container,) = pod["containers"]
    probes = [container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")]
    assert [(probe["scheme"], probe["path"], probe["port"]) for probe in probes] == [
        ("HTTPS", "/healthz", "http"),
        ("HTTPS", "/healthz", "http"),
        ("HTTPS", "/healthz", "http"),
    ]
    (mount,) = [each for each in container["volumeMounts"] if each["name"] == "web"]
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert f"`{mount['mountPath']}/web.yml`" in page
    (volume,) = [each for each in pod["volumes"] if each["name"] == "web"]
    assert volume["secret"] == {"secretName": "groupwatch-web", "defaultMode": 0o440}
    assert "create secret generic groupwatch-web " in page
    assert {"kafka", "state", "config", "tmp"} < {each["name"] for each in container["volumeMounts"]}


def test_the_lines_for_a_guarded_page_that_the_monitor_has_as_comments_fit_the_secret():
    text = (MANIFESTS / "monitoring" / "servicemonitor.yaml").read_text(encoding="utf-8")
    before, comment, commented = text.partition("      # scheme: https\n")
    (endpoint,) = yaml.safe_load(before + re.sub(r"^      # ", "      ", comment + commented, flags=re.M))["spec"][
        "endpoints"
    ]
    plain = loaded("monitoring/servicemonitor.yaml")["spec"]["endpoints"][0]
    assert {key: value for key, value in endpoint.items() if key not in plain} == {
        "scheme": "https",
        "tlsConfig": {
            "ca": {"secret": {"name": "groupwatch-web", "key": "ca.pem"}},
            "serverName": "groupwatch.groupwatch.svc",
        },
        "authorization": {"credentials": {"name": "groupwatch-web", "key": "token"}},
    }
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    assert "--from-file=ca.pem" in page
    assert "--from-literal=token=" in page


def test_the_settings_are_read_and_their_files_are_mounted():
    """Secrets are looked up later, so the settings are read here without them."""
    settings = load(MANIFESTS / "base" / "groupwatch.toml")
    mounts = {mount["mountPath"]: mount["name"] for mount in CONTAINER["volumeMounts"]}
    assert settings.spark.checkpoint is not None
    assert mounts[str(Path(settings.spark.checkpoint).parent)] == "state"
    assert CONTAINER["args"] == ["run", "--config", "/etc/groupwatch/groupwatch.toml"]
    text = (MANIFESTS / "base" / "groupwatch.toml").read_text(encoding="utf-8")
    files = set(re.findall(r"/etc/groupwatch/kafka/([\w.]+)", text))
    assert files == loaded("base/secret.example.yaml")["stringData"].keys()
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    assert volumes["kafka"]["secret"]["secretName"] == loaded("base/secret.example.yaml")["metadata"]["name"]
    assert volumes.keys() | {"state"} == set(mounts.values())


def test_the_job_uses_the_cores_that_it_may_have():
    settings = load(MANIFESTS / "base" / "groupwatch.toml")
    cores = CONTAINER["resources"]["limits"]["cpu"]
    assert settings.spark.master == f"local[{cores}]"
    assert str(settings.spark.shuffle_partitions) == cores


def test_the_service_the_probes_the_policy_and_the_monitor_mean_the_port_that_is_served():
    settings = load(MANIFESTS / "base" / "groupwatch.toml")
    (port,) = CONTAINER["ports"]
    assert port == {"name": "http", "containerPort": settings.http.port}
    probes = {name: CONTAINER[f"{name}Probe"] for name in ("startup", "liveness", "readiness")}
    assert {name: probe["httpGet"]["path"] for name, probe in probes.items()} == {
        "startup": "/healthz",
        "liveness": "/healthz",
        "readiness": "/readyz",
    }
    assert {probe["httpGet"]["port"] for probe in probes.values()} == {"http"}
    service = loaded("base/service.yaml")["spec"]
    assert (service["ports"][0]["targetPort"], service["ports"][0]["name"]) == ("http", "http")
    (ingress,) = loaded("base/networkpolicy.yaml")["spec"]["ingress"]
    assert ingress["ports"] == [{"protocol": "TCP", "port": settings.http.port}]
    (endpoint,) = loaded("monitoring/servicemonitor.yaml")["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")


def test_a_start_may_take_minutes_and_an_end_what_it_takes():
    """Before the port is open every cluster is asked, ten seconds each; what is read after that is no liveness."""
    startup = CONTAINER["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 300
    longest_s = 2 + cluster_watch.END_LIMIT_S + session.JVM_END_LIMIT_S
    assert POD["terminationGracePeriodSeconds"] > longest_s


def test_a_pod_is_restricted_and_writes_only_to_its_volumes():
    """As the pod security standard "restricted" wants it, which the namespace enforces."""
    (user,) = re.findall(r"^USER (\d+):", DOCKERFILE, re.MULTILINE)
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert str(POD["securityContext"]["runAsUser"]) == user
    assert POD["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert POD["automountServiceAccountToken"] is False


def test_the_variables_that_kubernetes_makes_of_services_are_not_settings_of_groupwatch():
    """A Service named groupwatch would give every pod GROUPWATCH_PORT=tcp://... and the like."""
    assert POD["enableServiceLinks"] is False


def test_a_checkpoint_has_one_pod_at_a_time():
    (claim,) = STATEFUL_SET["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert STATEFUL_SET["spec"]["replicas"] == 1
    assert STATEFUL_SET["spec"]["serviceName"] == loaded("base/service.yaml")["metadata"]["name"]


def test_everything_has_the_label_by_which_it_is_chosen():
    label = {"app.kubernetes.io/name": "groupwatch"}
    assert STATEFUL_SET["spec"]["selector"]["matchLabels"] == label
    assert STATEFUL_SET["spec"]["template"]["metadata"]["labels"] == label
    assert loaded("base/service.yaml")["spec"]["selector"] == label
    assert loaded("base/service.yaml")["metadata"]["labels"] == label
    assert loaded("base/networkpolicy.yaml")["spec"]["podSelector"]["matchLabels"] == label
    assert loaded("monitoring/servicemonitor.yaml")["spec"]["selector"]["matchLabels"] == label


def test_the_recommended_labels_are_in_no_selector_and_no_claim():
    """A StatefulSet that exists refuses others there, and the version changes."""
    base, monitoring = (
        yaml.safe_load((MANIFESTS / folder / "kustomization.yaml").read_text(encoding="utf-8"))
        for folder in ("base", "monitoring")
    )
    (image,), (labels,), (of_monitoring,) = base["images"], base["labels"], monitoring["labels"]
    assert {name.removeprefix("app.kubernetes.io/"): value for name, value in labels["pairs"].items()} == {
        "instance": "groupwatch",
        "version": image["newTag"],
        "component": "job",
        "part-of": "groupwatch",
        "managed-by": "kustomize",
    }
    assert labels.keys() == {"pairs", "fields"}
    assert [field["path"] for field in labels["fields"]] == ["spec/template/metadata/labels"]
    # A component's labels are those of the base's objects, too, so it names no component.
    assert of_monitoring["pairs"].items() == labels["pairs"].items() - {("app.kubernetes.io/component", "job")}
    assert of_monitoring.keys() == {"pairs"}


def test_each_of_several_pods_has_a_shard_of_its_own():
    """Pods are counted from ``start``, shards from 1."""
    patch = loaded("sharded/shards.yaml")["spec"]
    (container,) = patch["template"]["spec"]["containers"]
    number, shard = container["env"]
    assert number["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['apps.kubernetes.io/pod-index']"
    assert shard["name"] == "GROUPWATCH_SHARD"
    count, start = patch["replicas"], patch["ordinals"]["start"]
    given = [shard["value"].replace(f"$({number['name']})", str(index)) for index in range(start, start + count)]
    assert [shard_of_text(text).number for text in given] == list(range(1, count + 1))
    assert {shard_of_text(text).of for text in given} == {count}


def test_rules_and_dashboards_are_those_that_were_generated():
    stale = [name for name, text in kubernetes_files().items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m dashboards.kubernetes"


def test_the_rule_object_holds_the_rules_as_prometheus_takes_them(tmp_path: Path):
    rule = loaded("monitoring/prometheusrule.yaml")
    assert (rule["apiVersion"], rule["kind"]) == (OF_THE_OPERATOR, "PrometheusRule")
    assert rule["spec"] == yaml.safe_load((GENERATED / "alerts.yml").read_text(encoding="utf-8"))
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump(rule["spec"]), encoding="utf-8")
    asked = [required("promtool", "prometheus"), "check", "rules", str(file)]
    checked = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def dashboards() -> Iterator[tuple[str, dict[str, Any]]]:
    for each in objects(MANIFESTS / "monitoring" / "dashboards.yaml"):
        assert each["metadata"]["labels"]["grafana_dashboard"] == "1"
        yield from ((name, json.loads(text)) for name, text in each["data"].items())


def test_every_dashboard_is_there_once_and_whole():
    committed = {f"groupwatch-{file.name}": json.loads(file.read_text("utf-8")) for file in SHIPPED.glob("*.json")}
    assert committed
    assert dict(dashboards()) == committed


def test_no_object_is_larger_than_etcd_takes():
    sizes = [len(json.dumps(each)) for file in OBJECTS for each in objects(file)]
    assert max(sizes) < 1_000_000
