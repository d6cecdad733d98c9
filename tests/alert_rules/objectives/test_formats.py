"""Objectives as other tools read them: valid by the schemas that these publish, and about the series that there are.

The schemas are data of the tools' repositories, whose commits are in the files; they are under the Apache License 2.0.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7
from typer.testing import CliRunner

from monitor.cli.app import app
from tests.dashboards.promtool import promtool

FIXTURES = Path(__file__).parents[2] / "fixtures" / "slo"

EXPECTED = """
[[expect]]
groups = "orders"
cluster = "prod"
team = "checkout"
members = 3
slo = { percent = 99.5, window = "30d" }

[[expect]]
groups = "a{{2}|batch-.*"
team = "data & more"
slo = { percent = 99, window = "30d" }

[[expect]]
groups = ".*"
allow = ["rebalance"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "expectations.toml"
    found.write_text(EXPECTED)
    return found


def schema(name: str) -> jsonschema.protocols.Validator:
    """The published schema of a tool; the first one refers to the others."""
    kept = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    assert kept["license"] == "Apache-2.0"
    resources = [(each["$id"], Resource(each, DRAFT7)) for each in kept["schemas"] if "$id" in each]
    return jsonschema.Draft7Validator(kept["schemas"][0], registry=Registry().with_resources(resources))


def written(file: Path, format_: str, *words: str) -> str:
    answer = CliRunner().invoke(app, ["slo", str(file), "--format", format_, *words])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def documents(file: Path, format_: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(written(file, format_, "--cluster", "prod", "--cluster", "Eu west")))


def unknown_fields(value: object, known: dict[str, Any], path: str = "") -> list[str]:
    """What Kubernetes would drop silently: fields that a schema of it does not have."""
    if isinstance(value, list):
        return [each for item in value for each in unknown_fields(item, known["items"], path)]
    properties = known.get("properties")
    if not isinstance(value, dict) or properties is None:
        return []
    strange = [f"{path}.{key}" for key in value.keys() - properties.keys()]
    return strange + [
        each for key in value.keys() & properties.keys() for each in unknown_fields(value[key], properties[key], key)
    ]


def test_pyrra_takes_an_object_for_each_entry_and_cluster(file):
    known = schema("pyrra")
    found = documents(file, "pyrra")
    assert [each["metadata"]["name"] for each in found] == [
        "prod--orders",
        "prod--a-2-batch-ae1beb4b",
        "eu-west--a-2-batch-b288d234",
    ]
    for each in found:
        known.validate(each)
        assert unknown_fields(each["spec"], known.schema["properties"]["spec"]) == []
        assert (each["apiVersion"], each["kind"]) == ("pyrra.dev/v1alpha1", "ServiceLevelObjective")
    assert found[0]["metadata"]["labels"] == {"pyrra.dev/team": "checkout"}
    assert found[1]["metadata"]["annotations"] == {"pyrra.dev/team": "data & more"}
    own = 'groupwatch_expectation_seconds_total{cluster="prod",expectation="orders"'
    assert found[0]["spec"]["indicator"] == {
        "ratio": {"errors": {"metric": f'{own},met!="yes"}}'}, "total": {"metric": f"{own}}}"}}
    }
    assert (found[0]["spec"]["target"], found[0]["spec"]["window"]) == ("99.5", "30d")


def test_sloth_takes_a_document_for_each_cluster(file):
    """By the schema of its object of Kubernetes, which has the same fields in camel case."""
    known = schema("sloth").schema["properties"]["spec"]
    prod, west = documents(file, "sloth")
    for each in (prod, west):
        assert each.pop("version") == "prometheus/v1"
        spec = camel(each)
        jsonschema.validate(spec, known)
        assert unknown_fields(spec, known) == []
    assert [(each["name"], each["objective"]) for each in prod["slos"]] == [
        ("orders", 99.5),
        ("a-2-batch-734ba3e1", 99.0),
    ]
    assert (prod["service"], west["service"]) == ("prod", "eu-west-eea25397")
    queries = prod["slos"][0]["sli"]["events"]
    assert queries["error_query"] == (
        'sum(rate(groupwatch_expectation_seconds_total{cluster="prod",expectation="orders",met!="yes"}[{{.window}}]))'
    )
    for each in (query for slo in prod["slos"] for query in slo["sli"]["events"].values()):
        assert each.count("{{") == 1, "Sloth reads two braces as a template"


def camel(value: object) -> Any:
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub(r"_(\w)", lambda found: found[1].upper(), key): camel(each) for key, each in value.items()}


def test_openslo_takes_services_and_objectives(file):
    known = schema("openslo")
    found = documents(file, "openslo")
    for each in found:
        known.validate(each)
    assert [each["kind"] for each in found] == ["Service", "Service", "SLO", "SLO", "SLO"]
    assert {each["spec"]["service"] for each in found[2:]} == {each["metadata"]["name"] for each in found[:2]}
    assert found[2]["spec"]["objectives"][0]["target"] == 0.995
    assert found[2]["spec"]["timeWindow"] == [{"duration": "30d", "isRolling": True}]
    assert found[2]["spec"]["indicator"]["spec"]["ratioMetric"]["bad"]["metricSource"]["spec"]["query"] == (
        'sum(groupwatch_expectation_seconds_total{cluster="prod",expectation="orders",met!="yes"})'
    )


@pytest.mark.parametrize("format_", ["sloth", "pyrra", "prometheus"])
def test_nothing_in_names_begins_a_template(file, format_):
    """What remains are the templates of groupwatch's own alerts, and the window of Sloth."""
    file.write_text(EXPECTED.replace("a{{2}|", "a{{{2}|").replace("data & more", "data {{{ more"))
    text = written(file, format_, "--cluster", "prod")
    assert "data { { { more" in text
    assert re.sub(r"\{\{( \$|\.window)", "", text).count("{{") == 0


def test_a_schema_refuses_what_is_wrong(file):
    """Otherwise, the schemas above would say nothing."""
    wrong = documents(file, "openslo")[2]
    del wrong["spec"]["indicator"]["spec"]["ratioMetric"]["total"]
    assert list(schema("openslo").iter_errors(wrong)) != []
    other = documents(file, "pyrra")[0]
    del other["spec"]["target"]
    assert list(schema("pyrra").iter_errors(other)) != []


def test_promtool_takes_the_rules(file, tmp_path):
    (tmp_path / "slo.yml").write_text(written(file, "prometheus", "--cluster", "prod", "--cluster", "Eu west"))
    assert "9 rules found" in promtool("check", "rules", str(tmp_path / "slo.yml"))


CONFIG = """
[metrics]
cluster_label = "kafka"
[clusters.prod]
bootstrap_servers = "b:1"
[clusters.eu]
bootstrap_servers = "b:2"
"""


def test_the_configuration_gives_the_clusters_and_the_name_of_their_label(file, tmp_path):
    (tmp_path / "groupwatch.toml").write_text(CONFIG)
    for format_ in ("prometheus", "sloth", "pyrra", "openslo"):
        text = written(file, format_, "--config", str(tmp_path / "groupwatch.toml"))
        assert 'kafka=\\"eu\\"' in text
        assert 'cluster=\\"' not in text


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        (EXPECTED, (), "The entry a{{2}|batch-.* has no cluster: name the clusters with --cluster, or by --config."),
        ('[[expect]]\ngroups = "g"\n', ("--cluster", "c"), "No entry of the file has slo."),
        (
            EXPECTED.replace('99, window = "30d"', '99, window = "4w"'),
            ("--cluster", "prod", "--format", "sloth"),
            "Sloth takes one window for all, and the file has 28d and 30d.",
        ),
        (
            EXPECTED.replace("30d", "90d"),
            ("--cluster", "prod", "--format", "sloth"),
            "Sloth has windows of 28d and 30d only, and the file has 90d.",
        ),
    ],
)
def test_what_cannot_be_written_is_one_sentence(file, text, words, sentence):
    file.write_text(text)
    answer = CliRunner().invoke(app, ["slo", str(file), *words])
    assert (answer.exit_code, answer.output) == (2, f"groupwatch: {sentence}\n")


def test_mistakes_in_the_file_end_with_2(file):
    file.write_text("[[expect]]\n")
    answer = CliRunner().invoke(app, ["slo", str(file)])
    assert (answer.exit_code, answer.output) == (2, f"groupwatch: {file}: expect#1.groups is required.\n")
