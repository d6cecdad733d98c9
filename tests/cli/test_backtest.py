"""The command backtest, on a recording in a folder that is made by hand: each thing at a known second."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from msgspec.structs import replace
from typer.testing import CliRunner

from monitor.cli import processes
from monitor.cli.app import app
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.history.backtest import cluster
from monitor.history.recorded import RecordedEvent, RecordedSettings
from monitor.model import Entity
from tests.history.backtest.test_trial import END, HANGS
from tests.history.folder import write_recording
from tests.history.test_story import START, row, seen

FIRST = START + 60_000
"""When the first portion was recorded: at the end of the first minute."""


def settings_of(**thresholds: object) -> RecordedSettings:
    return RecordedSettings(rules=DetectionRules(DetectionSettings(**thresholds)))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two groups in each of two clusters commit nothing from second 100 to 640; the job starts with the defaults.

    The job of cluster c is started anew in second 300, with a limit of the lag.
    """
    polls = [each for second in range(0, END + 1, 10) for each in seen(second, 100 + second)]
    rows = [*polls, *(own for group in ("payments", "batch-1") for own in map(row_of(group), HANGS))]
    write_recording(
        tmp_path / "history", "c", rows, {START: settings_of(), START + 300_000: settings_of(lag_records=100)}
    )
    write_recording(tmp_path / "history", "other", rows, {START: settings_of()})
    return tmp_path


def row_of(group: str):
    def made(each: RecordedEvent):
        event = replace(each.event, group=group)
        return row(Entity.GROUP, group, (each.at_ms - START) // 1_000, [RecordedEvent(each.at_ms, event)])

    return made


def run(folder: Path, config: str, *options: str) -> Result:
    file = folder / "new.toml"
    file.write_text(f'[history]\nfolder = "{folder}/history"\n{config}', encoding="utf-8")
    return CliRunner().invoke(app, ["backtest", "--config", str(file), "--since", "2026-11-22", *options])


def answer(folder: Path, config: str, *options: str) -> list[dict]:
    result = run(folder, config, "--json", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


BATCHES = """
[[detection.overrides]]
groups = "batch-.*"
lag_records = 100
"""


def test_an_override_concerns_the_groups_of_its_pattern_alone(folder: Path):
    """More than 100 records wait from second 160 to 640. The alert fires six minutes later, and stays for five."""
    result = run(folder, BATCHES, "--cluster", "other")
    assert result.exit_code == 0, result.stderr
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == (
        "Cluster other, 2026-11-22 02:15:00 UTC to 2026-11-22 02:35:00 UTC: "
        "2 groups, 1 with other thresholds than were in force."
    )
    assert [line.split() for line in lines if line.startswith("GroupwatchLagOverLimit")] == [
        ["GroupwatchLagOverLimit", "warning", "0", "1", "1"]
    ]
    assert [line.split() for line in lines if line.startswith("lag/")] == [
        ["lag/not_committing", "warning", "1", "1"],
        ["lag/behind", "warning", "0", "1", "1"],
    ]
    sentence = "The group has a lag of more than 100 records, in 2 partitions of t (0-1)."
    assert [line.split("  ")[-1] for line in lines if line.startswith("more  ")] == [
        f"at 2026-11-22 02:22:40 UTC, for 7 min. {sentence}",
        f"at 2026-11-22 02:16:40 UTC, for 8 min. {sentence}",
    ]
    assert "batch-1" in result.stdout
    assert "payments" not in result.stdout


def test_each_part_is_compared_with_the_thresholds_that_were_in_force_in_it(folder: Path):
    """In cluster c, that lag was found from the new start on, in second 300; else it would have been from 160 on."""
    (found,) = answer(folder, "[detection]\nlag_records = 100\n", "--cluster", "c")
    (behind,) = (each for each in found["findings"] if each["name"] == "lag/behind")
    assert (behind["before"], behind["after"], behind["more"], behind["fewer"]) == (2, 2, 0, 0)
    assert behind["sooner"] == {"count": 2, "median_ms": 140_000, "most_ms": 140_000}
    assert {each["group"] for each in found["finding_examples"]} == {"payments", "batch-1"}
    assert all(each["after_from_ms"] == START + 160_000 for each in found["finding_examples"])


def test_groups_and_clusters_are_chosen(folder: Path):
    new = "[detection]\nlag_records = 100\n"
    assert [(each["cluster"], each["groups"], each["judged"]) for each in answer(folder, new)] == [
        ("c", 2, 2),
        ("other", 2, 2),
    ]
    (found,) = answer(folder, new, "--cluster", "other", "--group", "pay.*")
    assert (found["groups"], found["judged"]) == (1, 1)
    assert {each["group"] for each in found["alert_examples"]} == {"payments"}


def test_several_processes_find_what_one_finds(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Each judges one of the two groups. Nothing else is told on the way but the outcome."""
    new = "[detection]\nlag_records = 100\n"
    alone = answer(folder, new)
    monkeypatch.setattr(cluster, "SMALL_BYTES_A_DAY", 0)
    monkeypatch.setattr(processes, "count_processors", lambda: 2)
    assert answer(folder, new) == alone


def test_the_thresholds_that_were_in_force_make_no_difference(folder: Path):
    result = run(folder, "", "--cluster", "other")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "Cluster other, 2026-11-22 02:15:00 UTC to 2026-11-22 02:35:00 UTC: "
        "2 groups, none with other thresholds than were in force."
    ]


@pytest.mark.parametrize(
    ("config", "options", "sentence"),
    [
        ("[detection]\nlag_record = 1\n", (), "detection.lag_record is not a known key (did you mean lag_records?)."),
        ("", ("--cluster", "nowhere"), "has no cluster nowhere."),
        (
            "",
            ("--history", "/nowhere"),
            "There is no recording in /nowhere, or this user may not read it: set [history] folder",
        ),
        ("", ("--since", "2020-01-01", "--until", "2020-01-02"), "cluster c starts at 2026-11-22 02:15:00 UTC."),
        ("", ("--since", "2026-11-22 02:40"), "cluster c reaches until 2026-11-22 02:35:00 UTC."),
        ("", ("--since", "soon"), "soon is no instant: give "),
        ("", ("--group", "(?=a)"), "--group (?=a) is no regular expression of RE2: "),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_answered_ends_with_a_sentence(
    folder: Path, config: str, options: tuple[str, ...], sentence: str
):
    result = run(folder, config, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr
    assert result.stderr.startswith("groupwatch: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_is_needed(folder: Path):
    file = folder / "none.toml"
    file.write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["backtest", "--config", str(file)])
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"groupwatch: {file} has no [history] folder: give the folder of the recording with --history.\n"
    )
