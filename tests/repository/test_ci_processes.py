"""What CI says of the processes that it has started and of what they leave behind."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.support.job_process import eventually

SCRIPT = Path(__file__).parents[2] / ".ci" / "watch_processes.py"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a run of its own, with a folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    return {**os.environ, "CI_RUN_OF_GROUPWATCH": secrets.token_hex(8), "TMPDIR": str(tmp_path / "tmp")}


@pytest.fixture
def sleeper(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the run that nobody has ended, with 100 MB."""
    program = "import sys; held = b'x' * 100_000_000; print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def left(folder: Path, environment: dict[str, str], *seconds: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "left", str(folder), *seconds]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_run_that_leaves_nothing_ends_with_0(tmp_path: Path, environment: dict[str, str]):
    (tmp_path / "tmp" / "pytest-of-root").mkdir()
    ended = left(tmp_path, environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_process_that_still_runs_is_named(tmp_path: Path, environment: dict[str, str], sleeper):
    ended = left(tmp_path, environment, "0")
    assert ended.returncode == 1
    assert ended.stdout.startswith(f"still runs: {sleeper.pid} {sys.executable} -c ")


def test_a_process_of_another_run_is_not(tmp_path: Path, environment: dict[str, str], sleeper):
    assert left(tmp_path, {**environment, "CI_RUN_OF_GROUPWATCH": "another"}).returncode == 0
    assert sleeper.poll() is None


def test_a_file_that_was_left_is_named(tmp_path: Path, environment: dict[str, str]):
    (tmp_path / "tmp" / "forgotten").touch()
    ended = left(tmp_path, environment, "0")
    assert (ended.returncode, ended.stdout) == (1, f"left in {tmp_path / 'tmp'}: forgotten\n")


def test_more_memory_than_agreed_is_told(tmp_path: Path, environment: dict[str, str]):
    (tmp_path / "memory_mb").write_text("8193")
    ended = left(tmp_path, environment)
    assert (ended.returncode, ended.stdout) == (2, "the processes had 8193 MB together, more than 8192\n")


def test_what_ends_and_tidies_up_a_moment_later_is_not_left(tmp_path: Path, environment: dict[str, str]):
    """As a JVM that was told to end with the last test."""
    program = "import os, sys, time; time.sleep(1); os.remove(sys.argv[1])"
    (tmp_path / "tmp" / "forgotten").touch()
    with subprocess.Popen([sys.executable, "-c", program, tmp_path / "tmp" / "forgotten"], env=environment):
        ended = left(tmp_path, environment)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_the_memory_of_all_its_processes_is_summed_up(tmp_path: Path, environment: dict[str, str], sleeper):
    most = tmp_path / "memory_mb"
    with watching(tmp_path, environment):
        eventually(lambda: most.exists() and most.read_text(), "a first look")
    assert 95 <= int(most.read_text()) < 200
    assert sleeper.poll() is None


def test_cpu_seconds_are_told_by_the_file_of_tests_that_spends_them(tmp_path: Path, environment: dict[str, str]):
    """Whether a test has started it is in its environment; what none has started is told in one line."""
    busy = "import time, sys\nwhile time.process_time() < 0.5: pass\nprint(flush=True); sys.stdin.read()"
    command, table = [sys.executable, "-c", busy], tmp_path / "cpu.tsv"
    of_a_test = {**environment, "PYTEST_CURRENT_TEST": "tests/a/test_b.py::test_c[1] (call)"}
    of_none = {name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"}
    with ExitStack() as stack:
        for variables in (of_a_test, of_a_test, of_none):
            process = stack.enter_context(subprocess.Popen(command, env=variables, stdin=PIPE, stdout=PIPE))
            assert process.stdout is not None
            process.stdout.readline()
        with watching(tmp_path, environment):
            eventually(lambda: table.exists() and table.read_text(), "a first look")
    first, second = (line.split("\t") for line in table.read_text().splitlines())
    assert (first[1], second[1]) == ("tests/a/test_b.py", "pytest itself, and what no test has started")
    assert 1 <= float(first[0]) < 3
    assert 0.5 <= float(second[0]) < float(first[0])


@contextmanager
def watching(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    with subprocess.Popen([sys.executable, str(SCRIPT), "watch", str(folder)], env=environment) as watch:
        yield
        watch.kill()
