"""Helm: that of PATH, or the one that Go builds once for each user, into the cache. Debian has no package of it.

``python -m deploy.publishing.helm`` builds it: three minutes of a core and 80 MB, once. .ci/run does so where Go is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

RELEASE: Final = "3.22.0"
OLDEST: Final = (3, 17)
"""The first with ``fromToml``, by which the chart reads the configuration."""

MODULE: Final = f"helm.sh/helm/v3/cmd/helm@v{RELEASE}"
BUILD_LIMIT_S: Final = 900
NEEDED: Final = (
    "helm 3.17 or newer is not installed: python -m deploy.publishing.helm builds it with Go (as .ci/run does)"
)


def find_helm() -> str | None:
    """The program; None: there is none, or it is too old."""
    installed = shutil.which("helm")
    if installed is not None and _release(installed) >= OLDEST:
        return installed
    built = _folder() / "helm"
    return str(built) if built.is_file() else None


def build_helm() -> Path:
    """Build it with Go, unless the cache has it. Raises CalledProcessError: Go failed, and has written why."""
    from monitor.java_runtime.cached_folder import fill_folder  # noqa: PLC0415 # a chart is packaged without the package

    def install(work: Path) -> Path:
        environment = os.environ | {"GOBIN": str(work / "out"), "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}
        subprocess.run(
            ["go", "install", "-trimpath", "-ldflags=-s -w", MODULE],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=BUILD_LIMIT_S,
            check=True,
        )
        return work / "out"

    fill_folder(_folder(), install, print)
    return _folder() / "helm"


def _folder() -> Path:
    """In the folder of ``monitor.java_runtime.jars.cache_dir``."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GROUPWATCH_CACHE") or Path(base) / "groupwatch") / f"helm-{RELEASE}"


def _release(program: str) -> tuple[int, ...]:
    """The first two numbers of a version; of one that says none, no number."""
    shown = subprocess.run([program, "version", "--short"], capture_output=True, text=True, timeout=60, check=False)
    found = re.match(r"v(\d+)\.(\d+)", shown.stdout)
    return tuple(map(int, found.groups())) if found else ()


if __name__ == "__main__":
    if shutil.which("go") is None:
        sys.exit("There is no Go here, so Helm is not built and the tests of the chart are skipped.")
    build_helm()
