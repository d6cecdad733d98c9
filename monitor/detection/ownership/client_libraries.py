"""Which client library a member uses, as far as the log shows it.

The log has no library's name. Most libraries begin the client ids that they make up with a word of their own, and
what they write as user data differs: Kafka's Java client has sent none with ``range`` and ``roundrobin`` since 2.4,
where kafka-python, aiokafka and librdkafka send an empty one. With ``cooperative-sticky`` it sends its generation, or
(until 2.7) nothing.
"""

from __future__ import annotations

from typing import Final

from monitor.model import Member
from monitor.protocol.kafka.sticky_user_data import is_foreign

JAVA: Final = "the Java client"
KAFKAJS: Final = "KafkaJS"

PREFIXES: Final = (
    ("kafka-python-", "kafka-python"),
    ("aiokafka-", "aiokafka"),
    ("rdkafka", "librdkafka"),
    ("sarama", "Sarama"),
    ("kafkajs", KAFKAJS),
    ("kgo", "franz-go"),
)
"""How the client ids begin that a library makes up by itself. A person may have chosen any other."""


def library_of(member: Member, group: str) -> str | None:
    """The library by whose habit the member's client id was made up; None: somebody has chosen it.

    >>> library_of(Member(member_id="m", client_id="rdkafka"), "g"), library_of(Member(member_id="m"), "g")
    ('librdkafka', None)
    """
    if member.client_id.startswith(f"consumer-{group}-"):
        return JAVA
    return next((library for prefix, library in PREFIXES if member.client_id.startswith(prefix)), None)


def writes_unlike_java(member: Member, assignor: str | None) -> bool:
    """Whether the member's user data is not what Kafka's Java client, since 2.4, writes for this assignor.

    >>> writes_unlike_java(Member(member_id="m", user_data=b""), "range")
    True
    >>> writes_unlike_java(Member(member_id="m"), "range")
    False
    """
    match assignor:
        case "range" | "roundrobin":
            return member.user_data is not None
        case "sticky":
            return member.user_data == b"" or is_foreign(member.user_data)
        case "cooperative-sticky":
            return member.user_data is not None and len(member.user_data) != _GENERATION_BYTES
        case _:
            return False


_GENERATION_BYTES: Final = 4
