"""What the dashboards show where two replicas of a job expose the same: the same as of one, on a real Prometheus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import pytest

from dashboards.alert_table import PAGE
from monitor.demo.servers.prometheus import EmbeddedPrometheus
from monitor.metrics.spec_types import MetricScope
from monitor.metrics.specs import FAMILIES
from tests.dashboards.boards import ALL, Asked, Window, asked, get, sent
from tests.dashboards.fed import exposed
from tests.support.answering import Answer, answering
from tests.support.job_process import eventually
from tests.support.programs import required

SCRAPES: Final = 6
WINDOW: Final = Window(scrape_s=1, shown_s=30)
HEADERS: Final = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}

EACH_ITS_OWN: Final = {
    "itself: Unreadable records A",
    "itself: Unreadable records in 5 minutes A",
    "itself: Failed evaluations in 5 minutes A",
    "itself: Polls of collectors in 5 minutes A",
    "itself: Series left out A",
    "itself: Versions A",
    "itself: Shards A",
    "itself: Scrape A",
    "itself: Series exposed A",
    "itself: File descriptors of the JVM in use A",
    "itself: Threads of the JVM A",
}
"""About jobs: each polls, fails and exposes by itself, and is added up or has a line of its own."""

QUERIES: Final = [query for query in asked() if query.values_of is None and query.place not in EACH_ITS_OWN]

SUMS: Final = re.findall(
    r"(?m)^\| [\w' ]+ \| `((?:sum|count).+?)` \| `((?:sum|count).+?)` \|$", PAGE.read_text(encoding="utf-8")
)
"""The expressions of docs/alerts.md: those that count replicas twice, and those that do not."""


class Honoring(EmbeddedPrometheus):
    """A Prometheus that takes the label ``instance`` as it is exposed: so both replicas are scraped at one moment."""

    def _configuration(self) -> dict[str, Any]:
        own: dict[str, Any] = super()._configuration()
        own["scrape_configs"][0]["honor_labels"] = True
        return own


def twice(text: str) -> str:
    """An exposition as two instances have it."""

    def both(found: re.Match[str]) -> str:
        name, labels, value = found.groups()
        return "\n".join(f'{name}{{instance="{each}",{labels or ""}}} {value}' for each in ("a:1", "b:1"))

    return re.sub(r"(?m)^(groupwatch_\w+)(?:\{(.*)\})? (\S+)$", both, text)


def of_one(expr: str) -> str:
    """An expression of the first instance alone."""
    return re.sub(r"\b(groupwatch_\w+)(\{?)", lambda each: f'{each[1]}{{instance="a:1"{"," if each[2] else "}"}', expr)


@pytest.fixture(scope="module")
def prometheus() -> Iterator[tuple[str, str]]:
    """Its address, and a moment at which it has enough scrapes."""
    required("prometheus", "prometheus")
    ticks = count(1)

    def scraped(_path: str, _body: bytes) -> Answer:
        return Answer(headers=HEADERS, body=twice(exposed(next(ticks)).decode()).encode())

    def is_enough() -> bool:
        found = get(server.url, "query", query="count_over_time(groupwatch_build_info[5m])")["result"]
        return len(found) == 2 and int(found[0]["value"][1]) >= SCRAPES

    with answering(scraped) as address, Honoring([address]) as server:
        eventually(is_enough, "enough scrapes of both", 60)
        yield server.url, str(float(get(server.url, "query", query="time()")["result"][0]) - 1)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.place)
def test_a_panel_shows_the_same_of_two_replicas_as_of_one(prometheus: tuple[str, str], query: Asked):
    """Each series once, with the value that each of the two exposes."""
    url, moment = prometheus
    expr = sent(query.expr, ALL, WINDOW)
    of_both, alone = (get(url, "query", query=each, time=moment)["result"] for each in (expr, of_one(expr)))
    assert [each for each in of_both if "instance" in each["metric"]] == []
    assert shown(of_both) == shown(alone)
    assert len(shown(of_both)) == len(of_both)


@pytest.mark.parametrize(("wrong", "right"), SUMS)
def test_sums_of_the_page_have_each_series_once(prometheus: tuple[str, str], wrong: str, right: str):
    url, moment = prometheus
    asked_for = (wrong, of_one(wrong), right, of_one(right))
    doubled, single, of_both, alone = (
        shown(get(url, "query", query=each, time=moment)["result"]) for each in asked_for
    )
    assert single
    assert doubled == {labels: 2 * value for labels, value in single.items()}
    assert of_both == alone == single


def test_the_page_has_five_sums():
    assert len(SUMS) == 5


def shown(result: list[dict[str, Any]]) -> dict[tuple[tuple[str, str], ...], float]:
    """The value of each series."""
    return {tuple(sorted(each["metric"].items())): float(each["value"][1]) for each in result}


def test_what_is_added_up_over_replicas_is_about_jobs():
    """None of it counts groups or what is theirs."""
    for query in asked():
        if query.place in EACH_ITS_OWN:
            named = [FAMILIES[name] for name in re.findall(r"\bgroupwatch_\w+", query.expr) if name in FAMILIES]
            assert {family.scope for family in named} <= {MetricScope.SELF}, query.place
