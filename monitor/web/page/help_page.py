"""The pages of help: the same Markdown as in docs/, as HTML that needs no style and no script of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from monitor.model.values import Value
from monitor.web.views.addresses import HELP, HELP_PAGES

_OWN_PAGE: Final = re.compile(rf"({'|'.join(HELP_PAGES)})\.md")
_ROW: Final = re.compile(r"`(\w+)(?:`, `|/)(\w+)`")
"""How the row of a finding begins in the tables of docs/findings.md: kind and reason."""


class HelpPage(Value):
    """A page of help. ``body`` is HTML, with the heading; ``title`` is that heading."""

    name: str
    title: str
    body: Markup


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
            token.children = list(_with_served_links(token.children))
    title = next((_words(tokens[place + 1]) for place, each in enumerate(tokens) if each.type == "heading_open"), name)
    return HelpPage(name=name, title=title, body=Markup(markdown.renderer.render(tokens, markdown.options, {})))


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


def _words(inline: Token) -> str:
    return "".join(each.content for each in inline.children or ())


def _with_served_links(tokens: Iterable[Token]) -> Iterable[Token]:
    """The tokens with links that lead somewhere. A link to a file that is not served becomes its words and the name."""
    unserved = ""
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrs["href"])
            served = _served_address(href)
            unserved = "" if served is not None else href.partition("#")[0]
            if served is not None:
                token.attrSet("href", served)
                yield token
        elif token.type == "link_close" and unserved:
            yield Token("text", "", 0, content=f" (docs/{unserved})" if "/" not in unserved else "")
        else:
            yield token


def _served_address(href: str) -> str | None:
    """Where a link of the Markdown leads on the pages of help; None: to a file that is not served."""
    if href.startswith(("#", "https://", "http://")):
        return href
    page, mark, section = href.partition("#")
    return f"{HELP}{page.removesuffix('.md')}{mark}{section}" if _OWN_PAGE.fullmatch(page) else None
