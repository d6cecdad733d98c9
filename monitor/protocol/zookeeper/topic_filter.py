r"""The topics of a white list or a black list of Kafka 0.8 to 0.10 (``kafka.consumer.TopicFilter``).

The expression is one of Java's, for the whole name, in which commas are alternatives. What people write in such lists
(names, ``|``, ``.*``, classes, groups, quoting) means the same in RE2. Limit: what only Java's expressions can do
(looking around, references to groups, possessive repetition, ``\p{Alpha}``, ``&&`` in a class, more than 1,000
repetitions) counts as an invalid expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.model import Value
from monitor.model.patterns import NamePattern, PatternError
from monitor.protocol.wire.errors import DecodeError

INTERNAL_TOPICS: Final = frozenset(["__consumer_offsets"])
"""Never on a list, unless a consumer has ``exclude.internal.topics=false``, which its registration does not show."""

LONGEST: Final = 10_000
"""Characters of a registered expression that is still looked at."""


class TopicFilter(Value):
    """A list that topics are on or not."""

    pattern: NamePattern
    wanted: bool
    exclude_internal: bool = True

    def allows(self, topic: str) -> bool:
        """Whether a consumer with this list reads the topic."""
        if self.exclude_internal and topic in INTERNAL_TOPICS:
            return False
        return self.pattern.matches(topic) == self.wanted


def topic_filter(expression: str, *, wanted: bool, exclude_internal: bool = True) -> TopicFilter:
    """The list that a consumer registered with this expression: a white list if ``wanted``, else a black list.

    Raises:
        PatternError: the expression is none, or one that only Java knows.
    """
    cleaned = normalize_filter(expression)
    if "&&" in cleaned:  # RE2 would take it for two characters
        raise PatternError("an intersection of classes (&&)")
    return TopicFilter(pattern=NamePattern(cleaned), wanted=wanted, exclude_internal=exclude_internal)


def listed_topics(expression: str, topics: Iterable[str], *, wanted: bool) -> tuple[str, ...]:
    """The topics that a consumer with this list reads, sorted.

    Args:
        expression: as the consumer registered it.
        topics: all that exist.
        wanted: True for a white list, False for a black list.

    Raises:
        DecodeError: an expression that this cannot resolve; Java might.
    """
    if len(expression) > LONGEST:
        raise DecodeError("bad_text", 0)
    try:
        listed = topic_filter(expression, wanted=wanted)
    except PatternError:
        raise DecodeError("bad_text", 0) from None
    return tuple(sorted(filter(listed.allows, topics)))


def normalize_filter(expression: str) -> str:
    r"""The expression as the original reads it, also when it reads back what it wrote itself.

    Commas are alternatives, blanks and quotes round it do not count.

    >>> normalize_filter(' "a.*, b" ')
    'a.*|b'
    """
    return expression.strip().replace(",", "|").replace(" ", "").strip("\"'")
