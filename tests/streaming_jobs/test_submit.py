"""The program that spark-submit runs ends with it; started in another way, it does not look at its standard input.

The configuration is a named pipe. The program waits in reading it until somebody has written it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from streaming_jobs import submit
from streaming_jobs.runtime.session import SUBMITTED_VARIABLE
from tests.support.job_process import eventually

WAIT_S = 60


@pytest.fixture
def config(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "groupwatch.toml")
    return tmp_path / "groupwatch.toml"


@pytest.fixture
def program(request: pytest.FixtureRequest, config: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The program with the variables of the parameter beside those of this process, while it reads."""
    command = [sys.executable, submit.__file__, "--config", str(config)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=os.environ | request.param) as process:
        yield process
        process.kill()


def writing_end(config: Path) -> int:
    """The end of the pipe for a writer, once somebody reads."""

    def opened() -> list[int]:
        with suppress(OSError):  # nobody reads yet
            return [os.open(config, os.O_WRONLY | os.O_NONBLOCK)]
        return []

    (descriptor,) = eventually(opened, "a reader of the configuration", WAIT_S)
    return descriptor


def end_input(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.parametrize("program", [{SUBMITTED_VARIABLE: "1"}], indirect=True)
def test_it_ends_with_1_when_spark_submit_has_ended(program: subprocess.Popen[bytes], config: Path):
    writing = writing_end(config)
    end_input(program)
    assert program.wait(WAIT_S) == 1
    os.close(writing)


@pytest.mark.parametrize("program", [{}], indirect=True)
def test_without_spark_submit_it_goes_on_when_its_input_has_ended(program: subprocess.Popen[bytes], config: Path):
    writing = writing_end(config)
    end_input(program)
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(1)
    os.write(writing, b"no TOML")
    os.close(writing)
    assert program.wait(WAIT_S) == 2, "the configuration is wrong"
