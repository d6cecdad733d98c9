"""Conventions of commands: short options, panels, one form of errors, instants in a zone, and what a wait shows."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.errors import SourceError
from monitor.cli.manual import MANUALS, PANELS
from monitor.cli.zones import instant_in_zone
from tests.support.answering import Answer, answering

NOW = 1_795_320_000_000
"""2026-11-22 04:00 UTC."""


def ask(*words: str):
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "200", "TERM": "dumb"})


def test_short_options_do_what_the_long_ones_do():
    assert ask("-h").stdout == ask("--help").stdout != ""
    assert ask("explain", "-h").stdout == ask("explain", "--help").stdout != ""
    assert ask("-V").stdout == ask("--version").stdout != ""


def test_help_and_version_are_words_too():
    assert ask("help").stdout == ask("--help").stdout
    assert ask("help", "explain").stdout == ask("explain", "--help").stdout
    assert ask("version").stdout == ask("--version").stdout


@pytest.mark.parametrize("name", ["", *MANUALS])
def test_the_help_has_no_types_of_flags_and_no_braces_and_loses_no_word_in_brackets(name: str):
    text = ask(*name.split(), "--help").stdout
    assert "Show this message and exit." in text
    assert "<bool>" not in text
    assert "{" not in _usage(text) or name == "completion"
    assert ": ," not in text, "what looks like markup is left out"


def test_the_usage_has_the_names_as_they_are_typed():
    assert _usage(ask("explain", "-h").stdout).endswith("explain [OPTIONS] [CLUSTER] GROUP [TOPIC PARTITION]")
    assert _usage(ask("status", "-h").stdout).endswith("status [OPTIONS] [CLUSTER]")


def _usage(text: str) -> str:
    return next(line.strip() for line in text.splitlines() if "Usage: " in line)


def test_the_help_has_the_commands_in_panels():
    assert {name for names in PANELS.values() for name in names} == MANUALS.keys()
    text = ask("--help").stdout
    places = [text.index(f"─ {panel} ─") for panel in PANELS]
    assert places == sorted(places)
    assert places[0] < text.index(" status ") < text.index(" doctor ") < places[1] < text.index(" collect ") < places[2]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("report", "--format", "pdf"), "Invalid value for '--format': 'pdf' is not one of 'md', 'html', 'json'."),
        (("run", "--nope"), "No such option: --nope"),
        (("nope",), "No such command 'nope'"),
        (("staus",), "No such command 'staus'"),
        (("demo", "--port", "x"), "Invalid value for '--port': should be a whole number. See "),
        (("explain",), "Missing argument"),
        (("demo", "--with", "x\x1b[2J"), "Invalid value for --with: no such system: x\\x1b[2J; there are "),
        (("status", "--fail-on", "info"), "Invalid value for '--fail-on': "),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_wrong_word_is_one_line_in_the_form_of_all_errors(words: tuple[str, ...], line: str):
    answer = ask(*words)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"groupwatch: {line}")
    assert answer.stderr.endswith(" --help.\n")
    assert answer.stderr.count("\n") == 1


def test_without_a_word_the_help_is_shown():
    answer = ask()
    assert (answer.exit_code, "Look" in answer.output, "groupwatch: " in answer.stderr) == (2, True, False)


@pytest.mark.parametrize(
    ("typed", "zone", "instant"),
    [
        ("14:12", None, "14:12"),
        ("-3h", "Europe/Berlin", "-3h"),
        ("now", "Europe/Berlin", "now"),
        ("03:14", "Europe/Berlin", "2026-11-22T02:14:00Z"),
        ("yesterday 03:14", "Europe/Berlin", "2026-11-21T02:14:00Z"),
        ("2026-07-01 03:14", "Europe/Berlin", "2026-07-01T01:14:00Z"),
        ("02:14", "utc", "2026-11-22T02:14:00Z"),
    ],
)
def test_a_typed_instant_is_that_of_the_zone(typed: str, zone: str | None, instant: str):
    assert instant_in_zone(typed, zone, NOW) == instant


def test_the_local_zone_is_that_of_the_variable(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert instant_in_zone("03:14", "local", NOW) == "2026-11-22T02:14:00Z"


@pytest.mark.parametrize("name", ["Atlantis", "../etc/passwd", "\x1b[2J", "", "x" * 300])
def test_a_zone_that_there_is_not_is_one_sentence(name: str):
    with pytest.raises(SourceError, match="There is no time zone "):
        instant_in_zone("02:14", name, NOW)


def test_an_instant_reaches_the_job_in_utc():
    seen: list[str] = []

    def answer(path: str, _body: bytes) -> Answer:
        seen.append(path)
        return Answer(404, {}, b'{"error":"none"}')

    with answering(answer) as address:
        ask("history", "c", "g", "--since", "2026-07-01 03:14", "--tz", "Europe/Berlin", "--url", address)
        ask("explain", "c", "g", "--at", "2026-07-01 03:14", "--tz", "Europe/Berlin", "--url", address)
    assert "since=2026-07-01T01%3A14%3A00Z" in seen[0]
    assert "at=2026-07-01T01%3A14%3A00Z" in seen[1]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_long_wait_shows_itself_on_a_terminal_only(is_terminal: bool):
    """The job answers once the line has been seen, or else once the command has waited for as long."""
    has_waited = threading.Event()

    def answer(_path: str, _body: bytes) -> Answer:
        has_waited.wait(60 if is_terminal else 2.5)
        return Answer(404, {}, b'{"error":"none"}')

    master, slave = pty.openpty()
    with answering(answer) as address:
        command = [sys.executable, "-m", "monitor.cli", "explain", "c", "g", "--url", address]
        errors = slave if is_terminal else subprocess.PIPE
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        os.close(slave)
        if is_terminal:
            shown = b""
            while b"Waiting for the job: 2 s" not in shown:
                shown += os.read(master, 1000)
            has_waited.set()
            assert run.wait(60) == 2
            rest = os.read(master, 1000)
            assert rest.endswith(b"\r\x1b[Kgroupwatch: none\r\n")
        else:
            _, said = run.communicate(timeout=60)
            assert said == b"groupwatch: none\n"
    os.close(master)
