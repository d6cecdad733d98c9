"""The pages of help: the same Markdown as in docs/, as HTML that needs no style and no script of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from posixpath import dirname, normpath
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from monitor.model.values import Value
from monitor.web.views.addresses import HELP, HELP_PAGES

_ROW: Final = re.compile(r"`(\w+)(?:`, `|/)(\w+)`")
"""How the row of a finding begins in the tables of docs/findings.md: kind and reason."""


class Passage(Value):
    """A paragraph, a row of a table, a block of code, or a heading itself: then ``text`` is "".

    ``anchor`` is the nearest id at or above it, and ``heading`` the nearest heading, both "" above the first one. The
    heading of a finding's row ends with its kind and reason.
    """

    heading: str
    anchor: str
    text: str


class HelpPage(Value):
    """A page of help. ``body`` is HTML, with the heading; ``title`` is that heading. ``passages`` are for a search."""

    name: str
    title: str
    body: Markup
    passages: tuple[Passage, ...]


@cache
def help_page(name: str) -> HelpPage:
    """The page of one of HELP_PAGES. Each is rendered once in a process, which takes up to 0.1 s of CPU."""
    text = files("monitor.web.page").joinpath("help", f"{name}.md").read_text(encoding="utf-8")
    return rendered_page(name, text)


def rendered_page(name: str, text: str) -> HelpPage:
    """A text of Markdown as a page. HTML in the text is shown as it is written.

    Headings have GitHub's ids, rows of findings ``KIND-REASON``. Links to other pages of help lead there, and those to
    files that are not served become the name of the file.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    _identify_headings(tokens)
    _identify_rows(tokens)
    for token in tokens:
        token.attrs.pop("style", None)  # the alignment of a column, which the policy of pages forbids
        if token.children:
            token.children = list(_with_served_links(name, token.children))
    passages = tuple(_passages(tokens))
    title = next((each.heading for each in passages if each.heading), name)
    body = Markup(markdown.renderer.render(tokens, markdown.options, {}))
    return HelpPage(name=name, title=title, body=body, passages=passages)


def heading_id(words: str) -> str:
    """The id of a heading, as GitHub gives it.

    >>> heading_id("Expectation: replayed and current"), heading_id("Your own label `cluster`")
    ('expectation-replayed-and-current', 'your-own-label-cluster')
    """
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def _identify_headings(tokens: Sequence[Token]) -> None:
    taken: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            given = heading_id(_words(tokens[place + 1]))
            number = taken.get(given, 0)
            taken[given] = number + 1
            token.attrSet("id", f"{given}-{number}" if number else given)


def _identify_rows(tokens: Sequence[Token]) -> None:
    """Of a finding that has a row in several tables, the first one has the id."""
    taken: set[str] = set()
    for place, token in enumerate(tokens):
        if token.type != "tr_open" or (found := _ROW.match(tokens[place + 2].content)) is None:
            continue
        given = f"{found[1]}-{found[2]}"
        if given not in taken:
            taken.add(given)
            token.attrSet("id", given)


def _passages(tokens: Sequence[Token]) -> Iterator[Passage]:
    """The passages in their order. The cells of a row are one, since a word of each may be sought together."""
    heading = anchor = row = ""
    cells: list[str] | None = None
    for place, token in enumerate(tokens):
        anchor = str(token.attrs.get("id", anchor))
        if token.type == "heading_open":
            heading = _words(tokens[place + 1])
            yield Passage(heading, anchor, "")
        elif token.type == "tr_open":
            cells, row = [], f": {anchor.replace('-', ' ')}" if "id" in token.attrs else ""
        elif token.type == "tr_close":
            if cells:
                yield Passage(f"{heading}{row}", anchor, ", ".join(cells))
            cells = None
        elif token.type == "fence":
            yield Passage(heading, anchor, " ".join(token.content.split()))
        elif token.type == "inline" and tokens[place - 1].type != "heading_open":
            if cells is None:
                yield Passage(heading, anchor, _words(token))
            elif token.content:
                cells.append(_words(token))


def _words(inline: Token) -> str:
    return "".join(" " if each.type == "softbreak" else each.content for each in inline.children or ())


def _with_served_links(name: str, tokens: Iterable[Token]) -> Iterable[Token]:
    """The tokens with links that lead somewhere. A link to a file that is not served becomes its words and the name."""
    unserved = ""
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrs["href"])
            served = _served_address(name, href)
            unserved = "" if served is not None else _path(name, href.partition("#")[0])
            if served is not None:
                token.attrSet("href", served)
                yield token
        elif token.type == "link_close" and unserved:
            yield Token("text", "", 0, content=f" (docs/{unserved})" if "/" not in unserved else "")
        elif token.type != "image":  # a picture is not served
            yield token


def _served_address(name: str, href: str) -> str | None:
    """Where a link of the Markdown leads on the pages of help; None: to a file that is not served."""
    if href.startswith(("#", "https://", "http://")):
        return href
    page, mark, section = href.partition("#")
    path = _path(name, page)
    is_served = path.endswith(".md") and path.removesuffix(".md") in HELP_PAGES
    return f"{HELP}{path.removesuffix('.md')}{mark}{section}" if is_served else None


def _path(name: str, href: str) -> str:
    """Where a link of a page leads, seen from docs/.

    >>> _path("findings", "alerts.md"), _path("start/incident", "../alerts.md"), _path("start/incident", "terminal.md")
    ('alerts.md', 'alerts.md', 'start/terminal.md')
    """
    return normpath(f"{dirname(name)}/{href}" if "/" in name else href)
