"""Every query of every dashboard, asked of a real Prometheus that has scraped everything there is to expose."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator

import pytest

from monitor.demo.servers.prometheus import EmbeddedPrometheus
from monitor.metrics.specs import COUNTERS, HISTOGRAMS, METRICS, OF_THE_JVM
from tests.dashboards.boards import ALL, BOARDS, Asked, Window, answer, asked, faults, get, sent
from tests.dashboards.demo_boards import SILENT
from tests.dashboards.fed import AWKWARD, exposed, target
from tests.support.job_process import eventually
from tests.support.programs import required

SCRAPES = 6
"""Enough for a rate within four scrapes."""

RULES = """
groups:
  - name: fed
    rules:
      - alert: GroupwatchFed
        expr: groupwatch_group_lag >= 0
        labels: {severity: warning}
"""
"""An alert for each group that has a lag: dashboards mark what fires."""

WINDOW = Window(scrape_s=1, shown_s=30)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A Prometheus that has scraped the target a few times, at an interval of a second."""
    required("prometheus", "prometheus")
    with target() as address, EmbeddedPrometheus([address], RULES) as prometheus:
        eventually(lambda: scrapes(prometheus.url) >= SCRAPES, "enough scrapes", 60)
        yield prometheus.url


def scrapes(url: str) -> int:
    with urllib.request.urlopen(f"{url}/api/v1/query?query=count_over_time(up[5m])", timeout=10) as response:
        result = json.load(response)["data"]["result"]
    return int(result[0]["value"][1]) if result else 0


def test_every_family_is_fed():
    """So that a family that a query names is not missing for want of an example."""
    fed = set(re.findall(r"^(groupwatch_\w+)[{ ]", exposed(1).decode(), re.MULTILINE))
    assert {spec.name for spec in (*METRICS, *OF_THE_JVM, *COUNTERS)} | {
        f"{spec.name}_bucket" for spec in HISTOGRAMS
    } <= fed


@pytest.mark.parametrize("query", asked(), ids=lambda query: query.place)
def test_every_query_gives_data_with_the_labels_that_are_shown(url: str, query: Asked):
    assert faults(url, query, ALL, WINDOW) == []


@pytest.mark.parametrize("query", [each for each in asked() if "$group" in each.expr], ids=lambda query: query.place)
def test_a_group_that_is_chosen_among_two_is_found_whatever_its_name(url: str, query: Asked):
    """With and without the other; some queries have an answer only for other groups, none has one for strangers."""
    chosen = ALL | {"group": (AWKWARD, "no such group")}
    groups = {labels["group"] for labels in answer(url, query, chosen, WINDOW) if "group" in labels}
    assert groups <= {AWKWARD}
    alone = ALL | {"group": (AWKWARD,)}
    assert groups == {labels["group"] for labels in answer(url, query, alone, WINDOW) if "group" in labels}


def test_the_awkward_group_is_among_those_with_most_lag(url: str):
    (query,) = [each for each in asked() if each.place == "group: Lag A"]
    chosen = ALL | {"group": (AWKWARD, "silent")}
    assert {labels["group"] for labels in answer(url, query, chosen, WINDOW)} == {AWKWARD, "silent"}


@pytest.mark.parametrize("values", [(".*",), ("a.b",), ("a", "b|c")], ids=str)
def test_variables_are_sent_as_grafana_does(values: tuple[str, ...]):
    text = {(".*",): ".*", ("a.b",): r"a\\.b", ("a", "b|c"): r"(a|b\\|c)"}[values]
    expr = 'rate(m{group=~"$group"}[$__rate_interval]) + increase(n[$__range])'
    expected = f'rate(m{{group=~"{text}"}}[40s]) + increase(n[3600s])'
    assert sent(expr, {"group": values}, Window(scrape_s=10, shown_s=3600, step_s=15)) == expected


def test_there_are_five_dashboards():
    assert set(BOARDS) == {"fleet", "group", "rebalances", "topics", "itself"}


def test_every_value_that_a_query_asks_for_is_one_that_is_exposed():
    """A state, a status or a kind that is misspelt would give nothing, which beside others is not seen."""
    text = exposed(1).decode()
    pairs = {pair for query in asked() for pair in re.findall(r'\b\w+="\w+"', query.expr)}
    assert len(pairs) > 10
    assert sorted(pair for pair in pairs if pair not in text) == ['alertstate="firing"']  # Prometheus' own


def test_the_table_of_owners_tells_where_they_are_not_those_that_should_be(url: str):
    """Partition 0 is in order, 1 has two owners and should be C1's, 2 has none and 3 the wrong one; both, C0's."""
    (query,) = [each for each in asked() if each.place == "group: Owners and expected owners A"]
    expr = sent(query.expr, ALL | {"group": (AWKWARD,)}, WINDOW)
    found = {
        (row["metric"]["partition"], row["metric"].get("member_id"), row["metric"]["expected"]): row["value"][1]
        for row in get(url, "query", query=expr)["result"]
    }
    assert found == {
        ("0", "C0", "C0"): "0",
        ("1", "C0", "C1"): "1",
        ("1", "C1", "C1"): "0",
        ("2", None, "C0"): "1",
        ("3", "C1", "C0"): "1",
    }


def test_what_may_have_no_answer_in_the_demo_are_queries_that_there_are():
    assert set(SILENT) <= {query.place for query in asked()}
