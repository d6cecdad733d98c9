"""Dashboards as a configuration chooses them: what is chosen differs from the shipped files, and nothing else does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from typer.testing import CliRunner, Result

from monitor.cli.app import app
from monitor.config import ConfigError, load
from monitor.grafana.boards import SHIPPED, BoardOptions, configured_boards
from monitor.grafana.configured import board_options

NAMES = ("fleet", "group", "itself", "rebalances", "topics")

CHOSEN = """
[http]
external_url = "https://ops.example.com/groupwatch"
[metrics]
cluster_label = "kafka_cluster"
[dashboards]
name = "eu-1"
datasource = 'Mimir "prod"'
folder = "Kafka: eu \U0001f4c8"
instance_labels = { "app.kubernetes.io/name" = "grafana" }
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "groupwatch.toml"
    file.write_text(CHOSEN, encoding="utf-8")
    return file


def dashboards(*words: str) -> Result:
    return CliRunner().invoke(app, ["dashboards", *words])


def loaded(texts: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {name: json.loads(text) for name, text in texts.items()}


def variables(board: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in board["templating"]["list"]}


def test_without_a_configuration_they_are_the_shipped_files():
    shipped = {file.stem: file.read_text(encoding="utf-8") for file in SHIPPED.iterdir()}
    assert configured_boards() == shipped
    found = dashboards()
    assert found.exit_code == 0
    assert [json.loads(line) for line in found.stdout.splitlines()] == [json.loads(shipped[name]) for name in NAMES]


def test_the_page_and_the_data_source_are_the_first_values_of_their_variables(config: Path):
    for board in loaded(configured_boards(board_options(load(config)))).values():
        page, source = (variables(board)[name] for name in ("groupwatch", "datasource"))
        address = "https://ops.example.com/groupwatch"
        assert (page["query"], page["current"]) == (address, {"text": address, "value": address})
        assert source["current"] == {"text": 'Mimir "prod"', "value": 'Mimir "prod"'}
        assert source["query"] == "prometheus"


def test_two_deployments_share_no_address_and_each_leads_to_its_own():
    """``group`` as a name, which with the name behind would give the address of the shipped dashboard of a group."""
    everywhere = [loaded(configured_boards(BoardOptions(name=name))) for name in (None, "eu", "group", "a" * 18)]
    uids = [[board["uid"] for board in boards.values()] for boards in everywhere]
    assert len({uid for each in uids for uid in each}) == 4 * 5
    assert all(re.fullmatch(r"[\w-]{1,40}", uid, re.ASCII) for each in uids for uid in each)  # Grafana takes no others
    titles = {board["title"] for boards in everywhere for board in boards.values()}
    assert len(titles) == 4 * 5  # where two in a folder have the same, Grafana's provisioning logs an error
    for boards, own in zip(everywhere, uids, strict=True):
        text = json.dumps(boards)
        linked = {urlsplit(url).path.removeprefix("/d/") for url in re.findall(r'"(/d/[^"]+)"', text)}
        assert linked
        assert linked <= set(own)
        tags = {tag for board in boards.values() for tag in board["tags"]}
        assert len(tags) == 1
        assert all(set(board["links"][0]["tags"]) == tags for board in boards.values())
    assert len({tuple(boards["fleet"]["tags"]) for boards in everywhere}) == 4


def test_a_name_is_in_the_titles(config: Path):
    boards = loaded(configured_boards(board_options(load(config))))
    assert boards["fleet"]["title"] == "groupwatch eu-1: fleet"
    assert all(board["title"].startswith("groupwatch eu-1: ") for board in boards.values())


@pytest.mark.parametrize("name", ["", "EU", "-a", "a-", "a b", "a" * 19, "ü"])
def test_a_name_that_grafana_or_kubernetes_would_not_take_is_refused(tmp_path: Path, name: str):
    file = tmp_path / "groupwatch.toml"
    file.write_text(f'[dashboards]\nname = "{name}"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^dashboards\.name should have at most 18 small letters, digits"):
        load(file)


def test_a_folder_gets_a_file_of_each(config: Path, tmp_path: Path):
    found = dashboards("--config", str(config), "--out", str(tmp_path / "new" / "boards"))
    assert (found.exit_code, found.output) == (0, "")
    written = {file.name: file.read_text("utf-8") for file in (tmp_path / "new" / "boards").iterdir()}
    assert written == {
        f"eu-1-{name}.json": text for name, text in configured_boards(board_options(load(config))).items()
    }


def test_a_grafanadashboard_has_the_dashboard_its_folder_and_the_grafana_that_gets_it(config: Path):
    """As the CRD of grafana-operator 5 has it: grafana.integreatly.org/v1beta1, and a text of JSON."""
    written = list(yaml.safe_load_all(dashboards("--config", str(config), "--format", "grafanadashboard").stdout))
    boards = loaded(configured_boards(board_options(load(config))))
    for name, each in zip(NAMES, written, strict=True):
        assert (each["apiVersion"], each["kind"]) == ("grafana.integreatly.org/v1beta1", "GrafanaDashboard")
        assert each["metadata"]["name"] == f"eu-1-groupwatch-{name}"
        assert json.loads(each["spec"].pop("json")) == boards[name]
        assert each["spec"] == {
            "instanceSelector": {"matchLabels": {"app.kubernetes.io/name": "grafana"}},
            "folder": "Kafka: eu \U0001f4c8",
        }


def test_without_labels_a_grafanadashboard_is_for_the_grafana_of_the_operators_examples():
    (*_, last) = yaml.safe_load_all(dashboards("--format", "grafanadashboard").stdout)
    assert last["metadata"]["name"] == "groupwatch-topics"
    assert last["spec"]["instanceSelector"] == {"matchLabels": {"dashboards": "grafana"}}


def test_config_maps_are_those_of_the_component_but_for_what_is_chosen(config: Path):
    """Grafana's sidecar writes each key to a file, so keys of two deployments differ."""
    shipped = Path(__file__).parents[2] / "deploy" / "kubernetes" / "monitoring" / "dashboards.yaml"
    plain = list(yaml.safe_load_all(dashboards("--format", "configmap").stdout))
    assert plain == list(yaml.safe_load_all(shipped.read_text(encoding="utf-8")))
    written = list(yaml.safe_load_all(dashboards("--config", str(config), "--format", "configmap").stdout))
    assert [list(each["data"]) for each in written] == [[f"eu-1-groupwatch-{name}.json"] for name in NAMES]
    assert {each["metadata"]["annotations"]["grafana_folder"] for each in written} == {"Kafka: eu \U0001f4c8"}


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = dashboards("--out", str(tmp_path / "file" / "boards"))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == f"groupwatch: {tmp_path}/file/boards cannot be written (Not a directory).\n"


FIRST, SECOND = (f'[http]\nexternal_url = "https://{name}.example.com"\n' for name in ("one", "two"))


@pytest.mark.parametrize("format_", ["json", "grafanadashboard", "configmap"])
def test_dashboards_of_another_deployment_are_overwritten_by_force_only(tmp_path: Path, format_: str):
    first, second, boards = tmp_path / "first.toml", tmp_path / "second.toml", tmp_path / "boards"
    first.write_text(FIRST, encoding="utf-8")
    second.write_text(SECOND, encoding="utf-8")
    words = ("--out", str(boards), "--format", format_)
    assert dashboards("--config", str(first), *words).exit_code == 0
    assert dashboards("--config", str(first), *words).exit_code == 0, "those of the next version replace them"
    written = {file: file.read_text("utf-8") for file in boards.iterdir()}
    refused = dashboards("--config", str(second), *words)
    file = boards / ("fleet.json" if format_ == "json" else "fleet.yaml")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"groupwatch: {file} has other settings (page https://one.example.com; now: page https://two.example.com). "
        "If it is yours, use --force. Otherwise set a name in [dashboards], or choose another folder.\n"
    )
    assert {file: file.read_text("utf-8") for file in boards.iterdir()} == written
    second.write_text(f'{SECOND}[dashboards]\nname = "two"\n', encoding="utf-8")
    assert dashboards("--config", str(second), *words).exit_code == 0, "they have names of their own"
    assert len([*boards.iterdir()]) == 2 * len(NAMES)
    second.write_text(SECOND, encoding="utf-8")
    assert dashboards("--config", str(second), *words, "--force").exit_code == 0
    assert "https://two.example.com" in file.read_text("utf-8")


def test_a_dashboard_of_another_uid_is_of_another_deployment(tmp_path: Path):
    named, plain = tmp_path / "named.toml", tmp_path / "boards"
    named.write_text('[dashboards]\nname = "two"\n', encoding="utf-8")
    assert dashboards("--config", str(named), "--out", str(plain)).exit_code == 0
    (plain / "two-fleet.json").rename(plain / "fleet.json")
    refused = dashboards("--out", str(plain))
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"groupwatch: {plain}/fleet.json is of another deployment (uid two-groupwatch, page http://127.0.0.1:9464, "
        "datasource default, label cluster; this one: uid groupwatch, page http://127.0.0.1:9464, datasource default, "
        "label cluster). Set a name in [dashboards], choose another folder, or overwrite it by --force.\n"
    )


def test_a_file_that_is_no_dashboard_of_groupwatch_is_kept(tmp_path: Path):
    (tmp_path / "group.json").write_text('{"uid": "mine"}', encoding="utf-8")
    refused = dashboards("--out", str(tmp_path))
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"groupwatch: {tmp_path}/group.json is no dashboard of groupwatch. "
        "Choose another folder, or overwrite it by --force.\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["group.json"]
