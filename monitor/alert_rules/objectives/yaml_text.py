"""Values of our own making as YAML in blocks. A text in JSON's quotes is a text in YAML, too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

Yaml: TypeAlias = "str | bool | int | float | Mapping[str, Yaml] | Sequence[Yaml]"


def yaml_documents(documents: Iterable[Mapping[str, Yaml]]) -> str:
    """Several documents.

    >>> print(yaml_documents([{"a": {"b": ["x", {"c": 1.5}], "d": {}}}, {"e": True}]), end="")
    a:
      b:
        - "x"
        - c: 1.5
      d: {}
    ---
    e: true
    """
    return "---\n".join("".join(f"{line}\n" for line in _lines(each)) for each in documents)


def _lines(value: Yaml) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _entry(f"{key if key.isidentifier() else json.dumps(key)}:", each, "  ")
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for each in value:
            first, *rest = _lines(each)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield json.dumps(value, ensure_ascii=False)


def _entry(key: str, value: Yaml, indent: str) -> Iterator[str]:
    lines = list(_lines(value))
    is_block = not isinstance(value, str | bool | int | float) and len(value) > 0
    if is_block:
        yield key
        yield from (f"{indent}{line}" for line in lines)
    else:
        yield f"{key} {lines[0]}"
