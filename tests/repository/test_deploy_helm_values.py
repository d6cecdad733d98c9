"""What the values of the chart add to the objects of deploy/kubernetes: clusters by name, addresses, extra parts."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.publishing.settings_schema import FILE, schema_text
from monitor.alert_rules import rules_file
from monitor.alert_rules.options import RuleOptions
from monitor.config import load
from tests.support.helm_chart import CHART, Rendered, Values, assert_valid, helm, only, pod_of

README = (CHART / "README.md").read_text(encoding="utf-8")

LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="<ü>\\\\";'

COMMON: Values = {
    "clusters": {
        "eu": {"bootstrap_servers": "eu:9092", "client": {"security.protocol": "SSL", "request.timeout.ms": 30000}},
        "us": {"bootstrap_servers": "us:9092", "client": {"sasl.jaas.config": LOGIN}},
        "trial": {"bootstrap_servers": "trial:9092"},
    },
    "settings": {"http": {"external_url": "https://ops.example.com/groupwatch"}, "webhook": {"url": "https://h/"}},
}
PRODUCTION: Values = {
    "clusters": {
        "eu": {"client": {"ssl.truststore.type": "PEM"}},
        "us": {"bootstrap_servers": "us-1:9092,us-2:9092"},
        "trial": None,
        "a.b": {"bootstrap_servers": "ab:9092", "connect_configs": {"workers": "connect-configs"}},
        "asia": {"bootstrap_servers": "asia:9092"},
        "lab": {"bootstrap_servers": "lab:9092"},
    },
    "settings": {
        "spark": {"trigger_s": 2.5},
        "webhook": None,
        "detection": {"overrides": [{"groups": "a.*", "commit_silence_s": 90}, {"groups": "b", "skew_s": 60}]},
    },
}
BEHIND_A_PROXY: Values = {
    "settings": {"http": {"external_url": "https://ops.example.com:8443/groupwatch/"}},
}
INGRESS: Values = {
    **BEHIND_A_PROXY,
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "annotations": {"a.example/b": "1"},
        "tls": [{"secretName": "ops-tls", "hosts": ["ops.example.com"]}],
    },
}
ROUTE: Values = {
    "settings": {"http": {"external_url": "http://groupwatch.example.com"}},
    "httpRoute": {"enabled": True, "parentRefs": [{"name": "public", "namespace": "gateways"}]},
}
EXTRA: Values = {
    "nameOverride": "lag",
    "commonLabels": {"team": "streams"},
    "podLabels": {"tier": "ops"},
    "imagePullSecrets": [{"name": "registry"}],
    "pullSecrets": ["older"],
    "envFrom": [{"secretRef": {"name": "kafka-login"}}],
    "extraVolumes": [{"name": "ca", "configMap": {"name": "bundle"}}],
    "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/groupwatch/ca", "readOnly": True}],
    "initContainers": [{"name": "wait", "image": "busybox", "command": ["true"]}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    ],
    "startupProbe": {"failureThreshold": 120},
    "livenessProbe": {"timeoutSeconds": 30},
    "readinessProbe": {"periodSeconds": 60},
    "settings": {"http": {"token_file": "/etc/groupwatch/ca/token"}},
    "collectors": {
        "enabled": True,
        "config": '[clusters.a]\nbootstrap_servers = "b:9092"\n[http]\nbind = "0.0.0.0"\n',
    },
    "extraObjects": [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "more", "namespace": "{{ .Release.Namespace }}"},
            "data": {"name": '{{ include "groupwatch.fullname" . }}'},
        },
        "apiVersion: v1\nkind: Secret\nmetadata: {name: text, namespace: {{ .Release.Namespace }}}",
    ],
}
RULES: Values = {
    "monitoring": {"rules": {"enabled": True, "file": rules_file(options=RuleOptions(clusters=("prod",)))}}
}


def configuration_text(found: Rendered) -> str:
    return str(only(found, "ConfigMap", "groupwatch-config")["data"]["groupwatch.toml"])


def configuration(found: Rendered) -> dict[str, Any]:
    return tomllib.loads(configuration_text(found))


@pytest.mark.parametrize("values", [INGRESS, ROUTE, EXTRA, RULES], ids=["ingress", "route", "extra", "rules"])
def test_every_object_is_as_its_schema_wants_it(rendered, values: Values):
    assert_valid(rendered(values))


# Clusters and settings as maps


@pytest.fixture
def five_clusters(rendered, tmp_path: Path) -> Rendered:
    """Those of two environments' files, the later over the earlier one."""
    file = tmp_path / "production.yaml"
    file.write_text(yaml.safe_dump(PRODUCTION), encoding="utf-8")
    found: Rendered = rendered(COMMON, "--values", str(file), "--set", "monitoring.rules.enabled=true")
    return found


def test_clusters_of_two_files_are_tables_of_the_configuration(five_clusters, file):
    assert_valid(five_clusters)
    assert configuration(five_clusters) == {
        "clusters": {
            "eu": {
                "bootstrap_servers": "eu:9092",
                "client": {"security.protocol": "SSL", "request.timeout.ms": 30000, "ssl.truststore.type": "PEM"},
            },
            "us": {"bootstrap_servers": "us-1:9092,us-2:9092", "client": {"sasl.jaas.config": LOGIN}},
            "a.b": {"bootstrap_servers": "ab:9092", "connect_configs": {"workers": "connect-configs"}},
            "asia": {"bootstrap_servers": "asia:9092"},
            "lab": {"bootstrap_servers": "lab:9092"},
        },
        "detection": {"overrides": PRODUCTION["settings"]["detection"]["overrides"]},
        "http": {"bind": "0.0.0.0", "port": 9464, "external_url": "https://ops.example.com/groupwatch"},
        "spark": {
            "master": "local[2]",
            "shuffle_partitions": 2,
            "checkpoint": "/var/lib/groupwatch/checkpoint",
            "trigger_s": 2.5,
        },
    }
    assert load(file(configuration_text(five_clusters))).spark.trigger_s == 2.5


def test_clusters_of_the_map_have_rules_for_when_they_have_no_series(five_clusters):
    *_, named = only(five_clusters, "PrometheusRule")["spec"]["groups"]
    assert [rule["labels"]["cluster"] for rule in named["rules"]] == ["a.b", "asia", "eu", "lab", "us"]


def test_settings_are_merged_over_a_configuration_and_may_turn_something_off(rendered):
    text = (
        '[clusters.a]\nbootstrap_servers = "b:9092"\ncollect = true\n[http]\nbind = "0.0.0.0"\nport = 9000\n'
        '[spark]\nmaster = "local[2]"\ncheckpoint = "/var/lib/groupwatch/c"\n[metrics]\nmember_info = true\n'
    )
    found = rendered(
        {"config": text, "secrets": [], "settings": {"http": {"port": 9100}, "metrics": {"member_info": False}}}
    )
    expected = tomllib.loads(text)
    expected["http"]["port"] = 9100
    expected["metrics"]["member_info"] = False
    assert configuration(found) == expected
    assert pod_of(found)["containers"][0]["ports"] == [{"name": "http", "containerPort": 9100}]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"config": '[clusters.a]\nbootstrap_servers = "b:9092"\n', "clusters": COMMON["clusters"]},
            "clusters: config has tables [clusters.NAME] as well. Move them from config to clusters.",
        ),
        ({"config": "[clusters", "clusters": COMMON["clusters"]}, "config is not valid TOML: "),
        ({"clusters": {"a": None}}, "config has no table [clusters.NAME]."),
        ({"clusters": {"a": {}}}, "at '/clusters/a': missing property 'bootstrap_servers'"),
        ({"clusters": [{"name": "a"}]}, "at '/clusters': got array, want object"),
        ({"settings": {"clusters": {}}}, "at '/settings/clusters': false schema"),
        ({"settings": {"shard": "1/3"}}, "at '/settings/shard': false schema"),
        ({"settings": {"htpp": {"port": 80}}}, "at '/settings': additional properties 'htpp' not allowed"),
        ({"settings": {"http": {"prot": 80}}}, "at '/settings/http': additional properties 'prot' not allowed"),
        (
            {"settings": {"detection": {"overrides": [{"groups": "a", "comit_silence_s": 9}]}}},
            "at '/settings/detection/overrides/0': additional properties 'comit_silence_s' not allowed",
        ),
        (
            {"settings": {"rocketmq": {"r": {"nameserver": "n:9876"}}}},
            "at '/settings/rocketmq/r': additional properties 'nameserver' not allowed",
        ),
        (
            {"clusters": {"a": {"bootstrap_servers": "b:9092", "colect": False}}},
            "at '/clusters/a': additional properties 'colect' not allowed",
        ),
        (
            {"clusters": {"a": {"bootstrap_servers": "b:19092"}}},
            "does not allow port 19092 of bootstrap_servers in [clu",
        ),
        ({"commonLabels": {"helm.sh/chart": "x"}}, "at '/commonLabels/helm.sh~1chart': false schema"),
        ({"livenessProbe": {"exec": {}}}, "at '/livenessProbe/exec': got object, want integer"),
        ({"ingress": {"enabled": True}}, "ingress and httpRoute take their host and path from external_url in [http]."),
        ({**INGRESS, "shards": 3}, "ingress and httpRoute need shards: 1, as the page of a shard has only the shard's"),
        ({**ROUTE, "httpRoute": {"enabled": True}}, "httpRoute.enabled needs httpRoute.parentRefs"),
        (
            {**EXTRA, "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/groupwatch/other"}]},
            "config refers to /etc/groupwatch/ca/, which no entry of secrets provides.",
        ),
    ],
)
def test_values_that_cannot_work_are_refused(refused, values: Values, sentence: str):
    assert sentence in refused(values)


def test_the_keys_of_clusters_and_settings_are_those_that_groupwatch_has():
    text = FILE.read_text(encoding="utf-8")
    assert text == schema_text(text), "run: python -m deploy.publishing.settings_schema"
    keys = json.loads(text)["definitions"]["keysOfWebhookSettings"]["properties"]
    assert {"url", "secret"} <= keys.keys()


def test_a_cluster_and_settings_with_every_kind_of_key_are_taken(rendered):
    """A system of its own by name, a list of tables, a table of texts, and a key that another file of values had."""
    settings = {
        "rocketmq": {"r": {"name_servers": "n:9876"}},
        "spark": {"conf": {"spark.sql.shuffle.partitions": "4"}},
        "metrics": {"overrides": [{"groups": "tmp-.*", "detail": "cluster"}]},
        "otlp": {"endpoint": None},
        "webhook": None,
    }
    found = configuration(rendered({**COMMON, "settings": settings}))
    assert found["rocketmq"] == {"r": {"name_servers": "n:9876"}}
    assert "webhook" not in found


# The address of the page


def test_the_service_of_the_page_has_an_address_that_stays_and_leads_to_the_job(rendered):
    found = rendered({"service": {"port": 80, "web": {"type": "LoadBalancer", "annotations": {"a.example/b": "1"}}}})
    service = only(found, "Service", "groupwatch-web")
    assert service["metadata"]["annotations"] == {"a.example/b": "1"}
    assert service["spec"] == {
        "type": "LoadBalancer",
        "publishNotReadyAddresses": True,
        "selector": only(found, "StatefulSet")["spec"]["selector"]["matchLabels"],
        "ports": [{"name": "web", "port": 80, "targetPort": "http"}],
    }
    assert only(found, "Service")["spec"]["clusterIP"] == "None"


def test_shards_have_no_address_in_common(rendered):
    services = [each["metadata"]["name"] for each in rendered({"shards": 3}) if each["kind"] == "Service"]
    assert services == ["groupwatch"]


def test_an_ingress_is_at_the_external_url(rendered):
    found = rendered(INGRESS)
    ingress = only(found, "Ingress", "groupwatch-web")
    assert ingress["metadata"]["annotations"] == {"a.example/b": "1"}
    assert ingress["spec"] == {
        "ingressClassName": "nginx",
        "tls": [{"secretName": "ops-tls", "hosts": ["ops.example.com"]}],
        "rules": [
            {
                "host": "ops.example.com",
                "http": {
                    "paths": [
                        {
                            "path": "/groupwatch",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "groupwatch-web", "port": {"name": "web"}}},
                        }
                    ]
                },
            }
        ],
    }
    assert namespaces_let_in(found) == ["monitoring", "ingress-nginx"]


def test_a_route_is_at_the_external_url(rendered):
    proxies = [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gateways"}}}]
    found = rendered({**ROUTE, "networkPolicy": {"fromProxies": proxies}})
    assert only(found, "HTTPRoute", "groupwatch-web")["spec"] == {
        "parentRefs": [{"name": "public", "namespace": "gateways"}],
        "hostnames": ["groupwatch.example.com"],
        "rules": [
            {
                "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
                "backendRefs": [{"name": "groupwatch-web", "port": 9464}],
            }
        ],
    }
    assert namespaces_let_in(found) == ["monitoring", "gateways"]


def namespaces_let_in(found: Rendered) -> list[str]:
    (rule,) = only(found, "NetworkPolicy")["spec"]["ingress"]
    selectors = [each["namespaceSelector"]["matchLabels"] for each in rule["from"] if "namespaceSelector" in each]
    return [selector["kubernetes.io/metadata.name"] for selector in selectors]


def test_proxies_are_let_in_only_if_there_is_something_for_them(rendered):
    assert namespaces_let_in(rendered({})) == ["monitoring"]


def notes(tmp_path: Path, values: Values) -> str:
    """NOTES.txt, which `helm template` leaves out: here as an object of a copy of the chart."""
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    text = (chart / "templates" / "NOTES.txt").read_text(encoding="utf-8")
    (chart / "files" / "notes.txt").write_text(text, encoding="utf-8")
    (chart / "templates" / "notes.yaml").write_text(
        'kind: Notes\ntext: {{ tpl (.Files.Get "files/notes.txt") . | toJson }}\n', encoding="utf-8"
    )
    done = helm("template", tmp_path, values, "--show-only=templates/notes.yaml", chart=chart)
    assert done.returncode == 0, done.stderr
    return str(yaml.safe_load(done.stdout)["text"])


def test_the_notes_name_the_address_of_the_page(tmp_path: Path):
    told = notes(tmp_path, INGRESS)
    assert "\n  https://ops.example.com:8443/groupwatch/\n" in told
    assert "networkPolicy.fromProxies" in told
    assert "http://groupwatch-web.groupwatch.svc:9464/" in told
    assert "helm test -n groupwatch groupwatch --logs" in told


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({}, "set external_url in [http] to the address under which people open it."),
        (BEHIND_A_PROXY, "has to forward this address to the Service groupwatch-web"),
        ({"service": {"web": {"type": "NodePort"}}}, "kubectl -n groupwatch get service groupwatch-web"),
        ({"shards": 2}, "kubectl -n groupwatch port-forward groupwatch-1 9464:9464"),
    ],
)
def test_the_notes_say_how_to_reach_a_page_without_a_route(tmp_path: Path, values: Values, part: str):
    assert part in notes(tmp_path, values)


# Extra parts, by their usual names


@pytest.fixture
def pods(rendered) -> dict[str, dict[str, Any]]:
    """Of the job, of the collectors and of `helm test`."""
    found = rendered(EXTRA)
    job = only(found, "StatefulSet", "groupwatch-lag")["spec"]["template"]
    collectors = only(found, "Deployment", "groupwatch-lag-collectors")["spec"]["template"]
    return {"job": job, "collectors": collectors, "check": only(found, "Pod", "groupwatch-lag-check-config")}


def test_extra_values_are_those_of_each_pod(pods):
    for each in pods.values():
        pod, (container,) = each["spec"], each["spec"]["containers"]
        assert pod["imagePullSecrets"] == [{"name": "registry"}, {"name": "older"}]
        assert pod["initContainers"] == EXTRA["initContainers"]
        assert EXTRA["extraVolumes"][0] in pod["volumes"]
        assert EXTRA["extraVolumeMounts"][0] in container["volumeMounts"]
        assert container["envFrom"] == EXTRA["envFrom"]
        assert each["metadata"]["labels"]["team"] == "streams"
    assert [name for name, each in pods.items() if "tier" in each["metadata"]["labels"]] == ["job", "collectors"]


def test_a_constraint_without_a_selector_is_of_the_pods_of_the_job(pods):
    labels = pods["job"]["metadata"]["labels"]
    (constraint,) = pods["job"]["spec"]["topologySpreadConstraints"]
    assert constraint.pop("labelSelector") == {
        "matchLabels": {name: labels[name] for name in labels if name.startswith("app.kubernetes.io/")}
    }
    assert [constraint] == EXTRA["topologySpreadConstraints"]


def test_times_of_probes_are_merged_with_the_defaults(pods):
    (container,) = pods["job"]["spec"]["containers"]
    times = {
        name: {key: value for key, value in container[f"{name}Probe"].items() if key != "httpGet"}
        for name in ("startup", "liveness", "readiness")
    }
    assert times == {
        "startup": {"periodSeconds": 5, "failureThreshold": 120},
        "liveness": {"periodSeconds": 20, "timeoutSeconds": 30, "failureThreshold": 6},
        "readiness": {"periodSeconds": 60, "timeoutSeconds": 5},
    }


def test_common_labels_are_of_each_object_and_select_nothing(rendered):
    found = [each for each in rendered(EXTRA) if each["metadata"]["name"] not in ("more", "text")]
    assert [each["kind"] for each in found if each["metadata"]["labels"].get("team") != "streams"] == []
    selected = [each["spec"]["selector"] for each in found if "selector" in each.get("spec", {})]
    assert "streams" not in str(selected)


def test_extra_objects_may_be_templates(rendered):
    found = rendered(EXTRA)
    assert only(found, "ConfigMap", "more")["data"] == {"name": "groupwatch-lag"}
    assert only(found, "Secret", "text")["metadata"]["namespace"] == "groupwatch"


# helm test


def test_the_test_checks_the_configuration_of_the_job_under_its_network_policy(rendered):
    recording = {"folder": "/var/lib/groupwatch-history"}
    found = rendered({"settings": {"history": recording}, "persistence": {"history": {"enabled": True}}})
    pod, job = only(found, "Pod", "groupwatch-check-config"), pod_of(found)
    (container,), (of_the_job,) = pod["spec"]["containers"], job["containers"]
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert container["args"] == ["check-config", "/etc/groupwatch/groupwatch.toml", "--connect"]
    claims = {"state", "history", "tmp"}
    assert [mount for mount in container["volumeMounts"] if mount["name"] not in claims] == [
        mount for mount in of_the_job["volumeMounts"] if mount["name"] not in claims
    ]
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {
        mount["mountPath"] for mount in of_the_job["volumeMounts"]
    }
    for part in ("image", "securityContext"):
        assert container[part] == of_the_job[part]
    component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
    selector = only(found, "NetworkPolicy")["spec"]["podSelector"]
    assert component in selector["matchExpressions"][0]["values"]
    assert selector["matchLabels"].items() <= pod["metadata"]["labels"].items()
    services = [each["spec"]["selector"] for each in found if each["kind"] == "Service"]
    assert [each for each in services if each.items() <= pod["metadata"]["labels"].items()] == []


# The chart's README


def test_the_sizes_of_the_readme_are_taken(rendered, file):
    rows = re.findall(
        r"^\| (\d+) \| ([\d,]+) \| (\d+), (\w+) \| (\d+), (\w+) \| `([^`]+)` \| ([\d.]+) s \|", README, re.MULTILINE
    )
    assert len(rows) >= 4
    for clusters, _, cores, memory, most_cores, most_memory, master, trigger in rows:
        names = {f"c{number}": {"bootstrap_servers": "b:9092"} for number in range(int(clusters))}
        resources = {
            "requests": {"cpu": cores, "memory": memory},
            "limits": {"cpu": most_cores, "memory": most_memory},
        }
        found = rendered({"clusters": names, "settings": {"spark": {"master": master}}, "resources": resources})
        assert pod_of(found)["containers"][0]["resources"] == resources
        assert load(file(configuration_text(found))).trigger_s == float(trigger)
