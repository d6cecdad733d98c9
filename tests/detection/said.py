"""Which findings the rules can make, as their modules say it: kind and reason of each."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from monitor import detection
from monitor.detection.rules.orphaned import TOLD
from monitor.model import DriftKind, FindingKind, OrphanReason


class Rules:
    """What the modules of the rules say, as syntax: where findings are made, and who calls whom."""

    def __init__(self) -> None:
        self.made: list[tuple[ast.Call, ast.FunctionDef]] = []
        self.calls: list[tuple[ast.Call, ast.FunctionDef]] = []
        self.modules: dict[ast.FunctionDef, Path] = {}
        for path in Path(detection.__file__).parent.rglob("*.py"):
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    self.modules[function] = path
                    self._note(function)

    def _note(self, function: ast.FunctionDef) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                (self.made if node.func.id == "Finding" else self.calls).append((node, function))

    def said(self) -> Iterator[tuple[str, str]]:
        """Kind and reason of every finding that can be made."""
        for call, function in self.made:
            fields = {keyword.arg: keyword.value for keyword in call.keywords}
            for kind in self._values(fields["kind"], function):
                for reason in self._values(fields["reason"], function):
                    yield kind, reason

    def _values(self, node: ast.expr, function: ast.FunctionDef) -> list[str]:
        """What an expression can be: a constant, a member of an enumeration, or what callers give for a parameter."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Attribute(value=ast.Name(id="FindingKind" | "DriftKind" | "OrphanReason" as owner), attr=name):
                kinds = {each.__name__: each for each in (FindingKind, DriftKind, OrphanReason)}
                return [kinds[owner][name].value]
            case ast.IfExp(body=body, orelse=orelse):
                return self._values(body, function) + self._values(orelse, function)
            case ast.Name(id=name) if name in [argument.arg for argument in function.args.args]:
                return self._given(name, function)
            case ast.Name(id=name):
                return self._looped_over(name, function)
        raise AssertionError(f"{function.name}: teach this test what {ast.unparse(node)} can be")

    def _given(self, name: str, function: ast.FunctionDef) -> list[str]:
        index = [argument.arg for argument in function.args.args].index(name)
        found = []
        for call, caller in self._calls_of(function):
            named = {keyword.arg: keyword.value for keyword in call.keywords}
            if len(call.args) > index or name in named:
                found += self._values(named.get(name) or call.args[index], caller)
        assert found, f"nobody is seen to give {name} to {function.name}"
        return found

    def _calls_of(self, function: ast.FunctionDef) -> list[tuple[ast.Call, ast.FunctionDef]]:
        """Those in its own module, unless it is public."""
        calls = [(call, caller) for call, caller in self.calls if ast.unparse(call.func) == function.name]
        if not function.name.startswith("_"):
            return calls
        return [(call, caller) for call, caller in calls if self.modules[caller] == self.modules[function]]

    @staticmethod
    def _looped_over(name: str, function: ast.FunctionDef) -> list[str]:
        for node in ast.walk(function):
            if isinstance(node, ast.For) and ast.unparse(node.target) == name and ast.unparse(node.iter) == "TOLD":
                return [reason.value for reason in TOLD]
        raise AssertionError(f"{function.name}: teach this test what {name} can be")
