"""The page under a path prefix: behind a proxy that removes it, and behind one that does not."""

from __future__ import annotations

import re

import httpx
import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from monitor.config.http import OWN_PATHS, HttpSettings
from monitor.web.app import create_app
from monitor.web.http.external_path import UnderPath
from monitor.web.views.deployment import Deployment
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.serving import http_server
from tests.web.examples import NOW_MS, Served, offsets_only, orders, ready_cluster, snapshot
from tests.web.page.past_example import NOW_MS as PAST_NOW_MS
from tests.web.page.past_example import MemoryPast

PREFIX = "/ops/groupwatch"
HOSTILE = 'a" href="/b'
GROUP = "/groups/main/orders"

PAGES = ("/", GROUP, "/topics/", "/topics/main/orders", "/libraries", "/nowhere")


@pytest.fixture(scope="module")
def page() -> TestClient:
    """A browser at the proxy, or at the port."""
    shown = snapshot(ready_cluster(orders(), offsets_only("calm"), offsets_only(HOSTILE)))
    return TestClient(UnderPath(create_app(Served(shown), lambda: NOW_MS), PREFIX))


def links(text: str) -> set[str]:
    """Where a browser can go from a page, and what it loads, without other parts of the same page."""
    found = re.findall(r'\s(?:href|src|action)="([^"]*)"', text)
    return {link.replace("&amp;", "&").partition("#")[0] for link in found if not link.startswith("#")}


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_page_has_the_prefix(page: TestClient, path: str):
    found = links(page.get(f"{path}").text)
    assert found
    assert {link for link in found if not link.startswith((f"{PREFIX}/", "?"))} == set()


def test_every_link_leads_somewhere_whether_or_not_the_proxy_removes_the_prefix(page: TestClient):
    for path in PAGES[:-1]:
        for link in links(page.get(f"{PREFIX}{path}").text):
            address = f"{PREFIX}{path}{link}" if link.startswith("?") else link
            for url in (address, address.replace(PREFIX, "", 1)):
                assert page.get(url).status_code != 404 or "/timeline/" in url or "explain=1" in url, url


@pytest.mark.parametrize("path", [*PAGES, "/metrics", "/healthz", "/api/v1/groups", "/style.css", "/page.js"])
def test_both_addresses_have_the_same_answer(page: TestClient, path: str):
    bare, under = page.get(f"{path}"), page.get(f"{PREFIX}{path}")
    assert under.status_code == bare.status_code
    assert under.headers["content-type"] == bare.headers["content-type"]
    if path not in {"/metrics"}:  # it tells the time
        assert under.content == bare.content
    unpacked = {"Accept-Encoding": "identity"}
    head = page.head(f"{PREFIX}{path}", headers=unpacked).headers
    assert int(head["content-length"]) == len(page.get(f"{path}", headers=unpacked).content)


def test_the_prefix_alone_is_the_overview_and_a_longer_name_is_not_below_it(page: TestClient):
    assert page.get(f"{PREFIX}").text == page.get("/").text
    assert page.get(f"{PREFIX}x/").status_code == 404
    assert page.get(f"{PREFIX}{PREFIX}/").status_code == 404


def test_a_name_that_looks_like_a_link_is_shown_as_it_is(page: TestClient):
    text = page.get("/").text
    assert "a&#34; href=&#34;/b" in text
    assert f"a&#34; href=&#34;{PREFIX}" not in text


def test_the_next_part_of_a_list_is_below_the_prefix(page: TestClient):
    answer = page.get("/api/v1/groups?limit=1")
    assert answer.headers["link"].startswith(f"<{PREFIX}/api/v1/groups?")


def test_charts_and_reports_of_the_past_link_below_the_prefix():
    app = create_app(Served(snapshot(ready_cluster(orders()))), lambda: PAST_NOW_MS, past=MemoryPast())
    found = links(TestClient(UnderPath(app, PREFIX)).get("/timeline/c/g").text)
    assert any("/report/" in link for link in found)
    assert {link for link in found if not link.startswith((f"{PREFIX}/", "?"))} == set()


def test_a_report_links_to_the_page_of_its_group_where_people_open_it():
    url = f"https://ops.example.com{PREFIX}"
    shown = Served(snapshot(ready_cluster(orders())))
    client = TestClient(create_app(shown, lambda: PAST_NOW_MS, past=MemoryPast(), deployment=Deployment(url)))
    assert f'<a href="{url}/groups/c/g">' in client.get("/report/c/g").text
    assert f"\nThe current state: <{url}/groups/c/g>\n" in client.get("/report/c/g?format=md").text
    assert client.get("/api/v1/").json()["external_url"] == url
    unknown = TestClient(create_app(shown, lambda: PAST_NOW_MS, past=MemoryPast()))
    assert "The current state" not in unknown.get("/report/c/g").text


def test_the_job_serves_under_the_path_of_its_external_address():
    settings = HttpSettings(port=0, external_url=f"https://ops.example.com{PREFIX}")
    with http_server(SnapshotStore(("main",)), settings) as running:
        assert httpx.get(f"{running.url}{PREFIX}/healthz", timeout=60).status_code == 200


def test_without_a_prefix_pages_are_as_they_were():
    with http_server(SnapshotStore(("main",)), HttpSettings(port=0)) as running:
        assert f"{PREFIX}" not in httpx.get(f"{running.url}/", timeout=60).text
        assert httpx.get(f"{running.url}{PREFIX}/", timeout=60).status_code == 404


def test_no_prefix_may_begin_with_a_path_of_groupwatch():
    app = create_app(Served(snapshot(ready_cluster(orders()))), lambda: NOW_MS)
    served = {route.path.split("/")[1] for route in app.routes if isinstance(route, Route)} - {""}
    assert served == OWN_PATHS
