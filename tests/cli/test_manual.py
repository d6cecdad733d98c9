"""The help of every command: examples that could be typed as they stand, exit codes, and a shell that completes."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from monitor.cli.app import app
from monitor.cli.man_page import man_page
from monitor.cli.manual import MANUALS, WHOLE

PAGE = Path(__file__).parents[2] / "docs" / "groupwatch.1"
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined] # it is a group of commands
EXAMPLES = [example.typed for manual in (WHOLE, *MANUALS.values()) for example in manual.examples]


def help_of(*command: str) -> str:
    answer = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert answer.exit_code == 0
    return answer.stdout


def test_every_command_has_a_manual_and_every_manual_a_command():
    assert MANUALS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_examples_of_it_and_exit_codes(command: str):
    told = help_of(command)
    examples = re.findall(rf"^ +(?:[A-Z_]+=\S+ )?groupwatch {command}\b.*$", told.split("Examples")[1], re.MULTILINE)
    assert len(examples) == len(MANUALS[command].examples) > 0
    codes = re.findall(r"^ +(\d+)  +\w", told.split("Exit codes")[1], re.MULTILINE)
    assert codes == [meaning.word for meaning in MANUALS[command].exit_codes]
    assert {"0", "2"} <= set(codes)


@pytest.mark.parametrize("typed", EXAMPLES)
def test_every_example_is_understood(typed: str):
    """Parsed as it would be at a shell; nothing is run."""
    words = shlex.split(re.sub(r" > \S+$", "", typed))
    while "=" in words[0]:
        assert re.fullmatch(r"GROUPWATCH_[A-Z_]+=\S+", words.pop(0))
    program, command, *rest = words
    assert program == "groupwatch"
    if "--help" not in rest:
        COMMANDS[command].make_context(command, rest)


def test_an_example_fits_on_a_line_of_a_usual_terminal():
    assert [typed for typed in EXAMPLES if len(typed) > 80 - len("   ")] == []


def test_the_version_is_that_of_the_installed_package():
    answer = CliRunner().invoke(app, ["--version"])
    assert (answer.exit_code, answer.stdout) == (0, f"groupwatch {version('groupwatch')}\n")


def test_help_loads_neither_spark_nor_a_client():
    """What --help takes is told by what it imports, not by a clock."""
    look = (
        "import sys; sys.argv = ['groupwatch', '--help']\n"
        "from monitor.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'pyspark', 'kafka', 'pydantic', 'uvicorn', 'numpy', 'pandas', 'jinja2'} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_a_bash_completes_commands_and_options(tmp_path: Path):
    """The script is sourced as bash does it, with the program that it asks in PATH."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    program = tmp_path / "groupwatch"
    called = f"#!{sys.executable}\nimport sys\nsys.argv[0] = 'groupwatch'\nfrom monitor.cli import main\nmain()\n"
    program.write_text(called, encoding="utf-8")
    program.chmod(0o755)
    script = CliRunner().invoke(app, ["completion", "bash"]).stdout
    ask = "COMP_CWORD=1 COMP_WORDS=(groupwatch check); _groupwatch_completion groupwatch; echo ${COMPREPLY[@]}\n"
    more = "COMP_CWORD=2 COMP_WORDS=(groupwatch run --reb); _groupwatch_completion groupwatch; echo ${COMPREPLY[@]}\n"
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    asked = [bash, "-c", f"{script}\n{ask}{more}"]
    run = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines() == ["check-config", "--rebuild"], run.stderr


@pytest.mark.parametrize(
    ("shell", "begins"), [("zsh", "#compdef groupwatch"), ("fish", "complete --command groupwatch")]
)
def test_other_shells_get_their_own_script(shell: str, begins: str):
    answer = CliRunner().invoke(app, ["completion", shell])
    assert answer.exit_code == 0
    assert answer.stdout.startswith(begins)


def test_the_manual_page_is_made_of_the_commands_as_they_are():
    assert PAGE.read_text(encoding="utf-8") == man_page(), "run: python -m monitor.cli.man_page > docs/groupwatch.1"


def test_the_manual_page_is_set_without_a_warning():
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    run = subprocess.run([groff, "-man", "-ww", "-Tutf8", PAGE], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "Move the state of every cluster aside" in " ".join(run.stdout.split())


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_only_a_command_with_a_duration_says_what_happens_after_it(command: str):
    text = help_of(command)
    assert ("duration has passed" in text) == ("--duration" in text)
