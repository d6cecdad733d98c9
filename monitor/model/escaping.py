r"""Text from outside as a person may be shown it: what cannot be seen is written out, everything else stays.

Whoever may connect to a cluster chooses names of groups, topics, members and clients. Controls of a terminal (ESC) or
of the direction of text (U+202E), and line breaks, can make one name look like another, or forge a line. Pages,
sentences, the log and the commands show names by :func:`escaped`. JSON, metrics and records have names as they are.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols (so Unicode and ``str.isprintable`` call them) that show nothing."""

_JOINER: Final = "\u200d"
_STYLES: Final = frozenset("\ufe0e\ufe0f")
"""What follows an emoji and says that it is to be one, or to be plain."""

_VARIATIONS: Final = ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
"""Characters that ask for another form of the one before, which most fonts do not have."""

_FIRST_PICTURE: Final = "\u203c"


def escaped(text: str) -> str:
    r"""The text with every character that cannot be seen written as in a Python string.

    What cannot be seen are controls, all that changes the direction of text, separators of lines, spaces other than the
    usual one, halves of surrogates, and what has no meaning (yet). Letters of all scripts and emoji stay. To escape
    twice is to escape once.

    >>> print(escaped("orders"), escaped("a\nb\x1b[2J"), escaped("\u202eabc"), escaped("\u05e9\u05dc"))
    orders a\nb\x1b[2J \u202eabc של
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if _is_seen(text, place) else char.encode("unicode_escape").decode("ascii")
        for place, char in enumerate(text)
    )


def escaped_lines(text: str, *, indent: str = "") -> str:
    r"""A text of several lines, each escaped; all but the first begin with ``indent``.

    >>> print(escaped_lines("Traceback:\n\tat a\x1bb", indent="  "))
    Traceback:
              at a\x1bb
    """
    first, *more = text.expandtabs().split("\n")
    return "\n".join([escaped(first), *(f"{indent}{escaped(line)}" for line in more)])


def _is_seen(text: str, place: int) -> bool:
    char = text[place]
    if char == _JOINER:
        return _is_picture(text[max(0, place - 2) : place].rstrip("\ufe0f")[-1:]) and _is_picture(
            text[place + 1 : place + 2]
        )
    if char in _STYLES:
        return _is_picture(text[place - 1 : place])
    return char.isprintable() and char not in _BLANK and not _is_variation(char)


def _is_picture(char: str) -> bool:
    """Whether it is an emoji, or the colour of its skin."""
    return char >= _FIRST_PICTURE and unicodedata.category(char) in ("So", "Sk", "Sm", "Po")


def _is_variation(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _VARIATIONS)
