"""Doctests are looked for in the files that have some: one of six.

pytest looks through all names of every module otherwise, in each worker, and imports modules that no test needs.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

EXAMPLE = b">>> "


class OnlyInFilesWithSome:
    """A plugin, as the hook of a conftest is not asked about folders beside its own."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Leave out what collects doctests where there are none."""
        collectors = yield
        if file_path.suffix != ".py" or EXAMPLE in file_path.read_bytes():
            return collectors
        return [each for each in collectors if type(each).__name__ != "DoctestModule"]
