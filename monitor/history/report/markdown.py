r"""A report as Markdown that GitHub renders. Names from clusters are escaped, so that they start no markup and no link.

GitHub's Markdown makes links of addresses, mail addresses, mentions and numbers of issues, whether punctuation is
escaped or not; an empty comment in them keeps it from that and is not shown. It shows no images that a text carries in
itself, so diagrams are left out: HTML has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from monitor.history.report.document import PAGE_NOW, Document, Section
from monitor.model.escaping import escaped

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>#|~&$])")
_LINKED: Final = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=\bgh)(?=-\d)|(?<=@)(?=[\w-])|(?<=\\#)(?=\d)|(?<=:)(?=[a-z+-][\w+-]*:)",
    re.IGNORECASE,
)
_FIRST: Final = re.compile(r"^(\s*)([-+]|\d+(?=[.)]))")
_INDENT: Final = re.compile("^ ")
"""Four blanks begin a block of code; the first of them as a reference to a character is text."""
_NOTHING: Final = "<!-- -->"

NO_CHARTS: Final = "The HTML format of this report has diagrams of the lag and the owners."


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it, whatever is in it.

    >>> print(markdown_text("a_b [x](http://y) @all #12 | c"))
    a\_b \[x\](http:<!-- -->//y) @<!-- -->all \#<!-- -->12 \| c
    >>> print(markdown_text("- no list"), markdown_text("1. nor this"))
    \- no list 1\. nor this
    >>> print(markdown_text("    no code"))
    &#32;   no code
    """
    safe = _INDENT.sub("&#32;", _LINKED.sub(_NOTHING, _MARKUP.sub(r"\\\1", escaped(text))))
    return _FIRST.sub(_without_list, safe)


def _without_list(found: re.Match[str]) -> str:
    """What would begin a list, as text."""
    space, sign = found.groups()
    return f"{space}\\{sign}" if not sign.isdigit() else f"{space}{sign}\\"


def write_markdown(document: Document) -> str:
    """The document as Markdown."""
    blocks = [
        f"# {markdown_text(document.title)}",
        document.span,
        *([] if document.page is None else [f"{PAGE_NOW}: <{document.page}>"]),
        _list(document.summary),
        *(block for section in document.sections for block in _section(section)),
    ]
    return "\n\n".join(blocks) + "\n"


def _section(section: Section) -> Iterator[str]:
    if section.chart and not section.bars:
        return
    yield f"## {markdown_text(section.heading)}"
    if section.text:
        yield markdown_text(section.text)
    if section.bars:
        yield f"```\n{section.bars}\n```"
        yield NO_CHARTS
    if section.rows:
        yield _table(section.headings, section.rows)
    if section.notes:
        yield _list(section.notes)


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {markdown_text(text)}" for text in texts)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(map(markdown_text, row))} |" for row in rows]
    return "\n".join(lines)
