"""The texts under the fields of a class, in its source: what each field means."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise


def attribute_text(described: type, field: str) -> str | None:
    """The text under a field, of its class or of the next one that this inherits from; None: there is none."""
    texts = (_texts(each.__module__).get(each.__qualname__, {}).get(field) for each in described.__mro__)
    return next((text for text in texts if text is not None), None)


@cache
def _texts(module: str) -> Mapping[str, Mapping[str, str]]:
    """The texts under the fields of the classes at the top of a module, by class and field."""
    if not module.startswith("monitor."):
        return {}
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: dict(_texts_in(each)) for each in tree.body if isinstance(each, ast.ClassDef)}


def _texts_in(of: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(of.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
