"""The example configuration, and those in docs/collectors.md, are read as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitor.collectors.readers import collector_kind
from monitor.config import (
    ClusterSettings,
    Settings,
    SparkQueriesSettings,
    SystemSettings,
    load,
)
from monitor.config.reference import Table, tables

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "groupwatch.example.toml"
PAGE = (ROOT / "docs" / "collectors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
TABLES = list(tables())


@pytest.fixture
def example() -> Settings:
    return load(EXAMPLE)


def test_the_example_is_read(example: Settings):
    assert list(example.clusters) == ["prod", "managed"]
    assert example.clusters["managed"].groups_from == "admin"
    assert example.watched_names == ("prod", "managed", "orders", "logs", "legacy")
    assert example.rocketmq["orders"].addresses == ("namesrv1:9876", "namesrv2:9876")
    assert {name: (each.system, each.root, each.collect) for name, each in example.zookeeper.items()} == {
        "logs": ("metaq", "/meta", True),
        "legacy": ("kafka", "/kafka010", False),
    }
    assert set(example.spark_queries["etl"].checkpoints) == {"etl-orders", "etl-bills"}
    assert all(example.carrier_of(system).name == "prod" for system in example.systems)


def test_what_is_commented_out_is_the_default(tmp_path: Path, example: Settings):
    with_defaults = tmp_path / "groupwatch.toml"
    with_defaults.write_text(re.sub(r"^# (\w+ = )", r"\1", EXAMPLE.read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert "\ninterval_s = " in with_defaults.read_text()
    assert load(with_defaults) == example


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.header or "top")
def test_every_setting_is_in_its_table_of_the_example(table: Table):
    assert set(table.keys) - shown(table.path) == set()


def test_the_example_shows_no_key_that_is_not_a_setting():
    every = {key for table in TABLES for key in (*table.keys, *(table.section.model_fields))}
    commented = set(re.findall(r"^#+ (\w+) = ", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    assert commented - every == set()  # those that are not commented are read by load, which refuses unknown ones


def shown(path: tuple[str, ...]) -> set[str]:
    """The keys that the example shows in the tables with this path, commented or not, and the tables below them."""
    keys = set()
    header: tuple[str, ...] = ()
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\[\[?([\w.]+)\]", line):
            header = tuple(found[1].split("."))
            keys |= {header[-1]} if _fits(header[:-1], path) else set()
        elif (found := re.match(r"(?:#+ )?(\w+) = ", line)) and _fits(header, path):
            keys.add(found[1])
    return keys


def _fits(header: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether a table of the example is one of the path, in which NAME stands for any name."""
    return len(header) == len(path) and all(part in ("NAME", word) for part, word in zip(path, header, strict=True))


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_of_the_page_are_read(tmp_path: Path, block: str):
    file = tmp_path / "groupwatch.toml"
    file.write_text(block, encoding="utf-8")
    assert load(file).clusters


def test_the_words_of_the_label_collector_are_those_of_the_page():
    (table,) = re.findall(r"^\| table \|.*?(?=^$)", PAGE, re.MULTILINE | re.DOTALL)
    words = {"kafka", *map(collector_kind, _one_of_each())}
    assert set(re.findall(r"\| `([\w-]+)` \|$", table, re.MULTILINE)) == words


def _one_of_each() -> list[SystemSettings | SparkQueriesSettings | ClusterSettings]:
    settings = load(EXAMPLE)
    return [settings.clusters["managed"], *settings.systems, *settings.spark_queries.values()]
