"""The jars of what runs beside a broker: Kafka's clients, Kafka Streams and Kafka Connect."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from monitor.java_runtime.jars import Progress, artifact_name, cache_dir, kafka_artifact, kafka_jars, quiet, resolve
from monitor.java_runtime.kafka_versions import kafka_version

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
    streams, connect = map(kafka_artifact, ("kafka-streams", "connect-runtime"))
    return resolve(streams, cache_dir() / f"kafka-streams-connect-{streams.version}", progress, beside=(connect,))


def connect_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of a Connect worker with connectors for files, fetched if this user does not have them yet (30 MB).

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    version = kafka_version().connect
    names = ("connect-runtime", "connect-file", "connect-json")
    runtime, files, json = (kafka_artifact(name, version) for name in names)
    return resolve(runtime, cache_dir() / f"connect-{version}", progress, beside=(files, json))
