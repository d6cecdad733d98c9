"""Where an open transaction holds records back, as a pass sees it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import KafkaConnectionError, TopicAuthorizationFailedError, UnsupportedVersionError
from kafka.protocol.consumer import IsolationLevel
from kafka.structs import OffsetAndTimestamp

from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.model import PartitionObserved
from tests.support.clients import produce
from tests.support.job_process import eventually

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")


@contextmanager
def open_transaction(bootstrap: str, topic: str, records: int) -> Iterator[KafkaProducer]:
    """A transaction with that many records in partition 0, written; what ends it is up to the block."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=topic, transaction_timeout_ms=600_000)
    try:
        producer.init_transactions()
        producer.begin_transaction()
        for _ in range(records):
            producer.send(topic, b"x", partition=0).get(timeout=30)
        yield producer
    finally:
        producer.close()


@pytest.mark.broker
@pytest.mark.parametrize("ending", [KafkaProducer.commit_transaction, KafkaProducer.abort_transaction])
def test_a_transaction_is_seen_while_it_is_open_and_not_after_it_has_ended(broker, admin, create, topic_name, ending):
    """Partition 0 has 3 records and then 2 in the transaction, partition 1 has 4 without one."""
    stable = StableOffsets()

    def seen(pass_ms: int) -> tuple[PartitionObserved, ...]:
        topics = observe_topics(admin, stable, cluster="prod", pass_ms=pass_ms, observed_ms=pass_ms)
        (own,) = [event for event in topics if event.topic == topic_name]
        return own.partitions

    create(**{topic_name: 2})
    produce(broker.bootstrap_servers, topic_name, {0: 3, 1: 4})
    other = PartitionObserved(partition=1, earliest=0, end=4)
    assert seen(1) == (PartitionObserved(partition=0, earliest=0, end=3), other)
    with open_transaction(broker.bootstrap_servers, topic_name, 2) as producer:
        held_back = PartitionObserved(partition=0, earliest=0, end=5, stable=3)
        assert seen(2) == (held_back, other)
        assert seen(3) == (held_back, other), "its end has not moved, and it is still open"
        ending(producer)
    # The record that ends it takes an offset, too.
    ended = PartitionObserved(partition=0, earliest=0, end=6)
    eventually(lambda: seen(4) == (ended, other), "the end of the transaction in the log")


class OneBroker:
    """What kafka-python's admin client answers for the partitions of one broker; ``broken`` is raised instead."""

    def __init__(self, ends, stable=None):
        self.ends = ends
        self.stable = {} if stable is None else stable
        self.broken = None
        self.asked = []

    def list_partition_offsets(self, specs, isolation_level, timeout_ms):
        assert set(specs.values()) == {OffsetSpec.LATEST}
        assert isolation_level is IsolationLevel.READ_COMMITTED
        assert timeout_ms
        self.asked.append(sorted(place.partition for place in specs))
        if self.broken is not None:
            raise self.broken
        return {place: OffsetAndTimestamp(self.stable.get(place, self.ends[place]), -1, None) for place in specs}


PLACES = [TopicPartition("t", number) for number in range(3)]


def below(stable, admin):
    return stable.below(admin, {1: PLACES}, admin.ends)


def test_only_partitions_in_which_a_transaction_may_be_open_are_asked_for():
    admin, stable = OneBroker(dict.fromkeys(PLACES, 9)), StableOffsets()
    assert below(stable, admin) == {}
    assert below(stable, admin) == {}
    admin.ends = {**admin.ends, PLACES[1]: 12}
    admin.stable = {PLACES[1]: 9}
    assert below(stable, admin) == {PLACES[1]: 9}
    assert below(stable, admin) == {PLACES[1]: 9}
    admin.stable = {}
    assert below(stable, admin) == {}
    assert below(stable, admin) == {}
    assert admin.asked == [[0, 1, 2], [1], [1], [1]], "all, then the one whose end moved until nothing is held back"


def test_what_came_since_the_end_was_asked_for_is_not_held_back():
    admin = OneBroker(dict.fromkeys(PLACES, 9), {PLACES[0]: 11})
    assert below(StableOffsets(), admin) == {}


@pytest.mark.parametrize("error", [UnsupportedVersionError, KafkaConnectionError, TopicAuthorizationFailedError])
def test_without_an_answer_all_is_as_before_and_it_is_asked_again(error):
    admin, stable = OneBroker(dict.fromkeys(PLACES, 9), {PLACES[0]: 7}), StableOffsets()
    admin.broken = error("broken")
    assert below(stable, admin) == {}
    admin.broken = None
    assert below(stable, admin) == {PLACES[0]: 7}
    assert admin.asked[-1] == [0, 1, 2]
    admin.broken = error("broken")
    admin.ends = {**admin.ends, PLACES[0]: 11}
    assert below(stable, admin) == {PLACES[0]: 7}, "as before: an open transaction does not blink"
    admin.broken = None
    admin.stable = {}
    assert below(stable, admin) == {}


def test_who_did_not_tell_the_ends_is_not_asked():
    admin = OneBroker({})
    assert below(StableOffsets(), admin) == {}
    assert admin.asked == []
