"""The file of expectations that a command is given."""

from __future__ import annotations

from pathlib import Path

from monitor.cli.errors import SourceError
from monitor.config.errors import ConfigError
from monitor.config.expectations import load_expectations
from monitor.expectations.expectation import Expectations


def read_expectations(file: Path) -> Expectations:
    """What a file expects.

    Raises:
        SourceError: it cannot be read, or has mistakes: a line for each.
    """
    try:
        return load_expectations(file)
    except ConfigError as error:
        raise SourceError("\n".join(f"{file}: {each}" for each in error.problems)) from None
