"""What is wrong with an option is told in a sentence, with exit code 2, before anything is started."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("collect", "--port", "99999"), "Invalid value for '--port'"),
        (("collect", "--port", "-1"), "Invalid value for '--port'"),
        (("demo", "--port", "99999"), "Invalid value for '--port'"),
        (("demo", "--duration", "nan"), "a time in seconds must be greater than 0"),
        (("demo", "--duration", "inf"), "a time in seconds must be greater than 0"),
        (("demo", "--duration", "-5"), "a time in seconds must be greater than 0"),
        (("demo", "--json-summary", "/no/such/folder/x.json"), "/no/such/folder/x.json cannot be written"),
        (("demo", "--json-summary", "/"), "/ cannot be written"),
        (("demo", "--json-summary", "/dev/null/x.json"), "/dev/null/x.json cannot be written"),
        (("demo", "--json-summary", f"/tmp/{'x' * 300}"), "cannot be written"),
        (("check-config", "--connect-limit", "inf"), "a time limit must be 0.1 to 3600 seconds"),
        (("check-config", "--connect-limit", "nan"), "a time limit must be 0.1 to 3600 seconds"),
        (("what-if", "c", "g", "--members", "0"), "Invalid value for '--members'"),
        (("demo", "--with", "pulsar"), "no such system: pulsar"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_an_option_that_cannot_be_meant_so_is_refused_at_once(words: tuple[str, ...], said: str):
    answer = CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb"})
    assert answer.exit_code == 2
    assert said in answer.stderr


def test_a_file_that_is_there_can_be_written_again(tmp_path: Path):
    """It is the next option that is refused."""
    file = tmp_path / "summary.json"
    file.touch()
    answer = CliRunner().invoke(app, ["demo", "--json-summary", str(file), "--with", "pulsar"])
    assert "no such system" in answer.stderr


LOGS = """
import logging
from monitor.cli import app
app._log_to_terminal(False)
log = logging.getLogger("monitor.x")
log.warning("Group %s: %s", "a\\n2026-01-01 00:00:00,000 ERROR   forged", "\\x1b[2J\\u202e\\u05d0")
try:
    raise ValueError("\\x1b]0;title\\nforged")
except ValueError:
    log.exception("Failed")
"""


def test_no_name_forges_a_line_of_the_log_or_sends_a_control_to_the_terminal():
    said = subprocess.run([sys.executable, "-c", LOGS], capture_output=True, encoding="utf-8", check=True).stderr
    first, second, *more = said.splitlines()
    assert first.endswith(" WARNING Group a")
    assert second == "    2026-01-01 00:00:00,000 ERROR   forged: \\x1b[2J\\u202e\u05d0"
    assert more[0].endswith(" ERROR   Failed")
    assert [line for line in more[1:] if not line.startswith("    ")] == []
    assert more[-2:] == ["    ValueError: \\x1b]0;title", "    forged"]
