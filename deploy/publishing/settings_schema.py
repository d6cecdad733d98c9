"""The keys of `settings` and `clusters` in the schema of the chart's values, from the settings of groupwatch.

``python -m deploy.publishing.settings_schema`` writes them; a test compares. Only names of keys are in the schema:
groupwatch itself checks values, with better sentences. A null takes a key of another file of values away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_origin

from pydantic import BaseModel

from monitor.config.reference import bare_annotation, section_in, tables

FILE: Final = Path(__file__).parents[1] / "helm" / "groupwatch" / "values.schema.json"

_FIRST_LINE: Final = '  "definitions": {\n'
_OWN_LINE: Final = '    "keysOf'

_CHOSEN_BY_VALUES: Final = ("shard", "clusters")
"""Settings that have values of their own."""


def schema_text(text: str) -> str:
    """The text of the schema with the keys as the settings have them now; each definition is a line."""
    others = [line for line in text.splitlines(keepends=True) if not line.startswith(_OWN_LINE)]
    at = others.index(_FIRST_LINE) + 1
    return "".join([*others[:at], *_lines(), *others[at:]])


def _lines() -> Iterator[str]:
    sections = {table.section: table.path[-1:] == ("NAME",) for table in tables()}
    for section, is_named in sections.items():
        yield f"    {json.dumps(_name(section))}: {json.dumps(_definition(section, is_named=is_named))},\n"


def _name(section: type[BaseModel]) -> str:
    return f"keysOf{section.__name__}"


def _definition(section: type[BaseModel], *, is_named: bool) -> Mapping[str, Any]:
    """A closed table. One that is named by its header has no key ``name``."""
    keys = {key: _value(field.annotation) for key, field in section.model_fields.items()}
    if is_named:
        keys.pop("name", None)
    if not is_named and "clusters" in keys:
        keys |= dict.fromkeys(_CHOSEN_BY_VALUES, False)
    return {"type": ["object", "null"], "additionalProperties": False, "properties": keys}


def _value(annotation: object) -> Mapping[str, Any] | bool:
    section = section_in(annotation)
    if section is None:
        return True
    below = {"$ref": f"#/definitions/{_name(section)}"}
    match get_origin(bare_annotation(annotation)):
        case None:
            return below
        case origin if origin is dict:
            return {"type": ["object", "null"], "additionalProperties": below}
        case _:
            return {"type": ["array", "null"], "items": below}


if __name__ == "__main__":
    FILE.write_text(schema_text(FILE.read_text(encoding="utf-8")), encoding="utf-8")
