"""The HTTP app, asked as a browser, a script and Prometheus ask it."""

import asyncio
import gzip
import html
import re
from dataclasses import dataclass
from urllib.parse import quote

import httpx
import msgspec
import pytest
from starlette.applications import Starlette

from monitor.messages.kind_words import KIND_WORDS
from monitor.model import (
    UNKNOWN_LIBRARY,
    Certainty,
    ClientLibrary,
    ClusterSnapshot,
    FindingKind,
    GroupSummary,
    GroupVerdict,
    Library,
    MemberVerdict,
    Phase,
    Shard,
    Snapshot,
    WarmUpProgress,
)
from monitor.model.ended_findings import EndedFinding, EndedLately
from monitor.model.snapshots import AgeLimits
from monitor.snapshot_file import NotJudgedError, find_inputs
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.lag_history import LagPoint
from tests.support import plain_http
from tests.support.builders import catalog, group, topic
from tests.web.examples import (
    HOSTILE_NAMES,
    NOW_MS,
    Served,
    connect,
    falling_behind,
    offsets_only,
    orders,
    ready_cluster,
    snapshot,
)
from tests.web.problems import problem
from tests.web.saved import Saved

WARMING_UP = ClusterSnapshot(cluster="slow", warm_up=WarmUpProgress(total=1000, remaining=400, left_ms=11_001))


@dataclass(frozen=True)
class Client:
    """Asks the app without a port. (Starlette's own TestClient warns about httpx.)"""

    app: Starlette

    def get(self, path: str, **headers: str) -> httpx.Response:
        return asyncio.run(self._get(path, headers))

    async def _get(self, path: str, headers: dict[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://groupwatch") as client:
            return await client.get(path, headers=headers)


def client(shown: Snapshot, now_ms: int = NOW_MS + 3_000) -> Client:
    return Client(create_app(Served(shown), lambda: now_ms))


@pytest.mark.parametrize(
    ("offer", "coding"),
    [
        pytest.param("gzip, deflate", "gzip", id="prometheus"),
        pytest.param("br;q=1.0, GZIP;q=0.5", "gzip", id="weighed"),
        pytest.param("*", "gzip", id="anything"),
        pytest.param("identity", None, id="plain text"),
        pytest.param("gzip;q=0, deflate", None, id="anything but gzip"),
        pytest.param("", None, id="nothing said"),
    ],
)
def test_metrics_are_the_prepared_bytes_in_the_coding_that_the_client_takes(offer, coding):
    prepared = Snapshot(metrics_gzip=gzip.compress(b"prepared 1\n"))
    answer = client(prepared).get("/metrics", **{"Accept-Encoding": offer})
    assert answer.headers.get("content-encoding") == coding
    assert answer.content == b"prepared 1\n"  # httpx has unpacked it
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["vary"] == "Accept, Accept-Encoding"


def test_before_the_first_snapshot_the_metrics_are_empty():
    assert client(Snapshot()).get("/metrics").content == b""


def test_alive_does_not_mean_ready():
    app = client(snapshot(WARMING_UP, ready_cluster()))
    assert (app.get("/healthz").status_code, app.get("/healthz").text) == (200, "ok\n")
    assert app.get("/readyz").status_code == 503


@pytest.mark.parametrize(
    ("cluster", "sentence"),
    [
        pytest.param(
            ClusterSnapshot(cluster="c"),
            "c: Starting: the first micro-batch has not been processed.\n",
            id="nothing reported yet",
        ),
        pytest.param(
            ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=5000, remaining=1400)),
            "c: Reading the backlog: 1,400 of 5,000 offsets still to read.\n",
            id="in the backlog, the pace not known yet",
        ),
        pytest.param(
            ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=5000, remaining=1400, left_ms=75_000)),
            "c: Reading the backlog: 1,400 of 5,000 offsets still to read, about 1 min 15 s left.\n",
            id="in the backlog",
        ),
        pytest.param(
            ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=5000, remaining=1, left_ms=3)),
            "c: Reading the backlog: 1 of 5,000 offsets still to read, about 1 s left.\n",
            id="never 0 s while something remains",
        ),
        pytest.param(
            ClusterSnapshot(cluster="c", input_lag=7, warm_up=WarmUpProgress(total=5000, remaining=0, left_ms=0)),
            "c: The backlog has been read; the topics have not been listed yet.\n",
            id="no catalog yet",
        ),
        pytest.param(
            ClusterSnapshot(cluster="c", warm_up=WarmUpProgress(total=9, remaining=9), problem="No broker answers."),
            "c: No broker answers.\n",
            id="a problem says more than a number",
        ),
    ],
)
def test_readyz_says_what_is_still_missing(cluster, sentence):
    answer = client(Snapshot(clusters=(cluster,))).get("/readyz")
    assert (answer.status_code, answer.text) == (503, sentence)


def test_one_cluster_of_several_that_is_no_longer_evaluated_is_not_ready_and_named():
    stalled = msgspec.structs.replace(ready_cluster(), cluster="c", problem="No broker answers.", stalled=True)
    answer = client(snapshot(ready_cluster(), stalled)).get("/readyz")
    assert (answer.status_code, answer.text) == (503, "c: No broker answers.\n")
    silent = client(snapshot(msgspec.structs.replace(ready_cluster(), stalled=True))).get("/readyz")
    told = "main: Stalled: the groups are not evaluated any more. The newest evaluation was 3 s ago.\n"
    assert (silent.status_code, silent.text) == (503, told)


@pytest.mark.parametrize(
    ("age_s", "limit_s", "status", "told", "word"),
    [
        pytest.param(60, 90, 200, "ready\n", "Ready", id="as old as in a quiet cluster"),
        pytest.param(
            61, 90, 200, "ready\nmain: Late: the newest evaluation was 1 min 1 s ago.\n", "Late", id="older than that"
        ),
        pytest.param(
            91, 90, 503, "main: Stale: the newest evaluation was 1 min 31 s ago.\n", "Stale", id="older than its limit"
        ),
    ],
)
def test_an_evaluation_of_long_ago_is_not_green_anywhere(age_s, limit_s, status, told, word):
    """What hangs as a whole reports nothing, and a machine that slept reports late."""
    cluster = msgspec.structs.replace(ready_cluster(orders()), age_limits=AgeLimits(60_000, limit_s * 1000))
    app = client(snapshot(cluster), NOW_MS + age_s * 1000)
    ready = app.get("/readyz")
    assert (ready.status_code, ready.text) == (status, told)
    condition = app.get("/api/v1/clusters").json()[0]
    assert (condition["stale"], condition.get("late", False)) == (word == "Stale", word == "Late")
    assert f"main: {condition['sentence']}\n" == told.removeprefix("ready\n") or word == "Ready"
    assert f'<span class="cluster-word">{word}</span>' in app.get("/").text
    assert (f'<span class="cluster-word">{word}</span>' in app.get("/groups/main/orders").text) is (word != "Ready")
    assert app.get("/api/v1/groups").headers.get("X-Stale") == ("main" if word == "Stale" else None)


def test_a_cluster_that_has_stalled_is_stale_although_its_reason_is_gone():
    stalled = msgspec.structs.replace(ready_cluster(), stalled=True)
    app = client(snapshot(stalled))
    sentence = "Stalled: the groups are not evaluated any more. The newest evaluation was 3 s ago."
    assert app.get("/readyz").text == f"main: {sentence}\n"
    assert '<span class="cluster-word">Stale</span>' in app.get("/").text


def test_readyz_of_ready_clusters():
    answer = client(snapshot(ready_cluster())).get("/readyz")
    assert (answer.status_code, answer.text) == (200, "ready\n")
    assert client(Snapshot()).get("/readyz").status_code == 503


MISSING = ClusterSnapshot(cluster="away", is_missing=True, problem="No broker answers at x:1.")
"""A cluster that was away at the start."""


@pytest.mark.parametrize(
    ("clusters", "status", "told"),
    [
        pytest.param(
            (ready_cluster(), MISSING), 200, "ready\naway: No broker answers at x:1.\n", id="beside a ready one"
        ),
        pytest.param((MISSING,), 503, "away: No broker answers at x:1.\n", id="the only one"),
        pytest.param((MISSING, MISSING), 503, "away: No broker answers at x:1.\n" * 2, id="all"),
        pytest.param(
            (ready_cluster(), ClusterSnapshot(cluster="away", is_missing=True)),
            200,
            "ready\naway: Starting: the first micro-batch has not been processed.\n",
            id="it has come, and its backlog takes nothing from the others",
        ),
        pytest.param(
            (ClusterSnapshot(cluster="c"), MISSING),
            503,
            "c: Starting: the first micro-batch has not been processed.\naway: No broker answers at x:1.\n",
            id="those that are there are waited for",
        ),
        pytest.param(
            (ready_cluster(), msgspec.structs.replace(ready_cluster(cluster="gone"), problem="No broker answers.")),
            200,
            "ready\ngone: No broker answers.\n",
            id="one that goes away later is named",
        ),
        pytest.param(
            (msgspec.structs.replace(ready_cluster(), problem="no batch ended.", stalled=True), MISSING),
            503,
            "main: no batch ended.\naway: No broker answers at x:1.\n",
            id="the ready one has stalled",
        ),
    ],
)
def test_readyz_names_the_clusters_that_are_missing_and_does_not_wait_for_them(clusters, status, told):
    answer = client(Snapshot(clusters=clusters)).get("/readyz")
    assert (answer.status_code, answer.text) == (status, told)


WRITTEN = {".": "~.", "..": "~..", "~.": "~~.", "~~..": "~~~.."}
"""Names that are not only percent-encoded, as clients take dots that stand alone out of a path."""


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_group_with_a_hostile_name_is_found_by_its_link_and_its_api(name):
    """The overview's own link leads to the page; the page's link to the JSON leads to this group and no other."""
    cluster_name = name or "c"
    decoys = [offsets_only(other, cluster_name) for other in HOSTILE_NAMES if other != name]
    app = client(snapshot(ready_cluster(*decoys, offsets_only(name, cluster_name), cluster=cluster_name)))
    hrefs = [html.unescape(href) for href in re.findall(r'href="(/groups/[^"]*)"', app.get("/").text)]
    cluster_piece, piece = (WRITTEN.get(each, quote(each, safe="")) for each in (cluster_name, name))
    href = f"/groups/{cluster_piece}/{piece}"
    assert href in hrefs
    page = app.get(href)
    assert page.status_code == 200
    (api,) = re.findall(r'href="(/api/v1/groups/[^"]*)"', page.text)
    verdict = msgspec.json.decode(app.get(html.unescape(api)).content, type=GroupVerdict)
    assert verdict.group == name
    assert [row.topic for row in verdict.partitions] == [name]


def test_a_slash_in_a_name_may_be_written_plainly():
    app = client(snapshot(ready_cluster(offsets_only("a/b"))))
    assert app.get("/groups/main/a/b").status_code == 200
    assert app.get("/api/v1/groups/main/a/b").json()["group"] == "a/b"


OWN_SCRIPT = re.compile(r'<script src="/page\.js\?[0-9a-f]{12}" defer></script>')
"""The only script that a page has."""


def test_a_script_in_a_name_stays_text():
    script = "<script>alert(1)</script>\"'>"
    app = client(snapshot(ready_cluster(offsets_only(script), orders(script))))
    for path in ("/", f"/groups/main/{quote(script)}", f"/groups/main/{quote('no' + script)}", f"/?q={quote(script)}"):
        text, scripts = OWN_SCRIPT.subn("", app.get(path).text)
        assert scripts == 1
        assert "<script" not in text
        assert "&lt;script&gt;" in text


def test_names_that_cannot_be_seen_are_written_out():
    text = client(snapshot(ready_cluster(offsets_only("a\nb\u202e")))).get("/").text
    assert r"a\nb\u202e" in text


def test_pages_forbid_all_but_their_own_files_and_guessing():
    with HttpServer(Served(snapshot(ready_cluster(orders()))), port=0) as server:
        for path in (
            "/",
            "/groups/main/orders",
            "/libraries",
            "/nowhere",
            "/metrics",
            "/api/v1/groups",
            "/style.css",
            "/page.js",
        ):
            headers = plain_http.get(f"{server.url}{path}").headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert "cache-control" in headers


def test_the_page_uses_nothing_that_its_policy_forbids():
    app = client(snapshot(ready_cluster(orders())))
    for path in ("/", "/groups/main/orders", "/libraries"):
        assert not re.search(r"<script|<style|<img|\sstyle=|\son\w+=|https?://", OWN_SCRIPT.sub("", app.get(path).text))
    assert "url(" not in app.get("/style.css").text


def test_the_api_lists_summaries():
    app = client(snapshot(ready_cluster(orders(), offsets_only("calm"))))
    summaries = msgspec.json.decode(app.get("/api/v1/groups").content, type=list[GroupSummary])
    assert [(each.group, each.members, each.lag, len(each.findings)) for each in summaries] == [
        ("calm", None, None, 0),
        ("orders", 2, 12, 3),
    ]


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/api/v1/groups/main/absent", 404, "No group named absent was found in cluster main."),
        ("/api/v1/groups/elsewhere/orders", 404, "No cluster named elsewhere is watched."),
        (
            "/api/v1/groups/slow/orders",
            503,
            "The groups of slow are not known yet."
            " Reading the backlog: 400 of 1,000 offsets still to read, about 12 s left.",
        ),
        ("/api/v1/groups/main", 404, "This address names no group: it must end in a cluster and a group."),
        ("/api/v2", 404, "The API has no such address; /api/v1/ lists all addresses."),
    ],
)
def test_what_is_not_there_is_told_as_json(path, status, sentence):
    answer = client(snapshot(ready_cluster(orders()), WARMING_UP)).get(path)
    named = {"not_ready": ["slow"]} if status == 503 else {}
    assert (answer.status_code, answer.json()) == (status, problem(status, sentence, **named))


def test_what_is_not_there_is_told_as_a_page():
    answer = client(snapshot(ready_cluster(orders()))).get("/groups/main/absent")
    assert answer.status_code == 404
    assert "No group named absent was found in cluster main." in answer.text


class FailsOnOne(Served):
    """A source whose rules fail on one group."""

    def verdict(self, cluster: str, group: str) -> GroupVerdict | None:
        """The verdict, but of the group "broken"."""
        if group.startswith("broken"):
            raise NotJudgedError("ZeroDivisionError: division\nby zero <b>")
        return super().verdict(cluster, group)


def test_a_group_that_cannot_be_judged_is_told_with_the_reason():
    app = Client(create_app(FailsOnOne(snapshot(ready_cluster(orders()))), lambda: NOW_MS))
    sentence = (
        r"Group broken\n of cluster main cannot be evaluated (ZeroDivisionError: division\nby zero <b>)."
        " Other groups are not affected."
    )
    as_json = app.get("/api/v1/groups/main/broken%0A")
    assert (as_json.status_code, as_json.json()) == (500, problem(500, sentence))
    as_page = app.get("/groups/main/broken%0A")
    assert as_page.status_code == 500
    assert html.escape(sentence) in as_page.text
    assert 'href="/"' in as_page.text
    assert app.get("/groups/main/orders").status_code == 200


def test_groups_of_a_cluster_that_is_not_ready_are_shown_nowhere():
    half_read = msgspec.structs.replace(ready_cluster(orders()), ready=False, evaluated_ms=None)
    app = client(snapshot(half_read))
    assert "orders" not in app.get("/").text
    for path in ("/api/v1/groups", "/api/v1/findings", "/api/v1/snapshot", "/api/v1/groups?partial=1"):
        answer = app.get(path)
        assert answer.status_code == 503
        assert "orders" not in answer.text


def test_after_a_restart_page_and_metrics_show_what_was_served_before_and_readyz_waits():
    app = client(snapshot(msgspec.structs.replace(ready_cluster(orders()), ready=False)))
    page = app.get("/").text
    assert "orders" in page
    assert "Stale" in words(page)
    assert "Restarted: shows the groups as evaluated before." in words(page)
    assert app.get("/readyz").status_code == 503
    metrics = app.get("/metrics").text
    assert 'groupwatch_ready{cluster="main"} 0' in metrics
    assert 'groupwatch_partition_lag{cluster="main",group="orders"' in metrics


def words(page: str) -> str:
    """The text that a reader sees, with single spaces."""
    return " ".join(
        html.unescape(
            re.sub(r"<[^>]+>", " ", page.partition("<main")[2].partition("</main>")[0].partition(">")[2])
        ).split()
    )


def test_the_overview_puts_the_worst_first_with_sentence_and_age():
    text = words(client(snapshot(ready_cluster(offsets_only("calm"), orders()), WARMING_UP)).get("/").text)
    assert "1 of 2 groups has findings" in text
    assert "main Ready 2 groups, evaluated 3 s ago" in text
    assert "slow Not ready Reading the backlog: 400 of 1,000 offsets still to read, about 12 s left. 60%" in text
    worst, next_worst = "Two own partition 1 of t. for 1 min 30 s", "Nobody owns partition 2 of t. for 40 s"
    assert (
        "orders kafka-classic main stable 2 12 range Double owned settling, critical in 4 min "
        f"{worst} What to do: Stop one of"
    ) in text
    assert f"Orphaned settling, critical in 10 min {next_worst} What to do: Most client" in text
    assert text.index(worst) < text.index(next_worst)
    assert "All 2 With findings 1 Double owned 1 Orphaned 1 Drift 1 Group" in text
    assert text.index("orders kafka-classic main") < text.index("calm kafka-classic main")


def test_the_sentence_of_a_critical_finding_that_is_settling_is_not_cut():
    """Partition 2 of the example has had no owner for 40 s."""
    page = client(snapshot(ready_cluster(orders()))).get("/").text
    assert re.search(r'settling, critical in \d+ min</span></span> <span class="sentence whole">', page)


def test_the_overview_has_the_age_of_a_lag_before_the_lag_and_instants_that_a_script_can_read():
    """The oldest record of the lag was written five minutes before the evaluation."""
    cluster = ready_cluster(orders())
    (group,) = cluster.groups
    at_ms = cluster.evaluated_ms or 0
    old = msgspec.structs.replace(cluster, groups=(msgspec.structs.replace(group, lag_since_ms=at_ms - 300_000),))
    page = client(snapshot(old)).get("/").text
    assert "kafka-classic stable 2 5 min 12 range" in words(page)
    assert re.findall(r'<time datetime="(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z">\1 \2 UTC</time>', page)


def test_the_overview_draws_the_lag_of_the_last_half_hour_where_it_is_known():
    """Every fourth point, so one a minute, in a box of 60 by 16 that is half an hour wide.

    The largest lag is drawn at the top, 1 below the edge, and none at the bottom.
    """
    lags = {8: 0, 4: 40, 0: 20}
    points = tuple(LagPoint(NOW_MS - back * 15_000, lags.get(back, 999)) for back in range(8, -1, -1))
    served = Served(snapshot(ready_cluster(orders(), offsets_only("new"), connect())), {}, {("main", "orders"): points})
    page = Client(create_app(served, lambda: NOW_MS)).get("/").text
    title = "Lag over the last 2 min: from 0 to 40 records, now 20 records."
    assert page.count("<polyline") == 1
    assert f'<title>{title}</title><polyline points="56,15 58,1 60,8"/>' in page


def test_a_group_that_could_not_be_judged_stands_before_the_calm_ones_and_says_why():
    cluster = ready_cluster(offsets_only("calm"), offsets_only("odd"), orders())
    calm, odd, wrong = cluster.groups
    broken = msgspec.structs.replace(odd, unjudged="TypeError: no <number>")
    app = client(snapshot(msgspec.structs.replace(cluster, groups=(calm, broken, wrong))))
    text = words(app.get("/").text)
    told = "Not evaluated: TypeError: no <number>. groupwatch shows the previous result."
    places = [text.index(f"{name} kafka-classic ") for name in ("orders", "odd", "calm")]
    assert places[0] < places[1] < text.index(told) < places[2]
    listed = app.get("/api/v1/groups?sort=worst").json()
    assert [(each["group"], each.get("unjudged")) for each in listed] == [
        ("orders", None),
        ("odd", "TypeError: no <number>"),
        ("calm", None),
    ]


def test_a_cluster_that_is_not_evaluated_any_more_has_its_reason_and_the_age_of_its_evaluation():
    stalled = msgspec.structs.replace(ready_cluster(orders()), problem="No broker answers.", stalled=True)
    app = client(snapshot(stalled), now_ms=NOW_MS + 180_000)
    assert "main Problem No broker answers. 1 group, evaluated 3 min ago" in words(app.get("/").text)
    assert "main Problem" in words(app.get("/groups/main/orders").text)


def test_that_findings_cannot_be_told_is_on_the_page_of_a_cluster_that_is_read():
    untold = msgspec.structs.replace(ready_cluster(orders()), tells_findings=True, findings_problem="No <way>.")
    assert "main Ready No <way>. 1 group, evaluated 3 s ago" in words(client(snapshot(untold)).get("/").text)


def test_the_group_page_says_who_owns_and_who_should():
    text = words(client(snapshot(ready_cluster(orders()))).get("/groups/main/orders").text)
    assert "#1 front C0 librdkafka 2.4 or newer /10.0.0.1 2 3 12 fewer than expected" in text
    rows = text.partition("Lag Lag age Explain ")[2]
    expected_rows = (
        "t 1 two owners #1 front #2 back #2 back 50 50 0 - why",
        "t 2 no owner: topic grew none #1 front none 5 unknown unknown why",
        "t 3 differs from the assignor #2 back #1 front 7 9 2 unknown why",
        "t 0 #1 front same 90 100 10 1 s why",
    )
    assert rows.startswith(" ".join(expected_rows))


def test_the_group_page_says_what_rebalances_cost():
    text = words(client(snapshot(ready_cluster(orders()))).get("/groups/main/orders").text)
    assert (
        "Rebalances Count 7, 12 s in total Moved 9 partitions, 4 avoidable Paused 12 s Burst afterwards 70 records "
        "Redelivered 150 records" in text
    )


def test_every_kind_of_finding_has_a_word():
    assert set(KIND_WORDS) == set(FindingKind)


def test_rebalances_of_less_than_a_second_took_some_time():
    briefly = msgspec.structs.replace(orders(), rebalances=1, rebalance_ms=1, pause_ms=999)
    page = words(client(snapshot(ready_cluster(briefly))).get("/groups/main/orders").text)
    assert "Count 1, less than 1 s in total" in page
    assert "Paused less than 1 s" in page


def test_the_group_page_says_how_the_lag_develops():
    text = words(client(snapshot(ready_cluster(falling_behind()))).get("/groups/main/late").text)
    assert "Lag 1,230 records Not behind an open transaction 1,180 records Lag age" in text
    assert "Lag status err" in text
    assert "Throughput 12.5 of 20 records/s" in text
    assert "Catches up in 1 min 30 s" in text
    assert "Lost at most 30 records" in text
    assert "Topics Topic Partitions Lag Lag age t 2 1,230 20 s u 1 0 -" in text
    assert "t 0 lost records" in text
    assert "1,030 stop unknown" in text
    never = msgspec.structs.replace(falling_behind(), catch_up_ms=None, topics=falling_behind().topics[:1])
    all_stable = msgspec.structs.replace(never, stable_lag=never.lag)
    text = words(client(snapshot(ready_cluster(all_stable))).get("/groups/main/late").text)
    assert "open transaction" not in text
    assert "Catches up never: the lag of a partition does not shrink" in text
    assert "Topics Topic" not in text


@pytest.mark.parametrize(
    ("paced_lag", "told"),
    [
        pytest.param(1_230, "Throughput 12.5 of 20 records/s Catches", id="of all 1,230 records"),
        pytest.param(1_229, "Throughput 12.5 of 20 records/s, for 99% of the lag Catches", id="of all but one"),
        pytest.param(1_110, "Throughput 12.5 of 20 records/s, for 90% of the lag Catches", id="of nine tenths"),
    ],
)
def test_the_group_page_says_if_the_pace_is_not_that_of_all_that_waits(paced_lag, told):
    late = msgspec.structs.replace(falling_behind(), paced_lag=paced_lag)
    assert told in words(client(snapshot(ready_cluster(late))).get("/groups/main/late").text)


def test_the_group_page_tells_apart_what_should_be_now_and_what_should_have_been():
    moved = msgspec.structs.replace(orders().partitions[0], expected="C1", replayed="C0")
    group = msgspec.structs.replace(orders(), partitions=(moved,), findings=())
    text = words(client(snapshot(ready_cluster(group))).get("/groups/main/orders").text)
    assert "t 0 #1 front #2 back this generation: #1 front 90" in text


@pytest.mark.parametrize("state", list(Phase))
@pytest.mark.parametrize("expectation", ["exact", "invariants", "none"])
def test_the_page_shows_a_group_in_any_state(state, expectation):
    group = msgspec.structs.replace(orders(), state=state, expectation=expectation, members=(), assignor=None)
    assert client(snapshot(ready_cluster(group))).get("/groups/main/orders").status_code == 200


def test_long_lists_are_cut_and_can_be_had_whole():
    app = client(snapshot(ready_cluster(*(offsets_only(f"g{n:03}") for n in range(203)))))
    assert "153 more groups" in words(app.get("/").text)
    assert app.get("/").text.count('href="/groups/main/') == 50
    assert app.get("/?all=1").text.count('href="/groups/main/') == 203


def test_a_search_finds_part_of_a_name_in_any_case():
    app = client(snapshot(ready_cluster(offsets_only("Orders-EU"), offsets_only("mail"))))
    text = words(app.get("/?q=orders").text)
    assert "Orders-EU" in text
    assert "mail" not in text
    assert "No group matches" in words(app.get("/?q=absent").text)


def test_the_page_renews_itself_until_it_is_paused():
    app = client(snapshot(ready_cluster(orders())))
    assert 'http-equiv="refresh"' in app.get("/").text
    paused = app.get("/groups/main/orders?paused=1").text
    assert 'http-equiv="refresh"' not in paused
    assert 'href="/groups/main/orders"' in paused
    assert 'http-equiv="refresh"' in app.get("/libraries").text
    assert 'http-equiv="refresh"' not in app.get("/libraries?paused=1").text


def test_the_page_of_libraries_counts_members_and_groups_by_cluster():
    """Two groups, each with a member of librdkafka and one of a library in Python."""
    both, other = ready_cluster(orders("a"), orders("b")), ready_cluster(offsets_only("c"), cluster="simple")
    app = client(snapshot(both, other, WARMING_UP))
    assert 'href="/libraries"' in app.get("/").text
    html = app.get("/libraries").text
    assert 'href="/groups/main/a"' in html
    text = words(html)
    head = "Library Release How sure Members Groups Names"
    in_python, certain = (
        "aiokafka or kafka-python unknown possible 2 2 a , b",
        "librdkafka 2.4 or newer certain 2 2 a , b",
    )
    assert f"main {head} {in_python} {certain} simple No Kafka group of this cluster has a member. slow" in text
    assert "12 s left. 60% 60% Not known yet. How sure certain" in text


def test_the_page_of_libraries_lists_a_hundred_of_a_cluster_and_all_if_it_is_to():
    """A release in a client id is what its owner likes."""
    members = tuple(
        MemberVerdict(f"m{n}", library=ClientLibrary((Library.AIOKAFKA,), Certainty.LIKELY, f"0.{n:03}"))
        for n in range(103)
    )
    app = client(snapshot(ready_cluster(msgspec.structs.replace(orders(), members=members))))
    text = words(app.get("/libraries").text)
    assert ("0.099" in text, "0.100" in text) == (True, False)
    assert "3 more rows" in text
    assert "0.102" in app.get("/libraries?all=1").text


@pytest.mark.parametrize(
    ("library", "shown"),
    [
        (ClientLibrary((Library.LIBRDKAFKA,), Certainty.CERTAIN, "2.4 or newer"), "C0 librdkafka 2.4 or newer /h"),
        (ClientLibrary((Library.SARAMA,), Certainty.LIKELY), "C0 likely sarama /h"),
        (
            ClientLibrary((Library.AIOKAFKA, Library.KAFKA_PYTHON), Certainty.POSSIBLE),
            "C0 possibly aiokafka or kafka-python /h",
        ),
        (ClientLibrary((Library.AIOKAFKA, Library.JAVA, Library.KAFKA_PYTHON), Certainty.POSSIBLE), "C0 /h"),
        (UNKNOWN_LIBRARY, "C0 /h"),
    ],
)
def test_the_group_page_names_the_library_of_a_member_and_how_sure_that_is(library, shown):
    assert f" {shown} " in words(of_one_member(library).get("/groups/main/orders").text)


def test_a_release_from_a_client_id_stays_text():
    app = of_one_member(ClientLibrary((Library.AIOKAFKA,), Certainty.LIKELY, "1<i>\u202e"))
    for path, shown in (("/groups/main/orders", r"likely aiokafka 1<i>\u202e"), ("/libraries", r"1<i>\u202e likely")):
        text = app.get(path).text
        assert "<i>" not in text
        assert shown in words(text)


def of_one_member(library: ClientLibrary) -> Client:
    members = (MemberVerdict("C0", host="/h", library=library),)
    return client(snapshot(ready_cluster(msgspec.structs.replace(orders(), members=members))))


def test_a_shard_says_that_other_groups_are_elsewhere():
    sentence = "Shard 2 of 3: other jobs watch the other groups."
    shown = msgspec.structs.replace(snapshot(ready_cluster(orders())), shard=Shard(number=2, of=3))
    app = client(shown)
    assert sentence in app.get("/").text
    assert sentence in app.get("/libraries").text
    assert app.get("/readyz").text == f"{sentence}\nready\n"
    missing = app.get("/api/v1/groups/main/elsewhere")
    assert missing.status_code == 404
    assert missing.json()["error"] == f"No group named elsewhere was found in cluster main. {sentence}"
    waiting = client(Snapshot(clusters=(WARMING_UP,), shard=shown.shard)).get("/readyz")
    assert (waiting.status_code, waiting.text.splitlines()[0]) == (503, sentence)


def test_a_job_that_shares_with_nobody_says_nothing_of_shards():
    app = client(snapshot(ready_cluster(orders())))
    assert "hard 1" not in app.get("/").text + app.get("/readyz").text


def test_what_verdicts_are_made_of_can_be_had_for_one_group_and_for_all():
    states = tuple(msgspec.structs.replace(group(), group=name) for name in ("g", "h\n"))
    saved = Saved(catalog(topic("t", 2)), states, NOW_MS)
    shown = snapshot(ready_cluster(offsets_only("g", "c"), offsets_only("h\n", "c"), cluster="c"), WARMING_UP)
    app = Client(create_app(Served(shown, {"c": saved}), lambda: NOW_MS))
    for path in ("/api/v1/snapshot?partial=1", "/api/v1/snapshot/c/h%0A"):
        answer = app.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")
        assert find_inputs(answer.content.splitlines(), "c", "h\n").group == states[1]
    missing = app.get("/api/v1/snapshot/c/absent")
    assert (missing.status_code, missing.json()) == (404, problem(404, "No group named absent was found in cluster c."))
    assert app.get("/api/v1/snapshot/c/broken").status_code == 500
    assert app.get("/api/v1/snapshot/slow/g").status_code == 503
    assert app.get("/api/v1/snapshot/slow").status_code == 404


@pytest.mark.parametrize(
    ("known_ms", "is_told"),
    [pytest.param(0, False, id="for long"), pytest.param(NOW_MS - 1_190_000, True, id="lately")],
)
def test_a_finding_that_ended_lately_is_on_its_groups_page_the_overview_and_in_the_api(known_ms, is_told):
    """An alert fires for minutes after the end, and whoever comes must not see a group without a trace of it."""
    kind = FindingKind.DRIFT
    gone = EndedFinding("g", kind, "replayed", NOW_MS - 720_000, NOW_MS - 177_000, "Partition 3 was astray.")
    other = EndedFinding("h", kind, "replayed", NOW_MS - 5_000, NOW_MS, "Young.", was_settling=True)
    tie = EndedFinding("h", kind, "tie", NOW_MS - 720_000, NOW_MS - 177_000, "Two are as good.")
    ended = EndedLately(known_ms, (other, tie, gone))
    cluster = msgspec.structs.replace(ready_cluster(offsets_only("g"), offsets_only("h")), ended=ended)
    app = client(snapshot(cluster))
    page = re.sub(r"<[^>]*>", "", app.get("/groups/main/g").text)
    assert "Ended in the last 20 minutes" in page
    at = "2023-11-14 22:12:03 UTC"
    told = f"Partition 3 was astray. This ended at {at}, after 9 min 3 s. Its alert may fire for some minutes more."
    assert told in page
    assert "3 min ago" in page
    assert ("A finding that ended before 2023-11-14 21:55:10 UTC is not remembered here." in page) is is_told
    assert "Young. This ended" not in page
    overview = re.sub(r"<[^>]*>", "", app.get("/").text)
    assert "1 finding ended in the last 20 minutes: g (Drift, 3 min ago)" in overview
    assert "Young" not in overview
    assert "Two are as good" not in overview
    beside = app.get("/groups/main/h").text
    assert "It was too young for its alert." in beside
    assert "Two are as good." in beside
    assert "Its alert may fire" not in beside
    assert app.get("/api/v1/groups/main/g").json()["ended"]["findings"] == [msgspec.to_builtins(gone)]


@pytest.mark.parametrize(
    ("behind_ms", "is_there"),
    [pytest.param(0, False, id="long ago"), pytest.param(3 * 3_600_000, True, id="by a clock that is set forward")],
)
def test_what_ended_is_left_out_after_20_minutes_also_where_nothing_is_evaluated(behind_ms, is_there):
    """A cluster that was evaluated three hours ago says nothing of the last 20 minutes."""
    gone = EndedFinding("g", FindingKind.DRIFT, "replayed", NOW_MS - 9_000, NOW_MS, "Partition 3 was astray.")
    ended = EndedLately(NOW_MS - 3_600_000, (gone,))
    cluster = msgspec.structs.replace(ready_cluster(offsets_only("g")), ended=ended, clock_behind_ms=behind_ms)
    saved = Saved(catalog(topic("t", 2)), (group(),), NOW_MS, ended=ended)
    app = Client(create_app(Served(snapshot(cluster), {"main": saved}), lambda: NOW_MS + 3 * 3_600_000))
    assert ("ended in the last 20 minutes" in app.get("/").text) is is_there
    assert ("Partition 3 was astray." in app.get("/groups/main/g").text) is is_there
    assert ("Partition 3 was astray." in app.get("/api/v1/groups/main/g").text) is is_there
    assert ("Partition 3 was astray." in app.get("/api/v1/explain/main/g").text) is is_there
    assert ("Partition 3 was astray." in app.get("/api/v1/snapshot/main/g").text) is is_there
