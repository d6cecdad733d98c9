"""The page of a group at an instant of the past, and its timeline, from a recording in memory.

The group starts at 02:14:05. From 02:15:05 on, nobody has partition 1, which is a finding with the poll of 02:15:10,
and over with the next generation at 02:15:35.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from monitor.history.instants import instant_text, read_instant
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.past import NOTHING_RECORDED, Past
from tests.history.test_story import START
from tests.support import plain_http
from tests.web.api.api_example import NOW_MS as LIVE_NOW_MS
from tests.web.api.api_example import Recorded, example
from tests.web.api.test_past import Damaged
from tests.web.page.past_example import NOW_MS, MemoryPast

PAGE, TIMELINE = "/groups/c/g", "/timeline/c/g"
ORPHANED = "2026-11-22T02:15:20Z"


@contextmanager
def served(past: Past | None, now_ms: int = NOW_MS) -> Iterator[httpx.Client]:
    app = create_app(example(), lambda: now_ms, past=past)
    with HttpServer(app, port=0) as server, plain_http.client(base_url=server.url) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with served(MemoryPast()) as client:
        yield client


def links(page: str, words: str) -> list[str]:
    return [href.replace("&amp;", "&") for href in re.findall(rf'<a href="([^"]*)"[^>]*>{words}', page)]


# --- at an instant ----------------------------------------------------------------------------------------------------


def _time(day: str, second: str) -> str:
    return f'<time datetime="{day}T{second}Z">{day} {second} UTC</time>'


def test_the_page_shows_the_group_as_it_was(client: httpx.Client):
    """At 80 s the ends are 180; 100 and 110 are committed. At 100 s, a has both partitions."""
    page = client.get(PAGE, params={"at": ORPHANED}).text
    assert f"<strong>This page shows the group at {_time('2026-11-22', '02:15:20')}</strong>, 58 min 40 s ago" in page
    assert "1 partition of t (1) has no owner" in page
    assert f">Lag</a></dt><dd>{180 - 100 + 180 - 110} records</dd>" in page
    later = client.get(PAGE, params={"at": "2026-11-22 02:15:40"}).text
    assert "has no owner" not in later
    assert f"This page shows the group at {_time('2026-11-22', '02:15:40')}" in later


def test_links_lead_to_other_instants_and_back_to_now(client: httpx.Client):
    page = client.get(PAGE, params={"at": ORPHANED, "sort": "lag"}).text
    assert links(page, "1 minute later") == [f"{PAGE}?sort=lag&at=2026-11-22T02:16:20Z"]
    assert links(page, "10 minutes earlier") == [f"{PAGE}?sort=lag&at=2026-11-22T02:05:20Z"]
    assert links(page, "1 hour earlier") == [f"{PAGE}?sort=lag&at=2026-11-22T01:15:20Z"]
    assert links(page, "1 hour later") == [], "that is later than now"
    assert links(page, "Now") == [f"{PAGE}?sort=lag"]
    assert links(page, "Timeline around") == [
        f"{TIMELINE}?since=2026-11-22T01:45:20Z&until=2026-11-22T02:45:20Z&at={ORPHANED}"
    ]


def test_links_and_forms_of_the_page_keep_the_instant_also_one_that_was_relative(client: httpx.Client):
    page = client.get(PAGE, params={"at": f"-{(NOW_MS - START) // 1_000 - 80}s"}).text
    kept = f"at={ORPHANED}"
    asking = [href for href in re.findall(r'href="(/groups/c/g\?[^"]*)"', page) if "explain" in href or "sort" in href]
    assert len(asking) >= 7
    assert all(kept in href for href in asking)
    assert f'<input type="hidden" name="at" value="{ORPHANED}">' in page
    assert links(page, "This group as JSON") == [f"/api/v1/groups/c/g?{kept}"]


def test_explanation_and_simulation_are_of_that_instant(client: httpx.Client):
    page = client.get(PAGE, params={"at": ORPHANED, "explain": "1", "what-if": "1", "members": "2"}).text
    assert page.count("as of 2026-11-22 02:15:20 UTC") == 2
    assert "new-1" in page.split('id="what-if-answer"')[1], "by range, the second member gets partition 1"


def test_a_page_of_the_past_does_not_refresh(client: httpx.Client):
    for query in ({"at": ORPHANED}, {"at": "soon"}):
        page = client.get(PAGE, params=query).text
        assert "data-live" not in page
        assert "http-equiv" not in page


@pytest.mark.parametrize("at", ["soon", "2101-01-01", "", "2026-11-22 02:30", "2026-11-22 02:13"])
def test_what_cannot_be_shown_is_an_error_page_with_the_sentence_of_the_api(client: httpx.Client, at: str):
    page, api = (client.get(path, params={"at": at}) for path in (PAGE, f"/api/v1{PAGE}"))
    assert page.status_code == api.status_code >= 400
    assert f'<p class="name">{api.json()["error"]}</p>' in page.text
    assert links(page.text, "The group now") == [PAGE]


def test_a_job_without_a_recording_says_so_and_offers_nothing():
    with served(None, LIVE_NOW_MS) as client:
        for path in ("/groups/main/orders?at=-5m", "/timeline/main/orders"):
            answer = client.get(path)
            assert answer.status_code == 404
            assert NOTHING_RECORDED in answer.text
        page = client.get("/groups/main/orders").text
    assert "Timeline" not in page
    assert 'name="at"' not in page


def test_the_page_of_now_has_a_form_for_an_instant_where_there_is_a_recording():
    with served(Recorded(), LIVE_NOW_MS) as client:
        page = client.get("/groups/main/orders").text
        then = client.get("/groups/main/orders?at=-5m").text
    assert '<input id="at" name="at" required value=""' in page
    assert links(page, "Timeline") == ["/timeline/main/orders"]
    assert "This page shows" not in page
    assert f"This page shows the group at {_time('1970-01-01', '00:45:03')}" in then


def test_a_recording_that_cannot_be_read_is_a_503_page():
    with served(Damaged()) as client:
        for path in (f"{PAGE}?at=-5m", TIMELINE):
            answer = client.get(path)
            assert answer.status_code == 503
            assert "The recording in /x cannot be read: no\\nwonder." in answer.text


def test_an_instant_in_an_address_is_the_same_to_the_millisecond():
    for at_ms in (*range(1_795_313_640_110, 1_795_313_640_140), 0, 999, 253_402_300_799_000):
        assert read_instant(instant_text(at_ms), 0) == at_ms


# --- the timeline -----------------------------------------------------------------------------------------------------

SPAN = {"since": "2026-11-22 02:14:10", "until": "2026-11-22 02:18:40"}


def test_the_timeline_lists_and_draws_what_happened_with_links_to_the_instants(client: httpx.Client):
    """A bar begins when its finding became true, and leads to the instant at which it was found."""
    page = client.get(TIMELINE, params=SPAN).text
    rows = re.findall(r'<li><a href="([^"]*)"><time [^>]*>([^<]*)</time></a> <span class="quiet">(\w+)', page)
    assert [(at, word) for _, at, word in rows if word != "Opened"][:3] == [
        ("2026-11-22 02:15:05 UTC", "Rebalance"),
        ("2026-11-22 02:15:35 UTC", "Rebalance"),
        ("2026-11-22 02:15:35 UTC", "Closed"),
    ]
    assert (f"{PAGE}?at=2026-11-22T02:15:10Z", "2026-11-22 02:15:10 UTC", "Opened") in rows
    chart = page.split('<div class="timeline"')[1].split("</svg></div>")[0]
    times = "it lasted 30 s, from 2026-11-22 02:15:05 UTC to 2026-11-22 02:15:35 UTC"
    assert f"Orphaned: grew (critical), {times}: 1 partition of t (1)" in chart
    assert f'<a href="{PAGE}?at=2026-11-22T02:15:10Z"><title>Orphaned: grew' in chart
    assert (
        f'<a href="{PAGE}?at=2026-11-22T02:15:05Z"><title>2026-11-22 02:15:05 UTC: Rebalance to generation 2' in chart
    )


def test_a_finding_that_was_open_before_is_drawn_from_the_start(client: httpx.Client):
    page = client.get(TIMELINE, params={"since": "2026-11-22 02:15:20", "until": "2026-11-22 02:15:30"}).text
    times = "it has lasted 25 s since 2026-11-22 02:15:05 UTC, and is still open at 2026-11-22 02:15:30 UTC"
    assert f"Orphaned: grew (critical), {times}: " in page
    assert "no finding opened or closed" in page


def test_report_and_timeline_draw_the_same_bars_and_ticks(client: httpx.Client):
    """A report is judged every second, a timeline every ten: what opened is found at the same second by both."""
    pages = [client.get(path, params=SPAN).text for path in (TIMELINE, "/report/c/g")]
    drawn = [re.findall(r"<title>([^<]*(?:\([a-z]*\), |: Rebalance to )[^<]*)</title>", page) for page in pages]
    assert len(drawn[0]) == 6
    assert drawn[0] == drawn[1]


def test_the_lag_is_also_there_as_text(client: httpx.Client):
    """At 02:14:20 it is 120 - 100 + 120 - 110; each ten seconds add 20."""
    page = client.get(TIMELINE, params={"since": "2026-11-22 02:14:20", "until": "2026-11-22 02:14:40"}).text
    lags = re.findall(r'<td class="number">([^<]*)</td></tr>', page)
    assert lags == ["30 records", "50 records", "70 records"]
    assert "The lag was 30 records at first, at most 70 records, and 70 records at last." in page


def test_links_lead_to_earlier_and_later_times_and_to_other_lengths():
    with served(Recorded(), LIVE_NOW_MS + 7 * 86_400_000) as client:
        page = client.get("/groups/main/orders")
        assert links(page.text, "Timeline") == ["/timeline/main/orders"]
    with served(MemoryPast()) as client:
        page = client.get(TIMELINE, params={"since": "2026-11-22 02:14", "until": "2026-11-22 02:18"}).text
        assert links(page, "Earlier") == [f"{TIMELINE}?since=2026-11-22T02:10:00Z&until=2026-11-22T02:14:00Z"]
        assert links(page, "Later") == [f"{TIMELINE}?since=2026-11-22T02:18:00Z&until=2026-11-22T02:22:00Z"]
        assert links(page, "6 hours") == [f"{TIMELINE}?since=2026-11-21T20:18:00Z&until=2026-11-22T02:18:00Z"]
        assert links(page, "24 hours")
        assert links(page, "30 days")
        assert links(page, "Incident report on this time") == [
            "/report/c/g?since=2026-11-22T02:14:00Z&until=2026-11-22T02:18:00Z"
        ]
        report = client.get(links(page, "Incident report on this time")[0])
        assert report.status_code == 200
        assert "<svg" in report.text
        latest = client.get(TIMELINE, params={"since": "-1h"}).text
    assert (
        "Timeline from 2026-11-22 02:14:00 UTC to 2026-11-22 02:19:00 UTC. The recording reaches until 2026-11-22"
        in re.sub("</?time[^>]*>", "", latest)
    )
    assert links(latest, "6 hours") == [f"{TIMELINE}?since=-6h"]
    assert links(latest, "Later") == []
    assert '<a href="/timeline/c/g?since=-1h" aria-current="true">1 hour</a>' in latest


def test_parts_of_the_chart_lead_to_their_own_timelines_until_they_are_short():
    with served(MemoryPast()) as client:
        hour = client.get(TIMELINE, params={"since": "2026-11-22 01:19", "until": "2026-11-22 02:19"}).text
        short = client.get(TIMELINE, params={"since": "2026-11-22 02:14", "until": "2026-11-22 02:19"}).text
    zooms = re.findall(r'<a href="([^"]*)"><title>Zoom in: ', hour)
    assert len(zooms) == 12
    assert zooms[-1] == f"{TIMELINE}?since=2026-11-22T02:14:00Z&amp;until=2026-11-22T02:19:00Z"
    assert "Zoom in" not in short


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("since=soon", 400, "soon is no instant"),
        ("since=-1h&until=-2h", 400, "-1h is not before -2h."),
        ("since=-32d", 400, "The job answers for at most 31 days;"),
        ("since=-5m", 404, "The recording of cluster c reaches until 2026-11-22 02:19:00 UTC."),
        ("since=-1h&at=never", 400, "never is no instant"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_page(client: httpx.Client, query: str, status: int, sentence: str):
    answer = client.get(f"{TIMELINE}?{query}")
    assert answer.status_code == status
    assert sentence in answer.text
    assert "data-live" not in answer.text


def test_hostile_names_stay_text_in_the_past(client: httpx.Client):
    name = "%3Csvg%20onload=x%3E%E2%80%AE"
    for path in (f"/groups/c/{name}?at=-50m", f"/timeline/c/{name}?since=-1h", f"/timeline/{name}"):
        answer = client.get(path)
        assert answer.status_code >= 400
        assert "<svg onload" not in answer.text
        assert "\u202e" not in answer.text
