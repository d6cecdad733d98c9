"""groupwatch verify --since with a recording: for how long expectations were met, made by hand to the second."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result
from typer.testing import CliRunner

from monitor.cli import verify
from monitor.cli.app import app
from monitor.history.met_then import measured_spans
from monitor.history.recorded import RecordedPasses
from monitor.model import Entity
from tests.cli.closed_pipe import code_without_reader
from tests.history.folder import write_recording
from tests.history.test_story import START, commit, joined, row, seen

FIRST, END = 60, 1_200
"""The recording is of these seconds."""
DAY = 86_400


def hour(polls: range = range(0, END + 1, 10)) -> list:
    """Two members, from second 300 to 600 one; both partitions are read to their ends."""
    own = [
        joined(5, 1, {"a": [0], "b": [1]}),
        joined(300, 2, {"a": [0, 1]}),
        joined(600, 3, {"a": [0], "b": [1]}),
        *(commit(second, n, 100 + second) for second in range(10, END + 1, 10) for n in (0, 1)),
    ]
    ends = [each for second in polls for each in seen(second, 100 + second)]
    return [*ends, *(row(Entity.GROUP, "g", (each.at_ms - START) // 1_000, [each]) for each in own)]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def run(text: str, *words: str, rows: list | None = None, now: int = END) -> Result:
        monkeypatch.setattr(verify, "now_ms", lambda: START + 1_000 * now)
        folder = tmp_path / "history"
        if not folder.exists():
            write_recording(folder, "c", hour() if rows is None else rows, {})
        (tmp_path / "e.toml").write_text(text)
        words = words or ("--since", "2026-11-22 02:15")
        return CliRunner().invoke(app, ["verify", str(tmp_path / "e.toml"), "--history", str(folder), *words])

    return run


def expect(percent: float, groups: str = "g", more: str = "members = 2") -> str:
    slo = f'slo = {{ percent = {percent}, window = "30d" }}'
    return f'[[expect]]\ngroups = "{groups}"\n{more}\nallow = ["rebalance"]\n{slo}\n'


def entry(answer: Result) -> dict:
    (found,) = json.loads(answer.stdout)["entries"]
    return found


def test_what_was_met_and_not_adds_up_to_the_span(ask):
    """From second 60 to 1,200, and one member from 300 to 600: 300 of 1,140 seconds."""
    answer = ask(expect(70), "--since", "2026-11-22 02:15", "--json")
    found = entry(answer)
    assert (found["yes_ms"], found["no_ms"], found["unknown_ms"]) == (840_000, 300_000, 0)
    assert (found["target"], answer.exit_code) == ("yes", 0)


@pytest.mark.parametrize(
    ("text", "code", "last"),
    [
        (expect(70), 0, "All objectives would have been met."),
        (expect(74), 1, "Not all objectives would have been met."),
        (
            expect(50, "paymnets"),
            2,
            "Whether all objectives would have been met is not known: unknown time is not good.",
        ),
        ('[[expect]]\ngroups = "g"\n', 2, "No entry has slo, so there is no objective."),
    ],
)
def test_the_exit_code_is_that_of_the_objectives(ask, text, code, last):
    answer = ask(text)
    assert (answer.exit_code, answer.stdout.splitlines()[-1]) == (code, last), answer.output


def test_the_exit_code_does_not_need_a_reader(ask, tmp_path):
    """By the clock of the machine, most of the span is later than the recording, so unknown."""
    ask(expect(40))
    words = ("--history", str(tmp_path / "history"), "--since", "2026-11-22 02:15", "--junit", str(tmp_path / "r.xml"))
    assert code_without_reader("verify", str(tmp_path / "e.toml"), *words) == 2
    assert (tmp_path / "r.xml").read_bytes().startswith(b"<?xml")


def test_of_one_group_only_its_entries_count(ask):
    since = ("--since", "2026-11-22 02:15")
    text = expect(70) + expect(99, "payments", "exists = true")
    assert ask(text).exit_code == 2
    answer = ask(text, *since, "--group", "g", "--json")
    assert (entry(answer)["groups"], answer.exit_code) == ("g", 0)
    answer = ask(text, *since, "--group", "h")
    assert (answer.exit_code, answer.stderr) == (2, "groupwatch: No entry of the file is about h of c.\n")


def test_a_report_without_objectives_is_an_error(ask, tmp_path):
    report = tmp_path / "report.xml"
    ask('[[expect]]\ngroups = "g"\n', "--since", "2026-11-22 02:15", "--junit", str(report))
    (error,) = ElementTree.parse(report).getroot().iter("error")
    assert error.get("message") == "No entry has slo, so there is no objective."


def test_a_line_for_each_entry(ask):
    lines = [line.split() for line in ask(expect(70) + expect(99, ".*")).stdout.splitlines()]
    assert lines[0][:2] == ["Cluster", "c,"]
    assert ["g", "73.684%", "26.315%", "0%", "70%", "of", "30d", "met"] in lines
    assert [".*", "73.684%", "26.315%", "0%", "99%", "of", "30d", "not", "met"] in lines


def test_time_before_the_recording_is_unknown(ask):
    """Asked for 2,280 seconds, of which the last 1,140 are recorded."""
    found = entry(ask(expect(40), "--since", "2026-11-22 01:56", "--json"))
    assert (found["yes_ms"], found["no_ms"], found["unknown_ms"]) == (840_000, 300_000, 1_140_000)
    assert found["target"] == "unknown"


def test_time_after_it_is_unknown_once_it_is_long(ask):
    """The last portion is of second 1,260, and now is 1,800."""
    found = entry(ask(expect(40), "--since", "2026-11-22 02:15", "--json", now=END + 600))
    assert (found["yes_ms"], found["no_ms"], found["unknown_ms"]) == (900_000, 300_000, 540_000)


def test_time_without_passes_is_unknown(ask):
    """No collector polled from second 700 to 1,000: the ends say nothing from 120 s after the last one on."""
    rows = hour(range(0, 701, 10)) + [
        each for second in range(1_000, END + 1, 10) for each in seen(second, 100 + second)
    ]
    found = entry(ask(expect(40), "--since", "2026-11-22 02:15", "--json", rows=rows))
    assert (found["yes_ms"], found["no_ms"], found["unknown_ms"]) == (660_000, 300_000, 180_000)


def test_a_day_with_three_restarts_and_an_outage_adds_up(ask):
    """Three times, nobody polled for ten minutes (unknown 120 s after a poll). For two hours, it had one member."""
    gaps = [range(at, at + 600) for at in (10_800, 43_200, 64_800)]
    polls = [second for second in range(0, DAY + 61, 60) if not any(second in gap for gap in gaps)]
    own = [
        joined(5, 1, {"a": [0], "b": [1]}),
        joined(21_600, 2, {"a": [0, 1]}),
        joined(28_800, 3, {"a": [0], "b": [1]}),
    ]
    own += [commit(second, n, 100 + second) for second in range(60, DAY + 61, 60) for n in (0, 1)]
    rows = [each for second in polls for each in seen(second, 100 + second)]
    rows += [row(Entity.GROUP, "g", (each.at_ms - START) // 1_000, [each]) for each in own]
    found = entry(ask(expect(90), "--since", "-1d", "--json", rows=rows, now=DAY + 60))
    unknown_ms = 3 * (600 + 60 - 120) * 1_000  # the last poll before a gap is 60 s before it
    assert (found["no_ms"], found["unknown_ms"]) == (7_200_000, unknown_ms)
    assert found["yes_ms"] + found["no_ms"] + found["unknown_ms"] == 1_000 * DAY


def test_time_that_was_recorded_late_is_unknown():
    """The job was away from 120 s to 1,800 s: then it read all that had happened."""
    minutes = [RecordedPasses(60_000 * n, 60_000 * n + 50_000, 60_000 * n + 60_000) for n in (0, 1, *range(30, 40))]
    backlog = RecordedPasses(120_000, 1_790_000, 1_800_000)
    found = measured_spans(sorted([*minutes, backlog]), 2_400_000)
    assert found == ((0, 230_000), (1_800_000, 2_400_000))


@pytest.mark.parametrize(
    "words",
    [
        ("--since", "-1h", "--at", "-1m"),
        ("--since", "-1h", "--bootstrap-server", "127.0.0.1:9"),
        ("--since", "-1h", "--replaced"),
        ("--since", "soon"),
        ("--since", "-1h", "--cluster", "other"),
    ],
    ids=" ".join,
)
def test_what_has_no_answer_is_refused(ask, words):
    assert ask(expect(50), *words).exit_code == 2
