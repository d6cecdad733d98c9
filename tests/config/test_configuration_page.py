"""docs/configuration.md is what the settings say of themselves, and what it says of variables is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from monitor.config import ConfigError, Settings, load
from monitor.config.reference import Table, page, section_in, tables, variable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "configuration.md"
EXAMPLE = ROOT / "groupwatch.example.toml"
TABLES = list(tables())
VARIABLES = [(table, key) for table in TABLES for key in table.keys if variable(table, key)]
NAMES = {"clusters": "prod", "rocketmq": "orders", "zookeeper": "logs", "spark_queries": "etl"}
"""Tables of the example."""


def test_the_page_is_the_one_that_is_made_from_the_settings():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m monitor.config.reference > docs/configuration.md"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.header or "top")
def test_every_setting_tells_what_it_does(table: Table):
    fields = table.section.model_fields.items()
    told_by_its_section = {key for key, field in fields if not table.header and section_in(field.annotation)}
    assert {key for key, field in fields if not field.description} <= told_by_its_section


def test_the_tables_are_those_of_a_file():
    headers = [table.header for table in TABLES]
    assert headers[0] == ""
    assert {"[clusters.NAME]", "[http]", "[[detection.overrides]]", "[spark_queries.NAME]"} <= set(headers)
    assert {header.strip("[]").split(".")[0] for header in headers[1:]} == {
        key for key, field in Settings.model_fields.items() if section_in(field.annotation)
    }


@pytest.mark.parametrize(("table", "key"), VARIABLES, ids=lambda each: getattr(each, "header", each))
def test_a_variable_that_the_page_names_reaches_its_key(monkeypatch: pytest.MonkeyPatch, table: Table, key: str):
    """What the variable says is then what the key is, or is refused by a sentence that names table and key."""
    path = tuple(NAMES[table.path[0]] if part == "NAME" else part for part in table.path)
    named = replaced(table, key)
    monkeypatch.setenv(named, "nonsense")
    assert any(
        word in what_became_of(path, key) for word in ("nonsense", "[hidden]", ".".join((*path, key)), f" {key} ")
    )


def replaced(table: Table, key: str) -> str:
    """The variable with the name of a table of the example in the place of NAME."""
    name = variable(table, key) or ""
    return name.replace("__NAME__", f"__{NAMES[table.path[0]].upper()}__", 1) if "NAME" in table.path else name


def what_became_of(path: tuple[str, ...], key: str) -> str:
    """The sentences that refuse the settings, or the value of a key as it is shown."""
    try:
        settings = load(EXAMPLE)
    except ConfigError as error:
        return str(error)
    return repr(at(settings, (*path, key)))


def at(settings: Settings, place: tuple[str, ...]) -> object:
    """What stands at a place like clusters, prod, events_topic."""
    found: object = settings
    for part in place:
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found
