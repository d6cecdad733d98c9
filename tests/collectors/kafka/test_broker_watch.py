"""Which brokers are away and have replicas, what they led by the poll before, and which partitions have no leader."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from monitor.collectors.kafka.broker_watch import BrokerWatch
from monitor.collectors.kafka.topic_poll import ClusterMetadata
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersSeen

OFFSETS_TOPIC = "__consumer_offsets"
AT_MS = 5_000

PLACES: dict[str, list[tuple[int, list[int]]]] = {
    OFFSETS_TOPIC: [(1, [1, 2]), (2, [2, 1]), (2, [2, 1])],
    "t": [(1, [1]), (2, [2]), (2, [2, 1])],
    "s": [(2, [2, 1])],
}
"""Of each partition its leader and its replicas, while both brokers are there."""

WITHOUT_SECOND: dict[str, list[tuple[int, list[int]]]] = {
    OFFSETS_TOPIC: [(1, [1, 2]), (1, [2, 1]), (1, [2, 1])],
    "t": [(1, [1]), (-1, [2]), (1, [2, 1])],
    "s": [(1, [2, 1])],
}
SECOND = BrokerAway(2, (1, 2), (TopicPartitions("s", (0,)), TopicPartitions("t", (1, 2))))
LEADERLESS = (TopicPartitions("t", (1,)),)
BOTH = BrokersSeen((1, 2))
LOST = BrokersSeen((1,), (BrokerAway(2),), LEADERLESS)


def response(
    brokers: set[int],
    places: dict[str, list[tuple[int, list[int]]]],
    errors: dict[tuple[str, int], int] | None = None,
    in_sync: set[int] | None = None,
) -> ClusterMetadata:
    """What the brokers describe. Replicas on ``in_sync`` are in sync (None: on all brokers); one at least always is."""
    synced = brokers if in_sync is None else in_sync
    topics: list[dict[str, Any]] = [
        {
            "name": name,
            "is_internal": name == OFFSETS_TOPIC,
            "partitions": [
                {
                    "partition_index": number,
                    "leader_id": leader,
                    "replica_nodes": replicas,
                    "isr_nodes": [each for each in replicas if each in synced] or replicas[:1],
                    "error_code": (errors or {}).get((name, number), 5 if leader < 0 else 0),
                }
                for number, (leader, replicas) in enumerate(partitions)
            ],
        }
        for name, partitions in places.items()
    ]
    return ClusterMetadata(frozenset(brokers), topics)


def test_a_broker_that_is_away_is_reported_once_with_what_it_led_before():
    watch = BrokerWatch()
    assert watch.compare(AT_MS, response({1, 2}, PLACES)) == BOTH
    seen = watch.compare(AT_MS, response({1}, WITHOUT_SECOND))
    assert seen == BrokersSeen((1,), (SECOND,), LEADERLESS)
    watch.note_written(seen)
    assert watch.compare(AT_MS, response({1}, WITHOUT_SECOND)) == LOST
    assert watch.compare(AT_MS, response({1, 2}, PLACES)) == BOTH


def test_it_is_reported_again_until_an_event_is_written():
    watch = BrokerWatch()
    watch.compare(AT_MS, response({1, 2}, PLACES))
    for _ in range(2):
        assert watch.compare(AT_MS, response({1}, WITHOUT_SECOND)) == BrokersSeen((1,), (SECOND,), LEADERLESS)


def test_who_goes_away_twice_is_reported_with_what_it_led_the_second_time():
    watch = BrokerWatch()
    watch.compare(AT_MS, response({1, 2}, PLACES))
    watch.note_written(watch.compare(AT_MS, response({1}, WITHOUT_SECOND)))
    back = {**WITHOUT_SECOND, "t": [(1, [1]), (2, [2]), (1, [2, 1])]}
    watch.note_written(watch.compare(AT_MS, response({1, 2}, back)))
    seen = watch.compare(AT_MS, response({1}, WITHOUT_SECOND))
    assert seen == BrokersSeen((1,), (BrokerAway(2, (), (TopicPartitions("t", (1,)),)),), LEADERLESS)


def test_a_collector_that_starts_meanwhile_knows_that_it_is_away_and_not_what_it_led():
    assert BrokerWatch().compare(AT_MS, response({1}, WITHOUT_SECOND)) == LOST


def test_a_broker_without_replicas_is_not_away():
    """As when its replicas were moved to others before it was removed, or afterwards."""
    watch = BrokerWatch()
    watch.compare(AT_MS, response({1, 2}, PLACES))
    moved = {name: [(1, [1]) for _ in partitions] for name, partitions in PLACES.items()}
    assert watch.compare(AT_MS, response({1}, moved)) == BrokersSeen((1,))


def test_a_broker_without_the_listener_of_the_collector_may_be_well():
    """It leads partition 1 of "t", and the others say that it has no such listener (LISTENER_NOT_FOUND)."""
    assert BrokerWatch().compare(AT_MS, response({1}, WITHOUT_SECOND, {("t", 1): 72})) is None


def test_a_broker_that_hands_over_before_it_goes_away_is_reported_with_what_it_led_before_that():
    """A controlled shutdown: others lead, its replicas leave the ISR, and only then it is no longer listed.

    The only replica of partition 1 of "t" stays in the ISR, as that is never empty.
    """
    watch = BrokerWatch()
    watch.compare(1_000, response({1, 2}, PLACES))
    both = replace(BOTH, without_leader=LEADERLESS)
    for at_ms in (11_000, 21_000):
        assert watch.compare(at_ms, response({1, 2}, WITHOUT_SECOND, in_sync={1})) == both
    seen = watch.compare(31_000, response({1}, WITHOUT_SECOND))
    assert seen == BrokersSeen((1,), (replace(SECOND, led_ms=1_000),), LEADERLESS)


def test_a_poll_amid_a_handover_counts_what_was_handed_over_as_well():
    watch = BrokerWatch()
    watch.compare(1_000, response({1, 2}, PLACES))
    half = {**WITHOUT_SECOND, "t": PLACES["t"], "s": PLACES["s"]}
    watch.compare(11_000, response({1, 2}, half, in_sync={1}))
    seen = watch.compare(21_000, response({1}, WITHOUT_SECOND))
    assert seen == BrokersSeen((1,), (replace(SECOND, led_ms=1_000),), LEADERLESS)


def test_a_broker_that_was_drained_and_is_in_sync_has_led_nothing():
    """Its leaders were moved to others, and it goes away later: that concerns no group."""
    watch = BrokerWatch()
    watch.compare(1_000, response({1, 2}, PLACES))
    drained = {**WITHOUT_SECOND, "t": [(1, [1]), (1, [1, 2]), (1, [2, 1])]}
    watch.compare(11_000, response({1, 2}, drained))
    assert watch.compare(21_000, response({1}, drained)) == BrokersSeen((1,), (BrokerAway(2),))


def test_a_broker_that_comes_back_from_a_handover_and_is_in_sync_again_has_led_nothing():
    watch = BrokerWatch()
    watch.compare(1_000, response({1, 2}, PLACES))
    moved = {name: [(1, [1, 2])] * len(partitions) for name, partitions in PLACES.items()}
    watch.compare(11_000, response({1, 2}, moved, in_sync={1}))
    watch.compare(21_000, response({1, 2}, moved))
    assert watch.compare(31_000, response({1}, moved)) == BrokersSeen((1,), (BrokerAway(2),))


def test_what_was_moved_off_a_broker_is_not_what_it_led():
    """Its replicas of "s" were moved to the first broker, and it handed the others over afterwards."""
    watch = BrokerWatch()
    watch.compare(1_000, response({1, 2}, PLACES))
    moved = {**WITHOUT_SECOND, "s": [(1, [1])]}
    watch.compare(11_000, response({1, 2}, moved, in_sync={1}))
    seen = watch.compare(21_000, response({1}, moved))
    assert seen is not None
    assert seen.away == (BrokerAway(2, (1, 2), (TopicPartitions("t", (1, 2)),), 1_000),)
