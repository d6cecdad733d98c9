"""The client properties whose values are words of a short list. Any other value is a slip, and may be a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

IDENTIFICATION: Final = "ssl.endpoint.identification.algorithm"
"""Whether a client compares the host name with the certificate of the server: ``https``, or empty (it does not)."""

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
    "sasl.oauthbearer.header.urlencode": _SWITCH,
    "security.protocol": ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    IDENTIFICATION: ("https", ""),
    "ssl.protocol": ("TLS", "TLSv1.2", "TLSv1.3"),
}
"""By the names of the properties. ``ConsumerConfig.configDef()`` of kafka-clients 3.9.2 has the same."""

_ANY_CASE: Final = frozenset({"security.protocol", "metadata.recovery.strategy"})


def is_word(key: str, value: str) -> bool:
    """Whether the property may have this value, exactly: blanks around a word are part of it.

    Java removes them and kafka-python does not, so one client would check what the other does not. Java does not mind
    the case of switches and of a few others.

    >>> is_word("security.protocol", "sasl_ssl"), is_word("isolation.level", "READ_COMMITTED")
    (True, False)
    >>> [is_word(IDENTIFICATION, value) for value in ("https", "", "https ", "HTTPS", "none")]
    [True, True, False, False, False]
    """
    words = WORDS[key]
    if key in _ANY_CASE or words is _SWITCH:
        return value.lower() in {each.lower() for each in words}
    return value in words


def has_blanks_around(value: str) -> bool:
    r"""Whether a client may remove a part of the value: Java's ``trim`` removes controls, Python's ``strip`` others.

    >>> [has_blanks_around(value) for value in ("a b", "a ", "\ta", "a\u00a0", "a\x01", "")]
    [False, True, True, True, True, False]
    """
    return value != value.strip() or any(end <= " " for end in (value[:1], value[-1:]) if end)
