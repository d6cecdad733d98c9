"""Java programs of the tests, from source; see :mod:`monitor.demo.java.clients`."""

from __future__ import annotations

from pathlib import Path

from monitor.demo.java.clients import java_command
from monitor.java_runtime.jars import artifact_name, cache_dir, kafka_artifact, kafka_jars, resolve
from monitor.java_runtime.kafka_versions import kafka_version

__all__ = ["jars_of_connect", "jars_of_kafka", "jars_of_streams_and_connect", "java_command"]


def jars_of_kafka(names: frozenset[str]) -> list[Path]:
    """The jars of Kafka's distribution with these names."""
    return [jar for jar in kafka_jars() if artifact_name(jar) in names]


def jars_of_streams_and_connect() -> list[Path]:
    """The jars of Kafka Streams and of a Connect worker, fetched if this user does not have them yet (90 MB)."""
    streams = kafka_artifact("kafka-streams")
    into = cache_dir() / f"kafka-streams-connect-{streams.version}"
    return resolve(streams, into, beside=(kafka_artifact("connect-runtime"),))


def jars_of_connect() -> list[Path]:
    """The jars of a Connect worker with connectors for files, fetched if this user does not have them yet."""
    version = kafka_version().connect
    runtime, *beside = (kafka_artifact(name, version) for name in ("connect-runtime", "connect-file", "connect-json"))
    return resolve(runtime, cache_dir() / f"connect-{version}", beside=tuple(beside))
