"""What Kafka's Java consumer takes as values of its properties: Spark's source hands them over when its query starts.

A value that Java refuses would end every query of the job again and again, so it is told before. The types and bounds
are those of ``ConsumerConfig.configDef()`` in kafka-clients 3.9.2, which Spark 4.2 uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from monitor.config.client_words import WORDS, is_word

INT: Final = 2**31 - 1
LONG: Final = 2**63 - 1

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
    "send.buffer.bytes": (-1, INT),
    "session.timeout.ms": (1, INT),
    "socket.connection.setup.timeout.max.ms": (0, LONG),
    "socket.connection.setup.timeout.ms": (0, LONG),
}
"""Whole numbers, from and to."""

REQUEST_MS: Final = 10_000
"""``request.timeout.ms`` of groupwatch's own clients, unless the properties say otherwise."""

LONGEST_WAIT_MS: Final = 100
"""So long a fetch of theirs may be waited for. kafka-python wants every request to be given more."""

_IDLE_MS: Final = 540_000
_HEARTBEAT_MS, _SESSION_MS = 3_000, 45_000
_WHOLE: Final = re.compile(r"-?[0-9]{1,19}")


def invalid_values(properties: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The properties whose values a client would refuse, each with what it should be. No value is told.

    >>> list(invalid_values({"fetch.max.bytes": "lots", "check.crcs": "TRUE"}))
    [('fetch.max.bytes', 'a whole number from 0 to 2147483647')]
    """
    for key, value in properties.items():
        if key in NUMBERS and not _is_number(value, *NUMBERS[key]):
            least, most = NUMBERS[key]
            yield key, f"a whole number from {least} to {most}"
        elif key in WORDS and not is_word(key, value):
            yield key, " or ".join(word or '""' for word in WORDS[key])
    yield from _wrong_together(properties)


def _is_number(value: str, least: int, most: int) -> bool:
    return _WHOLE.fullmatch(value.strip()) is not None and least <= int(value) <= most


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
