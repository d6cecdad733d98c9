"""Questions about the past: by an instant, a span, and what cannot be answered."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from monitor.detection.evaluation_input import GroupInputs
from monitor.history.chronicle.values import Chronicle
from monitor.history.recorded import NotRecordedError, RecordingError
from monitor.history.report.facts import IncidentReport
from monitor.snapshot_file import find_inputs
from monitor.web.app import create_app
from monitor.web.server import HttpServer
from monitor.web.views.past import Past
from tests.support import plain_http
from tests.web.api.api_example import NOW_MS, Recorded, example
from tests.web.problems import problem

AT_MS = NOW_MS - 300_000
"""00:45:03 of 1970."""


class Damaged:
    def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
        raise RecordingError("The recording in /x cannot be read: no\nwonder.")

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        raise RecordingError("The recording in /x cannot be read: no\nwonder.")

    def report(self, cluster: str, group: str, since_ms: int, until_ms: int) -> IncidentReport | None:
        raise RecordingError("The recording in /x cannot be read: no\nwonder.")


@contextmanager
def served(past: Past | None) -> Iterator[httpx.Client]:
    app = create_app(example(), lambda: NOW_MS, past=past)
    with HttpServer(app, port=0) as server, plain_http.client(base_url=server.url) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with served(Recorded()) as client:
        yield client


@pytest.mark.parametrize("at", ["-5m", "1970-01-01T00:45:03Z"])
def test_a_group_its_explanation_and_its_snapshot_are_of_the_instant(client: httpx.Client, at: str):
    assert client.get(f"/api/v1/groups/main/orders?at={at}").json()["evaluated_ms"] == AT_MS
    assert client.get(f"/api/v1/explain/main/orders?at={at}").json()["evaluated_ms"] == AT_MS
    assert client.get(f"/api/v1/what-if/main/orders?at={at}&members=3").json()["evaluated_ms"] == AT_MS
    lines = client.get(f"/api/v1/snapshot/main/orders?at={at}").content.splitlines(keepends=True)
    assert find_inputs(lines, "main", "orders").now_ms == AT_MS


def test_without_an_instant_it_is_now(client: httpx.Client):
    assert client.get("/api/v1/groups/main/orders").json()["evaluated_ms"] > AT_MS


def test_a_history_is_of_its_span_which_is_the_last_hour_unless_said(client: httpx.Client):
    told = client.get("/api/v1/history/main/orders").json()
    assert (told.get("since_ms", 0), told["until_ms"]) == (max(0, NOW_MS - 3_600_000), NOW_MS)
    told = client.get("/api/v1/history/main/orders?since=-9m&until=-5m").json()
    assert (told["since_ms"], told["until_ms"]) == (NOW_MS - 540_000, AT_MS)
    assert client.get("/api/v1/story/main/orders?since=-9m&until=-5m").json() == told, "its former name"


def test_a_report_has_the_facts_of_its_span(client: httpx.Client):
    report = client.get("/api/v1/report/main/orders?since=-9m&until=-5m").json()
    assert (report["since_ms"], report["until_ms"]) == (NOW_MS - 540_000, AT_MS)
    assert report["left"][0]["member"]["client_id"] == "beta"


def test_a_report_is_a_file_of_html_or_markdown_that_runs_nothing(client: httpx.Client):
    page = client.get("/report/main/orders?since=-9m")
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "<script" not in page.text
    style = page.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in page.headers["content-security-policy"]
    file = client.get("/report/main/orders?since=-9m&format=md&download")
    assert file.headers["content-disposition"].startswith("attachment; ")
    assert file.text.startswith("# Incident report: group orders of cluster main\n")
    assert "default-src 'none'; style-src 'self'" in file.headers["content-security-policy"]
    assert client.get("/report/main/orders?format=pdf").status_code == 400


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("groups/main/orders?at=soon", 400, "soon is no instant: give 2026-11-22 02:14 (UTC unless"),
        ("groups/main/orders?at=2101-01-01", 400, "2101-01-01 is in the future."),
        ("groups/main/orders?at=", 400, " is no instant"),
        ("history/main/orders?since=-1h&until=-2h", 400, "-1h is not before -2h."),
        ("groups/main/orders?at=1969-12-31", 400, "1969-12-31 is no instant"),
        ("groups/main/orders?at=0001-01-01T00:00%2B14:00", 400, " is no instant"),
        (
            "groups/main/orders?at=1970-01-01",
            404,
            "No group named orders was known in cluster main at 1970-01-01 00:00:00",
        ),
        ("explain/main/nobody?at=-5m", 404, "No group named nobody was known in cluster main at "),
        ("history/main/nobody", 404, "No group named nobody was known in cluster main from "),
        ("report/main/orders?since=-1h&until=-2h", 400, "-1h is not before -2h."),
        ("report/main/nobody", 404, "No group named nobody was known in cluster main from "),
        ("findings?at=-5m", 400, "Unknown parameter at"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(client: httpx.Client, path: str, status: int, sentence: str):
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


@pytest.mark.parametrize("path", ["groups/main/orders?at=-5m", "history/main/orders", "report/main/orders"])
def test_without_a_recording_the_setting_is_named(path: str):
    with served(None) as client:
        answer = client.get(f"/api/v1/{path}")
    assert (answer.status_code, answer.json()) == (
        404,
        problem(404, "This job records nothing: [history] folder is not set."),
    )


def test_a_job_reads_a_day_of_its_recording_at_most():
    """By a clock of today: the example's is of an hour after the beginning of time."""
    now_ms = NOW_MS + 7 * 86_400_000
    with HttpServer(create_app(example(), lambda: now_ms, past=Recorded()), port=0) as server:
        answers = [
            plain_http.get(f"{server.url}/api/v1/history/main/orders?since={since}") for since in ("-1d", "-25h")
        ]
    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["error"].startswith("The job answers for at most 1 day;")


def test_what_is_not_recorded_is_not_found():
    class Short(Damaged):
        def inputs(self, cluster: str, group: str, at_ms: int) -> GroupInputs | None:
            raise NotRecordedError("The recording of cluster main reaches until then.")

    with served(Short()) as client:
        answer = client.get("/api/v1/groups/main/orders?at=-5m")
    assert (answer.status_code, answer.json()["error"]) == (404, "The recording of cluster main reaches until then.")


@pytest.mark.parametrize("path", ["groups/main/orders?at=-5m", "history/main/orders", "report/main/orders"])
def test_a_recording_that_cannot_be_read_is_no_fault_of_the_question(path: str):
    with served(Damaged()) as client:
        answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == 503
    assert json.loads(answer.text)["error"] == "The recording in /x cannot be read: no\\nwonder."
