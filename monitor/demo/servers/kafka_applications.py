"""The jars of what runs beside a broker: Kafka's clients, Kafka Streams and Kafka Connect."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from monitor.java_runtime.jars import KAFKA, Coordinate, Progress, artifact_name, cache_dir, kafka_jars, quiet, resolve

CLIENT_JARS: Final = frozenset({"kafka-clients", "slf4j-api", "lz4-java", "snappy-java"})
"""What Kafka's clients need."""


def client_jars(names: frozenset[str] = CLIENT_JARS, progress: Progress = quiet) -> list[Path]:
    """The jars of Kafka's distribution with these names.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    return [jar for jar in kafka_jars(progress) if artifact_name(jar) in names]


def streams_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of Kafka Streams, with those of a Connect worker, fetched if this user does not have them yet (90 MB).

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    streams, connect = map(_coordinate, ("kafka-streams", "connect-runtime"))
    return resolve(streams, cache_dir() / f"kafka-streams-connect-{KAFKA.version}", progress, beside=(connect,))


def connect_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of a Connect worker with connectors for files, fetched if this user does not have them yet (30 MB).

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    runtime, files, json = map(_coordinate, ("connect-runtime", "connect-file", "connect-json"))
    return resolve(runtime, cache_dir() / f"connect-{KAFKA.version}", progress, beside=(files, json))


def _coordinate(artifact: str) -> Coordinate:
    return Coordinate(organisation=KAFKA.organisation, artifact=artifact, version=KAFKA.version)
