"""How the assignors of client libraries other than Kafka's Java client choose an owner, a sentence for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.assignors.dialects import DialectRow
from monitor.messages.client_libraries import project_name

_KIP54: Final = (
    "keeps partitions with their owners and moves one at a time while that makes the group more even (the algorithm of "
    "KIP-54)"
)
_DEALS_LEADERS_TOPICS: Final = "deals the partitions of the leader's topics to all members in turn"

RULES: Final[Mapping[str, str]] = {
    "sarama.range": "divides the partitions of each topic among its subscribers, sorted by member id",
    "sarama.roundrobin": (
        "sorts partitions as the text topic-partition, so that 10 comes before 2, and deals them to members in turn, "
        "sorted by member id"
    ),
    "sarama.sticky": _KIP54,
    "sarama.cooperative-sticky": f"{_KIP54}; a partition that moves is assigned in the next generation",
    "kafka-go.range": (
        "divides the partitions of each topic among its subscribers, sorted by member id; the remainder goes to later "
        "members"
    ),
    "kafka-go.roundrobin": "deals the partitions of each topic to its subscribers in turn, from the first one again",
    "kafka-go.rack-affinity": (
        "first gives each member partitions whose leader is in its zone, and then the rest to members below their share"
    ),
    "franz-go.range": "divides the partitions of each topic among its subscribers, static members first",
    "franz-go.roundrobin": "deals partitions in turn to the subscribers of their topics, static members first",
    "franz-go.sticky": "finds the most even assignment that moves few partitions",
    "franz-go.cooperative-sticky": (
        "finds the most even assignment that moves few partitions; one that moves is assigned in the next generation"
    ),
    "kafkajs.RoundRobinAssigner": f"{_DEALS_LEADERS_TOPICS}, sorted by member id, whether they subscribe or not",
    "platformatic.roundrobin": f"{_DEALS_LEADERS_TOPICS}, in the order in which they joined",
    "platformatic.cooperative-sticky": (
        "gives each partition of the leader's topics to the subscriber with the fewest, up to an even share"
    ),
    "kafka-python.range": "divides the partitions of each topic among its subscribers, static members first",
    "kafka-python.roundrobin": "deals partitions to members in turn, static members first",
    "kafka-python.sticky": _KIP54,
    "kafka-python.cooperative-sticky": f"{_KIP54}; a partition that moves is assigned in the next generation",
    "aiokafka.range": "divides the partitions of each topic among its subscribers, sorted by member id",
    "aiokafka.roundrobin": "deals partitions in turn to the subscribers of their topics, sorted by member id",
    "aiokafka.sticky": _KIP54,
    "librdkafka.range": "divides the partitions of each topic among its subscribers, and considers their racks",
    "librdkafka.roundrobin": "deals partitions in turn to the subscribers of their topics",
    "librdkafka.cooperative-sticky": f"{_KIP54}; a partition that moves is assigned in the next generation",
}
"""What each dialect does, after the name of its library's assignor."""


def dialect_name(dialect: DialectRow) -> str:
    """The assignor and whose it is.

    >>> from monitor.assignors.dialects import DIALECTS
    >>> dialect_name(DIALECTS["sarama.roundrobin"])
    'roundrobin of Sarama'
    """
    return f"{dialect.protocol} of {project_name(dialect.library)}"


def dialect_rule(dialect: DialectRow) -> str:
    """What the assignor does, in a sentence.

    >>> from monitor.assignors.dialects import DIALECTS
    >>> dialect_rule(DIALECTS["kafka-go.range"])[:60]
    'The range of kafka-go divides the partitions of each topic a'
    """
    return f"The {dialect_name(dialect)} {RULES[dialect.name]}."
