"""The generated files are those that the code gives now, and speak only of metrics that groupwatch has."""

from __future__ import annotations

import json
import re

import pytest

from dashboards.generate import FOLDER, generated_files
from dashboards.grafana import DATASOURCE_UID, dashboard
from dashboards.queries import UnknownMetric, chosen, summed
from monitor.metrics.specs import METRICS, MetricKind


def test_nothing_else_is_in_the_folder():
    assert {path.name for path in FOLDER.iterdir()} == set(generated_files())


@pytest.mark.parametrize("name", generated_files())
def test_no_generated_file_is_stale(name: str):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == generated_files()[name], "run: python -m dashboards"


@pytest.mark.parametrize("name", generated_files())
def test_every_metric_named_is_one_of_ours(name: str):
    text = (FOLDER / name).read_text(encoding="utf-8").replace(DATASOURCE_UID, "")
    named = set(re.findall(r"\bgroupwatch_\w+", text))
    assert named
    assert named <= {spec.name for spec in METRICS}


def queries() -> list[tuple[str, str]]:
    """Every expression of the dashboard, and the text that is shown with labels of its result."""
    board = json.loads((FOLDER / "groupwatch.json").read_text(encoding="utf-8"))
    targets = [target for panel in board["panels"] for target in panel["targets"]]
    return [
        *((target["expr"], target["legendFormat"]) for target in targets),
        *((variable["definition"], "") for variable in board["templating"]["list"]),
    ]


@pytest.mark.parametrize(("expr", "shown"), queries())
def test_every_label_is_one_that_the_metrics_of_the_query_have(expr: str, shown: str):
    """What is matched, grouped or shown; a sum has only the labels that it is made by."""
    specs = {spec.name: set(spec.labels) for spec in METRICS}
    for name, matchers in re.findall(r"(groupwatch_\w+)(?:\{([^}]*)\})?", expr):
        assert set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers)) <= specs[name]
    everywhere = set.intersection(*(specs[name] for name in re.findall(r"groupwatch_\w+", expr)))
    grouped = {label.strip() for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", expr) for label in group.split(",")}
    listed = set(re.findall(r"^label_values\(.*, (\w+)\)$", expr))
    assert grouped | listed <= everywhere
    visible = grouped if "sum by" in expr else specs[re.findall(r"groupwatch_\w+", expr)[0]]
    assert set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", shown)) <= visible


def test_a_counter_is_shown_by_its_increase_and_nothing_else_is():
    counters = {spec.name for spec in METRICS if spec.kind is MetricKind.COUNTER}
    for expr, _ in queries():
        named = set(re.findall(r"groupwatch_\w+", expr))
        assert named <= counters if "increase(" in expr else not named & counters


def test_a_metric_that_is_not_there_cannot_be_queried():
    with pytest.raises(UnknownMetric, match="groupwatch_group_lags is not in"):
        chosen("group_lags")
    with pytest.raises(UnknownMetric, match="has no label topic"):
        summed("group_lag", ["group", "topic"])


def test_panels_do_not_overlap_and_stay_within_the_grid():
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + 8)}
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_every_query_goes_to_the_provisioned_data_source():
    text = json.dumps(dashboard())
    assert set(re.findall(r'"type": "prometheus", "uid": "([^"]+)"', text)) == {DATASOURCE_UID}
    assert all(target["expr"] for panel in dashboard()["panels"] for target in panel["targets"])
