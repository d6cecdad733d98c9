"""Workers compile the tests together where nobody has: each first imports a share of the files that others do not.

pytest rewrites the assertions of each file of tests, which takes half a minute of CPU for all. Workers collect in the
same order at the same time, so each of them did all of it. CI has compiled the tests before (.ci/run).
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest


class FirstImports:
    """A plugin of one of several workers."""

    def __init__(self, config: pytest.Config, worker: str, workers: int) -> None:
        self._config = config
        self._number = int(worker.removeprefix("gw")) % workers
        self._workers = workers

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Import the share of this worker. What cannot be imported is reported when it is collected."""
        if sys.dont_write_bytecode:
            return
        files = [file for file in files_of_tests(self._config.args) if not is_compiled(file)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in names_of_modules(share(files, self._number, self._workers), self._config.rootpath):
                with suppress(Exception, pytest.skip.Exception):
                    importlib.import_module(name)


def share(files: Sequence[Path], number: int, of: int) -> Sequence[Path]:
    """The files of one worker.

    >>> files = [Path(name) for name in "abcde"]
    >>> [[file.name for file in share(files, number, 3)] for number in range(3)]
    [['a', 'd'], ['b', 'e'], ['c']]
    """
    return files[number::of]


def files_of_tests(chosen: Iterable[str]) -> list[Path]:
    """The files of tests among what pytest was given."""
    places = [Path(each.partition("::")[0]) for each in chosen]
    return sorted(file for place in places for file in (place.rglob("test_*.py") if place.is_dir() else [place]))


def is_compiled(file: Path) -> bool:
    """Whether its bytecode with pytest's assertions is there, and as old as its source or younger."""
    name = f"{file.stem}.{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    compiled = file.parent / "__pycache__" / name
    return compiled.is_file() and compiled.stat().st_mtime >= file.stat().st_mtime


def names_of_modules(files: Iterable[Path], root: Path) -> Iterator[str]:
    """As they are imported: all folders of tests are packages.

    >>> list(names_of_modules([Path("/a/tests/web/test_app.py")], Path("/a")))
    ['tests.web.test_app']
    """
    for file in files:
        yield ".".join(file.absolute().relative_to(root).with_suffix("").parts)
