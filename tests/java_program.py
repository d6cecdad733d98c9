"""Java programs of the tests, from source: Janino, which Spark ships, compiles them in memory, so a JRE is enough."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from monitor.embedded.jars import artifact_name, kafka_jars, pyspark_jar
from monitor.embedded.java import find_java

_START: Final = Path(__file__).parent / "oracle" / "Start.java"


def java_command(source: Path, *arguments: str, options: Iterable[str], jars: Iterable[Path]) -> list[str]:
    """The command that compiles a program, with the other sources of its folder, and runs it.

    Args:
        source: the file of the class with ``main``.
        arguments: what ``main`` is given.
        options: of the JVM.
        jars: what the program needs beside Janino.
    """
    class_path = [pyspark_jar("janino"), pyspark_jar("commons-compiler"), *jars]
    return [
        find_java().executable,
        *options,
        *("-cp", os.pathsep.join(map(str, class_path))),
        "org.codehaus.janino.SimpleCompiler",
        *(str(_START), "Start", str(source.parent), source.stem, *arguments),
    ]


def jars_of_kafka(names: frozenset[str]) -> list[Path]:
    """The jars of Kafka's distribution with these names."""
    return [jar for jar in kafka_jars() if artifact_name(jar) in names]
