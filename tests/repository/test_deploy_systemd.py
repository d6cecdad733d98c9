"""The units of deploy/systemd: systemd understands them, and they give groupwatch what it needs and no more."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

import pytest
import typer.main

from monitor.cli.app import app
from streaming_jobs.jobs import cluster_watch
from streaming_jobs.jobs.collect import END_LIMIT_S
from streaming_jobs.runtime import session
from tests.support.programs import required

UNITS = Path(__file__).parents[2] / "deploy" / "systemd"
NAMES = ("groupwatch.service", "groupwatch-collect.service")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined] # it is a group of commands


def unit(name: str) -> ConfigParser:
    read = ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",), delimiters=("=",))
    read.optionxform = str  # type: ignore[assignment,method-assign] # keys of systemd are not in lower case
    read.read(UNITS / name, encoding="utf-8")
    return read


def test_there_are_no_other_units():
    assert {file.name for file in UNITS.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_systemd_understands_every_line(name: str, tmp_path: Path):
    """``verify`` wants the program to be there, so another stands in its place."""
    copy = tmp_path / name
    text = (UNITS / name).read_text(encoding="utf-8")
    copy.write_text(text.replace("/opt/groupwatch/bin/groupwatch", sys.executable), encoding="utf-8")
    program = required("systemd-analyze", "systemd")
    checked = subprocess.run([program, "verify", "--man=no", copy], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_systemd_finds_little_to_expose(name: str, tmp_path: Path):
    """Its own score, from 0 to 10; below 2 is what it calls OK, and Java and the network cost the rest."""
    program = required("systemd-analyze", "systemd")
    asked = [program, "security", "--offline=true", "--no-pager", "--threshold=20", UNITS / name]
    checked = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout[-300:]


@pytest.mark.parametrize("name", NAMES)
def test_the_command_is_one_that_groupwatch_has(name: str):
    program, command, *rest = unit(name)["Service"]["ExecStart"].split()
    assert program == "/opt/groupwatch/bin/groupwatch"
    COMMANDS[command].make_context(command, rest)


@pytest.mark.parametrize(
    ("name", "longest_s"),
    [
        pytest.param(NAMES[0], 2 + cluster_watch.END_LIMIT_S + session.JVM_END_LIMIT_S, id="job"),
        pytest.param(NAMES[1], 2 + END_LIMIT_S, id="collect"),
    ],
)
def test_it_is_not_killed_before_it_could_have_ended(name: str, longest_s: float):
    assert int(unit(name)["Service"]["TimeoutStopSec"]) > longest_s


def test_only_groupwatch_gets_the_signal_and_ends_its_jvm_itself():
    assert unit(NAMES[0])["Service"]["KillMode"] == "mixed"


def test_java_may_make_code_while_it_runs():
    assert "MemoryDenyWriteExecute" not in unit(NAMES[0])["Service"]


@pytest.mark.parametrize("name", NAMES)
def test_secrets_come_as_credentials_under_the_name_that_the_settings_are_told(name: str):
    service, text = unit(name)["Service"], (UNITS / name).read_text(encoding="utf-8")
    credential = service["LoadCredential"].partition(":")[0]
    assert re.findall(r"\$\{file:/run/credentials/([\w.-]+)/([\w-]+)\}", text) == [(name, credential)]


GUIDE = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text(encoding="utf-8")


def before_the_first_start() -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Of each systemd-run of the guide: its options, its properties, and the command."""
    (script,) = re.findall(r"^```sh\n(.*?)^```", GUIDE.partition("\n## systemd\n")[2], re.MULTILINE | re.DOTALL)[:1]
    joined = script.replace("\\\n", " ")
    (given,) = re.findall(r'^as_the_unit="(.*)"$', joined, re.MULTILINE)
    properties = [word for word in shlex.split(given) if word != "-p"]
    for line in re.findall(r"^systemd-run (.*)$", joined, re.MULTILINE):
        words = shlex.split(line)
        where = words.index("$as_the_unit")
        yield words[:where], properties, words[where + 1 :]


def test_what_the_guide_runs_before_the_first_start_has_the_users_the_folders_and_the_credentials_of_the_unit():
    """Else the jars would lie in another cache, and the password where only a unit of that name has it."""
    commands = []
    for options, properties, (program, command, *rest) in before_the_first_start():
        assert options == ["--unit=groupwatch", "--wait", "--pipe", "--collect"]
        service = unit(NAMES[0])["Service"]
        assert dict(each.split("=", 1) for each in properties).items() <= dict(service).items()
        of_the_unit = {key for key in service if key.endswith("Directory") or key in {"DynamicUser", "User"}}
        assert of_the_unit | {"Environment", "LoadCredential"} <= {each.partition("=")[0] for each in properties}
        assert program == "/opt/groupwatch/bin/groupwatch"
        COMMANDS[command].make_context(command, [*rest])
        assert rest[0 if command == "check-config" else 1] == service["ExecStart"].split()[-1]
        commands.append(command)
    assert commands == ["prepare", "check-config"]
    assert GUIDE.index("systemd-run --unit=groupwatch ") < GUIDE.index("cp deploy/systemd/groupwatch.service")


def test_systemd_knows_the_properties_that_the_guide_gives(tmp_path: Path):
    for number, (_, properties, (_, *rest)) in enumerate(before_the_first_start()):
        copy = tmp_path / f"groupwatch-{number}.service"
        lines = ["[Service]", "Type=oneshot", f"ExecStart={sys.executable} {' '.join(rest)}", *properties]
        copy.write_text("\n".join(lines) + "\n", encoding="utf-8")
        program = required("systemd-analyze", "systemd")
        checked = subprocess.run([program, "verify", "--man=no", copy], capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_what_the_job_keeps_lies_where_it_may_write():
    service = unit(NAMES[0])["Service"]
    assert service["ProtectSystem"] == "strict"
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert service["Environment"] == f"GROUPWATCH_CACHE=/var/cache/{service['CacheDirectory']}"
    assert 'checkpoint = "/var/lib/groupwatch/' in (UNITS / NAMES[0]).read_text(encoding="utf-8")
