"""No answer about groups lets "not known" look like "none": a poller of findings would close what is open."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
from msgspec.structs import replace

from monitor.model import ClusterSnapshot, Snapshot, WarmUpProgress
from monitor.web.app import create_app
from tests.web.examples import NOW_MS, Served, offsets_only, orders, ready_cluster, snapshot
from tests.web.problems import problem
from tests.web.test_app import Client

WAITING = ClusterSnapshot(cluster="slow", warm_up=WarmUpProgress(total=1000, remaining=400, left_ms=11_001))
STARTING = ClusterSnapshot(cluster="b, c")
AWAY = ClusterSnapshot(cluster="away", problem="No broker answers.")
SAYS = "Reading the backlog: 400 of 1,000 offsets still to read, about 12 s left."
HINT = "With partial=1, the response leaves them out."
LISTS = ("groups", "findings", "libraries", "snapshot")
OF_READY_ONES = ("groups", "findings", "libraries")
"""The lists that one cluster away does not take from those who read of the others."""


def asked(shown: Snapshot, path: str, method: str = "GET", now_ms: int = NOW_MS) -> httpx.Response:
    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(Served(shown), lambda: now_ms))
        async with httpx.AsyncClient(transport=transport, base_url="http://groupwatch") as client:
            return await client.request(method, f"/api/v1/{path}")

    return asyncio.run(answer())


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("query", ["", "?partial=1", "?partial=0"])
def test_a_list_is_refused_with_what_readyz_says_while_nothing_is_known(name: str, query: str):
    answer = asked(snapshot(WAITING), f"{name}{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.json() == problem(503, f"The groups of slow are not known yet. {SAYS}", not_ready=["slow"])
    assert asked(snapshot(WAITING), f"{name}{query}", "HEAD").status_code == 503


@pytest.mark.parametrize("name", OF_READY_ONES)
def test_a_list_of_all_has_the_clusters_that_are_ready_and_names_the_others(name: str):
    shown = snapshot(ready_cluster(orders()), WAITING, AWAY)
    answer = asked(shown, name)
    assert (answer.status_code, answer.headers["x-not-ready"]) == (200, "slow, away")
    assert answer.json() == asked(shown, f"{name}?cluster=main").json() != []
    assert answer.json() == asked(shown, f"{name}?partial=1").json()


@pytest.mark.parametrize("path", [f"{name}?partial=0" for name in LISTS] + ["snapshot"])
def test_a_list_that_must_be_whole_is_refused_and_all_clusters_that_are_not_ready_are_named(path: str):
    answer = asked(snapshot(ready_cluster(orders()), WAITING, AWAY), path)
    assert answer.status_code == 503
    sentences = f"The groups of slow are not known yet. {SAYS} The groups of away are not known yet. No broker answers."
    assert answer.json() == problem(503, f"{sentences} {HINT}", not_ready=["slow", "away"])


@pytest.mark.parametrize("name", LISTS)
def test_before_any_cluster_is_there_a_list_is_refused(name: str):
    answer = asked(Snapshot(), name)
    assert (answer.status_code, answer.json()) == (503, problem(503, "No cluster is watched."))


def test_who_says_so_gets_what_is_known_and_is_told_what_is_left_out():
    shown = snapshot(ready_cluster(orders()), WAITING, STARTING)
    for path in ("groups?partial=1", "groups?partial=1&cluster=slow&cluster=main"):
        answer = asked(shown, path)
        assert [each["group"] for each in answer.json()] == ["orders"]
    assert asked(shown, "findings?partial=1").headers["x-not-ready"] == "slow, b%2C%20c"
    assert asked(shown, "snapshot?partial=1").headers["x-not-ready"] == "slow, b%2C%20c"
    assert answer.headers["x-not-ready"] == "slow", "only of those that were asked about"


def test_a_cluster_that_is_ready_can_be_asked_about_by_its_name():
    shown = snapshot(ready_cluster(orders()), WAITING)
    answer = asked(shown, "findings?cluster=main")
    assert ({each["group"] for each in answer.json()}, answer.status_code) == ({"orders"}, 200)
    assert "x-not-ready" not in answer.headers
    assert asked(shown, "findings?cluster=main&cluster=slow").status_code == 503


def test_a_list_is_empty_only_when_that_is_known():
    answer = asked(snapshot(ready_cluster(offsets_only("calm"))), "findings")
    assert (answer.status_code, answer.json(), answer.headers["x-total-count"]) == (200, [], "0")
    assert not {"x-not-ready", "x-stale"} & answer.headers.keys()


@pytest.mark.parametrize(("problem", "stale"), [(None, None), ("No broker answers.", "main")])
def test_a_list_is_stale_exactly_while_its_cluster_is_not_up(problem: str | None, stale: str | None):
    """An empty list is then one of before."""
    shown = snapshot(replace(ready_cluster(offsets_only("calm")), problem=problem))
    answer = asked(shown, "findings", now_ms=NOW_MS + 60_000)
    assert (answer.json(), answer.headers.get("x-stale")) == ([], stale)
    (cluster,) = asked(shown, "clusters").json()
    assert cluster["stale"] is (stale is not None)
    assert [each.is_up for each in shown.clusters] == [stale is None]


def test_how_many_groups_a_cluster_has_is_absent_until_it_is_known():
    half_read = replace(ready_cluster(orders()), cluster="half", ready=False, evaluated_ms=None)
    main, half = asked(snapshot(ready_cluster(orders()), half_read), "clusters").json()
    assert (main["groups"], main["groups_with_findings"]) == (1, 1)
    assert not {"groups", "groups_with_findings"} & half.keys()


RESTORED = replace(ready_cluster(orders()), ready=False, evaluated_ms=NOW_MS - 2_000)
AS_BEFORE = "Restarted: shows the groups as evaluated before. Starting: the first micro-batch has not been processed."


@pytest.mark.parametrize("name", ["groups", "findings"])
def test_after_a_restart_lists_are_of_the_evaluation_before_it_and_stale(name: str):
    answer = asked(snapshot(RESTORED), name)
    assert (answer.status_code, answer.headers["x-stale"]) == (200, "main")
    assert [each["group"] for each in answer.json()] == ["orders"] * len(answer.json())
    assert answer.json() != []


def test_after_a_restart_the_libraries_are_those_of_before_and_stale():
    answer = asked(snapshot(RESTORED), "libraries")
    assert (answer.status_code, answer.headers["x-stale"]) == (200, "main")
    assert [each["members"] for each in answer.json()] == [1, 1]


def test_after_a_restart_the_cluster_is_stale_and_not_ready():
    (main,) = asked(snapshot(RESTORED), "clusters").json()
    assert (main["ready"], main["stale"], main["groups"], main["age_ms"]) == (False, True, 1, 2_000)
    assert main["sentence"] == AS_BEFORE


@pytest.mark.parametrize(
    "path", ["groups/main/orders", "explain/main/orders", "lag/main/orders", "snapshot", "snapshot?partial=1"]
)
def test_after_a_restart_what_needs_the_state_of_a_group_is_refused(path: str):
    answer = asked(snapshot(RESTORED), path)
    assert answer.status_code == 503
    assert answer.json()["not_ready"] == ["main"]
    assert answer.json()["error"].startswith(f"The details of each group of main are not known yet. {AS_BEFORE}")


@pytest.mark.parametrize("what", ["groups", "explain", "what-if", "lag", "snapshot"])
def test_a_group_of_a_cluster_that_is_not_ready_is_not_said_to_be_absent(what: str):
    answer = asked(snapshot(ready_cluster(orders()), WAITING), f"{what}/slow/orders")
    assert answer.status_code == 503
    assert answer.json() == problem(503, f"The groups of slow are not known yet. {SAYS}", not_ready=["slow"])


@pytest.mark.parametrize(
    ("shown", "title", "head"),
    [
        ((ready_cluster(orders()),), "1 of 1 group with findings", "1 of 1 group has findings"),
        ((WAITING,), "1 cluster not ready, 0 of 0 groups with findings", "No groups to show yet"),
        (
            (ready_cluster(offsets_only("calm")), WAITING, AWAY),
            "2 clusters not ready, 0 of 1 group with findings",
            "1 group, no findings so far: 2 clusters not ready",
        ),
    ],
)
def test_the_page_does_not_say_that_there_are_no_findings_where_that_is_not_known(shown, title, head):
    text = Client(create_app(Served(snapshot(*shown)), lambda: NOW_MS)).get("/").text
    assert re.findall("<title>(.*) - groupwatch</title>", text) == [title]
    (found,) = re.findall("<h1>(.*?)</h1>", text, re.DOTALL)
    assert " ".join(re.sub("<[^>]*>", " ", found).split()) == head
