"""Programs that some tests need and a machine may lack: there they are skipped, but not where CI runs."""

from __future__ import annotations

import os
import shutil

import pytest


def required(program: str, package: str) -> str:
    """The path of a program; without it the test is skipped with the reason, and under CI (``CI=true``) it fails."""
    found = shutil.which(program)
    if found is not None:
        return found
    reason = f"{program} is not installed (Debian package {package}; .ci/run installs it)"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
