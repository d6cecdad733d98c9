"""Client libraries, and how sure it is that a member uses one, as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from monitor.messages.names import shown
from monitor.model import Certainty, ClientLibrary, Library, MemberRemark

CERTAINTIES: Final[Mapping[Certainty, str]] = {
    Certainty.CERTAIN: "No other library that groupwatch knows writes such bytes.",
    Certainty.LIKELY: (
        "The bytes alone do not decide. The client id or the timeouts are the defaults of this library, or the group "
        "leader uses it."
    ),
    Certainty.POSSIBLE: "Each of these libraries writes such bytes, and nothing else distinguishes them.",
    Certainty.UNKNOWN: (
        "The bytes fit no library that groupwatch knows, or there are none; the client id is no default."
    ),
}
"""The meaning of each certainty."""


def library_name(library: ClientLibrary) -> str:
    """The library with its release, or all that fit. A release may be text from a client id, so it is escaped.

    >>> from monitor.model import UNKNOWN_LIBRARY, Library
    >>> library_name(ClientLibrary((Library.LIBRDKAFKA,), Certainty.CERTAIN, "2.4 or newer"))
    'librdkafka 2.4 or newer'
    >>> library_name(ClientLibrary((Library.AIOKAFKA, Library.KAFKA_PYTHON), Certainty.POSSIBLE))
    'aiokafka or kafka-python'
    >>> library_name(UNKNOWN_LIBRARY)
    'unknown'
    """
    return library.label if library.versions is None else f"{library.label} {shown(library.versions)}"


PROJECT_NAMES: Final[Mapping[Library, str]] = {
    Library.JAVA: "Kafka's Java client",
    Library.LIBRDKAFKA: "librdkafka",
    Library.SARAMA: "Sarama",
    Library.KAFKA_GO: "kafka-go",
    Library.FRANZ_GO: "franz-go",
    Library.KAFKAJS: "KafkaJS",
    Library.PLATFORMATIC: "@platformatic/kafka",
    Library.KAFKA_PYTHON: "kafka-python",
    Library.AIOKAFKA: "aiokafka",
}
"""How each client library's own project writes its name."""


def project_name(library: Library) -> str:
    """A client library as its own project writes it."""
    return PROJECT_NAMES[library]


def project_names(libraries: Sequence[Library], conjunction: str = "or") -> str:
    """Several of them; "" for none.

    >>> project_names([Library.SARAMA]), project_names([Library.SARAMA, Library.AIOKAFKA, Library.KAFKAJS])
    ('Sarama', 'Sarama, aiokafka or KafkaJS')
    """
    names = [project_name(library) for library in libraries]
    return f" {conjunction} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


REMARKS: Final[Mapping[MemberRemark, str]] = {
    MemberRemark.ABRIDGED_SUBSCRIPTION: "sends subscription v1 without OwnedPartitions",
    MemberRemark.VERSIONED_USER_DATA: "sends sticky user data that only kafka-python can read",
    MemberRemark.UNKNOWN_USER_DATA: "sends sticky user data in an unknown format",
    MemberRemark.REPEATED_TOPIC: "its assignment names a topic more than once",
}
"""What deviates in a member's bytes, in words."""
