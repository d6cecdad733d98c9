"""The collector asks for the offsets of groups that transactions may have touched, and for no others."""

from __future__ import annotations

import time

import pytest
from kafka import TopicPartition
from kafka.admin import AbortTransactionSpec, KafkaAdminClient
from kafka.errors import UnknownTopicOrPartitionError

from monitor.collectors.kafka.pending_offsets import HELD_MS, OpenProducer, PendingOffsetsReader
from monitor.collectors.kafka.transactional_offsets import RELIST_MS, SETTLE_MS, TransactionalOffsets
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.model import ListedOffset, TopicPartitions
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC, group_partition
from tests.support.clients import commit, create_topic, transaction
from tests.support.job_process import eventually

pytestmark = pytest.mark.broker
HERE, THERE = "group-0", "group-1"
"""Two groups in different partitions of an offsets topic with two."""


@pytest.fixture(scope="module")
def own_broker():
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=2)) as kafka:
        create_topic(kafka.bootstrap_servers, "t", 1)
        for group in (HERE, THERE):
            commit(kafka.bootstrap_servers, group, "t", {0: 10})
        yield kafka


@pytest.fixture
def admin(own_broker: EmbeddedKafka):
    client = KafkaAdminClient(bootstrap_servers=own_broker.bootstrap_servers)
    yield client
    client.close()


def answers(asker, admin, now_ms):
    return {answer.group: answer.offsets for listed in asker.ask(admin, lambda: now_ms) for answer in listed}


def has_open_transaction(admin):
    states = admin.describe_producers([TopicPartition(OFFSETS_TOPIC, partition) for partition in range(2)])
    return any(p.current_transaction_start_offset >= 0 for state in states.values() for p in state.active_producers)


def test_from_no_transaction_to_an_aborted_one_and_on(own_broker, admin, caplog):
    assert group_partition(HERE, 2) != group_partition(THERE, 2)
    asker = TransactionalOffsets("prod")
    assert answers(asker, admin, 0) == {}, "nobody has ever committed in a transaction"

    with transaction(own_broker.bootstrap_servers, HERE, "t", 200) as producer:
        ten = {HERE: (ListedOffset(topic="t", partition=0, offset=10),)}
        assert answers(asker, admin, 1_000) == ten
        assert answers(asker, admin, 1_000 + 2 * SETTLE_MS) == ten, "an open transaction is always asked for"
        producer.abort_transaction()
    eventually(lambda: not has_open_transaction(admin), "the end of the transaction in the log")
    moved_ms = 100_000
    assert answers(asker, admin, moved_ms) == ten
    assert answers(asker, admin, moved_ms + SETTLE_MS) == ten, "until all is settled"
    last_ms = moved_ms + SETTLE_MS + 1
    assert answers(asker, admin, last_ms) == ten, "for the last time"
    assert answers(asker, admin, last_ms + 1) == {}, "nothing has moved"
    assert answers(asker, admin, last_ms + RELIST_MS) == ten, "for a job that has started since"

    with transaction(own_broker.bootstrap_servers, HERE, "t", 300) as producer:
        producer.commit_transaction()
    eventually(lambda: not has_open_transaction(admin), "the end of the transaction in the log")
    rare_ms = 3 * SETTLE_MS
    assert answers(asker, admin, 900_000)[HERE][0].offset == 300
    assert answers(asker, admin, 900_000 + rare_ms)[HERE][0].offset == 300, "passes are rare, but it was not settled"
    assert answers(asker, admin, 900_000 + 2 * rare_ms) == {}, "nothing has moved"
    assert not caplog.records


def test_offsets_that_an_open_transaction_holds_are_listed_with_who_holds_them(own_broker, admin):
    cluster = ClusterSettings(name="prod", bootstrap_servers=own_broker.bootstrap_servers)
    asker = TransactionalOffsets("prod", PendingOffsetsReader(cluster))

    def held(later_ms=0):
        now_ms = time.time_ns() // 1_000_000 + later_ms
        events = [event for listed in asker.ask(admin, lambda: now_ms) for event in listed]
        return {event.group: event.pending for event in events if event.pending}

    began_ms = time.time_ns() // 1_000_000
    with transaction(own_broker.bootstrap_servers, THERE, "t", 400) as producer:
        eventually(lambda: has_open_transaction(admin), "the transaction in the log")
        assert held() == {}, "most transactions end at once"
        found = held(HELD_MS)
        assert list(found) == [THERE]
        (own,) = found[THERE]
        assert own.partitions == (TopicPartitions("t", (0,)),)
        assert own.log_partition == group_partition(THERE, 2)
        assert (own.transactional_id, own.timeout_ms) == (f"{THERE}-400", 600_000)
        assert began_ms <= own.started_ms <= own.sent_ms <= time.time_ns() // 1_000_000
        assert held(HELD_MS) == found, "it is read once, and said again"
        place = TopicPartition(OFFSETS_TOPIC, own.log_partition)
        states = admin.describe_producers([place])[place].active_producers
        (open_one,) = [each for each in states if each.current_transaction_start_offset == own.start_offset]
        assert (open_one.producer_id, open_one.producer_epoch) == (own.producer_id, own.producer_epoch)
        # What kafka-transactions.sh abort does with --start-offset.
        admin.abort_transaction(AbortTransactionSpec(place, open_one.producer_id, open_one.producer_epoch))
        eventually(lambda: not has_open_transaction(admin), "the end of the transaction in the log")
        assert held(HELD_MS) == {}
        producer.abort_transaction()


def test_a_user_who_may_not_describe_the_transaction_gets_the_rest(own_broker, admin):
    """As of a transaction that hangs: its coordinator does not know it."""
    cluster = ClusterSettings(name="prod", bootstrap_servers=own_broker.bootstrap_servers)
    with transaction(own_broker.bootstrap_servers, HERE, "t", 500) as producer:
        place = TopicPartition(OFFSETS_TOPIC, group_partition(HERE, 2))
        eventually(lambda: has_open_transaction(admin), "the transaction in the log")
        states = admin.describe_producers([place])[place].active_producers
        (state,) = [each for each in states if each.current_transaction_start_offset >= 0]
        unknown = OpenProducer.with_transaction(place.partition, state._replace(producer_id=state.producer_id + 1_000))
        ((group, own),) = PendingOffsetsReader(cluster).read(admin, [unknown])
        assert (group, own.transactional_id, own.started_ms, own.timeout_ms) == (HERE, None, None, None)
        producer.abort_transaction()


def test_kafka_python_raises_the_error_of_one_partition_for_all(admin):
    """Why halves are asked again. The clients in test_batch_requests.py do the same."""
    places = [TopicPartition(OFFSETS_TOPIC, partition) for partition in (0, 99)]
    with pytest.raises(UnknownTopicOrPartitionError):
        admin.describe_producers(places, broker_id=1)
    assert list(admin.describe_producers(places[:1], broker_id=1)) == places[:1]
