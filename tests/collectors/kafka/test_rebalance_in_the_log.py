"""A rebalance of real consumers that has to wait for a slow one, as the log and the collector together tell it."""

from __future__ import annotations

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.coordinator.assignors.range import RangePartitionAssignor

from monitor.collectors.clock import wall_clock_ms
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.model import OffsetCommitted, RebalanceCause, RebalanceSampled
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group
from monitor.tracking.rebalances.duration import FOLLOW_UP_MS, MAX_CLOCK_OFFSET_MS, STALE_ANSWER_MS
from tests.support.clients import member
from tests.support.job_process import eventually
from tests.support.threads import working

pytestmark = pytest.mark.broker


def poll(consumer, stop):
    while not stop.is_set():
        consumer.poll(timeout_ms=100)


def join(bootstrap, group, topic, stop):
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=group,
        enable_auto_commit=False,
        partition_assignment_strategy=[RangePartitionAssignor],
    )
    try:
        poll(consumer, stop)
    finally:
        consumer.close(autocommit=False)


def log_of(broker, group):
    """What the offsets topic tells of the group, in its order."""
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest", exclude_internal_topics=False
    )
    try:
        topic = "__consumer_offsets"
        places = [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic)]
        consumer.assign(places)
        ends = consumer.end_offsets(places)
        records = []
        while any(consumer.position(place) < end for place, end in ends.items()):
            for batch in consumer.poll(timeout_ms=1_000).values():
                records += batch
    finally:
        consumer.close()
    events = (decode_record(record.key, record.value, record.timestamp) for record in records)
    return [event for event in events if not isinstance(event, Foreign) and event.group == group]


def test_the_waiting_for_a_slow_member_is_part_of_a_rebalance(  # noqa: PLR0917 - fixtures
    broker, cluster, admin, create, topic_name, group_name, events_of
):
    """The first member does not poll, so the second one's joining has to wait until it does."""
    create(**{topic_name: 2})
    collector = KafkaCatalogCollector(cluster.model_copy(update={"collect_interval_s": 3.0}))
    bootstrap = broker.bootstrap_servers

    def state():
        return admin.describe_groups([group_name])[group_name]["group_state"]

    def samples():
        return [e for _, e in events_of(cluster) if isinstance(e, RebalanceSampled) and e.group == group_name]

    with member(bootstrap, group_name, topic_name) as slow:
        stable_ms = wall_clock_ms()
        assert state() == "Stable"
        with working(collector.run):
            first_ms = eventually(lambda: collector.last_success_ms, "a pass, after which the brokers are asked")
            eventually(lambda: collector.last_success_ms > first_ms, "the next one, before which they have answered")
            with working(join, bootstrap, group_name, topic_name):
                eventually(lambda: state() == "PreparingRebalance", "the second member has asked to join")
                preparing_ms = wall_clock_ms()
                eventually(lambda: len(samples()) >= 3, "three samples of it")
                with working(poll, slow):
                    eventually(lambda: state() == "Stable", "both have joined")
                    done_ms = wall_clock_ms()
                    eventually(lambda: samples()[-1].state is None, "that it is over")
                seen, log = samples(), log_of(broker, group_name)
    assert collector.failed_passes == 0

    place = next(number for number, event in enumerate(log) if len(getattr(event, "members", ())) == 2)
    before, after = log[:place], log[place:]
    awaited_ms = FOLLOW_UP_MS + MAX_CLOCK_OFFSET_MS + 10_000
    enough = OffsetCommitted(group_name, topic_name, 0, 0, done_ms + awaited_ms)  # a sight is not judged before
    for events in ([*before, *seen, *after], [*log, *seen], [*before, seen[0], *after, *seen[1:]]):
        history = fold_group("prod", group_name, None, [*events, enough]).history
        rebalance = next(each for each in history if each.generation == log[place].generation)
        assert rebalance.causes == (RebalanceCause.JOIN,)
        assert rebalance.uncertainty_ms is not None
        assert stable_ms < rebalance.started_ms, "not before it was seen to be stable"
        assert rebalance.started_ms - rebalance.uncertainty_ms < preparing_ms, "it had begun by then"
        assert preparing_ms < rebalance.ended_ms <= done_ms
        seen_for_ms = seen[2].sampled_ms - seen[0].since_ms  # of them, what an answer took may have been before
        assert rebalance.ended_ms - rebalance.started_ms > seen_for_ms - STALE_ANSWER_MS - 500
        assert rebalance.uncertainty_ms < 6_000
