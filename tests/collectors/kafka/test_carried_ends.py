"""Ends of the logs of two clusters: no events while their carrier is away; without the watched one, nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import partial

import pytest

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka import log_ends
from monitor.collectors.kafka.carried_ends import ASK_CARRIER_AGAIN_S, CarriedEnds
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import LogEnds
from monitor.collectors.kafka_client.connection import open_admin
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from tests.support.clients import admin, produce

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An address at which nothing answers, which is found out soon."""
    monkeypatch.setattr(log_ends, "open_admin", partial(open_admin, limit_s=0.5))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{closed.getsockname()[1]}"


@pytest.fixture
def places(broker: EmbeddedKafka, topic_name: str) -> tuple[Place, Place]:
    """Of a log with three records, and of events with five. Each is asked for by itself, as of another cluster."""
    log, events = f"{topic_name}-log", f"{topic_name}-events"
    with admin(broker.bootstrap_servers) as client:
        one = {"num_partitions": 1, "replication_factor": 1}
        client.create_topics({log: one, events: one}, wait_for_metadata=True)
    produce(broker.bootstrap_servers, log, {0: 3})
    produce(broker.bootstrap_servers, events, {0: 5})
    return (log, 0), (events, 0)


def at(bootstrap: str, place: Place) -> LogEnds:
    return LogEnds(ClusterSettings(name="c", bootstrap_servers=bootstrap), [place[0]])


def test_each_log_is_asked_of_its_cluster(broker: EmbeddedKafka, places: tuple[Place, Place]):
    log, events = places
    ends = CarriedEnds(at(broker.bootstrap_servers, log), at(broker.bootstrap_servers, events), events[0])
    assert ends.bounds(log[0]).ends == {0: 3}
    assert ends.bounds(events[0]).ends == {0: 5}
    found = ends.ask({log: 0, events: 0})
    assert (found.ends, found.silent) == ({log: 3, events: 5}, {})
    assert ends.starts([log, events]) == {log: 0, events: 0}
    assert [ends.partition_count(topic) for topic, _ in places] == [1, 1]
    ends.close()


def test_the_log_is_read_on_while_the_carrier_is_away(broker: EmbeddedKafka, places: tuple[Place, Place], away: str):
    log, events = places
    now_s = 0.0
    carrier = at(away, events)
    ends = CarriedEnds(at(broker.bootstrap_servers, log), carrier, events[0], lambda: now_s)
    with pytest.raises(ConnectionFailed):
        ends.bounds(events[0])  # no query begins without it
    assert ends.bounds(log[0]).ends == {0: 3}
    found = ends.ask({events: 2})
    assert (found.ends, [*found.silent]) == ({}, [events])
    assert ends.is_read_elsewhere
    ends.carrier._cluster = ClusterSettings(name="c", bootstrap_servers=broker.bootstrap_servers)  # it has come back
    assert not ends.ask({events: 2}).ends, "nobody waits for the carrier again so soon"
    now_s = ASK_CARRIER_AGAIN_S
    assert ends.ask({log: 0, events: 2}).ends == {log: 3, events: 5}
    assert not ends.silent
    ends.close()


def test_nothing_is_read_while_the_watched_cluster_is_away(
    broker: EmbeddedKafka, places: tuple[Place, Place], away: str
):
    log, events = places
    ends = CarriedEnds(at(away, log), at(broker.bootstrap_servers, events), events[0])
    with pytest.raises(ConnectionFailed):
        ends.ask({log: 0})
    assert not ends.is_read_elsewhere
    assert ends.ask({events: 0}).ends == {events: 5}
    ends.close()
