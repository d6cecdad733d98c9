"""Find a Java that Spark and Kafka both run on."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from monitor.java_runtime.errors import JavaNotFound
from monitor.model import Value

SUPPORTED: Final = (17, 21)
"""Spark 4.0 is released for Java 17 and 21; Kafka 4.x brokers need 17 or newer."""

_VERSION_LINE = re.compile(r'version "(?:1\.)?(\d+)')


class Java(Value):
    """A usable Java: the path of its executable and its major version."""

    executable: str
    version: int

    @property
    def home(self) -> Path:
        """What JAVA_HOME has to be for other programs to use this Java."""
        return Path(self.executable).resolve().parent.parent


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """The first usable Java of JAVA_HOME, then of PATH.

    Args:
        environ: Where JAVA_HOME and PATH are looked up; the environment of this process if None.

    Raises:
        JavaNotFound: There is none; the message says what was seen and what to install.
    """
    seen = []
    for executable in _candidates(os.environ if environ is None else environ):
        version = java_version(executable)
        if version in SUPPORTED:
            return Java(executable=str(executable), version=version)
        seen.append(f"{executable} is Java {version}" if version else f"{executable} does not run")
    found = "; ".join(seen) if seen else "none found in JAVA_HOME or PATH"
    raise JavaNotFound(
        f"groupwatch needs Java 17 or 21 ({found}); on Debian: apt-get install openjdk-17-jre-headless, "
        "elsewhere install a JRE of that version and set JAVA_HOME to it"
    )


@cache
def java_version(executable: Path) -> int | None:
    """The major version of a Java, or None if it does not run. It is started once in the life of a process."""
    try:
        answer = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(answer.stderr + answer.stdout)


def parse_version(text: str) -> int | None:
    """The major version in what ``java -version`` prints.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> parse_version('java version "1.8.0_392"')
    8
    >>> parse_version("no such thing")
    """
    match = _VERSION_LINE.search(text)
    return int(match[1]) if match else None


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    folders = [Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    if home := environ.get("JAVA_HOME"):
        folders.insert(0, Path(home) / "bin")
    for folder in folders:
        if os.access(folder / "java", os.X_OK):
            yield folder / "java"
