"""The generated files are those that the code gives now, and speak only of metrics that groupwatch has."""

from __future__ import annotations

import json
import re

import pytest

from dashboards.generate import FOLDER, generated_files
from dashboards.grafana import DATASOURCE_UID, dashboard
from dashboards.queries import UnknownMetric, chosen, summed
from monitor.metrics.specs import METRICS


def test_nothing_else_is_in_the_folder():
    assert {path.name for path in FOLDER.iterdir()} == set(generated_files())


@pytest.mark.parametrize("name", generated_files())
def test_no_generated_file_is_stale(name: str):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == generated_files()[name], "run: python -m dashboards.generate"


@pytest.mark.parametrize("name", generated_files())
def test_every_metric_named_is_one_of_ours(name: str):
    text = (FOLDER / name).read_text(encoding="utf-8").replace(DATASOURCE_UID, "")
    named = set(re.findall(r"\bgroupwatch_\w+", text))
    assert named
    assert named <= {spec.name for spec in METRICS}


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
