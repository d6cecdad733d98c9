"""The client libraries whose real members are watched, each with its release: ``CLIENTS``. The one table of versions.

What the programs are built from (``programs/``) has to name the same releases: tests.clients.test_libraries compares.
"""

from __future__ import annotations

from typing import Final, Literal

from monitor.java_runtime.kafka_versions import kafka_version
from monitor.model import Library, Value

Language = Literal["go", "java", "node", "python"]

RANGE, ROUNDROBIN, STICKY, COOPERATIVE = "range", "roundrobin", "sticky", "cooperative-sticky"
RACK_AFFINITY, KAFKAJS_ROUNDROBIN = "rack-affinity", "RoundRobinAssigner"


class Client(Value):
    """A release of a client library.

    Attributes:
        name: of the library; of its older release, with its first number.
        library: as groupwatch names it.
        version: its release.
        package: as its registry names it.
        language: of the program that has its members.
        strategies: the assignors that it brings, by the names that it sends. The first is what its members use if
            nobody has chosen one.
        client_id: that of its members if nobody has chosen one. None: one must be chosen.
        has_static_members: it lets its user choose an instance id.
        assigns_by_leader: its leaders assign only the topics that they subscribe to themselves.
    """

    name: str
    library: Library
    version: str
    package: str
    language: Language
    strategies: tuple[str, ...]
    client_id: str | None
    has_static_members: bool = True
    assigns_by_leader: bool = False


_ALL: Final = (RANGE, ROUNDROBIN, STICKY, COOPERATIVE)

CLIENTS: Final = (
    Client("java", Library.JAVA, kafka_version().version, "kafka-clients", "java", _ALL, "consumer-GROUP-N"),
    Client("sarama", Library.SARAMA, "v1.61.1", "github.com/IBM/sarama", "go", _ALL, "sarama"),
    Client(
        "kafka-go",
        Library.KAFKA_GO,
        "v0.4.51",
        "github.com/segmentio/kafka-go",
        "go",
        (RANGE, ROUNDROBIN, RACK_AFFINITY),
        "PROGRAM@HOST (github.com/segmentio/kafka-go)",
        has_static_members=False,
    ),
    Client(
        "franz-go",
        Library.FRANZ_GO,
        "v1.22.2",
        "github.com/twmb/franz-go",
        "go",
        (COOPERATIVE, STICKY, RANGE, ROUNDROBIN),
        "kgo",
    ),
    Client(
        "kafkajs",
        Library.KAFKAJS,
        "2.2.4",
        "kafkajs",
        "node",
        (KAFKAJS_ROUNDROBIN,),
        "kafkajs",
        has_static_members=False,
        assigns_by_leader=True,
    ),
    Client(
        "platformatic-1",
        Library.PLATFORMATIC,
        "1.35.0",
        "@platformatic/kafka",
        "node",
        (ROUNDROBIN,),
        None,
        assigns_by_leader=True,
    ),
    Client(
        "platformatic",
        Library.PLATFORMATIC,
        "2.12.1",
        "@platformatic/kafka",
        "node",
        (ROUNDROBIN, COOPERATIVE),
        None,
        assigns_by_leader=True,
    ),
    Client(
        "kafka-python",
        Library.KAFKA_PYTHON,
        "3.0.12",
        "kafka-python",
        "python",
        _ALL,
        "kafka-python-VERSION",
    ),
    Client(
        "aiokafka",
        Library.AIOKAFKA,
        "0.14.0",
        "aiokafka",
        "python",
        (ROUNDROBIN, RANGE, STICKY),
        "aiokafka-VERSION",
    ),
    Client(
        "librdkafka",
        Library.LIBRDKAFKA,
        "2.16.1",
        "confluent-kafka",
        "python",
        (RANGE, ROUNDROBIN, COOPERATIVE),
        "rdkafka",
    ),
)
"""A row for each release."""

CLIENT: Final = {client.name: client for client in CLIENTS}
"""The rows by their names."""

NODE_OF_PLATFORMATIC_2: Final = (22, 22)
"""The oldest Node that @platformatic/kafka 2.12 runs on."""
