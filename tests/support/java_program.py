"""Java programs of the tests, from source; see :mod:`monitor.demo.java.clients`."""

from __future__ import annotations

from pathlib import Path

from monitor.demo.java.clients import java_command
from monitor.java_runtime.jars import KAFKA, Coordinate, artifact_name, cache_dir, kafka_jars, resolve

__all__ = ["jars_of_connect", "jars_of_kafka", "jars_of_streams_and_connect", "java_command"]


def jars_of_kafka(names: frozenset[str]) -> list[Path]:
    """The jars of Kafka's distribution with these names."""
    return [jar for jar in kafka_jars() if artifact_name(jar) in names]


def jars_of_streams_and_connect() -> list[Path]:
    """The jars of Kafka Streams and of a Connect worker, fetched if this user does not have them yet (90 MB)."""
    streams, connect = (
        Coordinate(organisation=KAFKA.organisation, artifact=artifact, version=KAFKA.version)
        for artifact in ("kafka-streams", "connect-runtime")
    )
    return resolve(streams, cache_dir() / f"kafka-streams-connect-{KAFKA.version}", beside=(connect,))


def jars_of_connect() -> list[Path]:
    """The jars of a Connect worker with connectors for files, fetched if this user does not have them yet."""
    runtime, files, json = (
        Coordinate(organisation=KAFKA.organisation, artifact=artifact, version=KAFKA.version)
        for artifact in ("connect-runtime", "connect-file", "connect-json")
    )
    return resolve(runtime, cache_dir() / f"connect-{KAFKA.version}", beside=(files, json))
