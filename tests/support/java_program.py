"""Java programs of the tests, from source; see :mod:`monitor.demo.java.clients`."""

from __future__ import annotations

from pathlib import Path

from monitor.demo.java.clients import java_command
from monitor.java_runtime.jars import artifact_name, kafka_jars

__all__ = ["jars_of_kafka", "java_command"]


def jars_of_kafka(names: frozenset[str]) -> list[Path]:
    """The jars of Kafka's distribution with these names."""
    return [jar for jar in kafka_jars() if artifact_name(jar) in names]
