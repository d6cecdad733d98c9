"""Where the code can be broken by one small change, and the choice of some of these places by a seed."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

PRODUCT: Final = ("monitor", "streaming_jobs", "dashboards")
COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.FloorDiv: ("//", "*"),
    ast.Div: ("/", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
LOGGERS: Final = {"log", "_log", "logger", "_logger", "logging", "warnings"}
UNSEEN: Final = (ast.JoinedStr, ast.Assert, ast.Raise, ast.pattern, ast.Import, ast.ImportFrom)
"""Python 3.11 has no exact position of what is inside an f-string; what an error says is cosmetic."""


@dataclass(frozen=True)
class Place:
    """A change of one place: the bytes from ``start`` to ``end`` of the file become ``after``.

    ``inside`` is the function or class, "" at the top of a module. The bytes from ``wrap_start`` to ``wrap_end`` are
    the expression that runs when the place does; a statement has ``is_statement``.
    """

    file: str
    line: int
    operator: str
    inside: str
    before: str
    after: str
    start: int
    end: int
    wrap_start: int
    wrap_end: int
    is_statement: bool
    nth: int = 0

    @property
    def name(self) -> tuple[str, ...]:
        """What finds it again in another version of the file."""
        return self.file, self.inside, self.operator, self.before, self.after, str(self.nth)

    def broken(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    def wrapped(self, source: bytes, call: str, *, is_broken: bool = False) -> bytes:
        """The file with a call that runs before the place does, which may be broken; lines keep their numbers."""
        place = self.after.encode() if is_broken else source[self.start : self.end]
        expression = source[self.wrap_start : self.start] + place + source[self.end : self.wrap_end]
        text = f"{call}; ".encode() + expression if self.is_statement else f"({call}, ".encode() + expression + b")[1]"
        return source[: self.wrap_start] + text + source[self.wrap_end :]


class Finder(ast.NodeVisitor):
    """Collects the places of one file, in the order of the text."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]
        self.inside: list[str] = []
        self.returns: list[ast.expr | None] = []
        self.places: list[Place] = []

    def _span(self, node: ast.AST) -> tuple[int, int]:
        at: Any = node
        return self.starts[at.lineno - 1] + at.col_offset, self.starts[at.end_lineno - 1] + at.end_col_offset

    def _add(self, operator: str, span: tuple[int, int], after: str, wrap: ast.AST) -> None:
        before = self.source[slice(*span)].decode()
        line = self.source.count(b"\n", 0, span[0]) + 1
        inside = ".".join(self.inside)
        nth = sum((each.inside, each.before, each.after) == (inside, before, after) for each in self.places)
        statement = isinstance(wrap, ast.stmt)
        place = Place(self.file, line, operator, inside, before, after, *span, *self._span(wrap), statement, nth)
        self.places.append(place)

    def _swap(self, operator: str, between: tuple[ast.AST, ast.AST], swapped: tuple[str, str], node: ast.AST) -> None:
        """A sign between two operands."""
        start, end = self._span(between[0])[1], self._span(between[1])[0]
        old, new = swapped
        pattern = r"\b" + old.replace(" ", r"\s+") + r"\b" if old[0].isalpha() else re.escape(old)
        found = re.search(pattern.encode(), self.source[start:end])
        if found is not None and b"#" not in self.source[start:end]:
            self._add(operator, (start + found.start(), start + found.end()), new, node)

    def visit(self, node: ast.AST) -> None:
        """Leave out what only documents or logs, and what no test can run."""
        if not (isinstance(node, UNSEEN) or is_log_call(node) or is_for_types(node)):
            super().visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name != "__repr__":
            self.returns.append(node.returns)
            self._enter(node)
            self.returns.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815 - named by ast

    def _enter(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.inside.append(node.name)
        for child in node.body:
            self.visit(child)
        self.inside.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and "TypeAlias" not in ast.dump(node.annotation):
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        swapped = COMPARISONS[type(node.ops[0])]
        self._swap("comparison", (node.left, node.comparators[0]), swapped, node)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        swapped = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        self._swap("and/or", (node.values[0], node.values[1]), swapped, node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(each, ast.JoinedStr) or is_text(each) for each in (node.left, node.right))
        if type(node.op) in ARITHMETIC and not texts:
            self._swap("arithmetic", (node.left, node.right), ARITHMETIC[type(node.op)], node)
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        span = self._span(test)
        self._add("condition", span, f"not ({self.source[slice(*span)].decode()})", test)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int and self.source[slice(*self._span(node))].isdigit():
            self._add("number", self._span(node), str(node.value + 1), node)

    def visit_Dict(self, node: ast.Dict) -> None:
        for key in node.keys:
            self._rename(key)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._rename(node.slice)
        self.generic_visit(node)

    def _rename(self, key: ast.expr | None) -> None:
        if key is not None and is_text(key):
            text = self.source[slice(*self._span(key))].decode()
            if text[:1] == text[-1:] == '"' and '""' not in text:
                self._add("key", self._span(key), f'{text[:-1]}_"', key)

    def visit_Return(self, node: ast.Return) -> None:
        returns = self.returns[-1]
        can_be_none = returns is None or re.search(r"'None'|None\b|Any\b|object\b", ast.unparse(returns))
        if node.value is not None and not can_be_none:
            self._add("return", self._span(node), "return None", node)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call) and not ast.unparse(node.value).startswith("super().__init__"):
            self._add("call", self._span(node), "pass", node)
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add("loop", self._span(node), "break", node)

    def visit_Break(self, node: ast.Break) -> None:
        self._add("loop", self._span(node), "continue", node)


def is_text(node: ast.AST) -> bool:
    """A literal of text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_log_call(node: ast.AST) -> bool:
    """A message of a log."""
    function = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(function, ast.Attribute) and ast.unparse(function.value).rpartition(".")[2] in LOGGERS


def is_for_types(node: ast.AST) -> bool:
    """What only a type checker reads, and what runs only as a program."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test) or "__name__" in ast.unparse(node.test)
    return isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Literal", "Annotated"}


def places_in(file: str, source: bytes) -> list[Place]:
    """All places of one file."""
    finder = Finder(file, source)
    finder.visit(ast.parse(source))
    return finder.places


def compiles(source: bytes) -> bool:
    """Python accepts the text."""
    try:
        compile(source, "broken", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def files_by_package(root: Path) -> dict[str, list[str]]:
    """The files of each package, down to the second level: ``monitor/web``."""
    found = defaultdict(list)
    for path in sorted(each for top in PRODUCT for each in (root / top).rglob("*.py")):
        file = path.relative_to(root)
        found["/".join(file.parts[:2][: len(file.parts) - 1])].append(str(file))
    return dict(found)


def chosen(root: Path, seed: int, count: int) -> list[Place]:
    """``count`` places: one of each package, then as many in a file as it is long. A file gives one at most.

    A kind of change that a file has often is no more likely than one that it has once.
    """
    dice = random.Random(seed)
    packages = files_by_package(root)
    everywhere = [file for files in packages.values() for file in files]
    taken: dict[str, Place] = {}
    for files in [*packages.values(), *(everywhere for _ in range(count - len(packages)))]:
        place = next(_drawn(root, files, taken, dice), None)
        if place is not None and len(taken) < count:
            taken[place.file] = place
    return sorted(taken.values(), key=lambda place: (place.file, place.start))


def _drawn(root: Path, files: list[str], taken: dict[str, Place], dice: random.Random) -> Iterator[Place]:
    left = [file for file in files if file not in taken]
    while left:
        weights = [_length(root / file) for file in left]
        file = dice.choices(left, weights)[0]
        left.remove(file)
        source = (root / file).read_bytes()
        kinds = defaultdict(list)
        for place in places_in(file, source):
            kinds[place.operator].append(place)
        if kinds:
            place = dice.choice(kinds[dice.choice(sorted(kinds))])
            if all(compiles(place.wrapped(source, "seen()", is_broken=broken)) for broken in (True, False)):
                yield place


@cache
def _length(path: Path) -> int:
    return path.read_bytes().count(b"\n") + 1


def found_again(root: Path, name: tuple[str, ...]) -> Place | None:
    """The place of that name in another checkout; None if its code has changed."""
    path = root / name[0]
    places = places_in(name[0], path.read_bytes()) if path.is_file() else []
    return next((place for place in places if place.name == name), None)
