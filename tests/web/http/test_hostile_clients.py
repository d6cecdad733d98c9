"""Clients that are slow, many, or talk rubbish, against the real server on a real port: a scrape does not notice."""

import gzip
import logging
import random
import socket
import statistics
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from time import sleep

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from monitor.model import Snapshot
from monitor.web.http.limits import Limits
from monitor.web.server import HttpServer
from tests.support.examples import example_count
from tests.support.job_process import eventually
from tests.web.examples import HOSTILE_NAMES, Served, orders, ready_cluster, snapshot
from tests.web.http.raw_client import (
    GET,
    LAST,
    all_of,
    answer_to,
    connected,
    is_ended,
    one_answer,
    seconds_of,
    status_of,
)

SHORT = Limits(request_s=2.0, idle_s=3.0, stall_s=2.0, answer_s=60.0, linger_s=1.0)
BIG = b"x" * 20_000_000


@pytest.fixture
def served() -> Iterator[HttpServer]:
    """The real app, with the limits of a real server."""
    with HttpServer(Served(snapshot(ready_cluster(orders()))), port=0) as server:
        yield server


class Work:
    """An app with something big, and something slow that ends when it is told to."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.most = self._now = 0
        self._lock = threading.Lock()

    def app(self) -> Starlette:
        async def metrics(_: Request) -> Response:
            return PlainTextResponse("up 1\n")

        async def big(_: Request) -> Response:
            return Response(BIG)

        async def stream(_: Request) -> Response:
            return StreamingResponse(BIG for _ in range(2))

        routes = [Route("/metrics", metrics), Route("/big", big), Route("/stream", stream), Route("/slow", self._slow)]
        return Starlette(routes=routes)

    def _slow(self, _: Request) -> Response:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self.may_end.wait(60)
        with self._lock:
            self._now -= 1
        return PlainTextResponse("done")


@contextmanager
def working(limits: Limits = SHORT) -> Iterator[tuple[HttpServer, Work]]:
    work = Work()
    with HttpServer(work.app(), port=0, limits=limits) as server:
        try:
            yield server, work
        finally:
            work.may_end.set()


def scrape(server: HttpServer) -> None:
    with connected(server) as client:
        client.sendall(GET % b"/metrics")
        assert one_answer(client).startswith(b"HTTP/1.1 200 ")


def usual_s(server: HttpServer, scrapes: int = 30) -> float:
    return statistics.median(seconds_of(lambda: scrape(server)) for _ in range(scrapes))


def test_two_hundred_clients_that_send_their_headers_slowly_do_not_slow_a_scrape():
    """They are of one address, as the scrape is: of them 100 at most are kept, and the oldest goes for a scrape."""
    with working(Limits()) as (server, _), ExitStack() as open_ones:
        alone_s = usual_s(server)
        slow = [open_ones.enter_context(connected(server)) for _ in range(200)]
        stop = threading.Event()
        dribble = threading.Thread(target=_dribble, args=(slow, stop))
        dribble.start()
        beside_s = usual_s(server)
        stop.set()
        dribble.join()
        assert sum(map(is_ended, slow)) >= 100
    assert beside_s < 10 * alone_s + 0.05


def _dribble(clients: list[socket.socket], stop: threading.Event) -> None:
    for number in range(10_000):
        for client in clients:
            try:
                client.sendall(b"GET / HTTP/1.1\r\n" if number == 0 else b"X-%d: y\r\n" % number)
            except OSError:
                continue
        if stop.wait(0.2):
            return


@pytest.mark.parametrize(
    "said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", b"\r\n"], ids=["nothing", "a letter", "half", "a line break"]
)
def test_a_connection_whose_request_does_not_come_is_ended(said):
    with working() as (server, _), connected(server) as client:
        client.sendall(said)
        eventually(lambda: is_ended(client), "the end of the connection", 30)


def test_a_request_that_comes_a_letter_at_a_time_is_ended_as_well():
    """Each letter in time would keep the connection for ever."""
    with working() as (server, _), connected(server) as client:
        for letter in b"GET / HTTP/1.1\r\nHost: " + b"x" * 10_000:
            try:
                client.sendall(bytes([letter]))
            except OSError:
                return
            sleep(0.05)
        pytest.fail("the whole request was waited for")


def test_an_idle_connection_is_kept_for_a_while_and_then_ended():
    with working() as (server, _), connected(server) as client:
        for _ in range(3):
            client.sendall(GET % b"/metrics")
            assert b"up 1\n" in one_answer(client)
            sleep(0.3)
        assert not is_ended(client)
        eventually(lambda: is_ended(client), "the end of the idle connection", 30)


def test_a_reader_that_stops_is_ended_and_one_that_is_slow_is_not():
    with working() as (server, _), ExitStack() as open_ones:
        stopped, slow = (open_ones.enter_context(connected(server)) for _ in range(2))
        for client in (stopped, slow):
            client.sendall(LAST % b"/big")
        read = 0
        while piece := slow.recv(1_000_000):
            read += len(piece)
            sleep(0.05)
        assert read > len(BIG)
        eventually(lambda: ended_midway(stopped), "the end of the answer that nobody reads", 30)


def ended_midway(client: socket.socket) -> bool:
    """Whether the server gave up: what the kernel has taken can still be read, and it is not the whole."""
    sleep(4)  # two seconds of patience, and the moment until somebody looks
    return 0 < len(all_of(client)) < len(BIG)


def test_readers_that_do_not_read_do_not_slow_a_scrape():
    with working(Limits()) as (server, _), ExitStack() as open_ones:
        alone_s = usual_s(server)
        for _ in range(50):
            open_ones.enter_context(connected(server)).sendall(GET % b"/big")
        assert usual_s(server) < 10 * alone_s + 0.05


def test_answers_that_nobody_reads_hold_a_bounded_amount():
    """Two answers of 20 MB, of which the kernel takes some MB, and room for 1 MB: both end long before their time."""
    with working(Limits(unread_bytes=1_000_000)) as (server, _), ExitStack() as open_ones:
        clients = [open_ones.enter_context(connected(server)) for _ in range(2)]
        for client in clients:
            client.sendall(LAST % b"/big")
        sleep(3)
        assert all(0 < len(all_of(client)) < len(BIG) for client in clients)


def test_metrics_are_unpacked_as_they_are_read():
    """Thirty clients take no gzip and read nothing: what is held of 600 MB are the pieces that were begun."""
    shown = Snapshot(metrics_gzip=gzip.compress(BIG))
    with HttpServer(Served(shown), port=0) as server, ExitStack() as open_ones:
        tracemalloc.start()
        open_ones.callback(tracemalloc.stop)
        for _ in range(30):
            open_ones.enter_context(connected(server)).sendall(GET % b"/metrics")
        with connected(server) as reader:
            reader.sendall(LAST % b"/metrics")
            assert all_of(reader).endswith(b"\r\n\r\n" + BIG)
        _, most = tracemalloc.get_traced_memory()
    assert most < 5 * len(BIG)  # the answer that was read is held here


def test_of_costly_requests_few_are_computed_at_once_and_scrapes_pass_them():
    """Two places, two that wait for them, and a fifth, which is told to come again."""
    with working(Limits(costly=2, costly_waiting=2, costly_wait_s=60)) as (server, work), ExitStack() as open_ones:
        clients = []
        for number in range(4):
            clients.append(open_ones.enter_context(connected(server)))
            clients[-1].sendall(GET % b"/slow")
            eventually(lambda number=number: work.most >= min(2, number + 1), "the work on a request", 30)
        sleep(0.5)
        fifth = answer_to(server, LAST % b"/slow")
        assert status_of(fifth) == 503
        assert b"retry-after: 2\r\n" in fifth.lower()
        scrape(server)
        work.may_end.set()
        assert [status_of(one_answer(client)) for client in clients] == [200] * 4
        assert work.most == 2


def test_who_waits_too_long_for_a_place_is_told_to_come_again():
    with working(Limits(costly=1, costly_wait_s=0.2)) as (server, work), connected(server) as first:
        first.sendall(GET % b"/slow")
        eventually(lambda: work.most == 1, "the work on the request", 30)
        assert status_of(answer_to(server, LAST % b"/slow")) == 503
        work.may_end.set()
        assert status_of(one_answer(first)) == 200
        eventually(lambda: status_of(answer_to(server, LAST % b"/slow")) == 200, "the place that is free again", 30)


def test_a_place_is_free_again_when_its_client_has_gone_and_when_it_does_not_read():
    with working(Limits(costly=1, costly_wait_s=10)) as (server, _), connected(server) as silent:
        silent.sendall(GET % b"/big")
        with connected(server) as gone:
            gone.sendall(GET % b"/big")
        assert status_of(answer_to(server, LAST % b"/absent")) == 404


def test_a_stream_that_is_read_slowly_keeps_no_place_from_others():
    with working(Limits(costly=1, costly_wait_s=10)) as (server, _), connected(server) as slow:
        slow.sendall(LAST % b"/stream")
        read = len(slow.recv(100_000))
        assert status_of(answer_to(server, LAST % b"/absent")) == 404
        while piece := slow.recv(1_000_000):
            read += len(piece)
        assert read > 2 * len(BIG)


CLOSE = b"Host: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    ("said", "status"),
    [
        pytest.param(b"GET /metrics HTTP/1.1\r\n" + CLOSE, 200, id="a scrape"),
        pytest.param(b"GET /metrics HTTP/1.0\r\n\r\n", 200, id="HTTP/1.0"),
        pytest.param(b"HEAD /metrics HTTP/1.1\r\n" + CLOSE, 200, id="HEAD"),
        pytest.param(b"GET /%ff%00%0a%2e%2e/%% HTTP/1.1\r\n" + CLOSE, 404, id="percent rubbish"),
        pytest.param(b"GET //metrics HTTP/1.1\r\n" + CLOSE, 404, id="two slashes"),
        pytest.param(b"GET http://x/metrics HTTP/1.1\r\n" + CLOSE, 404, id="the form for proxies"),
        pytest.param(b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n" + CLOSE + b"abc", 405, id="POST"),
        pytest.param(b"DELETE /absent HTTP/1.1\r\n" + CLOSE, 405, id="DELETE"),
        pytest.param(b"OPTIONS * HTTP/1.1\r\n" + CLOSE, 405, id="OPTIONS"),
        pytest.param(b"CONNECT x:1 HTTP/1.1\r\n" + CLOSE, 405, id="CONNECT"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nContent-Length: 3\r\n" + CLOSE + b"abc", 413, id="a body"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nContent-Length: 0\r\n" + CLOSE, 200, id="no body, and said so"),
        pytest.param(
            b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + CLOSE + b"zz\r\n", 400, id="a body in broken chunks"
        ),
        pytest.param(
            b"GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + CLOSE + b"1\r\na\r\n0\r\n\r\n",
            413,
            id="a body in chunks",
        ),
        pytest.param(b"GET /metrics?" + b"x" * 103_000 + b" HTTP/1.1\r\n" + CLOSE, 414, id="a long address"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 130_000 + b"\r\n" + CLOSE, 200, id="a long header"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 131_072 + b"\r\n" + CLOSE, 400, id="too long a header"),
        pytest.param(b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 200_000 + b"\r\n" + CLOSE, 400, id="longer"),
        pytest.param(b"GET /metrics HTTP/1.1\r\n" + b"X: 45678\r\n" * 14_000 + CLOSE, 400, id="many headers"),
        pytest.param(
            b"GET /metrics?%b HTTP/1.1\r\nX: %b\r\n" % (b"x" * 100_000, b"y" * 32_000) + CLOSE, 400, id="both together"
        ),
        pytest.param(
            b"GET /metrics HTTP/1.1\r\nUpgrade: x\r\nConnection: Upgrade, close\r\nHost: x\r\n\r\n", 200, id="ws"
        ),
        pytest.param(b"GET /metrics HTTP/1.1\r\nUpgrade: h2c\r\n" + CLOSE, 200, id="HTTP/2 in plain text"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 405, id="HTTP/2"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 50, 400, id="TLS"),
        pytest.param(b"\0" * 20_000, 400, id="zeros"),
    ],
)
def test_every_request_has_its_answer(served, caplog, said, status):
    assert status_of(answer_to(served, said)) == status
    scrape(served)
    assert not caplog.messages


@pytest.mark.parametrize("header", [b"X: " + b"y" * 1_000_000 + b"\r\n", b"X: y\r\n" * 100_000], ids=["huge", "many"])
def test_headers_without_end_are_not_read_to_their_end(served, caplog, header):
    """The client may be still sending when the connection ends, and then never sees the answer."""
    with connected(served) as client, suppress(ConnectionError):
        client.sendall(b"GET / HTTP/1.1\r\n" + header + CLOSE)
        assert status_of(all_of(client) or b"HTTP/1.1 400 ") == 400
    scrape(served)
    assert not caplog.messages


def test_head_has_the_headers_of_get_and_no_body(served):
    got, head = (answer_to(served, verb + b" /metrics HTTP/1.1\r\n" + CLOSE) for verb in (b"GET", b"HEAD"))
    assert got.count(b"content-length: ") == 1
    length = next(line for line in got.split(b"\r\n") if line.startswith(b"content-length: "))
    assert length in head
    assert head.endswith(b"\r\n\r\n")


def test_requests_that_come_in_one_go_are_answered_in_order(served):
    asked = GET % b"/healthz" + GET % b"/absent" + GET % b"/readyz" + b"rubbish\r\n\r\n"
    answers = answer_to(served, asked)
    assert [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]] == [200, 404, 200, 400]


def test_five_hundred_connections_of_one_client_leave_those_of_others_alone():
    """127.0.0.2 is another client on the same machine."""
    with working(Limits(connections=60, connections_of_a_client=20)) as (server, _), ExitStack() as open_ones:
        host, port = server.url.removeprefix("http://").split(":")
        other = open_ones.enter_context(
            socket.create_connection((host, int(port)), 60, source_address=("127.0.0.2", 0))
        )
        other.sendall(GET % b"/metrics")
        assert b"up 1\n" in one_answer(other)
        for _ in range(500):
            open_ones.enter_context(connected(server))
        scrape(server)
        other.sendall(GET % b"/metrics")
        assert b"up 1\n" in one_answer(other)


def test_a_server_stops_although_clients_hang_on():
    with ExitStack() as open_ones:
        with working(Limits()) as (server, _):
            for said in (b"", b"GET", GET % b"/big", GET % b"/metrics"):
                open_ones.enter_context(connected(server)).sendall(said)
            sleep(0.3)
        with pytest.raises(ConnectionRefusedError):
            connected(server)


WORDS = (
    *(b"GET", b"HEAD", b"POST", b"get", b" ", b"/", b"/metrics", b"/api/v1/groups/main/", b"/groups/main/", b"/readyz"),
    *(b"?q=", b"?all&topic=\xc3", b"%", b"%ff", b"%00", b"#", b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9.9", b": ", b"\t"),
    *(b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\0", b"\xff\xfe", b"5\r\nabcde\r\n", b"0\r\n\r\n"),
    *(b"Host: x\r\n", b"Host: \xff\r\n", b"Host: [::1\r\n", b"Host: a b/\r\n", b"Expect: 100-continue\r\n"),
    *(b"Content-Length: 5\r\n", b"Content-Length: -1\r\n", b"Content-Length: 5, 6\r\n", b"Range: bytes=0-\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", b"Accept-Encoding: gzip;q=\r\n"),
    *(b"Authorization: Basic \xff\r\n", b"Authorization: Bearer x\r\n", b"X-Forwarded-For: \xff\r\n"),
    *(b"Connection: Upgrade\r\n", b"Upgrade: websocket\r\n", b"If-None-Match: *\r\n"),
    b"Accept: application/openmetrics-text;version=1.0.0;q=x\r\n",
)


def rubbish(chance: random.Random) -> bytes:
    """Mostly a request that is nearly right, and then anything."""
    if chance.random() < 0.2:
        return chance.randbytes(chance.randrange(1, 400))
    path = b"/" + b"".join(chance.choice(WORDS) for _ in range(chance.randrange(3))).replace(b" ", b"")
    said = chance.choice((b"GET ", b"HEAD ", b"POST ")) + path + b" HTTP/1.1\r\nHost: x\r\n"
    return said + b"".join(chance.choice(WORDS) for _ in range(chance.randrange(8))) + b"\r\n\r\n" * chance.randrange(3)


def test_no_request_out_of_many_makes_an_error(served, caplog):
    """The seed is fixed: a failure can be looked at."""
    chance = random.Random(9)
    with caplog.at_level(logging.WARNING):
        for number in range(example_count(30)):
            said = rubbish(chance)
            if number % 10 == 0:
                said += chance.choice(HOSTILE_NAMES).encode("utf-8", "replace")
            with connected(served) as client:
                client.sendall(said + b"\r\n\r\n" + LAST % b"/healthz")
                client.settimeout(0.02)  # it may wait for the rest of a body
                assert b"HTTP/1.1 500" not in all_of(client), said
            assert not caplog.messages, said
    scrape(served)


def test_no_rubbish_inside_tls_makes_an_error(tmp_path, caplog):
    from tests.web.http.certificates import Authority  # noqa: PLC0415
    from tests.web.http.test_access import AccessFiles, json, secret, tls, trusting  # noqa: PLC0415

    authority = Authority(tmp_path)
    config = secret(tmp_path / "web.yml", json.dumps(tls(authority.sign("server"))))
    access = AccessFiles(web_config_file=config)
    chance, context = random.Random(10), trusting(authority)
    with HttpServer(Served(snapshot(ready_cluster(orders()))), port=0, access=access) as server:
        for number in range(120):
            with connected(server) as plain, context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                client.sendall(rubbish(chance))
                client.settimeout(0.02)
                if number % 3 > 0:  # else it ends in the middle
                    assert b"HTTP/1.1 500" not in all_of(client)
    assert not caplog.messages
