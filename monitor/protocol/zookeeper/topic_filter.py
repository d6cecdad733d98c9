r"""The topics of a white list or a black list of Kafka 0.8 to 0.10 (``kafka.consumer.TopicFilter``).

The expression is one of Java's, for the whole name, in which commas are alternatives; internal topics are never on a
list unless a consumer was told so (``exclude.internal.topics``), which it tells nobody. RE2 matches it, in time linear
to the name (docs/decisions/0007); what RE2 does not know, or takes for something else, is not resolved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import re2

from monitor.protocol.wire.errors import DecodeError

INTERNAL_TOPICS: Final = frozenset(["__consumer_offsets"])

LONGEST: Final = 10_000
"""Characters of an expression that is still looked at."""


def listed_topics(expression: str, topics: Iterable[str], *, wanted: bool) -> tuple[str, ...]:
    """The topics that a consumer with this list reads, sorted.

    Args:
        expression: as the consumer registered it.
        topics: all that exist.
        wanted: True for a white list, False for a black list.

    Raises:
        DecodeError: an expression that this cannot resolve; Java might.
    """
    matches = _compiled(_clean(expression)).fullmatch
    return tuple(
        sorted(
            topic for topic in topics if topic not in INTERNAL_TOPICS and (matches(_utf8(topic)) is not None) == wanted
        )
    )


def _clean(expression: str) -> str:
    """As the original reads it, also when it reads back what it wrote itself."""
    return expression.strip().replace(",", "|").replace(" ", "").strip("\"'")


def _compiled(expression: str) -> Any:  # noqa: ANN401 - re2 has no types
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.UTF8
    if len(expression) > LONGEST or "&&" in expression:  # RE2 would take && for two characters
        raise DecodeError("bad_text", 0)
    try:
        return re2.compile(_utf8(expression), options)
    except re2.error:
        raise DecodeError("bad_text", 0) from None


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
