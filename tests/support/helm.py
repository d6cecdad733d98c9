"""Helm, for the tests of the chart."""

from __future__ import annotations

import os
import shutil

import pytest

from deploy.publishing.helm import NEEDED, find_helm


def helm_program() -> str:
    """Helm of PATH or of the cache. Without it the test is skipped with the reason, or fails where CI has built it."""
    if (found := find_helm()) is not None:
        return found
    if os.environ.get("CI") and shutil.which("go"):
        pytest.fail(NEEDED)
    pytest.skip(NEEDED)
