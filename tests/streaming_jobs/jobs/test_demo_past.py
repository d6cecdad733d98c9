"""The commands about its past that the demo prints: with instants that were recorded, once, and not before."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from monitor.config import load
from monitor.model import ClusterSnapshot, Finding, FindingKind, GroupKind, GroupSummary, Phase
from monitor.model.snapshots import RecordingHealth
from streaming_jobs.jobs.demo.past import PastCommands

READY_MS = 1_795_313_600_000
"""2026-11-22 02:13:20 UTC."""
GREW = Finding(FindingKind.ORPHANED, "grew", READY_MS + 15_400, "3 partitions of orders (4-6) have no owner.")
LAG = Finding(FindingKind.LAG, "not_committing", READY_MS, "reports has not committed.")


def snapshot(after_s: float, *findings: Finding, recorded_s: float | None = None) -> ClusterSnapshot:
    """The demo so many seconds after it was ready, with the findings of orders."""
    group = GroupSummary("demo", "orders", GroupKind.CLASSIC, Phase.STABLE, "range", 2, 0, findings)
    recorded_ms = None if recorded_s is None else READY_MS + round(1000 * recorded_s)
    health = RecordingHealth(recorded_ms=recorded_ms)
    at_ms = READY_MS + round(1000 * after_s)
    return ClusterSnapshot(cluster="demo", ready=True, evaluated_ms=at_ms, groups=(group,), recording=health)


def commands(past: PastCommands, *seen: ClusterSnapshot) -> list[tuple[str, ...]]:
    return [past.look(each) for each in seen]


def test_they_come_once_when_a_finding_is_over_and_recorded(tmp_path: Path):
    past = PastCommands("http://127.0.0.1:9464", tmp_path / "history")
    *before, told, after = commands(
        past,
        snapshot(1),
        snapshot(19, GREW, recorded_s=5),
        snapshot(25.5, GREW, recorded_s=5),
        snapshot(27, recorded_s=25),
        snapshot(45, recorded_s=45.4),
        snapshot(47, recorded_s=45.5),
        snapshot(48, recorded_s=46),
    )
    assert before == [()] * 5
    words = [shlex.split(line)[1:] for line in told]
    tried = str(tmp_path / "other-thresholds.toml")
    assert words == [
        ["explain", "demo", "orders", "--at", "2026-11-22T02:13:40Z"],
        ["report", "demo", "orders", "--since", "2026-11-22T02:12:35Z"],
        ["backtest", "--config", tried, "--since", "2026-11-22T02:12:35Z"],
    ]
    assert after == ()


def test_a_finding_that_is_there_is_not_the_past(tmp_path: Path):
    past = PastCommands("http://127.0.0.1:9464", tmp_path / "history")
    assert commands(past, snapshot(25, GREW, recorded_s=5), snapshot(60, GREW, recorded_s=59)) == [(), ()]


def test_a_finding_of_a_moment_is_passed_over_and_so_is_another_kind(tmp_path: Path):
    past = PastCommands("http://127.0.0.1:9464", tmp_path / "history")
    assert commands(past, snapshot(17, GREW), snapshot(30, LAG, recorded_s=1), snapshot(90, recorded_s=80)) == [()] * 3


@pytest.mark.parametrize("url", ["http://127.0.0.1:9500", "http://127.0.0.1:1/watch"])
def test_a_job_elsewhere_is_named_where_it_is_asked(tmp_path: Path, url: str):
    past = PastCommands(url, tmp_path / "history")
    told = commands(past, snapshot(25, GREW), snapshot(60, recorded_s=59))[-1]
    assert [shlex.split(line)[-2:] == ["--url", url] for line in told] == [True, True, False]


def test_the_configuration_to_try_is_one_and_differs_by_one_threshold(tmp_path: Path):
    folder = tmp_path / 'a "folder"'
    folder.mkdir()
    past = PastCommands("http://127.0.0.1:9464", folder / "history")
    commands(past, snapshot(25, GREW), snapshot(60, recorded_s=59))
    tried = folder / "other-thresholds.toml"
    assert tomllib.loads(tried.read_text())["detection"] == {"commit_silence_s": 60}
    assert load(tried).history.folder == str(folder / "history")
