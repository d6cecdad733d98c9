"""The shelf gives each worker the catalog it asks for, and strangers nothing."""

import socket
from contextlib import ExitStack, closing
from dataclasses import replace
from multiprocessing import AuthenticationError

import pytest

from streaming_jobs.buckets import catalog_server
from streaming_jobs.buckets.catalog_server import CatalogAddress, CatalogServer


@pytest.fixture
def catalogs():
    with closing(CatalogServer("127.0.0.1")) as running:
        yield running


def test_a_catalog_is_fetched_by_its_key(catalogs):
    catalogs.put("one", "one-1", b"x" * 10_000_000)
    catalogs.put("two", "two-1", b"two")
    assert catalogs.address.fetch("one-1") == b"x" * 10_000_000
    assert catalogs.address.fetch("two-1") == b"two"


def test_the_two_newest_of_each_cluster_stay(catalogs):
    for number in range(3):
        catalogs.put("one", f"one-{number}", b"%d" % number)
    catalogs.put("two", "two-0", b"two")
    assert [catalogs.address.fetch(key) for key in ("one-1", "one-2", "two-0")] == [b"1", b"2", b"two"]
    with pytest.raises(KeyError, match="one-0"):
        catalogs.address.fetch("one-0")


def test_a_stranger_is_refused_and_the_next_one_served(catalogs):
    catalogs.put("one", "one-1", b"catalog")
    with pytest.raises(AuthenticationError):
        replace(catalogs.address, secret=b"guessed").fetch("one-1")
    assert catalogs.address.fetch("one-1") == b"catalog"


def test_a_stranger_who_says_nothing_keeps_nobody_waiting(catalogs):
    catalogs.put("one", "one-1", b"catalog")
    with socket.create_connection((catalogs.address.host, catalogs.address.port)):
        assert catalogs.address.fetch("one-1") == b"catalog"


def test_only_so_many_are_answered_at_once_and_the_next_one_when_one_of_them_has_ended(monkeypatch):
    monkeypatch.setattr(catalog_server, "MAX_CONNECTIONS", 2)
    with closing(CatalogServer("127.0.0.1")) as catalogs, ExitStack() as strangers:
        place = (catalogs.address.host, catalogs.address.port)
        one, two, three = (strangers.enter_context(socket.create_connection(place, timeout=30)) for _ in range(3))
        assert one.recv(1)  # who is answered is given a challenge
        assert two.recv(1)
        three.settimeout(0.3)
        with pytest.raises(TimeoutError):
            three.recv(1)
        one.close()
        three.settimeout(30)
        assert three.recv(1)


def test_silent_strangers_are_cut_off_before_they_could_keep_a_worker_from_its_catalog(monkeypatch):
    monkeypatch.setattr(catalog_server, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(catalog_server, "HANDSHAKE_LIMIT_S", 0.2)
    with closing(CatalogServer("127.0.0.1")) as catalogs, ExitStack() as strangers:
        catalogs.put("one", "one-1", b"catalog")
        for _ in range(5):
            strangers.enter_context(socket.create_connection((catalogs.address.host, catalogs.address.port)))
        assert catalogs.address.fetch("one-1") == b"catalog"


def test_a_driver_that_says_nothing_is_an_error_and_no_wait_without_end(monkeypatch):
    monkeypatch.setattr(catalog_server, "FETCH_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = CatalogAddress("127.0.0.1", silent.getsockname()[1], b"secret")
        with pytest.raises((EOFError, OSError)):
            address.fetch("one-1")


def test_the_secret_is_not_in_its_text(catalogs):
    assert "secret" not in repr(catalogs.address)


def test_a_shelf_that_was_stopped_cannot_be_reached():
    with closing(CatalogServer("127.0.0.1")) as catalogs:
        address = catalogs.address
    with pytest.raises((OSError, EOFError)):
        address.fetch("one-1")
