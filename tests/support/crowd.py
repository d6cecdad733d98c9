"""Real consumers of the Java client, many in one process that can be killed: see Crowd.java."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.consumers import PATIENCE_S, Consumers, Event
from tests.support.java_program import jars_of_kafka, java_command

__all__ = ["PATIENCE_S", "Crowd", "Event"]

_PROGRAM: Final = Path(__file__).parent / "Crowd.java"
NEEDED: Final = frozenset(
    {"kafka-clients", "slf4j-api", "jackson-annotations", "jackson-core", "jackson-databind", "lz4-java", "snappy-java"}
)


class Crowd(Consumers):
    """A JVM with consumers."""

    def __init__(self, bootstrap: str) -> None:
        options = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        super().__init__(bootstrap, java_command(_PROGRAM, options=options, jars=jars_of_kafka(NEEDED)))
