"""What make says before it installs anything: which Java, which Python, and how to get them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from monitor.java_runtime.errors import JavaNotFound
from monitor.java_runtime.find_java import find_java

ROOT = Path(__file__).parents[2]
MAKE = shutil.which("make") or "make"


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def tools(folder: Path) -> Path:
    """A folder for PATH with what the recipes call, and no Java and no Python."""
    folder.mkdir()
    for name in ("sh", "grep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    return folder


def make(target: str, cwd: Path, path: str, java_home: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    command = [MAKE, "-f", str(ROOT / "Makefile"), target, *(f"{name}={value}" for name, value in variables.items())]
    environment = {"PATH": path, "JAVA_HOME": java_home}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("java_home", "on_path", "found"),
    [
        pytest.param(None, ["17.0.15"], True, id="17 in PATH"),
        pytest.param(None, ["21"], True, id="a first release without dots"),
        pytest.param(None, ["11.0.22", "21.0.2"], True, id="behind an old one in PATH"),
        pytest.param("1.8.0_392", ["17.0.15"], True, id="in PATH, behind an old JAVA_HOME"),
        pytest.param("17.0.15", [], True, id="in JAVA_HOME only"),
        pytest.param(None, [], False, id="none"),
        pytest.param(None, ["1.8.0_392"], False, id="8 only"),
        pytest.param("25.0.1", ["11.0.17"], False, id="a newer and an older one, whose minor version is 17"),
    ],
)
def test_make_finds_a_java_where_groupwatch_finds_it(
    tmp_path: Path, java_home: str | None, on_path: list[str], found: bool
):
    def java(folder: str, version: str) -> str:
        script(tmp_path / folder / "java", f"echo 'openjdk version \"{version}\" 2025-01-01' >&2")
        return str(tmp_path / folder)

    if java_home is not None:
        java("home/bin", java_home)
    home = str(tmp_path / "home") if java_home is not None else ""
    folders = [java(f"path {number}", version) for number, version in enumerate(on_path)]
    path = ":".join([*folders, str(tools(tmp_path / "tools"))])

    run = make("java", tmp_path, path, home)
    assert (run.returncode == 0) is found
    assert ("needs Java 17 or 21" in run.stderr and "openjdk-17-jre-headless" in run.stderr) is not found
    try:
        find_java({"JAVA_HOME": home, "PATH": path})
    except JavaNotFound:
        assert not found
    else:
        assert found


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        pytest.param('case "$2" in *version_info*) exit 1;; esac', "needs Python 3.11 or newer", id="too old"),
        pytest.param(
            'case "$2" in *ensurepip*) exit 1;; esac', "apt-get install python3-venv", id="Debian without venv"
        ),
    ],
)
def test_a_python_that_will_not_do_is_told_before_anything_is_installed(tmp_path: Path, python: str, sentence: str):
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    script(tmp_path / "python", python)
    run = make(".venv/.installed", tmp_path, str(tools(tmp_path / "tools")), PYTHON=str(tmp_path / "python"))
    assert run.returncode != 0
    assert sentence in run.stderr
    assert not (tmp_path / ".venv").exists()


def test_help_names_every_target_that_a_person_types():
    run = subprocess.run([MAKE, "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    named = {line.split()[1] for line in run.stdout.splitlines()}
    typed = (
        "help doctor demo docs test test-jobs test-long test-systems test-clients test-kafka-versions test-pythons "
        "chaos hostile churn churn-kinds incidents skips rollouts autoscaling breaks fuzz fuzz-decoder lint format "
        "bench bench-decoding bench-assignors dist chart image clean"
    )
    assert named == set(typed.split())


@pytest.mark.parametrize(
    ("targets", "extras"),
    [
        pytest.param(["doctor"], ["."], id="the doctor needs no Spark"),
        pytest.param(["doctor", "demo", "doctor"], [".", ".[demo]"], id="the demo has what the doctor needs"),
        pytest.param(["demo"], [".[demo]"], id="the demo needs no tools"),
        pytest.param(["test", "demo"], [".[dev]"], id="with the tools, nothing is left for the demo"),
        pytest.param(["demo", "test"], [".[demo]", ".[dev]"], id="the tools come when they are asked for"),
    ],
)
def test_each_target_installs_what_it_needs(tmp_path: Path, targets: list[str], extras: list[str]):
    """Python is a script that makes an environment whose Python notes what pip is told to install."""
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    noting = tmp_path / "noting"
    script(noting, f'[ "$2" != pip ] || echo "$8" >> {tmp_path}/asked')
    made = f"mkdir -p .venv/bin; cp {noting} .venv/bin/python; cp {noting} .venv/bin/groupwatch"
    script(tmp_path / "python", f'if [ "$2" = venv ]; then {made}; fi')
    script(tmp_path / "bin/java", "echo 'openjdk version \"17.0.15\" 2025-01-01' >&2")
    folder = tools(tmp_path / "tools")
    for name in ("mkdir", "cp", "touch"):
        (folder / name).symlink_to(shutil.which(name) or name)
    for target in targets:
        run = make(target, tmp_path, f"{tmp_path}/bin:{folder}", PYTHON=str(tmp_path / "python"))
        assert run.returncode == 0, run.stderr
    assert (tmp_path / "asked").read_text().split() == extras
