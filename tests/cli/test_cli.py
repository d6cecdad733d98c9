"""What is wrong with an option is told in a sentence, with exit code 2, before anything is started."""

import json
import re
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
import logging, sys
from monitor.cli.log_lines import LogFormat, LogLevel, log_to_terminal
log_to_terminal(LogLevel.INFO, LogFormat(sys.argv[1]))
log = logging.getLogger("monitor.x")
log.warning("Cluster %s: %s", "a\\n2026-01-01 00:00:00,000 ERROR   forged", "\\x1b[2J\\u202e\\u05d0")
try:
    raise ValueError("\\x1b]0;title\\nforged")
except ValueError:
    log.exception("Failed", extra={"cluster": "eu", "group": "orders"})
sys.stderr.buffer.write(b"26/11/29 02:18:06 WARN Executor: lost\\n")
print("groupwatch cannot start: x", file=sys.stderr)
"""


def log_lines(form: str) -> list[str]:
    words = [sys.executable, "-c", LOGS, form]
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stderr.splitlines()


def test_no_name_forges_a_line_of_the_log_or_sends_a_control_to_the_terminal():
    first, second, *more = log_lines("text")
    assert first.endswith(" WARNING Cluster a")
    assert second == "    2026-01-01 00:00:00,000 ERROR   forged: \\x1b[2J\\u202e\u05d0"
    assert more[0].endswith(" ERROR   Failed")
    *trace, spark, last = more[1:]
    assert [line for line in trace if not line.startswith("    ")] == []
    assert trace[-2:] == ["    ValueError: \\x1b]0;title", "    forged"]
    assert (spark, last) == ("26/11/29 02:18:06 WARN Executor: lost", "groupwatch cannot start: x")


def test_each_line_of_a_log_for_a_store_is_a_json_object_with_the_cluster_and_an_instant_in_utc():
    """Also of what Spark and the command itself write to the standard error."""
    lines = log_lines("json")
    assert all(line.isascii() and line.isprintable() for line in lines)
    warning, failure, spark, last = map(json.loads, lines)
    for each in (warning, failure, spark, last):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each.pop("time"))
    name = "a\n2026-01-01 00:00:00,000 ERROR   forged"
    message = f"Cluster {name}: \x1b[2J\u202e\u05d0"
    assert warning == {"level": "warning", "logger": "monitor.x", "cluster": name, "message": message}
    assert failure.pop("exception").endswith("ValueError: \x1b]0;title\nforged")
    named = {"cluster": "eu", "group": "orders"}
    assert failure == {"level": "error", "logger": "monitor.x", **named, "message": "Failed"}
    assert spark == {"level": "warning", "logger": "stderr", "message": "26/11/29 02:18:06 WARN Executor: lost"}
    assert last == {"level": "error", "logger": "stderr", "message": "groupwatch cannot start: x"}
