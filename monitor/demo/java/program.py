"""Java programs from source: Janino, which Spark ships, compiles them in memory, so a JRE is enough."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from monitor.demo.servers.server import class_path
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import pyspark_jar

PROGRAMS: Final = Path(__file__).parent / "programs"

_START: Final = PROGRAMS / "Start.java"


def java_command(source: Path, *arguments: str, options: Iterable[str], jars: Iterable[Path]) -> list[str]:
    """The command that compiles a program, with the other sources of its folder, and runs it.

    Args:
        source: the file of the class with ``main``.
        arguments: what ``main`` is given.
        options: of the JVM.
        jars: what the program needs beside Janino.

    Raises:
        JavaNotFound: There is no usable Java.
    """
    return [
        find_java().executable,
        *options,
        *("-cp", class_path([pyspark_jar("janino"), pyspark_jar("commons-compiler"), *jars])),
        "org.codehaus.janino.SimpleCompiler",
        *(str(_START), "Start", str(source.parent), source.stem, *arguments),
    ]
