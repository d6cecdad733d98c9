"""Where a toolchain is missing or too old, one sentence says so; a program is built once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.libraries import CLIENT
from tests.clients.toolchain import BuildFailedError, available_clients


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a script in place of a tool; no other tool is found, and the cache is empty."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("GROUPWATCH_CACHE", str(tmp_path / "cache"))

    def put(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)

    return put


def why_not(name: str) -> str:
    had, skipped = available_clients([CLIENT[name]])
    assert not had
    return skipped[name]


def test_a_missing_tool_is_named_with_the_version_that_is_needed(tools):
    assert why_not("sarama") == "sarama needs go 1.26 or newer, and there is none here"


def test_a_tool_that_is_too_old_is_named_with_its_version(tools):
    tools("go", "echo go version go1.21.0 linux/amd64")
    assert why_not("franz-go") == "franz-go needs go 1.26 or newer, and here is go version go1.21.0 linux/amd64"


def test_java_needs_no_program(tools):
    assert available_clients([CLIENT["java"]]) == ({CLIENT["java"]: None}, {})


GO = """if [ "$1" = version ]; then echo go1.26.0; exit; fi
echo built >> "$GROUPWATCH_CACHE/runs"
while [ "$1" != -o ]; do shift; done
/bin/mkdir -p "$2"; /bin/touch "$2/members"
"""


def test_a_program_is_built_once_for_all_libraries_of_its_language(tools, tmp_path: Path):
    tools("go", GO)
    for _ in range(2):
        had, skipped = available_clients([CLIENT["sarama"], CLIENT["franz-go"]])
        assert not skipped
    assert {Path(program.command[0]).is_file() for program in had.values() if program is not None} == {True}
    assert (tmp_path / "cache" / "runs").read_text() == "built\n"


def test_a_build_that_fails_names_its_log_and_leaves_nothing(tools, tmp_path: Path):
    tools("go", 'if [ "$1" = version ]; then echo go1.26.0; exit; fi; echo no such module; exit 1')
    with pytest.raises(BuildFailedError, match=r"ended with 1; see (.*\.log)") as failed:
        available_clients([CLIENT["sarama"]])
    log = Path(str(failed.value).rpartition(" ")[2])
    assert log.read_text() == "no such module\n"
    assert [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []
