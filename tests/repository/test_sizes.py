"""How long files and classes may be, and how wide structs: what is larger has two concerns, or its reason is here."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from monitor.model import GroupState
from monitor.web.api.field_texts import structs_by_name
from monitor.web.api.openapi import openapi_document

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("monitor", "streaming_jobs", "dashboards")

MAX_FILE_LINES: Final = 600
MAX_CLASS_LINES: Final = 250
MAX_FIELDS: Final = 25

LONG_FILES: Final = {"monitor/metrics/specs.py": "one table: a row for each metric"}
LONG_CLASSES: Final[dict[str, str]] = {}
WIDE_STRUCTS: Final = {
    "GroupState": "stored in checkpoints and recordings, whose fields older versions wrote",
    "Member": "stored in each GroupState",
    "ToldVerdict": "the object of a group in the API, whose fields clients know",
    "GroupVerdict": "the same object, before its findings have their advice",
    "IncidentReport": "the object of a report in the API, whose fields clients know",
}
"""Structs that may be wide, by name: only a shape that is stored, or that clients know."""


@cache
def modules() -> Mapping[str, str]:
    """The source of each product file."""
    return {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for folder in PRODUCT
        for file in sorted((ROOT / folder).rglob("*.py"))
    }


@cache
def classes() -> tuple[tuple[str, ast.ClassDef], ...]:
    """All classes of the product, each with its file."""
    return tuple(
        (name, node)
        for name, source in modules().items()
        if re.search(r"^\s*class ", source, re.MULTILINE)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    )


def lines(node: ast.ClassDef) -> int:
    """How many lines a class has, without its decorators.

    >>> (node,) = ast.parse("@dataclass\\nclass A:\\n    a: int\\n\\n    b: int").body
    >>> lines(node)
    4
    """
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def own_fields(node: ast.ClassDef) -> set[str]:
    """The fields that a class declares: what is annotated, but no constant of the class.

    >>> (node,) = ast.parse("class A:\\n    a: int\\n    B: ClassVar[int] = 3\\n    c = 4").body
    >>> own_fields(node)
    {'a'}
    """
    return {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign)
        and isinstance(each.target, ast.Name)
        and not ast.unparse(each.annotation).startswith(("ClassVar", "Final"))
    }


def base_names(node: ast.ClassDef) -> Iterator[str]:
    """The names of the classes that a class inherits from.

    >>> list(base_names(ast.parse("class A(Value, Base[int], model.Other): pass").body[0]))
    ['Value', 'Base', 'Other']
    """
    for base in node.bases:
        yield ast.unparse(base).partition("[")[0].rpartition(".")[2]


def all_fields(file: str, node: ast.ClassDef, seen: frozenset[str] = frozenset()) -> set[str]:
    """The fields of a class, with those that it inherits: of its own file, or of the product's other files."""
    found = own_fields(node)
    for base in base_names(node):
        same_name = classes_by_name().get(base, ())
        same_file = [each for each in same_name if each[0] == file]
        for where, inherited in same_file or same_name:
            if base not in seen:
                found |= all_fields(where, inherited, seen | {base})
    return found


@cache
def classes_by_name() -> Mapping[str, list[tuple[str, ast.ClassDef]]]:
    """The classes of the product by name."""
    found: dict[str, list[tuple[str, ast.ClassDef]]] = defaultdict(list)
    for file, node in classes():
        found[node.name].append((file, node))
    return found


def long_files() -> dict[str, int]:
    counts = {name: source.count("\n") for name, source in modules().items()}
    return {name: count for name, count in counts.items() if count > MAX_FILE_LINES}


def long_classes() -> dict[str, int]:
    return {node.name: lines(node) for _, node in classes() if lines(node) > MAX_CLASS_LINES}


def wide_structs() -> dict[str, int]:
    counts = {node.name: len(all_fields(file, node)) for file, node in classes()}
    return {name: count for name, count in counts.items() if count > MAX_FIELDS}


@pytest.mark.parametrize(
    ("found", "allowed"),
    [(long_files, LONG_FILES), (long_classes, LONG_CLASSES), (wide_structs, WIDE_STRUCTS)],
    ids=["files", "classes", "structs"],
)
def test_what_is_large_is_split_or_has_its_reason(found, allowed):
    large = found()
    assert not large.keys() - allowed.keys(), f"split it along its concerns: {large}"
    assert not allowed.keys() - large.keys(), "an exception is no longer needed: remove it"
    assert all(allowed.values())


def test_the_count_of_fields_is_that_of_the_struct():
    """The count is made of source, as some structs cannot be imported without Spark."""
    (file, node), *_ = classes_by_name()["GroupState"]
    assert all_fields(file, node) == set(GroupState.__struct_fields__)
    (file, node), *_ = classes_by_name()["ToldVerdict"]
    assert len(all_fields(file, node)) > len(own_fields(node))


def test_a_wide_struct_is_stored_or_known_to_clients():
    stored = structs_by_name([GroupState]).keys()
    known = json.loads(openapi_document())["components"]["schemas"].keys()
    bases = {base for name in known for _, node in classes_by_name().get(name, ()) for base in base_names(node)}
    assert set(WIDE_STRUCTS) - stored - known - bases == set()
