"""The command rules: three formats, and one sentence for a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from dashboards.generate import FOLDER
from monitor.cli.app import app
from tests.alert_rules.rule_files import CLUSTERS, configured


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "groupwatch.toml"
    file.write_text(f'{CLUSTERS}[alerts]\nlabels = {{ team = "streaming" }}\n', encoding="utf-8")
    return file


def rules(*words: str) -> Result:
    return CliRunner().invoke(app, ["rules", *words])


def test_without_a_configuration_it_writes_the_shipped_file():
    found = rules()
    assert (found.exit_code, found.stdout) == (0, (FOLDER / "alerts.yml").read_text(encoding="utf-8"))


def test_a_prometheusrule_has_the_same_groups_as_the_rule_file(tmp_path: Path, config: Path):
    plain, for_operator = rules("--config", str(config)), rules("--config", str(config), "--format", "prometheusrule")
    assert plain.stdout == configured(tmp_path, config.read_text(encoding="utf-8"))
    written = yaml.safe_load(for_operator.stdout)
    assert (written["kind"], written["metadata"]["name"]) == ("PrometheusRule", "groupwatch")
    assert written["spec"] == yaml.safe_load(plain.stdout)


def test_the_prometheusrules_of_two_deployments_have_different_names(config: Path):
    with config.open("a", encoding="utf-8") as file:
        file.write('[dashboards]\nname = "eu"\n')
    written = yaml.safe_load(rules("--config", str(config), "--format", "prometheusrule").stdout)
    assert written["metadata"]["name"] == "eu-groupwatch"


def test_inhibitions_are_an_object_of_their_own(config: Path):
    written = yaml.safe_load(rules("--config", str(config), "--format", "alertmanagerconfig").stdout)
    assert written["kind"] == "AlertmanagerConfig"


def test_an_unknown_alert_is_one_sentence_with_the_nearest_name(tmp_path: Path):
    file = tmp_path / "groupwatch.toml"
    file.write_text('[alerts]\ndisabled = ["GroupwatchDwn"]\n', encoding="utf-8")
    found = rules("--config", str(file))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == (
        "groupwatch: alerts.disabled: there is no alert GroupwatchDwn (did you mean GroupwatchDown?).\n"
    )


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path):
    found = rules("--config", str(tmp_path / "none.toml"))
    assert found.exit_code == 2
    assert found.stderr.endswith("cannot be read (No such file or directory).\n")
