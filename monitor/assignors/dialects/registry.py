"""The dialects by name: a row for each strategy of each library."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from monitor.assignors.dialects.dialect import CheckedDialect, Exactness
from monitor.assignors.dialects.libraries import (
    aiokafka,
    franz_go,
    franz_go_sticky,
    kafka_go,
    kafka_go_rack_affinity,
    kafka_python,
    kafka_python_sticky,
    kafkajs,
    librdkafka,
    librdkafka_sticky,
    platformatic,
    platformatic_sticky,
    sarama,
    sarama_sticky,
)
from monitor.model import Library, Value


class DialectRow(Value):
    """A strategy of a library.

    Attributes:
        library: whose it is.
        protocol: the name that members announce on the wire.
        version: the release of the library with which it was compared.
        exactness: how much of its answer is known. All but ``CHECKED`` ones are ``ReplayedDialect``.
        rule: the strategy.
        as_listed: it takes the partitions of a topic in the order of a Metadata response, which the log does not have.
            Brokers with KRaft list them by number (``TopicImage`` has a map of small integers), those with ZooKeeper in
            the order of a hash (``MetadataCache`` has a ``LongMap``). The replay takes them by number.
    """

    library: Library
    protocol: str
    version: str
    exactness: Exactness
    rule: CheckedDialect
    as_listed: bool = False

    @property
    def name(self) -> str:
        """The name of the dialect: ``library.protocol``."""
        return f"{self.library}.{self.protocol}"


_ROWS: Final = (
    DialectRow(Library.SARAMA, "range", "1.61.1", Exactness.EXACT, sarama.Range()),
    DialectRow(Library.SARAMA, "roundrobin", "1.61.1", Exactness.EXACT, sarama.RoundRobin()),
    DialectRow(Library.SARAMA, "sticky", "1.61.1", Exactness.CHECKED, sarama_sticky.Sticky()),
    DialectRow(Library.SARAMA, "cooperative-sticky", "1.61.1", Exactness.CHECKED, sarama_sticky.CooperativeSticky()),
    DialectRow(Library.KAFKA_GO, "range", "0.4.51", Exactness.EXACT, kafka_go.Range(), as_listed=True),
    DialectRow(Library.KAFKA_GO, "roundrobin", "0.4.51", Exactness.EXACT, kafka_go.RoundRobin(), as_listed=True),
    DialectRow(Library.KAFKA_GO, "rack-affinity", "0.4.51", Exactness.CHECKED, kafka_go_rack_affinity.RackAffinity()),
    DialectRow(Library.FRANZ_GO, "range", "1.22.2", Exactness.EXACT, franz_go.Range()),
    DialectRow(Library.FRANZ_GO, "roundrobin", "1.22.2", Exactness.EXACT, franz_go.RoundRobin()),
    DialectRow(Library.FRANZ_GO, "sticky", "1.22.2", Exactness.CHECKED, franz_go_sticky.Sticky()),
    DialectRow(
        Library.FRANZ_GO, "cooperative-sticky", "1.22.2", Exactness.CHECKED, franz_go_sticky.CooperativeSticky()
    ),
    DialectRow(
        Library.KAFKAJS, "RoundRobinAssigner", "2.2.4", Exactness.EXACT, kafkajs.RoundRobinAssigner(), as_listed=True
    ),
    DialectRow(Library.PLATFORMATIC, "roundrobin", "2.12.1", Exactness.ORDERS, platformatic.RoundRobin()),
    DialectRow(
        Library.PLATFORMATIC, "cooperative-sticky", "2.12.1", Exactness.EXACT, platformatic_sticky.CooperativeSticky()
    ),
    DialectRow(Library.KAFKA_PYTHON, "range", "3.0.12", Exactness.ORDERS, kafka_python.Range()),
    DialectRow(Library.KAFKA_PYTHON, "roundrobin", "3.0.12", Exactness.ORDERS, kafka_python.RoundRobin()),
    DialectRow(Library.KAFKA_PYTHON, "sticky", "3.0.12", Exactness.ORDERS, kafka_python_sticky.Sticky()),
    DialectRow(
        Library.KAFKA_PYTHON, "cooperative-sticky", "3.0.12", Exactness.ORDERS, kafka_python_sticky.CooperativeSticky()
    ),
    DialectRow(Library.AIOKAFKA, "range", "0.14.0", Exactness.EXACT, aiokafka.Range()),
    DialectRow(Library.AIOKAFKA, "roundrobin", "0.14.0", Exactness.EXACT, aiokafka.RoundRobin()),
    DialectRow(Library.AIOKAFKA, "sticky", "0.14.0", Exactness.ORDERS, aiokafka.Sticky()),
    DialectRow(Library.LIBRDKAFKA, "range", "2.16.1", Exactness.ORDERS, librdkafka.Range()),
    DialectRow(Library.LIBRDKAFKA, "roundrobin", "2.16.1", Exactness.ORDERS, librdkafka.RoundRobin()),
    DialectRow(
        Library.LIBRDKAFKA, "cooperative-sticky", "2.16.1", Exactness.ORDERS, librdkafka_sticky.CooperativeSticky()
    ),
)

DIALECTS: Final[Mapping[str, DialectRow]] = MappingProxyType({row.name: row for row in _ROWS})
"""The rows by the name of the dialect, which is also that of its family of vectors."""


def dialects_of(protocol: str) -> tuple[DialectRow, ...]:
    """The dialects that hide under a name on the wire.

    >>> [row.name for row in dialects_of("sticky")]
    ['sarama.sticky', 'franz-go.sticky', 'kafka-python.sticky', 'aiokafka.sticky']
    """
    return tuple(row for row in _ROWS if row.protocol == protocol)
