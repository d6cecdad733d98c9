"""Words that the field does not use: how often names and texts still have them. No number here may ever rise.

CONTRIBUTING.md ("How to write") has the words in their place. Lower a number when you have removed some.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("monitor", "streaming_jobs", "dashboards")
"""The folders whose functions and classes are counted."""

TEXTS = ("README.md", "docs/*.md")
"""The pages that are counted; docs/configuration.md has the texts of all settings."""

MESSAGES = ("monitor/messages", "monitor/findings")
"""The folders whose string literals are sentences that a person reads."""

WORDS = ("told", "tells", "said", "anew", "somebody", "nobody", "in vain", "asked", "stands")
PROSE_WORDS = (*WORDS, "wanted", "meant", "goes on", "as it is said")
"""The words that are counted in docstrings and comments."""

IRREGULAR = {
    *("begun", "bound", "broken", "brought", "built", "chosen", "done", "drawn", "found", "given", "gone", "heard"),
    *("held", "kept", "known", "left", "lost", "made", "met", "seen", "sent", "shown", "taken", "thought", "told"),
    *("said", "understood", "won", "woken", "written"),
}
"""Participles that do not end in -ed."""

NO_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"}

PARTICLES = {
    *("as", "at", "by", "for", "from", "if", "in", "into", "of", "on", "once", "since", "to", "until", "up", "with"),
}
"""After one of these, a participle has no noun: ``observed_group`` says what comes out, ``held_by`` does not."""

PARTICIPLES = "functions that are a bare participle"
OF = "names with of_"

SLACK = 10
"""A number that is higher than the truth by more than this would let so many words come back."""

IN_NAMES = {
    "told": 22,
    "tells": 2,
    "said": 1,
    "anew": 0,
    "somebody": 1,
    "nobody": 2,
    "in vain": 0,
    "asked": 8,
    "stands": 0,
    OF: 45,
    PARTICIPLES: 183,
}
IN_TEXTS = {
    "told": 4,
    "tells": 2,
    "said": 0,
    "anew": 0,
    "somebody": 0,
    "nobody": 0,
    "in vain": 0,
    "asked": 0,
    "stands": 0,
}

IN_PROSE = 441
"""How often docstrings and comments have one of PROSE_WORDS. A change may lower this number, and never raise it."""


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case.

    >>> words_of("_HeldByAnother"), words_of("with_told")
    (['held', 'by', 'another'], ['with', 'told'])
    """
    return [word.lower() for part in name.split("_") for word in re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+(?![^A-Z])", part)]


def is_participle(word: str) -> bool:
    """Whether the word is a verb's past participle, as far as its form tells.

    >>> [is_participle(word) for word in ("judged", "told", "read", "need", "member")]
    [True, True, False, False, False]
    """
    return word in IRREGULAR or (word.endswith("ed") and word not in NO_PARTICIPLES)


def is_bare_participle(words: list[str]) -> bool:
    """Whether a name is a participle that says nothing of what it is about.

    >>> [is_bare_participle(words_of(name)) for name in ("_told", "held_by", "observed_group", "__init__")]
    [True, True, False, False]
    """
    return bool(words) and is_participle(words[0]) and (len(words) == 1 or words[1] in PARTICLES)


def modules() -> Iterator[str]:
    for folder in PRODUCT:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.read_text(encoding="utf-8")


class Read(NamedTuple):
    """What is looked at of the product's modules."""

    definitions: tuple[tuple[str, bool], ...]
    """The names of functions and classes, and whether it is a class."""
    prose: tuple[str, ...]


@cache
def product() -> Read:
    """All modules, each parsed once. No tree is kept, as the garbage collector would look at all of them again."""
    names: list[tuple[str, bool]] = []
    texts: list[str] = []
    for module in modules():
        tree = ast.parse(module)
        names += definitions(tree)
        texts += prose(module, tree)
    return Read(tuple(names), tuple(texts))


def definitions(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, isinstance(node, ast.ClassDef)


def prose(module: str, tree: ast.Module) -> Iterator[str]:
    """The docstrings of a module, those of its constants and fields included, and its comments.

    >>> module = "LIMIT = 3  # of a topic\\n'How many.'\\n"
    >>> list(prose(module, ast.parse(module)))
    ['How many.', '# of a topic']
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    if "#" in module:
        tokens = tokenize.generate_tokens(io.StringIO(module).readline)
        yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def counts_in_names() -> Counter[str]:
    counts: Counter[str] = Counter()
    for name, is_class in product().definitions:
        words = words_of(name)
        counts.update(word for word in words if word in WORDS)
        counts[OF] += "of_" in name
        counts[PARTICIPLES] += not is_class and is_bare_participle(words)
    return counts


def texts() -> Iterator[str]:
    for pattern in TEXTS:
        for page in sorted(ROOT.glob(pattern)):
            yield page.read_text(encoding="utf-8")
    for folder in MESSAGES:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from literals(ast.parse(file.read_text(encoding="utf-8")))


def literals(tree: ast.Module) -> Iterator[str]:
    """The string literals of a module, without its docstrings."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def counts_in_texts() -> Counter[str]:
    return counts(texts(), WORDS)


def counts(some: Iterable[str], words: Iterable[str]) -> Counter[str]:
    pattern = re.compile(rf"\b({'|'.join(words)})\b".replace(" ", r"\s+"), re.IGNORECASE)
    return Counter(re.sub(r"\s+", " ", found.lower()) for text in some for found in pattern.findall(text))


@pytest.mark.parametrize(
    ("place", "allowed", "count"), [("names", IN_NAMES, counts_in_names), ("texts", IN_TEXTS, counts_in_texts)]
)
def test_words_that_the_field_does_not_use_only_become_fewer(place, allowed, count):
    found = count()
    for word, most in allowed.items():
        assert found[word] <= most, (
            f"{word!r} is {found[word]} times in {place}, not {most} at most: see CONTRIBUTING.md"
        )
        assert found[word] >= most - SLACK, f"{word!r} is only {found[word]} times in {place}: lower {most} to that"
    assert set(allowed) == {*WORDS, *([OF, PARTICIPLES] if place == "names" else [])}, "every word has its number"


def test_docstrings_and_comments_only_come_to_have_fewer_of_these_words():
    found = counts(product().prose, PROSE_WORDS)
    total = found.total()
    assert total <= IN_PROSE, f"docstrings and comments have {total} of these words, {IN_PROSE} are allowed: {found}"
    assert total >= IN_PROSE - SLACK, (
        f"docstrings and comments have only {total} of these words: lower IN_PROSE to that"
    )
