"""The client properties whose values are words of a short list. Any other value is a slip, and may be a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SWITCH: Final = ("true", "false")

WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "allow.auto.create.topics": _SWITCH,
    "check.crcs": _SWITCH,
    "client.dns.lookup": ("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    "enable.idempotence": _SWITCH,
    "enable.metrics.push": _SWITCH,
    "exclude.internal.topics": _SWITCH,
    "isolation.level": ("read_uncommitted", "read_committed"),
    "metadata.recovery.strategy": ("none", "rebootstrap"),
    "security.protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    "ssl.endpoint.identification.algorithm": ("https", ""),
    "ssl.protocol": ("TLS", "TLSv1.2", "TLSv1.3"),
}
"""By the names of the properties. ``ConsumerConfig.configDef()`` of kafka-clients 3.9.2 has the same."""

_ANY_CASE: Final = frozenset(
    {"security.protocol", "metadata.recovery.strategy", "ssl.endpoint.identification.algorithm"}
)


def is_word(key: str, value: str) -> bool:
    """Whether the property may have this value. Java does not mind the case of switches and of a few others.

    >>> is_word("security.protocol", "sasl_ssl"), is_word("isolation.level", "READ_COMMITTED")
    (True, False)
    """
    words, word = WORDS[key], value.strip()
    if key in _ANY_CASE or words is _SWITCH:
        return word.lower() in {each.lower() for each in words}
    return word in words
