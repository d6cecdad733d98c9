"""How large a case of the command may be: a few bytes of JSON can name more partitions than a machine can hold.

The limits are far beyond what clusters have. A case beyond them is refused before any strategy sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final

from msgspec import ValidationError

LINE_BYTES: Final = 64 * 1024 * 1024
"""A longer line is not read."""
CASE_ITEMS: Final = 5_000_000
"""As many partitions, consumer threads, or points of a hash ring a case may describe, and an answer list."""


def check_size(case_input: object) -> None:
    """Refuse a case that is too large, whichever system it belongs to. Parts of another shape are not judged here.

    >>> check_size({"topics": {"t": 10**12}})
    Traceback (most recent call last):
    msgspec.ValidationError: Too large: more than 5000000 partitions

    Raises:
        ValidationError: the case is beyond a limit, which is named.
    """
    if not isinstance(case_input, dict):
        return
    members = max(_length(case_input.get("cids")), _length(case_input.get("consumers")), 1)
    sizes = {
        "partitions": sum(map(_partitions, _values(case_input.get("topics")))),
        "consumer threads": sum(map(_number, chain.from_iterable(_subscriptions(case_input.get("consumers"))))),
        "points of the hash ring": _number(case_input.get("virtual_nodes")) * members,
        "places of the table": _number(case_input.get("capacity")),
        "queues in the answer": _copied_queues(case_input),
    }
    for what, size in sizes.items():
        if size > CASE_ITEMS:
            raise ValidationError(f"Too large: more than {CASE_ITEMS} {what}")


def _copied_queues(case_input: dict[str, object]) -> int:
    """A configured list is everybody's answer, and a client that asks twice is answered twice."""
    ask = case_input.get("ask")
    asked = [client for client in ask if isinstance(client, str)] if isinstance(ask, list) else []
    again = len(asked) - len(set(asked))
    queues = max(_length(case_input.get("queues")), _length(case_input.get("partitions")))
    return _length(case_input.get("config")) * len(asked) + queues * again


def _partitions(topic: object) -> int:
    return _number(topic.get("partitions")) if isinstance(topic, dict) else _number(topic)


def _subscriptions(consumers: object) -> Iterable[Iterable[object]]:
    for consumer in _values(consumers):
        yield _values(consumer.get("subscription")) if isinstance(consumer, dict) else ()


def _values(part: object) -> Iterable[object]:
    return part.values() if isinstance(part, Mapping) else ()


def _number(part: object) -> int:
    return max(part, 0) if isinstance(part, int) else 0


def _length(part: object) -> int:
    return len(part) if isinstance(part, list) else 0
