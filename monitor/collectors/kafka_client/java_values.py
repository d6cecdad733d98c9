"""What Kafka's Java consumer takes as values of its properties: Spark's source hands them over when its query starts.

A value that Java refuses would end every query of the job again and again, so this reports it first. Java removes
blanks around a value, which kafka-python does not; so no value may have them. The types and bounds are those of
``ConsumerConfig.configDef()`` in kafka-clients 3.9.2, which Spark 4.2 uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from monitor.config.client_words import WORDS, has_blanks_around, is_word

INT: Final = 2**31 - 1
LONG: Final = 2**63 - 1
LOGIN_LIMIT_MS: Final = 600_000
"""The longest wait for a token that groupwatch permits; Java has no limit there."""

NUMBERS: Final[Mapping[str, tuple[int, int]]] = {
    "connections.max.idle.ms": (-LONG, LONG),
    "default.api.timeout.ms": (0, INT),
    "fetch.max.bytes": (0, INT),
    "fetch.max.wait.ms": (0, INT),
    "fetch.min.bytes": (0, INT),
    "heartbeat.interval.ms": (1, INT),
    "max.partition.fetch.bytes": (0, INT),
    "max.poll.interval.ms": (1, INT),
    "max.poll.records": (1, INT),
    "metadata.max.age.ms": (0, LONG),
    "metadata.recovery.rebootstrap.trigger.ms": (0, LONG),
    "receive.buffer.bytes": (-1, INT),
    "reconnect.backoff.max.ms": (0, LONG),
    "reconnect.backoff.ms": (0, LONG),
    "request.timeout.ms": (0, INT),
    "retry.backoff.ms": (0, LONG),
    "sasl.login.connect.timeout.ms": (1, LOGIN_LIMIT_MS),
    "sasl.login.read.timeout.ms": (1, LOGIN_LIMIT_MS),
    "send.buffer.bytes": (-1, INT),
    "session.timeout.ms": (1, INT),
    "socket.connection.setup.timeout.max.ms": (0, LONG),
    "socket.connection.setup.timeout.ms": (0, LONG),
}
"""Whole numbers, from and to."""

REQUEST_MS: Final = 10_000
"""``request.timeout.ms`` of groupwatch's own clients, unless the properties say otherwise."""

LONGEST_WAIT_MS: Final = 100
"""So long a fetch of theirs may be waited for. kafka-python requires a longer limit for every request."""

FREE_TEXTS: Final = frozenset(
    {
        "sasl.jaas.config",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.scope",
        "sasl.password",
        "sasl.username",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.truststore.certificates",
    }
)
"""Properties that may begin or end with blanks: groupwatch quotes them for Java, or both clients skip the blanks."""

_IDLE_MS: Final = 540_000
_HEARTBEAT_MS, _SESSION_MS = 3_000, 45_000
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")


def invalid_values(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The properties whose values a client would refuse, each with what it should be. The result has no value.

    >>> list(invalid_values({"fetch.max.bytes": "lots", "check.crcs": "TRUE"}))
    [('fetch.max.bytes', 'a whole number from 0 to 2147483647')]
    >>> list(invalid_values({"ssl.key.password": "tiger "}))
    [('ssl.key.password', 'without whitespace at its start and end')]
    """
    for key, value in properties.items():
        if key in NUMBERS and not _is_number(value, *NUMBERS[key]):
            least, most = NUMBERS[key]
            yield key, f"a whole number from {least} to {most}"
        elif key in WORDS and not is_word(key, value):
            yield key, " or ".join(word or '""' for word in WORDS[key])
        elif key not in FREE_TEXTS and has_blanks_around(value):
            yield key, "without whitespace at its start and end"
    yield from _wrong_together(properties)


def value_problems(place: str, properties: Mapping[str, str]) -> list[str]:
    """A sentence for each of the invalid values.

    Args:
        place: where the properties stand in the configuration.
        properties: by their Java names, references resolved.
    """
    return [f"{place}.{key} should be {told}." for key, told in invalid_values(properties)]


def _is_number(value: str, least: int, most: int) -> bool:
    return _WHOLE.fullmatch(value) is not None and least <= int(value) <= most


def _wrong_together(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    def chosen(key: str, usual: int) -> int:
        value = properties.get(key, "")
        return int(value) if _is_number(value, *NUMBERS[key]) else usual

    request, idle = chosen("request.timeout.ms", REQUEST_MS), chosen("connections.max.idle.ms", _IDLE_MS)
    if request <= LONGEST_WAIT_MS:
        yield "request.timeout.ms", f"more than {LONGEST_WAIT_MS}"
    elif 0 <= idle <= request:
        yield "connections.max.idle.ms", f"more than request.timeout.ms ({request})"
    session = chosen("session.timeout.ms", _SESSION_MS)
    if chosen("heartbeat.interval.ms", _HEARTBEAT_MS) >= session:
        yield "heartbeat.interval.ms", f"less than session.timeout.ms ({session})"
