"""What the README and the first pages say is true: tests run the commands, settings are read, sentences are told."""

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
STARTS = sorted((ROOT / "docs" / "start").glob("*.md"))
FASTER = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8").split("## A faster start")[1]
TOLD = " ".join((ROOT / "tests" / "detection" / "told.txt").read_text(encoding="utf-8").split())

RUN_BY = {
    "make demo": "tests.demo.test_demo:test_ctrl_c_while_it_runs_ends_all_of_it",
    "make test": "tests.repository.test_readme:test_make_test_runs_the_suite",
    'make demo ARGS="--duration 150 --port 9500 --json-summary summary.json"': (
        "tests.demo.test_demo:test_the_summary_tells_growth_orphans_and_healing"
    ),
    "groupwatch run --config groupwatch.toml": (
        "tests.streaming_jobs.jobs.test_job:test_offsets_ends_and_lag_equal_what_the_admin_client_reports"
    ),
    "groupwatch doctor --bootstrap-server broker1:9092": (
        "tests.doctor.test_command:test_text_names_the_worst_with_what_to_do_and_what_is_unknown"
    ),
    "groupwatch status --watch": "tests.cli.test_lists:test_a_watch_in_a_process_ends_at_ctrl_c",
    "groupwatch findings prod": ("tests.cli.test_lists:test_findings_have_what_to_do_and_those_of_clusters_come_first"),
    "groupwatch prepare": (
        "tests.streaming_jobs.runtime.test_class_archive:test_prepare_writes_an_archive_that_a_jvm_maps"
    ),
    "groupwatch explain prod orders": (
        "tests.demo.test_demo:test_a_running_job_explains_its_groups_and_what_they_would_be"
    ),
    "groupwatch what-if prod orders --members 3 --assignor cooperative-sticky": (
        "tests.cli.test_commands:test_what_if_takes_changes_together_and_answers_as_json"
    ),
    "groupwatch census prod": (
        "tests.cli.test_census:test_the_table_has_members_and_groups_by_library_of_a_job_and_of_a_file"
    ),
    'groupwatch explain prod orders --at "2026-11-22 02:14"': (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    'groupwatch report prod orders --since "2026-11-22 02:00" --until "2026-11-22 03:00"': (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    "groupwatch backtest --config new.toml --since -7d": (
        "tests.cli.test_backtest:test_an_override_concerns_the_groups_of_its_pattern_alone"
    ),
    "groupwatch snapshot > prod.jsonl": ("tests.cli.test_commands:test_a_snapshot_of_a_job_can_be_asked_later"),
    'make doctor ARGS="--bootstrap-server broker1:9092"': (
        "tests.doctor.test_command:test_text_names_the_worst_with_what_to_do_and_what_is_unknown"
    ),
    'make demo ARGS="--with prometheus"': (
        "tests.demo.test_prometheus:test_an_alert_of_a_rule_reaches_alertmanager_and_whom_it_tells"
    ),
    "groupwatch check-config groupwatch.toml --connect": (
        "tests.checks.test_check_config:test_connect_says_what_a_real_broker_permits"
    ),
    "groupwatch run --config groupwatch.toml --compat kafka_exporter": (
        "tests.streaming_jobs.jobs.test_job:test_series_are_as_the_configuration_chooses_and_findings_are_not"
    ),
    "export GROUPWATCH_URL=https://watch.example:9464": (
        "tests.cli.test_names:test_variables_name_the_job_and_what_is_typed_overrides_them"
    ),
    "groupwatch status": "tests.cli.test_lists:test_status_shows_the_worst_first_with_lag_and_its_age",
    "groupwatch status --fail-on critical --json": (
        "tests.cli.test_lists:test_a_script_learns_from_the_code_whether_there_is_a_finding"
    ),
    "groupwatch topics prod --unread": "tests.cli.test_lists:test_topics_and_what_could_be_deleted",
    "groupwatch unused prod": "tests.cli.test_lists:test_what_could_be_deleted_has_its_command",
    "groupwatch completion bash > /etc/bash_completion.d/groupwatch": (
        "tests.cli.test_names:test_a_bash_completes_names_of_clusters_groups_and_topics"
    ),
    "groupwatch what-if prod orders --without orders-worker-3": (
        "tests.cli.test_commands:test_what_if_takes_changes_together_and_answers_as_json"
    ),
    "groupwatch what-if prod orders --assignor sarama.roundrobin": (
        "tests.explain.test_what_if:test_a_group_of_another_library_is_simulated_by_the_assignor_of_its_leader"
    ),
    "groupwatch snapshot prod orders > orders.jsonl": (
        "tests.cli.test_commands:test_a_snapshot_of_a_job_can_be_asked_later"
    ),
    "groupwatch history prod orders --since -3h": (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    "groupwatch report prod orders --since -1h > incident.md": (
        "tests.streaming_jobs.jobs.test_recording:test_the_commands_answer_from_the_folder_as_the_job_does"
    ),
    "groupwatch rules --config groupwatch.toml > alerts.yml": (
        "tests.alert_rules.test_options:test_with_clusters_alone_they_are_the_shipped_rules_and_one_for_each_cluster"
    ),
    "promtool check rules alerts.yml": (
        "tests.alert_rules.test_options:test_promtool_is_content_with_rules_of_several_clusters"
    ),
    "groupwatch dashboards --config groupwatch.toml --out boards": (
        "tests.grafana.test_configured_boards:test_a_folder_gets_a_file_of_each"
    ),
}
"""Every command that a newcomer is shown and the test that runs it, with other ports and files."""


def blocks(language: str, page: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_every_command_is_run_by_a_test():
    pages = (README, DEMO, FASTER, *(page.read_text(encoding="utf-8") for page in STARTS))
    shown = [block for page in pages for block in blocks("sh", page)]
    commands = {line.removeprefix(".venv/bin/") for block in shown for line in block.splitlines() if line}
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
