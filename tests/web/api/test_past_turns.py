"""Requests about the past have one turn of their own: no page of now waits for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from monitor.history.chronicle.values import Chronicle
from monitor.history.recorded import RecordingError
from monitor.history.work_limit import TooMuchWorkError, TooSlowError, cpu_used_up, time_used_up
from monitor.web.app import create_app
from monitor.web.http.concurrency import MOST_WAITING
from monitor.web.server import HttpServer
from tests.support import plain_http
from tests.support.job_process import eventually
from tests.web.api.api_example import NOW_MS, Recorded, example

STORY = "/api/v1/history/main/orders?since=-10m"


class Slow(Recorded):
    """Answers when it is let."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.let = threading.Event()
        self.running = 0
        self.most = 0

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        self.running += 1
        self.most = max(self.most, self.running)
        self.asked.release()
        self.let.wait(60)
        self.running -= 1
        return super().chronicle(cluster, group, since_ms, until_ms)


@pytest.fixture
def past() -> Iterator[Slow]:
    found = Slow()
    yield found
    found.let.set()


def test_while_the_past_is_read_groups_are_answered_and_few_requests_wait(past: Slow):
    app = create_app(example(), lambda: NOW_MS, past=past)
    many = MOST_WAITING + 3
    with HttpServer(app, port=0) as server, plain_http.client(base_url=server.url, timeout=60) as client:
        with ThreadPoolExecutor(many) as pool:
            answers = [pool.submit(plain_http.get, f"{server.url}{STORY}", timeout=60) for _ in range(many)]
            assert past.asked.acquire(timeout=30)
            eventually(lambda: sum(each.done() for each in answers) == 2, "two requests that are refused")
            assert client.get("/groups/main/orders").status_code == 200
            assert client.get("/api/v1/explain/main/orders").status_code == 200
            past.let.set()
        found = sorted(each.result().status_code for each in answers)
    assert found == [200] * (1 + MOST_WAITING) + [503, 503]
    assert past.most == 1
    refused = next(each.result() for each in answers if each.result().status_code == 503)
    assert refused.json()["error"] == "Other requests about the past are being answered; try again in a moment."
    assert refused.headers["Retry-After"] == "10"


class Refusing(Recorded):
    """A recording that refuses a question."""

    def __init__(self, error: RecordingError) -> None:
        self.error = error

    def chronicle(self, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "status"),
    [
        pytest.param(TooMuchWorkError(cpu_used_up("/data", 8.0)), 400, id="too much work"),
        pytest.param(TooSlowError(time_used_up("/data", 45.0, 1.0)), 503, id="a busy machine"),
    ],
)
def test_a_request_that_is_refused_has_the_limit_and_what_to_ask_instead(error: RecordingError, status: int):
    app = create_app(example(), lambda: NOW_MS, past=Refusing(error))
    with HttpServer(app, port=0) as server:
        answer = plain_http.get(f"{server.url}{STORY}")
    assert (answer.status_code, answer.json()["error"]) == (status, str(error))
