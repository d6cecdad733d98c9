"""What the README says is true: every command is run by a test, every setting is read, every sentence is told."""

from __future__ import annotations

import importlib
import re
import subprocess
from pathlib import Path

import pytest

from monitor.config import load

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DEMO = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
FASTER = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8").split("## A faster start")[1]
TOLD = " ".join((ROOT / "tests" / "detection" / "told.txt").read_text(encoding="utf-8").split())

RUN_BY = {
    "make demo": "tests.demo.test_demo:test_ctrl_c_while_it_runs_ends_all_of_it",
    "make test": "tests.repository.test_readme:test_make_test_runs_the_suite",
    'make demo ARGS="--duration 150 --port 9500 --json-summary summary.json"': (
        "tests.demo.test_demo:test_the_summary_tells_growth_orphans_and_healing"
    ),
    ".venv/bin/groupwatch run --config groupwatch.toml": (
        "tests.streaming_jobs.jobs.test_job:test_offsets_ends_and_lag_equal_what_the_admin_client_reports"
    ),
    ".venv/bin/groupwatch doctor --bootstrap-server broker1:9092": (
        "tests.doctor.test_command:test_text_names_the_worst_with_what_to_do_and_what_is_unknown"
    ),
    ".venv/bin/groupwatch status --watch": "tests.cli.test_lists:test_a_watch_in_a_process_ends_at_ctrl_c",
    ".venv/bin/groupwatch findings prod": (
        "tests.cli.test_lists:test_findings_have_what_to_do_and_those_of_clusters_come_first"
    ),
    ".venv/bin/groupwatch prepare": (
        "tests.streaming_jobs.runtime.test_class_archive:test_prepare_writes_an_archive_that_a_jvm_maps"
    ),
    ".venv/bin/groupwatch explain prod orders": (
        "tests.demo.test_demo:test_a_running_job_explains_its_groups_and_what_they_would_be"
    ),
    ".venv/bin/groupwatch what-if prod orders --members 3 --assignor cooperative-sticky": (
        "tests.cli.test_commands:test_what_if_takes_changes_together_and_answers_as_json"
    ),
    ".venv/bin/groupwatch census prod": (
        "tests.cli.test_census:test_the_table_has_members_and_groups_by_library_of_a_job_and_of_a_file"
    ),
    '.venv/bin/groupwatch explain prod orders --at "2026-11-22 02:14"': (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    '.venv/bin/groupwatch report prod orders --since "2026-11-22 02:00" --until "2026-11-22 03:00"': (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    ".venv/bin/groupwatch backtest --config new.toml --since -7d": (
        "tests.cli.test_backtest:test_an_override_concerns_the_groups_of_its_pattern_alone"
    ),
    ".venv/bin/groupwatch snapshot > prod.jsonl": (
        "tests.cli.test_commands:test_a_snapshot_of_a_job_can_be_asked_later"
    ),
}
"""Every command that a newcomer is shown and the test that runs it, with other ports and files."""


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_every_command_is_run_by_a_test():
    shown = [block for page in (README, DEMO, FASTER) for block in blocks("sh", page)]
    commands = [line for block in shown for line in block.splitlines() if line]
    assert sorted(commands) == sorted(RUN_BY)


def test_the_sentences_that_it_shows_are_told_by_the_rules():
    sentences = re.findall(r"^\| .* \| \*(.*)\* \|$", README, re.MULTILINE)
    assert len(sentences) > 3
    assert [sentence for sentence in sentences if f"Group checkout: {sentence}" not in TOLD] == []


@pytest.mark.parametrize("place", RUN_BY.values())
def test_the_test_that_runs_a_command_exists(place: str):
    module, _, name = place.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_make_test_runs_the_suite():
    shown = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "-m pytest" in shown


def test_the_example_configuration_is_read(tmp_path: Path):
    (example,) = blocks("toml")
    config = tmp_path / "groupwatch.toml"
    config.write_text(example, encoding="utf-8")
    settings = load(config)
    assert settings.clusters["prod"].addresses == ("broker1:9092", "broker2:9092")
    assert settings.spark.checkpoint == "/var/lib/groupwatch/checkpoint"


def test_every_file_it_points_to_is_there():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link.partition("#")[0]).is_file()] == []
