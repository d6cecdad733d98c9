"""What the pages of docs/ name is there: findings, settings, metrics, commands with their options, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from monitor.cli import app
from monitor.config.settings import Thresholds
from monitor.detection.advice import ADVICE
from monitor.metrics.specs import METRICS
from monitor.model import DriftCause
from tests.detection.said import Rules

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
ALL_FINDINGS = FINDINGS.split("## All findings\n")[1]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined] # it is a group of commands

NO_METRICS = {"groupwatch_snapshot"}
"""What looks like a metric: a field of a snapshot's first line."""


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def options(command: str) -> set[str]:
    return {option for each in COMMANDS[command].params for option in each.opts if option.startswith("-")} | {"--help"}


def test_the_table_of_findings_has_each_that_a_rule_makes_and_no_other():
    rows = re.findall(r"^\| `(\w+)`, `(\w+)` \|", ALL_FINDINGS, re.MULTILINE)
    assert sorted(rows) == sorted(set(Rules().said()))


def test_the_settings_in_the_table_of_findings_can_be_set():
    rows = re.findall(r"^\| `\w+`, `\w+` \| (.*?) \|", ALL_FINDINGS, re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"`([a-z_]+_[a-z_]+)`", row)}
    assert len(named) > 5
    assert named - set(Thresholds.model_fields) - {"not_committing"} == set()


def test_the_causes_of_drift_are_all_there():
    (row,) = re.findall(r"^\| `cause` \| (.*) \|$", FINDINGS, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == {cause.value for cause in DriftCause}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_metric_that_a_page_names_is_exposed(page: Path):
    named = set(re.findall(r"\bgroupwatch_[a-z_]+(?![a-z_*])", page.read_text(encoding="utf-8")))
    assert named - {spec.name for spec in METRICS} - NO_METRICS == set()


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_command_that_a_page_names_has_its_options(page: Path):
    calls = re.findall(
        r"groupwatch (run|collect|demo|prepare|explain|what-if|snapshot)\b([^`\n]*)", page.read_text("utf-8")
    )
    for command, rest in calls:
        assert set(re.findall(r"(?<![\w-])--[a-z-]+", rest)) <= options(command), f"{command}{rest}"


def test_the_options_that_advice_names_exist():
    named = {option for said in ADVICE.values() if "what-if" in said for option in re.findall(r"--[a-z-]+", said)}
    assert named
    assert named <= options("what-if")


WAY_IN = {"--token-file", "--user", "--password-file", "--ca-file"}
"""Of all commands that ask a job: told in docs/access.md."""


def test_the_options_of_what_if_are_all_told():
    section = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8").split("## what-if")[1]
    told = set(re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE))
    assert told == options("what-if") - {"--help", "--url", "--snapshot", "--json"} - WAY_IN


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_target_of_make_and_every_file_that_a_page_names_exist(page: Path):
    text, makefile = page.read_text(encoding="utf-8"), (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    paths = re.findall(r"`((?:tests|monitor|streaming_jobs|dashboards|docs)/[\w/.]+)`", text)
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert [path for path in paths if not (ROOT / path).exists()] == []
