"""Regular expressions for whole names, which people write in settings and clients in their subscriptions.

RE2 matches them in time linear to the name, so a hostile expression holds up nobody (docs/decisions/0007). Names are
matched as UTF-8; half of a surrogate pair, which has none, counts as a question mark.
"""

from __future__ import annotations

from functools import lru_cache

import re2


class PatternError(ValueError):
    """RE2 does not know the expression; the text says why."""


class NamePattern:
    """An expression that a name matches as a whole, or not."""

    __slots__ = ("_fullmatch", "_search")

    def __init__(self, expression: str, *, dot_matches_line_breaks: bool = False) -> None:
        """Compile the expression.

        >>> NamePattern("orders-.*").matches("orders-eu"), NamePattern("orders").matches("orders-eu")
        (True, False)
        >>> NamePattern("(?=a)")
        Traceback (most recent call last):
        monitor.model.patterns.PatternError: invalid perl operator: (?=

        Raises:
            PatternError: RE2 does not know the expression.
        """
        options = re2.Options()
        options.log_errors = False
        options.dot_nl = dot_matches_line_breaks
        try:
            compiled = re2.compile(_utf8(expression), options)
        except re2.error as error:
            reason = error.args[0]
            raise PatternError(reason.decode(errors="replace") if isinstance(reason, bytes) else reason) from None
        self._fullmatch, self._search = compiled.fullmatch, compiled.search

    def matches(self, name: str) -> bool:
        """Whether the expression matches the whole name."""
        return self._fullmatch(_utf8(name)) is not None

    def is_found_in(self, name: str) -> bool:
        """Whether the expression matches a part of the name, or all of it."""
        return self._search(_utf8(name)) is not None


@lru_cache(maxsize=1_000)
def name_pattern(expression: str) -> NamePattern:
    """The pattern, compiled once: of the settings' expressions there are few, and each is asked about every group."""
    return NamePattern(expression)


def is_allowed(name: str, allowed: tuple[str, ...], denied: tuple[str, ...]) -> bool:
    """Whether a name matches one of the allowed expressions (none: every name does), and none of the denied ones.

    >>> [is_allowed(name, ("team-.*",), (".*-test",)) for name in ("team-a", "team-a-test", "other")]
    [True, False, False]
    >>> is_allowed("other", (), ())
    True

    Raises:
        PatternError: an expression cannot be read.
    """
    is_listed = not allowed or any(name_pattern(pattern).matches(name) for pattern in allowed)
    return is_listed and not any(name_pattern(pattern).matches(name) for pattern in denied)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
