"""Java programs of the tests, from source; see :mod:`monitor.embedded.java_program`."""

from __future__ import annotations

from pathlib import Path

from monitor.embedded.jars import artifact_name, kafka_jars
from monitor.embedded.java_program import java_command

__all__ = ["jars_of_kafka", "java_command"]


def jars_of_kafka(names: frozenset[str]) -> list[Path]:
    """The jars of Kafka's distribution with these names."""
    return [jar for jar in kafka_jars() if artifact_name(jar) in names]
