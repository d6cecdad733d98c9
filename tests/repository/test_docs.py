"""What the pages of docs/ name is there: findings, settings, metrics, commands with their options, files."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import typer.main

from monitor.cli.app import app
from monitor.config.settings import Thresholds
from monitor.findings.table import FINDINGS
from monitor.metrics.specs import COUNTERS, HISTOGRAMS, METRICS, OF_THE_JVM
from monitor.model import DriftCause, GroupKind
from tests.support.programs import required

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FINDINGS_PAGE = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
ALL_FINDINGS = FINDINGS_PAGE.split("## All findings\n")[1]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined] # it is a group of commands

FOLDERS = ("docs", "deploy", "dashboards", "monitor", "streaming_jobs", "tests")
WRITTEN = [page for folder in FOLDERS for page in sorted((ROOT / folder).rglob("*.md")) if not page.is_symlink()]
LINKED = [*WRITTEN, *sorted(ROOT.glob("*.md"))]
INDEX = ROOT / "docs" / "README.md"
LINK = re.compile(r"\]\(([^)\s]+)\)|\]: (\S+)")

NO_METRICS = {"groupwatch_snapshot"}
"""What looks like a metric: a field of a snapshot's first line."""


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def options(command: str) -> set[str]:
    return {option for each in COMMANDS[command].params for option in each.opts if option.startswith("-")} | {"--help"}


def test_the_page_of_findings_has_the_rows_of_the_table_in_its_order_with_its_severities():
    rows = re.findall(r"^\| `(\w+)`, `(\w+)` \| (\w+) \|", ALL_FINDINGS, re.MULTILINE)
    assert rows == [(spec.kind.value, spec.reason, spec.severity.value) for spec in FINDINGS]


def test_the_settings_in_the_table_of_findings_can_be_set():
    rows = re.findall(r"^\| `\w+`, `\w+` \| \w+ \| (.*?) \|", ALL_FINDINGS, re.MULTILINE)
    named = {word for row in rows for word in re.findall(r"`([a-z_]+_[a-z_]+)`", row)}
    assert len(named) > 5
    assert named - set(Thresholds.model_fields) - {"not_committing"} == set()


def test_the_causes_of_drift_are_all_there():
    (row,) = re.findall(r"^\| `cause` \| (.*) \|$", FINDINGS_PAGE, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) == {cause.value for cause in DriftCause}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_metric_that_a_page_names_is_exposed(page: Path):
    named = set(re.findall(r"\bgroupwatch_[a-z_]+(?![a-z_*])", page.read_text(encoding="utf-8")))
    assert named - {spec.name for spec in (*METRICS, *OF_THE_JVM, *HISTOGRAMS, *COUNTERS)} - NO_METRICS == set()


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_command_that_a_page_names_has_its_options(page: Path):
    calls = re.findall(
        r"groupwatch (run|collect|demo|doctor|prepare|status|findings|topics|unused|explain|what-if|snapshot|census|"
        r"history|report|backtest|mcp|check-config|completion)"
        r"\b([^`\n]*)",
        page.read_text("utf-8"),
    )
    for command, rest in calls:
        assert set(re.findall(r"(?<![\w-])--[a-z-]+", rest)) <= options(command), f"{command}{rest}"


def test_the_options_that_advice_names_exist():
    told = [spec.advice_for(kind) or "" for spec in FINDINGS for kind in GroupKind]
    texts = [text for text in told if "what-if" in text]
    named = {option for text in texts for option in re.findall(r"--[a-z-]+", text)}
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


LOG_INS = {
    "PLAIN": "SASL PLAIN",
    "SCRAM": "SCRAM-SHA-512",
    "OAuth": "OAUTHBEARER",
    "Kerberos": "GSSAPI",
    "AWS IAM": "IAM",
}
"""What the comparison calls a log-in, and the page of settings."""


def test_the_comparison_has_the_log_ins_that_the_settings_have():
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("comparison.md", "configuration.md")]
    (own,) = re.findall(r"^\| SASL \|([^|]*)\|", pages[0], re.MULTILINE)
    supported = " ".join(re.findall(r"^\| ([^|]*) \| yes \|", pages[1], re.MULTILINE))
    assert {name for name in LOG_INS if name in own} == {name for name, row in LOG_INS.items() if row in supported}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_pages_install_groupwatch_from_a_clone(page: Path):
    """It is on no package index, where anyone could register its name."""
    assert re.findall(r"pip install\s+'?groupwatch\S*", page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", LINKED, ids=names)
def test_every_link_of_a_page_leads_to_a_file_and_to_a_heading_in_it(page: Path):
    assert [link for link in links_of(page) if not leads_somewhere(page, link)] == []


def test_every_page_of_the_documentation_is_in_its_index():
    indexed = {(INDEX.parent / link.partition("#")[0]).resolve() for link in links_of(INDEX)}
    decisions = INDEX.parent / "decisions" / "README.md"
    indexed |= {(decisions.parent / link.partition("#")[0]).resolve() for link in links_of(decisions)}
    assert [names(page) for page in (ROOT / "docs").rglob("*.md") if page not in {*indexed, INDEX}] == []


def test_the_headings_of_a_page_have_the_anchors_that_github_gives_them():
    text = "# What they cost\n## `[clusters.NAME]`\n```\n# a comment\n```\n## A, B & C: 1-2\n## A, B & C: 1-2\n"
    assert anchors(text) == {"what-they-cost", "clustersname", "a-b--c-1-2", "a-b--c-1-2-1"}


def test_every_folder_of_the_code_has_a_row_in_the_architecture():
    rows = re.findall(r"^\| `([\w/.]+)` \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE)
    parts = [path for path in (ROOT / "monitor").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    named = {path.name + ("/" if path.is_dir() else "") for path in parts if not path.name.startswith("__")}
    assert named | {"streaming_jobs/", "dashboards/"} <= set(rows)


def test_the_queries_that_the_migration_names_are_understood_by_prometheus(tmp_path: Path):
    promtool = required("promtool", "prometheus")
    text = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    spans = re.findall(r"`((?:(?:sum|max|count) by |groupwatch_)[^`]*)`", text)
    queries = {re.sub(r"(?<=[{,])(\w+)(?=[,}])", r'\1!=""', span) for span in spans if span != "groupwatch.findings"}
    rules = [
        {"record": "checked", "labels": {"number": str(n)}, "expr": query} for n, query in enumerate(sorted(queries))
    ]
    assert len(rules) > 30
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "shown", "rules": rules}]}), encoding="utf-8")
    checked = subprocess.run([promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def links_of(page: Path) -> list[str]:
    """The relative links of a page, outside of its code."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = (one or other for one, other in LINK.findall(text))
    return [link for link in links if "://" not in link and not link.startswith("mailto:")]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page if not path else page.parent / path
    return target.exists() and (not anchor or anchor in anchors(target.read_text(encoding="utf-8")))


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page: small letters, no punctuation, hyphens for spaces, numbers for repeats."""
    found: list[str] = []
    for heading in re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    ):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return {name + (f"-{found[:at].count(name)}" if name in found[:at] else "") for at, name in enumerate(found)}
