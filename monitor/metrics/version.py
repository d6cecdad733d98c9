"""Which groupwatch this is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def installed_version() -> str:
    """The version of the installed package; "unknown" when it runs from a folder without being installed."""
    try:
        return version("groupwatch")
    except PackageNotFoundError:
        return "unknown"
