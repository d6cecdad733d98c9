"""docs/configuration.md is what the settings say of themselves, and what it says of variables is so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, spark_options
from monitor.config import ClusterSettings, ConfigError, Settings, load
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


_OTHERS = ("useKeyTab=true", "useTicketCache=true", "AWS_MSK_IAM")


def log_ins() -> list[str]:
    """The examples of the section on log-ins."""
    section = PAGE.read_text(encoding="utf-8").split("\n## Log-ins\n")[1]
    return [part.split("```")[0] for part in section.split("```toml\n")[1:]]


def refusals(cluster: ClusterSettings) -> Iterator[str]:
    """The sentences with which one of the two clients refuses a cluster's properties."""
    for client in (kafka_python_arguments, spark_options):
        try:
            client(cluster)
        except ConfigError as error:
            yield from error.problems


@pytest.mark.parametrize("example", log_ins())
def test_an_example_of_a_log_in_lacks_nothing_but_its_files(example: str):
    """Both clients take its properties; here, its files are absent."""
    client = tomllib.loads(example)["clusters"]["prod"]["client"]
    present = {key: re.sub(r"\$\{file:([^}]*)\}", r"\1", value) for key, value in client.items()}
    cluster = ClusterSettings(name="prod", bootstrap_servers="b:1", client=present)
    lacking = (
        "cannot be read (No such file or directory).",
        "in PEM.",
        "needs the package gssapi",  # where it is not built
    )
    assert [each for each in refusals(cluster) if not any(words in each for words in lacking)] == []


def test_there_is_an_example_for_each_way_to_log_in():
    text = "".join(log_ins())
    words = ("SCRAM-SHA-512", "client.credentials", "file:///", "ssl.keystore.key", "PKCS12", '"PEM"', *_OTHERS)
    assert [word for word in words if word not in text] == []
