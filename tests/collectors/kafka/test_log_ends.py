"""The ends of logs, asked of each leader by itself: a broker that hangs holds nobody up, and is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from kafka.errors import KafkaError
from kafka.future import Future

from monitor.collectors.errors import ConnectionFailed, OffsetsTopicMissing
from monitor.collectors.kafka.leader_requests import LeaderRequests
from monitor.collectors.kafka.log_ends import LogEnds
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.model import Outage
from tests.paused import hanging
from tests.support.clients import admin, produce
from tests.support.job_process import eventually
from tests.support.several_brokers import create_on, two_brokers

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,  # several brokers
    # kafka-python leaves the sockets of failed connections to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),
]

UNCLEAN = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
READ = {("log", 0): 0, ("log", 1): 0, ("log", 2): 0}


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    with two_brokers() as brokers:
        create_on(brokers[0].bootstrap_servers, "log", [(1,), (2,), (1,)])
        produce(brokers[0].bootstrap_servers, "log", {0: 3, 1: 4, 2: 5})
        yield brokers


@pytest.fixture
def ends(cluster: tuple[EmbeddedKafka, EmbeddedKafka]) -> Iterator[LogEnds]:
    settings = ClusterSettings(name="prod", bootstrap_servers=cluster[0].bootstrap_servers)
    found = LogEnds(settings, ["log", "gone"], clock=lambda: 9_000, read_until=lambda: 1_000)
    yield found
    found.close()


def test_every_leader_is_asked_for_its_own_partitions(ends: LogEnds):
    found = ends.ask(READ)
    assert found.ends == {("log", 0): 3, ("log", 1): 4, ("log", 2): 5}
    assert not found.silent
    assert not found.cut
    assert ends.partition_count("log") == 3
    assert ends.starts(READ) == dict.fromkeys(READ, 0)
    assert ends.bounds("log").ends == {0: 3, 1: 4, 2: 5}


def test_leaders_that_have_answered_are_not_looked_up_again(ends: LogEnds, monkeypatch: pytest.MonkeyPatch):
    """What has been answered is asked in one round, and the next poll begins with the same leaders."""
    requests = []
    response = ends._leaders._metadata_response

    async def counted(manager: Any) -> Any:
        requests.append(manager)
        return await response(manager)

    monkeypatch.setattr(ends._leaders, "_metadata_response", counted)
    for _ in range(2):
        assert len(ends.ask(READ).ends) == len(READ)
    assert len(requests) == 1


def test_a_broker_that_hangs_is_named_and_the_others_are_told(
    cluster: tuple[EmbeddedKafka, EmbeddedKafka], ends: LogEnds
):
    first, second = cluster
    ends.ask(READ)
    with hanging(second):
        found = ends.ask(READ)
        assert found.ends == {("log", 0): 3, ("log", 2): 5}
        silence = found.silent["log", 1]
        assert silence.reason == f"broker 2 ({second.bootstrap_servers}) does not answer"
        assert silence.since_ms == 1_000
        assert ends.answering == (first.bootstrap_servers,)
        assert ends.bounds("log").ends == {0: 3, 2: 5}
        assert ends.bounds("log").partition_count == 3
        away = f"it has had no leader since broker 2 ({second.bootstrap_servers}) went away"
        eventually(lambda: ends.ask(READ).silent["log", 1].reason == away, "that the controller has fenced it")
    eventually(lambda: ends.ask(READ).ends == {("log", 0): 3, ("log", 1): 4, ("log", 2): 5}, "all of the ends")
    assert not ends.silent
    assert not ends.answering


def test_a_log_that_was_created_again_is_read_from_its_start_where_it_ends_before_what_was_read(ends: LogEnds):
    ends.restart_recreated({("log", 0): 0, ("log", 1): 0})
    read = {("log", 0): 200_000, ("log", 1): 2}
    assert ends.ask(read).cut == {("log", 0): 0}
    assert ends.ask(read).cut == {("log", 0): 0}, "until the reader has gone back"
    assert not ends.ask({("log", 0): 0, ("log", 1): 2}).cut


def test_an_answer_that_came_between_two_questions_counts():
    """Else a broker that needs longer than the later questions wait would never be heard again."""
    late, failed, other = Future().success("ends"), Future().failure(KafkaError()), Future()
    requests = LeaderRequests(str)
    requests._under_way = {(1, "late"): late, (1, "failed"): failed, (1, "under way"): other}
    requests.quiet = {1}
    assert [requests._has_late_answer(1, each) for each in ("late", "failed", "under way", "none")] == [
        True,
        False,
        True,
        False,
    ]
    requests.quiet = set()
    assert not requests._has_late_answer(1, "late"), "one that answers in time is asked anew"


def test_while_no_broker_answers_all_partitions_are_away(cluster: tuple[EmbeddedKafka, EmbeddedKafka]):
    first, second = cluster
    settings = ClusterSettings(name="prod", bootstrap_servers=first.bootstrap_servers)
    found = LogEnds(settings, ["log"], clock=lambda: 9_000, read_until=lambda: 1_000)
    try:
        found.ask(READ)
        with hanging(first), hanging(second), pytest.raises(ConnectionFailed):
            found.ask(READ)
        assert found.outages("log") == dict.fromkeys(range(3), Outage(began_ms=1_000))
        eventually(lambda: answers(found), "the brokers")
        assert found.outages("log") == dict.fromkeys(range(3), Outage(began_ms=1_000, ended_ms=9_000))
    finally:
        found.close()


def answers(ends: LogEnds) -> bool:
    with suppress(ConnectionFailed):
        return not ends.ask(READ).silent
    return False


def test_a_topic_that_is_not_there_is_an_error(ends: LogEnds):
    with pytest.raises(OffsetsTopicMissing, match="there is no topic gone"):
        ends.ask({("gone", 0): 0})


def test_new_partitions_are_counted(cluster: tuple[EmbeddedKafka, EmbeddedKafka]):
    bootstrap = cluster[0].bootstrap_servers
    create_on(bootstrap, "grows", [(1,)])
    found = LogEnds(ClusterSettings(name="prod", bootstrap_servers=bootstrap), ["grows"])
    try:
        found.ask({("grows", 0): 0})
        assert found.partition_count("grows") == 1
        with admin(bootstrap) as client:
            client.create_partitions({"grows": 3})

        def has_grown() -> bool:
            found.ask({("grows", 0): 0})
            return found.partition_count("grows") == 3

        eventually(has_grown, "three partitions")
    finally:
        found.close()


def test_a_log_that_an_unclean_election_cut_is_told_with_the_offset_of_the_cut(
    cluster: tuple[EmbeddedKafka, EmbeddedKafka],
):
    """The third broker misses what only the second gets, and then leads: up to its end, the log is what was read."""
    first, second = cluster
    with EmbeddedKafka(second.settings, beside=first) as third:
        create_on(first.bootstrap_servers, "cut", [(second.node_id, third.node_id)], **UNCLEAN)
        produce(first.bootstrap_servers, "cut", {0: 5})
        found = LogEnds(ClusterSettings(name="prod", bootstrap_servers=first.bootstrap_servers), ["cut"])
        try:
            eventually(lambda: found.ask({("cut", 0): 0}).ends == {("cut", 0): 5}, "five records")
            third.kill()
            eventually(lambda: is_alone(first.bootstrap_servers, second.node_id), "that the second is in sync alone")
            produce(first.bootstrap_servers, "cut", {0: 4})
            eventually(lambda: found.ask({("cut", 0): 9}).ends == {("cut", 0): 9}, "nine records")
            second.kill()
            third.start()
            eventually(lambda: found.ask({("cut", 0): 9}).ends == {("cut", 0): 5}, "the log of the third")
            assert found.ask({("cut", 0): 9}).cut == {("cut", 0): 5}
            found.accept_new_topics()  # a query that starts again has not gone back yet
            assert found.bounds("cut").ends == {0: 5}
            produce(first.bootstrap_servers, "cut", {0: 7})
            assert found.ask({("cut", 0): 9}).cut == {("cut", 0): 5}, "until the reader has gone back"
            assert found.ask({("cut", 0): 5}).ends == {("cut", 0): 12}
            assert not found.ask({("cut", 0): 5}).cut
        finally:
            found.close()
            second.start()


def is_alone(bootstrap: str, broker: int) -> bool:
    with admin(bootstrap) as client, suppress(KafkaError):  # it may ask the broker that was killed
        (topic,) = client.describe_topics(["cut"])
        return [each["isr_nodes"] for each in topic["partitions"]] == [[broker]]
    return False
