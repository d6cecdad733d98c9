"""The example configuration, and those in docs/collectors.md, are read as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from monitor.collectors.readers import kind_of
from monitor.config import (
    ClusterSettings,
    RocketMQSettings,
    Settings,
    SparkQueriesSettings,
    SystemSettings,
    ZooKeeperSettings,
    load,
)

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "groupwatch.example.toml"
PAGE = (ROOT / "docs" / "collectors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SECTIONS = {
    "clusters": ClusterSettings,
    "rocketmq": RocketMQSettings,
    "zookeeper": ZooKeeperSettings,
    "spark_queries": SparkQueriesSettings,
}
NOT_SHOWN = {("clusters", "name"), ("rocketmq", "name"), ("zookeeper", "name"), ("spark_queries", "name")}
ELSEWHERE = {
    ("clusters", "offsets_isolation"),
    ("rocketmq", "collect"),
    ("spark_queries", "collect"),
    ("zookeeper", "interval_s"),
}
"""Shown in the README, or in another table of the example."""


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


def test_every_setting_of_a_watched_system_is_in_the_example():
    text = EXAMPLE.read_text(encoding="utf-8")
    for table, section in SECTIONS.items():
        own = "".join(re.findall(rf"^\[{table}\..*?(?=^\[(?!{table}\.)|\Z)", text, re.MULTILINE | re.DOTALL))
        shown = set(re.findall(r"^(?:# )?(\w+) = ", own, re.MULTILINE))
        shown |= set(re.findall(rf"^\[{table}\.\w+\.(\w+)\]", own, re.MULTILINE))
        missing = {(table, name) for name in section.model_fields if name not in shown}
        assert missing <= NOT_SHOWN | ELSEWHERE


@pytest.mark.parametrize("block", BLOCKS)
def test_the_examples_of_the_page_are_read(tmp_path: Path, block: str):
    file = tmp_path / "groupwatch.toml"
    file.write_text(block, encoding="utf-8")
    assert load(file).clusters


def test_the_words_of_the_label_collector_are_those_of_the_page():
    (table,) = re.findall(r"^\| table \|.*?(?=^$)", PAGE, re.MULTILINE | re.DOTALL)
    words = {"kafka", *map(kind_of, _one_of_each())}
    assert set(re.findall(r"\| `([\w-]+)` \|$", table, re.MULTILINE)) == words


def _one_of_each() -> list[SystemSettings | SparkQueriesSettings | ClusterSettings]:
    settings = load(EXAMPLE)
    return [settings.clusters["managed"], *settings.systems, *settings.spark_queries.values()]
