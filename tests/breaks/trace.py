"""A copy of the code that is broken and writes down which test runs which place, and pytest on it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.breaks.places import Place

FAST: Final = "not jobs and not long and not systems and not clients and not broker and not spark"
"""The tests that need no server of Kafka and no Spark."""
PLUGIN: Final = "breaks_seen"
LEFT_OUT: Final = (".git", ".venv", "build", "dist", ".hypothesis", ".mypy_cache", ".ruff_cache", "breaks")


@dataclass(frozen=True)
class Ran:
    """Which tests ran each place, "" for an import before all tests, and which tests failed."""

    tests: dict[int, set[str]]
    failed: dict[str, str]


def copied(checkout: Path, folder: Path) -> Path:
    """A copy of a checkout to be broken, beside what observes it. This tool itself is not in it.

    If the folder has one already, it is that.
    """
    copy = folder / "copy"
    if not copy.is_dir():
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    shutil.copy(Path(__file__).with_name("seen.py"), folder / f"{PLUGIN}.py")
    return copy


def pytest(copy: Path, folder: Path, *arguments: str, limit_s: float | None = None) -> int | None:
    """The exit code of pytest in the copy; None if it did not end within the limit."""
    apart = ("PYTEST_", "PYTHONDONTWRITEBYTECODE")  # this may itself run in a test
    environment = {name: value for name, value in os.environ.items() if not name.startswith(apart)}
    environment |= {"PYTHONPATH": f"{copy}{os.pathsep}{copy.parent}", "BREAKS_FOLDER": str(folder)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", PLUGIN, *arguments]
    with (folder / "output.txt").open("a", encoding="utf-8") as output:
        running = subprocess.Popen(
            command, cwd=copy, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            return running.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            end(running)


def end(running: subprocess.Popen[Any]) -> None:
    """End what a run has left behind, with all its processes."""
    if running.poll() is None:
        os.killpg(running.pid, 9)
        running.wait()


def what_ran(folder: Path) -> Ran:
    """What runs of pytest have written into a folder."""
    tests: dict[int, set[str]] = defaultdict(set)
    for entry in entries(folder / "seen.jsonl"):
        tests[entry["place"]].add(entry["test"])
    ended = entries(folder / "ended.jsonl")
    return Ran(dict(tests), {entry["test"]: entry["text"] for entry in ended if entry["outcome"] == "failed"})


def put(path: Path, source: bytes) -> None:
    """Write a module. What was compiled of it goes: a change of the same length in the same second would not show."""
    path.write_bytes(source)
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


@contextmanager
def broken(copy: Path, places: Mapping[int, Place]) -> Iterator[None]:
    """A copy with some places broken, in as many files. Each writes down which tests run it."""
    sources = {copy / place.file: (copy / place.file).read_bytes() for place in places.values()}
    try:
        for number, place in places.items():
            path = copy / place.file
            put(path, place.wrapped(sources[path], f'__import__("{PLUGIN}").seen({number})', is_broken=True))
        yield
    finally:
        for path, source in sources.items():
            put(path, source)


def entries(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON; none if it is not there. The last one may have been cut off by a kill."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def append(path: Path, entry: Mapping[str, Any]) -> None:
    """One more line of a file of JSON."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
