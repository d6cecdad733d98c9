r"""Topics by regular expression: white lists and black lists (``kafka.consumer.TopicFilter``).

The expression comes from the cluster, so a hostile one must not hold a verdict. RE2 matches it, in time linear to the
topic's name. What people write in such lists (names, ``|``, ``.*``, classes, groups, quoting) means the same there as
in Java. Limit: what only Java's expressions can do (looking around, references to groups, possessive repetition,
``\p{Alpha}``, ``&&`` in a class, more than 1,000 repetitions) counts as an invalid expression.
"""

from __future__ import annotations

from typing import Any, Final

import re2

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_zookeeper.group import Pattern, Registration
from monitor.model import Value

INTERNAL_TOPICS: Final = frozenset(["__consumer_offsets"])


class TopicFilter(Value):
    """A list that topics are on or not."""

    expression: Any  # re2 has no types
    wanted: bool
    exclude_internal: bool

    def allows(self, topic: str) -> bool:
        """Whether a consumer with this list reads the topic."""
        if self.exclude_internal and topic in INTERNAL_TOPICS:
            return False
        return (self.expression.fullmatch(_utf8(topic)) is not None) == self.wanted


def topic_filter(registration: Registration, *, exclude_internal: bool) -> TopicFilter:
    """The list that a consumer registered: the first expression of its subscription counts.

    Raises:
        AssignorError: the expression is none, as the original says it, or one that is refused here (see the module).
    """
    expression = clean(next(iter(registration.subscription)))
    wanted = registration.pattern is Pattern.WHITE_LIST
    return TopicFilter(expression=_compile(expression), wanted=wanted, exclude_internal=exclude_internal)


def clean(expression: str) -> str:
    r"""The expression as the original reads it: commas are alternatives, blanks and quotes round it do not count.

    >>> clean(' "a.*, b" ')
    'a.*|b'
    """
    return expression.strip().replace(",", "|").replace(" ", "").strip("\"'")


def _compile(expression: str) -> Any:  # noqa: ANN401  # re2 has no types
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.UTF8
    try:
        if "&&" not in expression:  # RE2 would take it for two characters
            return re2.compile(_utf8(expression), options)
    except re2.error:
        pass
    raise AssignorError("RuntimeException", f"{expression} is an invalid regex.")


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
