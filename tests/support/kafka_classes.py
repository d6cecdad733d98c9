"""Java's archive of the classes of a Kafka broker (AppCDS), with which the brokers of tests start.

A start takes 2 s of CPU with it, and 4 s without. ``python -m tests.support.kafka_classes`` writes it, once for each
user, Java and version of Kafka, and prints its path. ``make test-jobs`` gives that to the brokers of its tests.
"""

from __future__ import annotations

import os
import secrets
import sys
from typing import Final

from monitor.demo.servers.broker import CLASSES_VARIABLE, EmbeddedKafka
from monitor.demo.servers.server import class_path
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import kafka_jars
from streaming_jobs.runtime.class_archive import WRITE, ClassArchive, archive_for
from tests.support.clients import commit, create_topic, produce, transaction

TOPIC: Final = "archived"


def kafka_classes() -> ClassArchive:
    """The place of the archive."""
    return archive_for(find_java().home, class_path(kafka_jars()))


def write_kafka_classes(archive: ClassArchive) -> None:
    """Write the archive. Raises EmbeddedError: no broker started."""
    os.environ.pop(CLASSES_VARIABLE, None)
    archive.file.parent.mkdir(parents=True, exist_ok=True)
    part = archive.file.with_name(f"part-{secrets.token_hex(6)}")
    try:
        with EmbeddedKafka(BrokerSettings(jvm_options=(f"{WRITE}{part}",))) as kafka:
            _serve(kafka.bootstrap_servers)
        archive.keep(part)
    finally:
        part.unlink(missing_ok=True)


def _serve(bootstrap: str) -> None:
    """Requests of nearly every test, for the classes that answer them."""
    create_topic(bootstrap, TOPIC, 1)
    produce(bootstrap, TOPIC, {0: 10})
    commit(bootstrap, "group", TOPIC, {0: 1})
    with transaction(bootstrap, "group", TOPIC, 2) as producer:
        producer.commit_transaction()


def main() -> None:
    """Write it where it is missing, and print its path."""
    archive = kafka_classes()
    if not archive.is_whole():
        write_kafka_classes(archive)
    sys.stdout.write(f"{archive.file}\n")


if __name__ == "__main__":
    main()
