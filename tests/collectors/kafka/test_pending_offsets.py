"""Which open transactions are read, and when again. No broker is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kafka import TopicPartition
from kafka.admin import ProducerState
from kafka.errors import TransactionalIdAuthorizationFailedError

from monitor.collectors.kafka import pending_offsets
from monitor.collectors.kafka.pending_offsets import HELD_MS, OpenProducer, OpenTransactions, PendingOffsetsReader
from monitor.config import ClusterSettings
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC

OWN = OpenProducer(3, 70, 7, 0)


def state(start: int, written_ms: int, producer_id: int = 7) -> ProducerState:
    return ProducerState(
        producer_id, 0, -1, last_timestamp=written_ms, coordinator_epoch=0, current_transaction_start_offset=start
    )


def test_a_transaction_in_which_a_producer_goes_on_writing_is_held_once_it_was_seen_open_for_a_while():
    known = OpenTransactions()
    for later_ms in (0, 5_000, HELD_MS - 1):
        known.note(3, [state(70, 100_000 + later_ms)], 100_000 + later_ms)
        assert known.long_ones() == []
    known.note(3, [state(70, 100_000 + HELD_MS)], 100_000 + HELD_MS)
    assert known.long_ones() == [OWN]
    known.note(4, [], 200_000)
    assert known.long_ones() == [OWN], "each partition has its own time"
    known.note(3, [state(-1, 100_000 + HELD_MS)], 120_000)
    assert known.long_ones() == []


def test_the_next_transaction_of_a_producer_begins_anew():
    known = OpenTransactions()
    for number in range(60):
        known.note(3, [state(70 + number, 100_000 + 5_000 * number)], 100_000 + 5_000 * number)
        assert known.long_ones() == []


def test_a_transaction_in_which_nothing_was_written_for_a_while_is_held_when_it_is_first_seen():
    known = OpenTransactions()
    known.note(3, [state(70, 100_001), state(80, 100_000, producer_id=8)], 100_000 + HELD_MS)
    assert known.long_ones() == [OpenProducer(3, 80, 8, 0)]


class SlowConsumer:
    """Kafka's client, of a broker that answers the second poll."""

    def __init__(self) -> None:
        self.polls = 0

    def assign(self, places):
        assert places == [TopicPartition(OFFSETS_TOPIC, 3)]

    def seek(self, place, offset):
        assert offset == 70

    def poll(self, timeout_ms):
        self.polls += 1
        if self.polls == 1:
            return {}
        key = b"\0\x01" + b"\0\x01g" + b"\0\x01t" + bytes(4)
        value = b"\0\x03" + (42).to_bytes(8) + b"\xff" * 4 + b"\0\0" + (90_000).to_bytes(8)
        record = SimpleNamespace(offset=70, timestamp=90_000, key=key, value=value)
        return {TopicPartition(OFFSETS_TOPIC, 3): [record]}

    def close(self):
        pass


class ForbiddingAdmin:
    """Kafka's client, of a user that may not know of transactions."""

    def list_transactions(self, **_):
        raise TransactionalIdAuthorizationFailedError


def test_what_a_broker_does_not_give_in_time_is_read_again_and_what_it_gives_is_not(monkeypatch: pytest.MonkeyPatch):
    consumer = SlowConsumer()
    monkeypatch.setattr(pending_offsets, "open_consumer", lambda *_, **__: consumer)
    reader = PendingOffsetsReader(ClusterSettings(name="prod", bootstrap_servers="unused:9092"))
    assert reader.read(ForbiddingAdmin(), [OWN]) == []
    ((group, own),) = reader.read(ForbiddingAdmin(), [OWN])
    assert (group, own.sent_ms, own.producer_id) == ("g", 90_000, 7)
    reader.read(ForbiddingAdmin(), [OWN])
    assert consumer.polls == 2
