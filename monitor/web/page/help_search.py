"""A search in the pages of help: over their headings, paragraphs, rows and blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from monitor.model.values import Value
from monitor.web.page.help_page import HelpPage, Passage, help_page
from monitor.web.views.addresses import HELP, HELP_PAGES

LONGEST_QUERY: Final = 100
"""In characters. The rest of a longer query is ignored, so that it costs no more."""

SHOWN_HITS: Final = 30

_BEFORE: Final = 60
_EXCERPT: Final = 220
"""How many characters of a passage are shown before the first word, and in all."""


class Hit(Value):
    """A place in a page of help. ``excerpt`` alternates: other text, then a sought word, and so on."""

    href: str
    page: str
    heading: str
    excerpt: tuple[str, ...]


class HelpHits(Value):
    """The answer to a query. ``query`` is what was sought. ``hits`` are the first SHOWN_HITS of ``total`` places."""

    query: str
    hits: tuple[Hit, ...]
    total: int


class _Entry(Value):
    """A passage as it is sought, in small letters."""

    page: HelpPage
    passage: Passage
    heading: str
    text: str


def help_hits(query: str) -> HelpHits:
    """The places that have all words of the query, also within longer words. Small and capital letters are alike.

    Headings come first, then passages that have all words themselves, then those that have some only in their heading.
    Each place is there once. The first search of a process renders all pages; later ones take a few ms.
    """
    sought = query[:LONGEST_QUERY].strip()
    words = tuple(dict.fromkeys(sought.casefold().split()))
    places: dict[tuple[str, str], _Entry] = {}
    for _, entry in sorted(_matches(words), key=lambda match: match[0]):
        places.setdefault((entry.page.name, entry.passage.anchor), entry)
    hits = tuple(_hit(entry, words) for entry in list(places.values())[:SHOWN_HITS])
    return HelpHits(query=sought, hits=hits, total=len(places))


@cache
def _index() -> tuple[_Entry, ...]:
    return tuple(
        _Entry(page, passage, passage.heading.casefold(), passage.text.casefold())
        for page in map(help_page, HELP_PAGES)
        for passage in page.passages
    )


def _matches(words: Sequence[str]) -> Iterator[tuple[int, _Entry]]:
    """The entries with all words, each with its rank: 0 is the best."""
    for entry in _index() if words else ():
        if not entry.text:
            if all(word in entry.heading for word in words):
                yield 0, entry
        elif all(word in entry.text for word in words):
            yield 1, entry
        elif all(word in entry.text or word in entry.heading for word in words):
            yield 2, entry


def _hit(entry: _Entry, words: Sequence[str]) -> Hit:
    mark = f"#{entry.passage.anchor}" if entry.passage.anchor else ""
    excerpt = _excerpt(entry.passage.text, words)
    return Hit(f"{HELP}{entry.page.name}{mark}", entry.page.title, entry.passage.heading, excerpt)


def _excerpt(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The part of a text around its first sought word, split at these words.

    >>> _excerpt("No member owns it.", ["member"]), _excerpt("", ["member"])
    (('No ', 'member', ' owns it.'), ())
    """
    pattern = re.compile(f"({'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})", re.IGNORECASE)
    first = pattern.search(text)
    start = max(0, first.start() - _BEFORE) if first else 0
    start = text.find(" ", start) + 1 if start else 0
    shown = text[start : start + _EXCERPT]
    cut = ("… " if start else "") + shown + (" …" if start + _EXCERPT < len(text) else "")
    return tuple(pattern.split(cut)) if cut else ()
