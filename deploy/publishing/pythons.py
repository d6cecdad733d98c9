"""``python -m deploy.publishing.pythons``: the tests that need no broker, Spark or Java, on other releases of Python.

Each release has an environment of its own in build/pythons, with the base of the package and what these tests need.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from deploy.publishing.staging import ROOT

RELEASES: Final = ("3.12", "3.13")
"""Those of the classifiers in pyproject.toml, but for the one that `make test` has."""
SHORT: Final = ("model", "messages", "findings", "kinds", "charts", "explain")
"""Of tests/, what CI runs: folders whose tests need the base of the package, and no server."""
PURE: Final = (*SHORT, "tracking", "config", "topics", "detection", "protocol", "assignors", "readiness", "metrics")
IGNORED: Final = (
    "config/test_config.py",
    "protocol/test_against_kafka.py",
    "protocol/test_kinds_against_kafka.py",
    "readiness/test_warm_up_on_a_broker.py",
    "tracking/share/test_batches.py",
)
"""Of these, what needs PySpark, or compares with originals in Java."""
EXTRA: Final = "collect"
NEEDED: Final = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "networkx", "click", "jsonschema")
"""What the tests import besides."""
LEFT_OUT: Final = "not broker and not spark and not jobs and not long and not systems and not clients"


def main(words: Sequence[str] | None = None) -> None:
    """Run them on each release that is here.

    Raises:
        SystemExit: With 1, a test failed; with 2, and a sentence, none of the releases is here.
    """
    parser = argparse.ArgumentParser(prog="make test-pythons")
    parser.add_argument("--short", action="store_true", help="only what CI runs; no release is no failure")
    chosen = parser.parse_args(words)
    found = interpreters(RELEASES, folders(os.environ))
    missing = [release for release in RELEASES if release not in found]
    if missing:
        sys.stdout.write(f"Python {' and '.join(missing)}: not run, as it is not installed here.\n")
    if not found:
        sys.exit(0 if chosen.short else 2)
    tests = SHORT if chosen.short else PURE
    with ThreadPoolExecutor() as each:  # two cores take half as long
        ended = [*each.map(lambda release: tried(release, found[release], tests), found)]
    sys.stdout.write("".join(said for said, _ in ended))
    if not all(passed for _, passed in ended):
        sys.exit(1)


def folders(environ: Mapping[str, str]) -> list[Path]:
    """Where interpreters are looked for: PATH, then what pyenv and uv have installed for this user.

    >>> [str(each) for each in folders({"PATH": "/bin", "PYENV_ROOT": "/nowhere", "UV_PYTHON_INSTALL_DIR": "/nowhere"})]
    ['/bin']
    """
    home = Path(environ.get("HOME", "/nowhere"))
    pyenv = Path(environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR", home / ".local/share/uv/python"))
    installed = [each / "bin" for parent in (pyenv, uv) for each in sorted(parent.glob("*"))]
    return [*map(Path, environ.get("PATH", "").split(os.pathsep)), *installed]


def interpreters(releases: Iterable[str], places: Sequence[Path]) -> dict[str, Path]:
    """By release, the first program of its name that says so itself: pyenv has some that only say how to choose."""
    candidates = ((release, place / f"python{release}") for release in releases for place in places)
    found: dict[str, Path] = {}
    for release, program in candidates:
        if release not in found and os.access(program, os.X_OK) and _release_of(program) == release:
            found[release] = program
    return found


def _release_of(program: Path) -> str:
    asked = [str(program), "-I", "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def tried(release: str, python: Path, tests: Sequence[str]) -> tuple[str, bool]:
    """What pytest says of these tests, or pip of what they need, and whether all passed."""
    environment = ROOT / "build" / "pythons" / release
    own = str(environment / "bin/python")
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--strict-markers", "-m", LEFT_OUT]
    paths = [f"--ignore=tests/{each}" for each in IGNORED] + [f"tests/{each}" for each in tests]
    commands = [[own, "-m", "pytest", *options, *paths]]
    if not (environment / ".installed").exists():
        commands = [*_installing(python, environment), *commands]
    said = f"Python {release}:\n"
    for command in commands:
        ended = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        said += ended.stdout
        if ended.returncode != 0:
            return said, False
    return said, True


def _installing(python: Path, environment: Path) -> list[list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"][EXTRA], *NEEDED]
    options = ("--quiet", "--no-compile", "--constraint", "constraints.txt")
    return [
        [str(python), "-m", "venv", str(environment)],
        [str(environment / "bin/python"), "-m", "pip", "install", *options, *wanted],
        ["touch", str(environment / ".installed")],
    ]


if __name__ == "__main__":
    main()
