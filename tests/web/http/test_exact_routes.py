"""An address is served as it is written or not at all; nothing of an answer is made of what a client says it asked."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from monitor.model import CollectorHealth
from monitor.web.app import create_app
from monitor.web.collect_app import create_collect_app
from monitor.web.server import HttpServer
from tests.web.examples import NOW_MS, Served, offsets_only, orders, ready_cluster, snapshot
from tests.web.http.raw_client import answer_to, status_of

HOSTS = (
    b"evil.example",
    b"evil.example:80",
    b"evil.example/api/",
    b"evil.example?x=",
    b"evil.example#",
    b"user:pw@evil.example",
    b"[::1",
    b"a" * 1000,
)
LISTED = b"/api/v1/groups?limit=1"
"""Its answer has a header Link."""

ADDRESSES = (
    b"/",
    b"/?q=or",
    b"/groups/main/orders",
    b"/metrics",
    b"/healthz",
    b"/readyz",
    b"/style.css",
    LISTED,
    b"/api/v1/findings",
    b"/api/v1/clusters",
    b"/api/v1/openapi.json",
    b"/api/v1/groups/main/absent",
    b"/nowhere",
    b"/metrics/",
    b"//evil.example/%2e%2e",
)
SLASHED = (b"/metrics/", b"/healthz/", b"/readyz/", b"//metrics", b"/METRICS", b"/metrics//")


@pytest.fixture(scope="module")
def job() -> Iterator[HttpServer]:
    shown = snapshot(ready_cluster(orders(), offsets_only("calm")))
    with HttpServer(create_app(Served(shown), lambda: NOW_MS), port=0) as server:
        yield server


@pytest.fixture(scope="module")
def collector() -> Iterator[HttpServer]:
    with HttpServer(create_collect_app(lambda: (CollectorHealth(name="n", collector="k", cluster="c"),)), port=0) as it:
        yield it


def asked(server: HttpServer, path: bytes, host: bytes, more: bytes = b"") -> bytes:
    """The answer without the time of day."""
    said = b"GET %s HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n" % (path, host, more)
    return re.sub(rb"(?i)\r\ndate: [^\r]*", b"", answer_to(server, said))


@pytest.mark.parametrize("path", ADDRESSES)
def test_no_answer_depends_on_the_host_that_a_client_names(job: HttpServer, path: bytes):
    expected = asked(job, path, b"localhost")
    assert [host for host in HOSTS if asked(job, path, host) != expected] == []
    forwarded = b"X-Forwarded-Host: evil.example\r\nForwarded: host=evil.example;proto=https\r\n"
    assert asked(job, path, b"localhost", forwarded) == expected


def test_the_address_of_the_next_groups_has_no_host(job: HttpServer):
    (link,) = re.findall(rb"(?i)\r\nlink: ([^\r]*)", asked(job, LISTED, b"evil.example/x"))
    assert link.startswith(b"</api/v1/groups?limit=1&cursor=")


@pytest.mark.parametrize("path", SLASHED)
@pytest.mark.parametrize("which", ["job", "collector"])
def test_an_address_with_a_slash_too_many_is_not_there_and_leads_nowhere(request, which: str, path: bytes):
    answer = asked(request.getfixturevalue(which), path, b"evil.example")
    assert status_of(answer) == 404
    assert b"\r\nlocation:" not in answer.lower()
    assert b"evil.example" not in answer
