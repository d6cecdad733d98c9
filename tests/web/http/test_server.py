"""The server on a real port."""

import socket
import threading

import httpx
import pytest

from monitor.model import Snapshot
from monitor.web.server import HttpServer, ListenError, PortTaken, _listen
from tests.support import plain_http
from tests.web.examples import Served, orders, ready_cluster, snapshot


@pytest.fixture
def server():
    shown = snapshot(ready_cluster(orders("line\nbreak/%2F")))
    running = HttpServer(Served(shown), port=0)
    running.start()
    yield running
    running.stop()


def test_what_is_served_after_start(server):
    assert server.url.startswith("http://127.0.0.1:")
    assert plain_http.get(f"{server.url}/healthz").text == "ok\n"
    assert b"groupwatch_up" in plain_http.get(f"{server.url}/metrics").content


def test_a_hostile_path_arrives_over_the_wire_as_it_was_sent(server):
    assert plain_http.get(f"{server.url}/api/v1/groups/main/line%0Abreak%2F%252F").json()["group"] == "line\nbreak/%2F"


def test_a_taken_port_is_told_in_a_sentence_before_anything_starts(server):
    port = httpx.URL(server.url).port
    before = set(threading.enumerate())
    with pytest.raises(PortTaken, match=rf"^Port {port} on 127\.0\.0\.1 is in use; choose another: http.port"):
        HttpServer(Served(Snapshot()), port=port).start()
    assert set(threading.enumerate()) <= before  # threads of other tests may end meanwhile


def test_an_address_of_another_machine_cannot_be_listened_on():
    with pytest.raises(ListenError, match=r"Cannot listen on port 0 of 192\.0\.2\.1: ") as caught:
        HttpServer(Served(Snapshot()), host="192.0.2.1", port=0).start()
    assert not isinstance(caught.value, PortTaken)


def test_stop_gives_the_port_back_and_may_be_called_again():
    server = HttpServer(Served(Snapshot()), port=0)
    server.stop()
    server.start()
    address = ("127.0.0.1", httpx.URL(server.url).port)
    server.stop()
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)
    again = HttpServer(Served(Snapshot()), port=address[1])
    again.start()
    again.stop()


def test_the_second_piece_of_an_answer_does_not_wait_for_an_acknowledgement_of_the_first():
    with (
        _listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
