"""The generated files are those that the code gives now, and speak only of metrics that groupwatch has."""

from __future__ import annotations

import re

import pytest

from dashboards.generate import ALERTS, FOLDER, generated_files, write
from dashboards.queries import chosen, increased, numbered, since, summed
from monitor.grafana.boards import SHIPPED
from monitor.metrics import specs
from monitor.metrics.promql import UnknownMetric
from monitor.metrics.spec_types import MetricKind
from monitor.metrics.specs import COUNTERS, HISTOGRAMS, METRICS, OF_THE_JVM
from tests.dashboards.boards import Asked, asked

LABELS = {spec.name: set(spec.labels) for spec in (*METRICS, *OF_THE_JVM, *COUNTERS)} | {
    f"{spec.name}_bucket": {*spec.labels, "le"} for spec in HISTOGRAMS
}
"""Of the series that can be queried."""


def written(name: str) -> str:
    return ((FOLDER if name == ALERTS else SHIPPED) / name).read_text(encoding="utf-8")


def test_nothing_else_is_in_the_folders():
    assert {path.name for folder in (FOLDER, SHIPPED) for path in folder.iterdir()} == set(generated_files())


@pytest.mark.parametrize("name", generated_files())
def test_no_generated_file_is_stale(name: str):
    assert written(name) == generated_files()[name], "run: python -m dashboards"


def test_what_is_no_longer_generated_is_removed(tmp_path):
    rules, boards = tmp_path / "rules", tmp_path / "boards"
    for folder in (rules, boards):
        folder.mkdir()
        (folder / "former.json").write_text("{}")
    write(rules, boards)
    assert [path.name for path in rules.iterdir()] == [ALERTS]
    assert {path.name for path in boards.iterdir()} == set(generated_files()) - {ALERTS}


@pytest.mark.parametrize("name", generated_files())
def test_every_metric_named_is_one_of_ours(name: str):
    named = set(re.findall(r"\bgroupwatch_\w+", written(name)))
    assert named
    assert named <= LABELS.keys()


@pytest.mark.parametrize("query", asked(), ids=lambda query: query.place)
def test_every_label_that_is_matched_is_one_that_the_family_has(query: Asked):
    for name, matchers in re.findall(r"(groupwatch_\w+)(?:\{([^}]*)\})?", query.expr):
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= LABELS[name]


def test_a_counter_is_shown_by_its_increase_and_nothing_else_is():
    counters = {spec.name for spec in METRICS if spec.kind is MetricKind.COUNTER}
    for query in asked():
        increased = set(re.findall(r"increase\((groupwatch_\w+)", query.expr))
        assert increased == set(re.findall(r"groupwatch_\w+", query.expr)) & counters


def test_what_is_not_there_cannot_be_queried():
    with pytest.raises(UnknownMetric, match="has no label topic"):
        summed(specs.GROUP_LAG, ["group", "topic"])
    with pytest.raises(UnknownMetric, match="has no label stat"):
        chosen(specs.GROUP_STATE, stat="empty")
    with pytest.raises(UnknownMetric, match="has no label status"):
        numbered(specs.GROUP_STATE, "status", ["ok"])
    with pytest.raises(UnknownMetric, match="groupwatch_group_lag is no counter"):
        increased(specs.GROUP_LAG)
    with pytest.raises(UnknownMetric, match="groupwatch_group_lag_seconds is not a moment"):
        since(specs.GROUP_LAG_SECONDS)
